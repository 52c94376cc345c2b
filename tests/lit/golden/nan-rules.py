# SPDX-License-Identifier: Apache-2.0
# Python's min keeps its rule for NaN, asc.minimum has NumPy's.
# RUN: pyasc compile %s --emit cpp | golden %S/nan-rules.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def least(x: asc.float32[N], y: asc.float32[N], python: asc.float32[N], numpy: asc.float32[N]):
    for i in asc.parallel_for(N):
        python[i] = min(x[i], y[i])
        numpy[i] = asc.minimum(x[i], y[i])
