# RUN: pyasc compile %s --emit ascendc | golden %S/two_sums.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def two_sums(a: asc.float32[M, N], x: asc.float32[N], y: asc.float32[M]):
    for i in asc.parallel_for(M):
        left = 0.0
        right = 0.0
        for j in range(N):
            left += a[i, j] * x[j]
            right += a[i, j]
        y[i] = left - right
