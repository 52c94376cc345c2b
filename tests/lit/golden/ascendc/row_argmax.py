# RUN: pyasc compile %s --emit ascendc | golden %S/row_argmax.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def row_argmax(x: asc.float32[R, C]) -> asc.int64[R]:
    return x.argmax(axis=1)
