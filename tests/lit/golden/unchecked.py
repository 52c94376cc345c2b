# SPDX-License-Identifier: Apache-2.0
# `unchecked=True` leaves data-dependent indices to the user.
# RUN: pyasc compile %s --emit cpp | golden %S/unchecked.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel(unchecked=True)
def take(x: asc.float32[N], at: asc.uint32[M], y: asc.float32[M]):
    for i in asc.parallel_for(M):
        y[i] = x[at[i]]
