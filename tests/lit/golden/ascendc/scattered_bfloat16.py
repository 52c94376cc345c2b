# RUN: pyasc compile %s --emit ascendc | golden %S/scattered_bfloat16.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def scattered_bfloat16(x: asc.bfloat16[N], places: asc.int32[N], y: asc.bfloat16[N]):
    for i in range(N):
        y[places[i]] += x[i]
