# SPDX-License-Identifier: Apache-2.0
"""`precision="strict"` keeps the written order of sums: every bit is that of a loop over float32."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc

SIZES = (1, 7, 64, 65, 1000, 20_000)


@asc.kernel(precision="strict")
def row_sum(x: asc.float32[M, N], y: asc.float32[M]):
    for i in asc.parallel_for(M):
        total = 0.0
        for j in range(N):
            total += x[i, j]
        y[i] = total


@asc.kernel(precision="strict")
def column_sum(x: asc.float32[M, N], y: asc.float32[N]):
    for j in asc.parallel_for(N):
        total = 0.0
        for i in range(M):
            total += x[i, j]
        y[j] = total


@asc.kernel(precision="strict")
def dot(x: asc.float32[N], y: asc.float32[N]) -> asc.float32:
    total = 0.0
    for i in range(N):
        total += x[i] * y[i]
    return total


@asc.kernel(precision="strict")
def prefix_sum(x: asc.float32[N], y: asc.float32[N]):
    total = 0.0
    for i in range(N):
        total += x[i]
        y[i] = total


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def in_order(x: np.ndarray, axis: int = 0) -> np.ndarray:
    """Sums from the first element on; ufunc.accumulate adds one after the other."""
    return np.add.accumulate(x, axis=axis, dtype=np.float32).take(-1, axis=axis)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([row_sum, column_sum, dot, prefix_sum])


@pytest.mark.parametrize("n", SIZES)
def test_sums_along_rows(n: int) -> None:
    x, y = numbers(5, n), np.empty(5, np.float32)
    row_sum(x, y)
    np.testing.assert_array_equal(y, in_order(x, axis=1))


@pytest.mark.parametrize("n", SIZES)
def test_sums_along_columns(n: int) -> None:
    x, y = numbers(n, 9), np.empty(9, np.float32)
    column_sum(x, y)
    np.testing.assert_array_equal(y, in_order(x))


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_products(n: int) -> None:
    x, y = numbers(2, n)
    assert dot(x, y) == in_order(x * y)


@pytest.mark.parametrize("n", SIZES)
def test_prefix_sums(n: int) -> None:
    x, y = numbers(n), np.empty(n, np.float32)
    prefix_sum(x, y)
    np.testing.assert_array_equal(y, np.add.accumulate(x))
