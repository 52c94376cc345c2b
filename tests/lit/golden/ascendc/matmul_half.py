# RUN: pyasc compile %s --emit ascendc | golden %S/matmul_half.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def matmul_half(a: asc.float16[M, K], b: asc.float16[K, N]) -> asc.float16[M, N]:
    return a @ b
