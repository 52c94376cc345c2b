# RUN: pyasc compile %s --emit ascendc | golden %S/triangle.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def triangle(a: asc.float32[N, N], s: asc.float32[N]):
    for i in asc.parallel_for(N):
        t = 0.0
        for j in range(i + 1):
            t += a[i, j] * a[i, j]
        s[i] = asc.sqrt(t)
