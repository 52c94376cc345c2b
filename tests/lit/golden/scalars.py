# SPDX-License-Identifier: Apache-2.0
# A kernel of scalars returns its result through memory.
# RUN: pyasc compile %s --emit cpp | golden %S/scalars.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def add_tensors(a: asc.float32, b: asc.float32) -> asc.float32:
    return a + b
