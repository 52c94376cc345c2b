# RUN: pyasc compile %s --emit ascendc | golden %S/magnitudes.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def magnitudes(z: asc.float32[N, 2], r: asc.float32[N]):
    for i in asc.parallel_for(N):
        r[i] = asc.sqrt(z[i, 0] * z[i, 0] + z[i, 1] * z[i, 1])
