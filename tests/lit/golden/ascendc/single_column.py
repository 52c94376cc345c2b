# RUN: pyasc compile %s --emit ascendc | golden %S/single_column.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def single_column(p: asc.float32[R, C], q: asc.float32[R]):
    for i in asc.parallel_for(R):
        p[i, 1] = p[i, 0] * 2.0 + q[i]
