# SPDX-License-Identifier: Apache-2.0
# A convolution: a tile of eight filters by three vectors of points, which lie where they are read, stays in registers.
# RUN: pyasc compile %s --emit cpp | golden %S/filter.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def filter(x: asc.float32[C, W], w: asc.float32[8, C, 3], y: asc.float32[8, W - 2]):
    for f in asc.parallel_for(8):
        for j in range(W - 2):
            total = 0.0
            for c in range(C):
                for k in range(3):
                    total += x[c, j + k] * w[f, c, k]
            y[f, j] = total
