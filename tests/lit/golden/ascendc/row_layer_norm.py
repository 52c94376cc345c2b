# RUN: pyasc compile %s --emit ascendc | golden %S/row_layer_norm.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def row_layer_norm(x: asc.float32[R, C], gamma: asc.float32[C], beta: asc.float32[C]) -> asc.float32[R, C]:
    return asc.layer_norm(x, gamma, beta)
