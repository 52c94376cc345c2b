# RUN: pyasc compile %s --emit ascendc | golden %S/turned.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def turned(x: asc.float32[H, W]) -> asc.float32[W, H]:
    return x.T * 2.0
