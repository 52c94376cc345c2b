# SPDX-License-Identifier: Apache-2.0
# Narrow integers wrap.
# RUN: pyasc compile %s --emit cpp | golden %S/narrow-integers.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def narrow(x: asc.int8[N], y: asc.int8[N], z: asc.int8[N]):
    for i in asc.parallel_for(N):
        z[i] = x[i] * y[i] + 1
