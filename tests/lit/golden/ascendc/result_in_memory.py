# RUN: pyasc compile %s --emit ascendc | golden %S/result_in_memory.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def result_in_memory(x: asc.float32[N], y: asc.float32[N]):
    total = 0.0
    for i in range(1, N):
        x[i] = x[i] + x[i - 1] * 0.5
        total = total * 0.5 + x[i]
    for i in asc.parallel_for(N):
        y[i] = y[i] * total
