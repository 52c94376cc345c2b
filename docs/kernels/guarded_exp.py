# SPDX-License-Identifier: Apache-2.0
"""A branch that depends on data around a store: a guard, and elements that fail it keep their value."""

from __future__ import annotations

import pyasc as asc


@asc.kernel
def guarded_exp(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0:
            y[i] = asc.exp(x[i])
