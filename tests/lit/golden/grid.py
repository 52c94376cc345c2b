# SPDX-License-Identifier: Apache-2.0
# Two parallel dimensions over slices of arrays.
# RUN: pyasc compile %s --emit cpp | golden %S/grid.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def outer(x: asc.float32[M], y: asc.float32[N], z: asc.float32[M, N]):
    for i, j in asc.parallel_for_grid(M, N):
        z[i, j] = x[i] * y[j]
