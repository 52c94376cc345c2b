# SPDX-License-Identifier: Apache-2.0
# A scalar parameter stays a scalar; the loop is vectorised and cut into chunks.
# RUN: pyasc compile %s --emit cpp | golden %S/saxpy.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def saxpy(a: asc.float32, x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = a * x[i] + y[i]
