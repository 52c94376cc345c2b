# RUN: pyasc compile %s --emit ascendc | golden %S/fused_chain.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def fused_chain(x: asc.float32[N], y: asc.float32[N], o: asc.float32[N]):
    for i in asc.parallel_for(N):
        o[i] = max(x[i] * y[i] + 2.5 * x[i], 0.0) * (x[i] - y[i])
