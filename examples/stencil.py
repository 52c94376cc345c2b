# SPDX-License-Identifier: Apache-2.0
"""Heat spreads over a plate: a 5-point stencil, a step in time after the other, between two arrays in turn."""

from __future__ import annotations

import numpy as np

import pyasc as asc

H, W = asc.dims("H W")


@asc.kernel
def heat(u: asc.float32[H, W], v: asc.float32[H, W], rate: float, steps: int):
    """Takes `2 * steps` steps in time; the result is in `u`, and the border stays as it is."""
    for _ in range(steps):
        for i in asc.parallel_for(1, H - 1):
            for j in range(1, W - 1):
                v[i, j] = u[i, j] + rate * (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                )
        for i in asc.parallel_for(1, H - 1):
            for j in range(1, W - 1):
                u[i, j] = v[i, j] + rate * (
                    v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4.0 * v[i, j]
                )


def reference(u, rate, steps):
    u = u.copy()
    for _ in range(2 * steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += np.float32(rate) * (around - np.float32(4) * u[1:-1, 1:-1])
    return u


def check() -> str:
    u = np.zeros((200, 301), np.float32)
    u[0] = 100.0
    u[90:110, 140:160] = 50.0
    expected = reference(u, 0.2, 50)
    heat(u, u.copy(), 0.2, 50)
    np.testing.assert_array_equal(u, expected)
    return "100 steps on a plate of 200 x 301 equal NumPy's slices bit for bit"


if __name__ == "__main__":
    print(check())
