# SPDX-License-Identifier: Apache-2.0
"""Softmax of rows in its online form: largest element and sum are carried together through one reading of a row."""

from __future__ import annotations

import math

import pyasc as asc


@asc.kernel
def softmax(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        largest = -math.inf
        total = 0.0
        for j in range(N):
            new_largest = max(largest, x[i, j])
            total = total * asc.exp(largest - new_largest) + asc.exp(x[i, j] - new_largest)
            largest = new_largest
        for j in range(N):
            y[i, j] = asc.exp(x[i, j] - largest) / total
