# SPDX-License-Identifier: Apache-2.0
"""A histogram: iterations of a parallel loop may meet at one counter, so they add to it atomically."""

from __future__ import annotations

import numpy as np

import pyasc as asc

N = asc.dims("N")


@asc.kernel
def histogram(values: asc.uint8[N], counts: asc.int32[256]):
    for i in asc.parallel_for(N):
        asc.atomic_add(counts, values[i], 1)


def check() -> str:
    values = np.random.default_rng(0).binomial(255, 0.3, 1_000_003).astype(np.uint8)
    counts = np.zeros(256, np.int32)
    histogram(values, counts)
    np.testing.assert_array_equal(counts, np.bincount(values, minlength=256))
    return "256 counts of 1,000,003 values equal np.bincount"


if __name__ == "__main__":
    print(check())
