# SPDX-License-Identifier: Apache-2.0
# float16 is computed in float and rounded after each operation.
# RUN: pyasc compile %s --emit cpp | golden %S/half.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def half(x: asc.float16[N], y: asc.float16[N]):
    for i in asc.parallel_for(N):
        y[i] = x[i] * 1.5 + y[i]
