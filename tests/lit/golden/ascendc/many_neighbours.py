# RUN: pyasc compile %s --emit ascendc | golden %S/many_neighbours.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def many_neighbours(x: asc.float32[R, C], o: asc.float32[R, C]):
    for i, j in asc.parallel_for_grid(R - 2, C - 4):
        across = x[i + 1, j] + x[i + 1, j + 1] + x[i + 1, j + 2] + x[i + 1, j + 3] + x[i + 1, j + 4]
        corners = x[i, j + 1] + x[i, j + 3] + x[i + 2, j + 1] + x[i + 2, j + 3]
        o[i + 1, j + 2] = across - corners
