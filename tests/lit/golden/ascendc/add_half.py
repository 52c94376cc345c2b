# RUN: pyasc compile %s --emit ascendc | golden %S/add_half.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def add_half(x: asc.float16[N], y: asc.float16[N], o: asc.float16[N]):
    for i in asc.parallel_for(N):
        o[i] = x[i] + y[i]
