# SPDX-License-Identifier: Apache-2.0
# An affine index that may leave the array is checked once, before anything runs.
# RUN: pyasc compile %s --emit cpp | golden %S/launch-check.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def shift(x: asc.float32[N], y: asc.float32[M], by: int):
    for i in range(M):
        y[i] = x[i + by]
