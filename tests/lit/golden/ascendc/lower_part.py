# RUN: pyasc compile %s --emit ascendc | golden %S/lower_part.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def lower_part(x: asc.float32[N, N], o: asc.float32[N, N]):
    for i in asc.parallel_for(N):
        for j in range(N):
            o[i, j] = x[i, j] if j <= i else 0.0
