# RUN: pyasc compile %s --emit ascendc | golden %S/embedding.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel(unchecked=True)
def embedding(table: asc.float16[V, D], tokens: asc.int32[N], position: asc.float16[N, D], y: asc.float16[N, D]):
    for i in asc.parallel_for(N):
        for j in range(D):
            y[i, j] = table[tokens[i], j] + position[i, j]
