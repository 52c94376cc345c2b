# SPDX-License-Identifier: Apache-2.0
# Running sums of floats are grouped by index; stores join two groups where the output's boundary cuts them.
# RUN: pyasc compile %s --emit cpp | golden %S/scan-float.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def scan(x: asc.float32[N], y: asc.float32[N]):
    total = 0.0
    for i in range(N):
        total += x[i]
        y[i] = total
