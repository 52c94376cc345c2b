# SPDX-License-Identifier: Apache-2.0
"""Running values of arrays around the sizes of vectors, steps and chunks, wherever the arrays lie."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = needs_compiler

SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100, 8191, 8192, 8193, 8241, 20000)
PLACES = range(0, 17, 3)


@asc.kernel
def sums(x: asc.float32[...], y: asc.float32[...]):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        y[i] = total


@asc.kernel
def sums_in_place(x: asc.float32[...]):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        x[i] = total


@asc.kernel
def wrapping_sums_in_place(x: asc.int32[...]):
    total = 0
    for i in range(x.shape[0]):
        total += x[i]
        x[i] = total


@asc.kernel
def largest_product(x: asc.float32[...], y: asc.float32[...]):
    most = asc.float32(-np.inf)
    for i in range(x.shape[0]):
        most = max(most, x[i] * y[i])
        y[i] = most


def placed(values: np.ndarray, place: int) -> np.ndarray:
    """A copy of the values that begins `place` elements behind where memory begins."""
    room = np.zeros(values.size + place, values.dtype)[place:]
    room[:] = values
    return room


@pytest.mark.parametrize("n", SIZES)
def test_in_place(n: int) -> None:
    rng = np.random.default_rng(n)
    whole = rng.integers(-5, 6, n).astype(np.float32)
    ints = rng.integers(-(2**31), 2**31 - 1, n, np.int32)
    for place in PLACES:
        x = placed(whole, place)
        sums_in_place(x)
        assert np.array_equal(x, np.cumsum(whole, dtype=np.float32))
        x = placed(ints, place)
        wrapping_sums_in_place(x)
        assert np.array_equal(x, np.cumsum(ints, dtype=np.int32))


@pytest.mark.parametrize("n", SIZES)
def test_running_maxima_of_products(n: int) -> None:
    rng = np.random.default_rng(n)
    x, values = rng.standard_normal(n, np.float32), rng.standard_normal(n, np.float32)
    for place in PLACES:
        y = placed(values, place)
        largest_product(x, y)
        assert np.array_equal(y, np.maximum.accumulate(x * values))


@pytest.mark.parametrize("n", SIZES)
def test_bits_do_not_depend_on_where_arrays_lie(n: int) -> None:
    values = np.random.default_rng(n).standard_normal(n, np.float32)
    results = []
    for place in range(17):
        y = placed(np.zeros(n, np.float32), place)
        sums(placed(values, 16 - place), y)
        results.append(y.tobytes())
    assert len(set(results)) == 1
    np.testing.assert_allclose(y, np.cumsum(values, dtype=np.float64), rtol=1e-4, atol=1e-3)


@asc.kernel
def total_from(x: asc.float32[...], start: float):
    for i in range(x.shape[0]):
        start += x[i]
    return start


@asc.kernel
def squares_from(x: asc.float32[...], start: float):
    for i in range(x.shape[0]):
        start += x[i] * x[i] * -1.0
    return start


@asc.kernel
def running_from(x: asc.float32[...], start: float, y: asc.float32[...]):
    for i in range(x.shape[0]):
        start += x[i]
        y[i] = start


@asc.kernel
def running(x: asc.float32[...]):
    return asc.cumsum(x)


@asc.kernel
def columns_onto(x: asc.float32[M, N], y: asc.float32[N]):
    for j in range(N):
        for i in range(M):
            y[j] += x[i, j]


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_negative_zeros(n: int) -> None:
    """The sign of a zero is what each sum has started from: chunks and vectors add nothing to it."""
    zeros, y = np.full(n, -0.0, np.float32), np.ones(n, np.float32)
    assert np.signbit(total_from(zeros, -0.0)) and not np.signbit(total_from(zeros, 0.0))
    assert np.signbit(squares_from(np.zeros(n, np.float32), -0.0))
    running_from(zeros, -0.0, y)
    assert np.signbit(y).all()
    assert np.array_equal(np.signbit(running(zeros)), np.signbit(np.cumsum(zeros)))
    columns = zeros.copy()
    columns_onto(np.full((5, n), -0.0, np.float32), columns)
    assert np.signbit(columns).all()
