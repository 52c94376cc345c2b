# RUN: pyasc compile %s --emit ascendc | golden %S/guarded_store.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def guarded_store(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0.0:
            y[i] = asc.sqrt(x[i])
