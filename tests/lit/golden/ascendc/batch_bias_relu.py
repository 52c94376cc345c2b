# RUN: pyasc compile %s --emit ascendc | golden %S/batch_bias_relu.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def batch_bias_relu(
    x: asc.float32[B, M, K], w: asc.float32[B, N, K], bias: asc.float32[N]
) -> asc.float32[B, M, N]:
    return asc.relu(asc.einsum("bmk,bnk->bmn", x, w) + bias)
