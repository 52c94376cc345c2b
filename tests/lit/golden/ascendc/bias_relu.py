# RUN: pyasc compile %s --emit ascendc | golden %S/bias_relu.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def bias_relu(x: asc.float32[R, C], b: asc.float32[C]) -> asc.float32[R, C]:
    return asc.relu(x + b)
