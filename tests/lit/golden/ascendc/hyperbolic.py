# RUN: pyasc compile %s --emit ascendc | golden %S/hyperbolic.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def hyperbolic(x: asc.float32[N], y: asc.float32[N]):
    return asc.hypot(x, y) + asc.log2(x)
