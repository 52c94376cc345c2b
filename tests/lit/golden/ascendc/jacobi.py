# RUN: pyasc compile %s --emit ascendc | golden %S/jacobi.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def jacobi(a: asc.float32[N, N], b: asc.float32[N, N], steps: int):
    for t in range(steps):
        for i, j in asc.parallel_for_grid(N - 2, N - 2):
            b[i + 1, j + 1] = 0.25 * (a[i, j + 1] + a[i + 2, j + 1] + a[i + 1, j] + a[i + 1, j + 2])
        for i, j in asc.parallel_for_grid(N - 2, N - 2):
            a[i + 1, j + 1] = b[i + 1, j + 1]
