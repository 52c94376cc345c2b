# RUN: pyasc compile %s --emit ascendc | golden %S/weighted_columns.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def weighted_columns(a: asc.float32[R, C], w: asc.float32[R], y: asc.float32[C]):
    for j in asc.parallel_for(C):
        for i in range(R):
            y[j] += asc.exp(a[i, j] - w[i])
