# RUN: pyasc compile %s --emit ascendc | golden %S/matmul_transposed.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def matmul_transposed(a: asc.float32[K, M], b: asc.float32[N, K]):
    return a.T @ b.T
