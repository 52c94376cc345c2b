# RUN: pyasc compile %s --emit ascendc | golden %S/column_sum.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def column_sum(x: asc.float32[R, C]) -> asc.float32[C]:
    return x.sum(axis=0)
