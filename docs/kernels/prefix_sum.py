# SPDX-License-Identifier: Apache-2.0
"""A prefix sum: a loop that carries a value and stores it at every step, which is a scan."""

from __future__ import annotations

import pyasc as asc


@asc.kernel
def prefix_sum(x: asc.int32[N], y: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        y[i] = total
