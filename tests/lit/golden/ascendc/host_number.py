# RUN: pyasc compile %s --emit ascendc | golden %S/host_number.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def host_number(x: asc.float32[N], alpha: float):
    return x * asc.exp(-alpha) / asc.sqrt(asc.float32(N))
