# RUN: pyasc compile %s --emit ascendc | golden %S/swap_two.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def swap_two(x: asc.float32[N], i: int, j: int):
    x[i], x[j] = x[j], x[i]
