# RUN: pyasc compile %s --emit ascendc | golden %S/integer_max.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def integer_max(x: asc.int32[N]) -> asc.int32:
    return x.max()
