# SPDX-License-Identifier: Apache-2.0
# Whole-array operations become one loop without temporary arrays.
# RUN: pyasc compile %s --emit cpp | golden %S/whole-arrays.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def chain(x: asc.float32[N], y: asc.float32[N], z: asc.float32[N]):
    z[:] = asc.sqrt(x * x + y * y)
