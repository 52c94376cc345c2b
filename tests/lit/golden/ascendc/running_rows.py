# RUN: pyasc compile %s --emit ascendc | golden %S/running_rows.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def running_rows(x: asc.float32[H, W]) -> asc.float32[H, W]:
    return asc.cumsum(x, axis=1)
