# SPDX-License-Identifier: Apache-2.0
# A sum along rows: rows are threaded, the sum runs in vectors.
# RUN: pyasc compile %s --emit cpp | golden %S/row-sum.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def row_sum(x: asc.float32[M, N], y: asc.float32[M]):
    for i in asc.parallel_for(M):
        total = 0.0
        for j in range(N):
            total += x[i, j]
        y[i] = total
