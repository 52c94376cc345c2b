# SPDX-License-Identifier: Apache-2.0
# Two values kept in step.
# RUN: pyasc compile %s --emit cpp | golden %S/argmax.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def argmax(x: asc.float32[M, N], place: asc.int32[M]):
    for i in asc.parallel_for(M):
        best = x[i, 0]
        where = 0
        for j in range(1, N):
            if x[i, j] > best:
                best = x[i, j]
                where = j
        place[i] = where
