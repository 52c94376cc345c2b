# SPDX-License-Identifier: Apache-2.0
"""Layer normalisation written on whole rows, as in NumPy; pyasc fuses it into three loops without temporaries."""

from __future__ import annotations

import numpy as np

import pyasc as asc

M, N = asc.dims("M N")


@asc.kernel
def layer_norm(
    x: asc.float32[M, N], gain: asc.float32[N], bias: asc.float32[N], y: asc.float32[M, N], epsilon: float
):
    for i in asc.parallel_for(M):
        row = x[i]
        centred = row - asc.mean(row)
        scale = 1.0 / asc.sqrt(asc.mean(centred * centred) + epsilon)
        y[i] = centred * scale * gain + bias


def reference(x, gain, bias, epsilon):
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon) * gain + bias


def check() -> str:
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (5, 77), (128, 768)):
        x = (3 + 2 * rng.normal(size=(rows, columns))).astype(np.float32)
        gain, bias = rng.normal(size=(2, columns)).astype(np.float32)
        y = np.empty_like(x)
        layer_norm(x, gain, bias, y, 1e-5)
        np.testing.assert_allclose(y, reference(x, gain, bias, 1e-5), rtol=1e-4, atol=1e-5)
    return "rows of 1, 77 and 768 equal the formula in double precision within 1e-4"


if __name__ == "__main__":
    print(check())
