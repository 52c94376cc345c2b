# SPDX-License-Identifier: Apache-2.0
# A buffer of constant size stands on the stack of the thread.
# RUN: pyasc compile %s --emit cpp | golden %S/local-buffer.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def reverse_blocks(x: asc.float32[N, 64], y: asc.float32[N, 64]):
    for i in asc.parallel_for(N):
        block = asc.shared_memory((64,), asc.float32)
        for j in range(64):
            block[j] = 2.0 * x[i, j]
        for j in range(64):
            y[i, j] = block[63 - j]
