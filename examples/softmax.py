# SPDX-License-Identifier: Apache-2.0
"""Softmax of each row: the largest element, the sum of exponentials, the quotients, while the row is in cache."""

from __future__ import annotations

import numpy as np

import pyasc as asc

M, N = asc.dims("M N")


@asc.kernel
def softmax(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        largest = x[i, 0]
        for j in range(1, N):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(N):
            total += asc.exp(x[i, j] - largest)
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
