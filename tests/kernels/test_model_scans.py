# SPDX-License-Identifier: Apache-2.0
"""Running sums and extremes on the vector unit of the model: whole arrays, rows, columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model_strided import numbers, on_vector

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000, 6155)
SHAPES = ((0, 5), (5, 0), (1, 1), (3, 7), (50, 257), (4, 1000), (2, 9001), (3001, 9))


def close(got: Any, expected: Any, bound: float = 1e-5) -> None:
    """Within a bound relative to the largest of the running values."""
    most = float(np.abs(expected).max()) if expected.size else 1.0
    np.testing.assert_allclose(got, expected, rtol=bound, atol=bound * max(most, 1.0))


@asc.kernel
def running_total(x: asc.float32[N]):
    return asc.cumsum(x)


@asc.kernel
def running_total_of_halves(x: asc.float16[N]):
    return asc.cumsum(x)


@asc.kernel
def running_squares(x: asc.float32[N], y: asc.float32[N], start: float):
    s = start
    for i in range(N):
        s += x[i] * x[i]
        y[i] = s


@asc.kernel
def running_integers(x: asc.int32[N], y: asc.int32[N]):
    s = asc.int32(5)
    for i in range(N):
        s = asc.int32(s + x[i])
        y[i] = s


@asc.kernel
def running_largest(x: asc.float32[N], y: asc.float32[N]):
    s = x[0]
    for i in range(N):
        s = max(s, x[i])
        y[i] = s


@asc.kernel
def running_least(x: asc.int32[N], y: asc.int32[N]):
    s = asc.int32(50)
    for i in range(N):
        s = min(s, x[i])
        y[i] = s


def test_runs_of_all_cores() -> None:
    for n in (20011, 400003):
        x, integers = numbers(np.float32, n), numbers(np.int32, n)
        z = np.zeros_like(integers)
        with asc.device("model"):
            close(running_total(x), np.cumsum(x.astype(np.float64)))
            running_integers(integers, z)
        np.testing.assert_array_equal(z, np.cumsum(integers, dtype=np.int32) + np.int32(5))


def test_whole_arrays() -> None:
    for n in SIZES:
        x = numbers(np.float32, n)
        wide = x.astype(np.float64)
        integers = (numbers(np.int32, n) - 50) * 90_000_001
        with asc.device("model"):
            close(running_total(x), np.cumsum(wide))
            y, z = np.zeros_like(x), np.zeros_like(integers)
            running_squares(x, y, 2.5)
            close(y, np.cumsum(wide * wide) + 2.5)
            running_integers(integers, z)
            np.testing.assert_array_equal(z, np.cumsum(integers, dtype=np.int32) + np.int32(5))
            running_least(integers, z)
            np.testing.assert_array_equal(z, np.minimum.accumulate(np.minimum(integers, 50)))
            if n:
                running_largest(x, y)
                np.testing.assert_array_equal(y, np.maximum.accumulate(x))
                halves = x.astype(np.float16)
                close(running_total_of_halves(halves), np.cumsum(halves.astype(np.float64)), 1e-3)
    for kernel in (running_total, running_squares, running_integers, running_largest, running_least):
        on_vector(kernel)
    on_vector(running_total_of_halves)


def test_nan_in_running_values() -> None:
    x = numbers(np.float32, 300)
    x[100] = np.nan
    with asc.device("model"):
        made = running_total(x)
        assert np.isnan(made[100:]).all() and not np.isnan(made[:100]).any()
        # Python's max keeps what it has when the other is NaN.
        y = np.zeros_like(x)
        running_largest(x, y)
    np.testing.assert_array_equal(y, np.fmax.accumulate(x))


@asc.kernel
def along_rows(x: asc.float32[H, W], y: asc.float32[H, W]):
    for i in asc.parallel_for(H):
        s = 0.0
        for j in range(W):
            s += x[i, j] * 2.0
            y[i, j] = s


@asc.kernel
def largest_along_rows(x: asc.int32[H, W], y: asc.int32[H, W]):
    for i in asc.parallel_for(H):
        s = asc.int32(-3)
        for j in range(W):
            s = max(s, x[i, j])
            y[i, j] = s


@asc.kernel
def down_columns(x: asc.float32[H, W]):
    return asc.cumsum(x, axis=0)


@asc.kernel
def along_the_middle(x: asc.float32[B, T, C], y: asc.float32[B, T, C]):
    for b, c in asc.parallel_for_grid(B, C):
        s = 1.0
        for t in range(T):
            s += x[b, t, c]
            y[b, t, c] = s


def test_rows_and_columns() -> None:
    for shape in SHAPES:
        x = numbers(np.float32, *shape)
        wide, y = x.astype(np.float64), np.zeros_like(x)
        whole = numbers(np.int32, *shape) - 50
        z = np.zeros_like(whole)
        with asc.device("model"):
            along_rows(x, y)
            close(y, np.cumsum(wide * 2, axis=1))
            close(down_columns(x), np.cumsum(wide, axis=0))
            largest_along_rows(whole, z)
            np.testing.assert_array_equal(z, np.maximum.accumulate(np.maximum(whole, -3), axis=1))
            stack = np.stack([wide, wide[::-1], wide])
            made = np.zeros(stack.shape, np.float32)
            along_the_middle(stack.astype(np.float32), made)
            close(made, np.cumsum(stack, axis=1) + 1)
    for kernel in (along_rows, largest_along_rows, down_columns, along_the_middle):
        on_vector(kernel)
