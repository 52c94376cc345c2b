# SPDX-License-Identifier: Apache-2.0
# With strict precision the written order of a sum is kept.
# RUN: pyasc compile %s --emit cpp | golden %S/strict-sum.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel(precision="strict")
def strict_sum(x: asc.float32[M, N], y: asc.float32[M]):
    for i in asc.parallel_for(M):
        total = 0.0
        for j in range(N):
            total += x[i, j]
        y[i] = total
