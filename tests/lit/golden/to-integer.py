# SPDX-License-Identifier: Apache-2.0
# A float that does not fit an integer type saturates.
# RUN: pyasc compile %s --emit cpp | golden %S/to-integer.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def to_integer(x: asc.float32[N], y: asc.uint8[N]):
    for i in asc.parallel_for(N):
        y[i] = asc.rint(x[i])
