# SPDX-License-Identifier: Apache-2.0
# Neighbours in two dimensions; bounds follow from the loop, so nothing is checked.
# RUN: pyasc compile %s --emit cpp | golden %S/stencil.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def stencil(x: asc.float32[H, W], y: asc.float32[H, W]):
    for i in asc.parallel_for(1, H - 1):
        for j in range(1, W - 1):
            y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
