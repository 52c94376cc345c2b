# RUN: pyasc compile %s --emit ascendc | golden %S/histogram.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def histogram(x: asc.int32[N], bins: asc.int32[B]):
    for i in range(N):
        bins[x[i]] += 1
