# RUN: pyasc compile %s --emit ascendc | golden %S/prefix_sum.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def prefix_sum(x: asc.float32[N], o: asc.float32[N]):
    total = 0.0
    for i in range(N):
        total += x[i]
        o[i] = total
