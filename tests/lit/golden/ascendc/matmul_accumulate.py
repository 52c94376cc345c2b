# RUN: pyasc compile %s --emit ascendc | golden %S/matmul_accumulate.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def matmul_accumulate(a: asc.float32[1024, 1024], b: asc.float32[1024, 1024], c: asc.float32[1024, 1024]):
    block_size = 32
    for i in asc.parallel_for(0, 1024, block_size):
        for j in asc.parallel_for(0, 1024, block_size):
            for k in range(1024):
                for ii in range(i, min(i + block_size, 1024)):
                    for jj in range(j, min(j + block_size, 1024)):
                        c[ii, jj] += a[ii, k] * b[k, jj]
