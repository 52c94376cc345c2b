# RUN: pyasc compile %s --emit ascendc | golden %S/conv_channels_last.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def conv_channels_last(
    x: asc.float16[B, H, W, C], w: asc.float16[3, 3, C, F], out: asc.float16[B, H - 2, W - 2, F]
):
    for n in asc.parallel_for(B):
        for i in range(H - 2):
            for j in range(W - 2):
                for f in range(F):
                    total = asc.float32(0.0)
                    for p in range(3):
                        for q in range(3):
                            for c in range(C):
                                total += asc.float32(x[n, i + p, j + q, c]) * asc.float32(w[p, q, c, f])
                    out[n, i, j, f] = asc.float16(total)
