# SPDX-License-Identifier: Apache-2.0
# A store under a condition.
# RUN: pyasc compile %s --emit cpp | golden %S/guard.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def guard(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0:
            y[i] = asc.exp(x[i])
