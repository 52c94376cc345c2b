# RUN: pyasc compile %s --emit ascendc | golden %S/remainder.cpp
# SPDX-License-Identifier: Apache-2.0
"""Remainders of floats by functions of the file: one for vectors, one for numbers."""

from __future__ import annotations

import pyasc as asc

N = asc.dims("N")


@asc.kernel
def turn(x: asc.float32[N], period: asc.float32[N], wrapped: asc.float32[N], walk: asc.float32[N]):
    for i in range(N):
        wrapped[i] = asc.fmod(x[i], period[i])
    angle = 0.0
    for i in range(N):
        angle = asc.fmod(angle + x[i], period[i])
        walk[i] = angle
