# SPDX-License-Identifier: Apache-2.0
"""Integers on the model: all bits, divisors that are zero, and reductions of every integer dtype, as on the cpu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

DTYPES = ("int8", "uint8", "int16", "int32")


@asc.kernel
def inverted_sum(x: asc.tensor, y: asc.tensor):
    for i in range(1, x.shape[0]):
        y[i] = ~(x[i] + y[i - 1])


@asc.kernel
def divided_in_turn(x: asc.tensor, y: asc.tensor):
    for i in range(1, x.shape[0]):
        y[i] = x[i] // y[i] + x[i] % y[i] + y[i - 1]


@asc.kernel
def guarded_least(x: asc.tensor, y: asc.tensor):
    for i in asc.parallel_for(x.shape[0]):
        least = x[i, 0]
        for j in range(x.shape[1]):
            if x[i, j] > 3:
                least = min(least, x[i, j])
        y[i] = least


@asc.kernel
def guarded_most(x: asc.tensor, y: asc.tensor):
    for j in asc.parallel_for(x.shape[1]):
        most = x[0, j]
        for i in range(x.shape[0]):
            if x[i, j] < 3:
                most = max(most, x[i, j])
        y[j] = most


@asc.kernel
def remainder_of_a_size(x: asc.int32[N], y: asc.int32[M]):
    for i in range(1, N):
        x[i] = x[i - 1] + i % M + i // (M + M)


def on_both(kernel: Any, *arrays: Any) -> None:
    """The model leaves in the arrays what the cpu leaves in them."""
    found: list[Any] = []
    for device in ("model", "cpu"):
        copies = [np.copy(array) if isinstance(array, np.ndarray) else array for array in arrays]
        with asc.device(device):
            kernel(*copies)
        found.append(copies)
    for got, expected in zip(*found, strict=True):
        np.testing.assert_array_equal(got, expected)


def edges(dtype: str, *shape: int) -> Any:
    """Numbers with the lowest, the highest, zeros and minus ones among them."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    special = np.array([info.min, info.max, 0, info.min // 2 or 1, 1, max(info.min, -1) % 256], np.int64)
    some = rng.choice(special, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.5, some, rng.integers(info.min, info.max, shape, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_one_after_the_other(dtype: str) -> None:
    for kernel in (inverted_sum, divided_in_turn):
        on_both(kernel, edges(dtype, 40), edges(dtype, 40))


def test_the_largest_bytes_are_not_minus_one() -> None:
    on_both(divided_in_turn, np.arange(0, 250, 10, dtype=np.uint8), np.full(25, 255, np.uint8))


def test_the_lowest_divided_by_minus_one_wraps() -> None:
    lowest = np.full(4, np.iinfo(np.int32).min, np.int32)
    on_both(divided_in_turn, lowest, np.full(4, -1, np.int32))


@pytest.mark.parametrize("dtype", ("int16", "int32"))
def test_guarded_least_and_most(dtype: str) -> None:
    for shape in ((3, 7), (5, 33), (40, 65)):
        x = np.random.default_rng(1).integers(-9, 9, shape).astype(dtype)
        on_both(guarded_least, x, np.zeros(shape[0], dtype))
        on_both(guarded_most, x, np.zeros(shape[1], dtype))


def test_a_size_that_is_zero_divides_to_zero() -> None:
    on_both(remainder_of_a_size, np.zeros(9, np.int32), np.zeros(0, np.int32))
    on_both(remainder_of_a_size, np.zeros(9, np.int32), np.zeros(4, np.int32))


@asc.kernel
def row_numbers(x: asc.uint8[M, N], y: asc.uint8[N], z: asc.uint8[M]):
    for i, j in asc.parallel_for_grid(M, N):
        x[i, j] = asc.maximum(i % 7, y[j]) + z[i]


@asc.kernel
def bytes_of_rows(x: asc.uint8[M, N], y: asc.uint8[N], z: asc.uint8[M]):
    for i, j in asc.parallel_for_grid(M, N):
        x[i, j] = (y[j] + z[i]) ^ (z[i] - x[i, j])


def test_rows_of_bytes_meet_one_byte_a_row() -> None:
    for kernel in (row_numbers, bytes_of_rows):
        for shape in ((1, 1), (9, 31), (300, 65)):
            on_both(kernel, edges("uint8", *shape), edges("uint8", shape[1]), edges("uint8", shape[0]))


@asc.kernel
def half_running_sum(x: asc.float16[M, N], y: asc.float16[N]):
    total = 0.0
    for j in range(N):
        total = total + x[-1, j]
        x[M - 1, j] = total
    for j in range(1, N):
        y[j] = y[j] - y[j - 1] if y[j] > 1.0 else x[0, j]
    x[M - 1, 0] = total


def test_halves_one_after_the_other() -> None:
    x = np.random.default_rng(2).integers(-3, 4, (3, 40)).astype(np.float16)
    on_both(half_running_sum, x, x[0].copy())


@asc.kernel
def places(x: asc.float32[M, N, 1]):
    return asc.argmin(x, axis=2), asc.argmax(x, axis=1), asc.argmin(x + 0.0, axis=0), asc.argmax(x)


def test_places_along_axes_of_one_element_and_more() -> None:
    x = np.random.default_rng(3).integers(-4, 5, (7, 9, 1)).astype(np.float32)
    with asc.device("model"):
        found = places(x)
    expected = x.argmin(2), x.argmax(1), x.argmin(0), x.argmax()
    for got, value in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, value)


COLUMN_DTYPES = ("bool", "float16", "float32", *DTYPES)


def every_second(dtype: str) -> Any:
    return asc.kernel_from_source(f"""
import pyasc as asc
def every_second(x: asc.{dtype}[9]):
    return x[::2, None], x[::2]
""")


@pytest.mark.parametrize("dtype", COLUMN_DTYPES)
def test_columns_of_every_dtype(dtype: str) -> None:
    x = np.arange(9).astype(dtype)
    with asc.device("model"):
        column, line = every_second(dtype)(x)
    np.testing.assert_array_equal(column, x[::2, None])
    np.testing.assert_array_equal(line, x[::2])


@asc.kernel
def triangle(x: asc.tensor, y: asc.tensor, z: asc.tensor):
    for i in asc.parallel_for(x.shape[0]):
        for j in range(i, x.shape[1]):
            x[i, j] = y[j] + z[i]


@asc.kernel
def triangle_copied(x: asc.tensor, z: asc.tensor):
    for i in asc.parallel_for(x.shape[0]):
        for j in range(i, x.shape[1]):
            x[i, j] = z[i]


@pytest.mark.parametrize("dtype", COLUMN_DTYPES)
def test_rows_of_a_triangle_take_a_number_each(dtype: str) -> None:
    numbers = [np.random.default_rng(k).integers(0, 2, n).astype(dtype) for k, n in enumerate((33, 9))]
    on_both(triangle_copied, np.zeros((9, 33), dtype), numbers[1])
    if dtype != "bool":
        on_both(triangle, np.zeros((9, 33), dtype), *numbers)


@asc.kernel
def compared(x: asc.int64[N], t: asc.int32[N], w: asc.int64[N], k: int, out: asc.bool[K, N]):
    out[0] = x == 2147483647
    out[1] = x > 2147483647
    out[2] = x <= -2147483648
    out[3] = x != k
    out[4] = x < k
    out[5] = t >= x
    out[6] = x == t
    out[7] = w <= x
    out[8] = w == x
    out[9] = x > 7


@asc.kernel
def compared_with_all(x: asc.int64[N], t: asc.int32[M], out: asc.bool[M, N]):
    out[...] = x > t[:, None]


def test_comparisons_of_64_bits_see_all_bits() -> None:
    edges = [2**31 - 1, 2**31, 2**40, -(2**31), -(2**31) - 1, -(2**40), 0, 5, -1, 2**32, 2**32 - 1, 2**63 - 1]
    x, w = (np.array(each, np.int64).ravel() for each in np.meshgrid(edges, edges))
    t = np.resize(np.int32([2**31 - 1, -(2**31), 0, 4, -1]), x.shape)
    out = np.zeros((10, x.size), np.bool_)
    for k in (2**31 - 1, -(2**31), 2**40, 0):
        on_both(compared, x, t, w, k, out)
    on_both(compared_with_all, x, t[:7], np.zeros((7, x.size), np.bool_))


@asc.kernel
def bits(x: asc.tensor, y: asc.tensor):
    return x ^ y, x & 12, x | 3, y >> 2, y << 3, x >> 7


@asc.kernel
def masks(x: asc.float32[N], y: asc.float32[N], low: asc.int64[N]):
    return (x > 0) ^ (y > 0), ((x > 0) ^ (y > 0)) & (x > 1), low.astype(asc.int32)


def scalar_lines(kernel: Any) -> list[str]:
    return [each.message for each in kernel.remarks if "scalar unit" in each.message]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_bits_of_narrow_integers_are_vector_work(dtype: str) -> None:
    kernel = asc.kernel(bits.py_func)
    x, y = edges(dtype, 133), edges(dtype, 133)[::-1].copy()
    found = []
    for device in ("model", "cpu"):
        with asc.device(device):
            found.append(kernel(x, y))
    for got, expected in zip(*found, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert not scalar_lines(kernel)


def test_masks_that_differ_and_lower_halves_are_vector_work() -> None:
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal(133).astype(np.float32) for _ in range(2))
    low = rng.integers(-(2**63), 2**63 - 1, 133)
    with asc.device("model"):
        differ, both, halves = masks(x, y, low)
    np.testing.assert_array_equal(differ, (x > 0) ^ (y > 0))
    np.testing.assert_array_equal(both, differ & (x > 1))
    np.testing.assert_array_equal(halves, low.astype(np.int32))
    assert not scalar_lines(masks)
