# RUN: pyasc compile %s --emit ascendc | golden %S/lookup.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def lookup(table: asc.float32[V], idx: asc.int32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = table[idx[i]] * 2.0
