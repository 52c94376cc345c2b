# RUN: pyasc compile %s --emit ascendc | golden %S/masked_while.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def masked_while(left: float, top: float, step: float, limit: int, steps: asc.int32[H, W]):
    for i in asc.parallel_for(H):
        ci = top - i * step
        for j in asc.parallel_for(W):
            cr = left + j * step
            zr, zi = 0.0, 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                n += 1
            steps[i, j] = n
