# SPDX-License-Identifier: Apache-2.0
# A loop that ends early, and its else.
# RUN: pyasc compile %s --emit cpp | golden %S/break.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def find(x: asc.int32[N], wanted: asc.int32, place: asc.int64[1]):
    for i in range(N):
        if x[i] == wanted:
            place[0] = i
            break
    else:
        place[0] = -1
