# RUN: pyasc compile %s --emit ascendc | golden %S/conv_channels_first.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def conv_channels_first(
    x: asc.float32[N, C, H, W], w: asc.float32[F, C, 3, 3], out: asc.float32[N, F, H - 2, W - 2]
):
    for n, f in asc.parallel_for_grid(N, F):
        for i in range(H - 2):
            for j in range(W - 2):
                total = 0.0
                for c in range(C):
                    for p in range(3):
                        for q in range(3):
                            total += x[n, c, i + p, j + q] * w[f, c, p, q]
                out[n, f, i, j] = total
