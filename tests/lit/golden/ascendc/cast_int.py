# RUN: pyasc compile %s --emit ascendc | golden %S/cast_int.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def cast_int(x: asc.int32[N], s: asc.float32) -> asc.int32[N]:
    return asc.floor(x.astype(asc.float32) * s).astype(asc.int32)
