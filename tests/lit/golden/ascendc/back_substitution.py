# RUN: pyasc compile %s --emit ascendc | golden %S/back_substitution.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def back_substitution(U: asc.float32[N, N], x: asc.float32[N], b: asc.float32[N]):
    for i in range(N - 1, -1, -1):
        x[i] = b[i]
        for j in range(i + 1, N):
            x[i] -= U[i, j] * x[j]
        x[i] /= U[i, i]
