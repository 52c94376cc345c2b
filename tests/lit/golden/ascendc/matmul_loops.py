# RUN: pyasc compile %s --emit ascendc | golden %S/matmul_loops.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def matmul_loops(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            c[i, j] = total
