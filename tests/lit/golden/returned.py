# SPDX-License-Identifier: Apache-2.0
# A returned tensor is one more parameter of the C function.
# RUN: pyasc compile %s --emit cpp | golden %S/returned.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel
def double(x: asc.float32[N]) -> asc.float32[N]:
    return x + x
