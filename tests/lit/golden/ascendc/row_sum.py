# RUN: pyasc compile %s --emit ascendc | golden %S/row_sum.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def row_sum(x: asc.float32[R, C]) -> asc.float32[R]:
    return x.sum(axis=1)
