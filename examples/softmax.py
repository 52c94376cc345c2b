# SPDX-License-Identifier: Apache-2.0
"""Softmax of each row in its online form: the largest element and the sum are found in one reading of the row."""

from __future__ import annotations

import math

import numpy as np

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


def reference(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def check() -> str:
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (7, 333), (256, 1024)):
        x = (20 * rng.normal(size=shape)).astype(np.float32)
        y = np.empty_like(x)
        softmax(x, y)
        np.testing.assert_allclose(y, reference(x), rtol=1e-5, atol=1e-30)
    return "each row equals exp(x - max) / sum in double precision within 1e-5"


if __name__ == "__main__":
    print(check())
