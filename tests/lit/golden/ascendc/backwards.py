# RUN: pyasc compile %s --emit ascendc | golden %S/backwards.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def backwards(x: asc.float16[N]):
    return x[::-1] * 2.0
