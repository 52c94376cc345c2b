# SPDX-License-Identifier: Apache-2.0
# A helper is inlined, and its name is nowhere.
# RUN: pyasc compile %s --emit cpp | golden %S/helper.cpp
from __future__ import annotations

import pyasc as asc


def normal_density(d):
    return 0.3989422804 * asc.exp(-0.5 * d * d)


@asc.kernel
def density(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = normal_density(x[i])
