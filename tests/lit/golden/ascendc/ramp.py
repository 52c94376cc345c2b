# RUN: pyasc compile %s --emit ascendc | golden %S/ramp.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def ramp(o: asc.float32[N]):
    for i in asc.parallel_for(N):
        o[i] = asc.sqrt(float(i)) if i % 3 == 0 else 0.0
