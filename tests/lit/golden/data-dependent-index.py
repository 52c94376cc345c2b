# SPDX-License-Identifier: Apache-2.0
# An index that comes from data is checked where it is used, and may count from the end.
# RUN: pyasc compile %s --emit cpp | golden %S/data-dependent-index.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def take(x: asc.float32[N], at: asc.int32[M], y: asc.float32[M]):
    for i in range(M):
        y[i] = x[at[i]]
