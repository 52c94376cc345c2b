# SPDX-License-Identifier: Apache-2.0
# A sum along columns walks memory in its own order, a row at a time.
# RUN: pyasc compile %s --emit cpp | golden %S/column-sum.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def column_sum(x: asc.float32[M, N], y: asc.float32[N]):
    for j in asc.parallel_for(N):
        total = 0.0
        for i in range(M):
            total += x[i, j]
        y[j] = total
