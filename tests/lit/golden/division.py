# SPDX-License-Identifier: Apache-2.0
# Floor division and remainder follow Python.
# RUN: pyasc compile %s --emit cpp | golden %S/division.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def division(x: asc.int32[N], y: asc.int32[N], q: asc.int32[N], r: asc.int32[N], h: asc.int32[N]):
    for i in asc.parallel_for(N):
        q[i] = x[i] // y[i]
        r[i] = x[i] % y[i]
        h[i] = x[i] // 8 + x[i] % 8
