# RUN: pyasc compile %s --emit ascendc | golden %S/time_steps.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def time_steps(a: asc.float32[N, N], b: asc.float32[N, N], steps: int):
    for t in range(steps):
        for i in asc.parallel_for(1, N - 1):
            for j in range(1, N - 1):
                b[i, j] = 0.25 * (a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in asc.parallel_for(1, N - 1):
            for j in range(1, N - 1):
                a[i, j] = b[i, j]
