# SPDX-License-Identifier: Apache-2.0
"""A prefix sum: a loop whose iterations depend on each other, recognised as a scan and split over the cores."""

from __future__ import annotations

import numpy as np

import pyasc as asc

N = asc.dims("N")


@asc.kernel
def prefix_sum(x: asc.int32[N], y: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        y[i] = total


def check() -> str:
    rng = np.random.default_rng(0)
    for n in (0, 1, 7, 1000, 1_000_003):
        x = rng.integers(-1000, 1000, n, np.int32)
        y = np.empty_like(x)
        prefix_sum(x, y)
        np.testing.assert_array_equal(y, np.cumsum(x, dtype=np.int32))
    return "the sums up to each of 1,000,003 elements equal np.cumsum"


if __name__ == "__main__":
    print(check())
