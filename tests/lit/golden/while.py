# SPDX-License-Identifier: Apache-2.0
# A while loop for each element.
# RUN: pyasc compile %s --emit cpp | golden %S/while.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def collatz(start: asc.int64[N], steps: asc.int64[N]):
    for i in asc.parallel_for(N):
        value = start[i]
        count = 0
        while value > 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            count += 1
        steps[i] = count
