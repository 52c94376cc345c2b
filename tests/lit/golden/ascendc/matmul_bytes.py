# RUN: pyasc compile %s --emit ascendc | golden %S/matmul_bytes.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def matmul_bytes(a: asc.int8[K, M], b: asc.int8[K, N]) -> asc.int32[M, N]:
    return a.T.astype(asc.int32) @ b.astype(asc.int32)
