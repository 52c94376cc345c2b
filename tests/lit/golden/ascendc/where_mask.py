# RUN: pyasc compile %s --emit ascendc | golden %S/where_mask.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def where_mask(x: asc.float32[N], y: asc.float32[N], o: asc.float32[N], t: float):
    for i in asc.parallel_for(N):
        o[i] = asc.exp(x[i]) if x[i] > t else y[i]
