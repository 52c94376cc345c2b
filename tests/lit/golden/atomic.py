# SPDX-License-Identifier: Apache-2.0
# Iterations that meet at one element add atomically, or to tables of their own.
# RUN: pyasc compile %s --emit cpp | golden %S/atomic.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def histogram(values: asc.uint8[N], counts: asc.int32[256]):
    for i in asc.parallel_for(N):
        asc.atomic_add(counts, values[i], 1)
