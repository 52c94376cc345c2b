# RUN: pyasc compile %s --emit ascendc | golden %S/column_mean.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def column_mean(data: asc.float32[N, M], mean: asc.float32[M]):
    for j in asc.parallel_for(M):
        total = 0.0
        for i in range(N):
            total += data[i, j]
        mean[j] = total / N
