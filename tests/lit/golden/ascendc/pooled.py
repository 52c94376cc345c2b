# RUN: pyasc compile %s --emit ascendc | golden %S/pooled.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def pooled(x: asc.float16[H, W], y: asc.float16[P, Q]):
    for i, j in asc.parallel_for_grid(P, Q):
        a = asc.maximum(x[2 * i, 2 * j], x[2 * i, 2 * j + 1])
        y[i, j] = asc.maximum(a, asc.maximum(x[2 * i + 1, 2 * j], x[2 * i + 1, 2 * j + 1]))
