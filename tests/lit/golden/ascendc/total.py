# RUN: pyasc compile %s --emit ascendc | golden %S/total.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def total(x: asc.float32[N]) -> asc.float32:
    return x.sum()
