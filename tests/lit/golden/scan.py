# SPDX-License-Identifier: Apache-2.0
# A prefix sum of integers: sums of chunks, then each chunk from the sum before it.
# RUN: pyasc compile %s --emit cpp | golden %S/scan.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def scan(x: asc.int32[N], y: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        y[i] = total
