# RUN: pyasc compile %s --emit ascendc | golden %S/root_of_sum.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def root_of_sum(x: asc.float32[N], gain: asc.float32[1], y: asc.float32[N]):
    y[:] = x * asc.exp(gain[0]) / asc.sqrt(asc.mean(x * x) + 1e-5)
