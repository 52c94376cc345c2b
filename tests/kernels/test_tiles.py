# SPDX-License-Identifier: Apache-2.0
"""Product-sums at sizes around those of their tiles: less than a vector, whole tiles, and everything in between."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import pyasc as asc


@asc.kernel
def matmul(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i in range(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@asc.kernel
def convolve(x: asc.float32[C, H, W], w: asc.float32[F, C, 3, 3], y: asc.float32[F, H - 2, W - 2]):
    for f in range(F):
        for i in range(H - 2):
            for j in range(W - 2):
                total = 0.0
                for c in range(C):
                    for p in range(3):
                        for q in range(3):
                            total += x[c, i + p, j + q] * w[f, c, p, q]
                y[f, i, j] = total


@asc.kernel
def convolve_onto(x: asc.float32[C, H, W], w: asc.float32[F, C, 3, 3], y: asc.float32[F, H - 2, W - 2]):
    for f in range(F):
        for i in range(H - 2):
            for j in range(W - 2):
                for c in range(C):
                    for p in range(3):
                        for q in range(3):
                            y[f, i, j] += x[c, i + p, j + q] * w[f, c, p, q]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> Iterator[None]:
    """All kernels of the file as one unit."""
    asc.compile([matmul, convolve, convolve_onto])
    yield


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), (3, 3), axis=(1, 2))
    return np.einsum("cijpq,fcpq->fij", windows, w.astype(float))


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 13, 14, 15, 29])
@pytest.mark.parametrize("depth", [0, 1, 511, 513])
def test_matmul(rows: int, depth: int) -> None:
    for columns in (1, 15, 16, 31, 32, 33, 70, 1030):
        a, b = numbers(rows, depth), numbers(depth, columns)
        c = np.full((rows, columns), np.nan, np.float32)
        matmul(a, b, c)
        np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), rtol=1e-5)


@pytest.mark.parametrize("filters", [1, 3, 4, 5, 8, 9, 13])
@pytest.mark.parametrize("onto", [False, True])
def test_convolution(filters: int, onto: bool) -> None:
    for width in (3, 6, 9, 17, 18, 19, 33, 34, 35, 49, 50, 51, 66, 67, 82, 83, 98):
        x, w = numbers(2, 5, width), numbers(filters, 2, 3, 3)
        before = numbers(filters, 3, width - 2)
        y = before.copy()
        (convolve_onto if onto else convolve)(x, w, y)
        np.testing.assert_allclose(y, convolved(x, w) + (before if onto else 0), rtol=1e-5)
