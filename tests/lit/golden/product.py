# SPDX-License-Identifier: Apache-2.0
# A product of matrices: panels of `b` are packed, and tiles of `c` stay in registers for a whole panel.
# RUN: pyasc compile %s --emit cpp | golden %S/product.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def product(a: asc.float32[32, K], b: asc.float32[K, 64], c: asc.float32[32, 64]):
    for i in asc.parallel_for(32):
        for j in range(64):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            c[i, j] = total
