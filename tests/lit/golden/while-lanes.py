# RUN: pyasc compile %s --emit cpp | golden %S/while-lanes.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def halvings(x: asc.float32[M, N], limit: int, counts: asc.int32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            left = x[i, j]
            n = 0
            while n < limit and left > 1.0:
                left = left * 0.5
                n += 1
            counts[i, j] = n
