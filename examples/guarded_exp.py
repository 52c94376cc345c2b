# SPDX-License-Identifier: Apache-2.0
"""A branch that depends on data: elements that fail the test keep what they were."""

from __future__ import annotations

import numpy as np

import pyasc

N = pyasc.dims("N")


# fmt: off
@pyasc.kernel
def guarded_exp(x: pyasc.float32[100], y: pyasc.float32[100]):
    for i in range(100):
        if x[i] > 0:
            y[i] = pyasc.exp(x[i])
# fmt: on


@pyasc.kernel
def guarded_exp_of_any_length(x: pyasc.float32[N], y: pyasc.float32[N]):
    for i in pyasc.parallel_for(N):
        if x[i] > 0:
            y[i] = pyasc.exp(x[i])


def check() -> str:
    rng = np.random.default_rng(0)
    for kernel, n in ((guarded_exp, 100), (guarded_exp_of_any_length, 100_003)):
        x = rng.normal(size=n).astype(np.float32)
        y = np.full(n, -7.0, np.float32)
        kernel(x, y)
        # One unit in the last place is 2**-23 of a number at most: docs/math-accuracy.md has the bound of exp.
        np.testing.assert_allclose(y, np.where(x > 0, np.exp(x), np.float32(-7)), rtol=2 * 2.0**-23)
    return "y is exp(x) where x > 0 and untouched elsewhere, at 100 and 100,003 elements"


if __name__ == "__main__":
    print(check())
