# SPDX-License-Identifier: Apache-2.0
"""Halves, bools, casts and wrapping integers in kernels, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

SIZES = (0, 1, 7, 8, 9, 31, 33, 257)
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@asc.kernel
def scaled(x: asc.tensor, out: asc.tensor):
    for i in range(x.shape[0]):
        out[i] = x[i] * 2 + 1


@asc.kernel
def to_float32(x: asc.tensor) -> asc.float32[...]:
    return x.astype(asc.float32)


@asc.kernel
def to_int32(x: asc.tensor) -> asc.int32[...]:
    return x.astype(asc.int32)


@asc.kernel
def to_int8(x: asc.tensor) -> asc.int8[...]:
    return x.astype(asc.int8)


@asc.kernel
def half_sum(x: asc.float16[N]) -> asc.float16:
    s = asc.float16(0)
    for i in range(N):
        s += x[i]
    return s


@asc.kernel
def brain_scale(x: asc.bfloat16[N], out: asc.bfloat16[N]):
    for i in asc.parallel_for(0, N):
        out[i] = x[i] * 3.0


@asc.kernel
def masks(x: asc.float32[N], y: asc.float32[N], out: asc.bool[N]):
    for i in asc.parallel_for(0, N):
        out[i] = x[i] < y[i] and not x[i] == 0.0


@asc.kernel
def choose(mask: asc.bool[N], x: asc.int32[N], y: asc.int32[N]) -> asc.int32[N]:
    return asc.where(mask, x, y)


@asc.kernel
def bits(x: asc.uint32[N], out: asc.uint32[N]):
    for i in asc.parallel_for(0, N):
        out[i] = (x[i] >> 3) ^ (x[i] << 2) & 0xFF


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """One request for all the kernels of this file."""
    vectors = [np.zeros(1, dtype) for dtype in (*FLOATS, *INTEGERS)]
    fixed = [half_sum, brain_scale, masks, choose, bits]
    casts = [(cast, v) for cast in (to_float32, to_int32, to_int8) for v in vectors]
    asc.compile([*fixed, *((scaled, v, v) for v in vectors), *casts])


def numbers(n: int, dtype: Any) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(n)
    if np.dtype(dtype).kind == "f":
        return (rng.normal(size=n) * 50).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", (*FLOATS, *INTEGERS))
def test_python_numbers_are_weak_and_integers_wrap(dtype: str) -> None:
    for n in SIZES:
        x, out = numbers(n, dtype), np.zeros(n, dtype)
        scaled(x, out)
        assert np.array_equal(out, x * np.dtype(dtype).type(2) + np.dtype(dtype).type(1))


@pytest.mark.parametrize("dtype", (*FLOATS, *INTEGERS))
def test_casts(dtype: str) -> None:
    for n in SIZES:
        x = numbers(n, dtype)
        assert np.array_equal(to_float32(x), x.astype(np.float32))
        assert np.array_equal(to_int32(x), x.astype(np.int32))
        if np.dtype(dtype).kind != "f":
            assert np.array_equal(to_int8(x), x.astype(np.int8))


def test_a_float_that_does_not_fit_saturates_and_nan_is_zero() -> None:
    x = np.array([1e10, -1e10, np.nan, np.inf, 2.9, -2.9], np.float32)
    top, bottom = np.iinfo(np.int32).max, np.iinfo(np.int32).min
    assert to_int32(x).tolist() == [top, bottom, 0, top, 2, -2]
    assert to_int8(x).tolist() == [127, -128, 0, 127, 2, -2]
    assert asc.int32(x).tolist() == to_int32(x).tolist() and asc.int8(x).tolist() == to_int8(x).tolist()


@pytest.mark.parametrize("n", SIZES)
def test_a_half_sum_is_carried_in_float32(n: int) -> None:
    x = np.full(n, 0.1, np.float16)
    expected = np.float16(x.astype(np.float32).sum())
    result = half_sum(x)
    assert type(result) is np.float16 and abs(float(result) - float(expected)) <= 1e-3 * abs(float(expected))


@pytest.mark.parametrize("n", SIZES)
def test_bfloat16_arrays_are_their_bits(n: int) -> None:
    values = np.random.default_rng(0).normal(size=n).astype(np.float32)
    x, out = to_bits(values), np.zeros(n, np.uint16)
    brain_scale(x, out)
    assert np.array_equal(out, to_bits(from_bits(x) * np.float32(3)))


def to_bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rounded to nearest even."""
    words = values.view(np.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)


def from_bits(bits_: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (bits_.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("n", SIZES)
def test_bools(n: int) -> None:
    x, y, out = numbers(n, np.float32), numbers(n, np.float32)[::-1], np.zeros(n, bool)
    x[: n // 3] = 0
    masks(x, y, out)
    assert np.array_equal(out, (x < y) & (x != 0))
    a, b = numbers(n, np.int32), numbers(n, np.int32) // 2
    assert np.array_equal(choose(out, a, b), np.where(out, a, b))


@pytest.mark.parametrize("n", SIZES)
def test_bits(n: int) -> None:
    x, out = numbers(n, np.uint32), np.zeros(n, np.uint32)
    bits(x, out)
    assert np.array_equal(out, (x >> np.uint32(3)) ^ (x << np.uint32(2)) & np.uint32(0xFF))


@asc.kernel
def bits_of_halves(x: asc.float16[N]):
    return (asc.signbit(x) | asc.isnan(x)) ^ asc.isfinite(x) & asc.isinf(x), asc.signbit(x) + (x > 1)


def test_tests_of_halves_are_bools() -> None:
    x = np.array([1.5, -2.0, -0.0, np.nan, np.inf, -np.inf], np.float16)
    first, second = bits_of_halves(x)
    assert np.array_equal(first, (np.signbit(x) | np.isnan(x)) ^ np.isfinite(x) & np.isinf(x))
    assert np.array_equal(second, np.signbit(x) + (x > 1))


@asc.kernel
def negations(x: asc.float32[1], s: asc.float32, n: int):
    return (
        asc.sqrt(asc.logical_not(x[0])),
        asc.sqrt(asc.logical_not(s)),
        (not x[0]) * n,
        asc.logical_not(x[0]) + n,
    )


def test_the_negation_of_numpys_number_is_numpys_bool() -> None:
    """Its root is a float16, as in NumPy; Python's `not` gives a bool of Python."""
    with asc.device("cpu"):
        found = negations(np.float32([0.0]), np.float32(2), 3)
    assert [(each.dtype.name, float(each)) for each in found] == [
        ("float16", 1.0),
        ("float16", 0.0),
        ("int64", 3.0),
        ("int64", 4.0),
    ]


@asc.kernel
def sizes_of(x: asc.bool[2], p: bool):
    return abs(x[0]), abs(p), abs(x[0] & x[1])


def test_the_absolute_value_of_numpys_bool_is_one() -> None:
    with asc.device("cpu"):
        found = sizes_of(np.array([True, False]), True)
    assert [each.dtype.name for each in found] == ["bool", "int64", "bool"]


@asc.kernel
def chosen_by_a_number(x: asc.int32[M], c: asc.float32, y: asc.int32[M], z: asc.int32[M]):
    t = x[::-2]
    y[:] = asc.where(x.sum() != 2, t, t * 2).sum()
    z[:] = asc.where(c > 1, x[::2], t).astype(asc.int32).sum()


@pytest.mark.parametrize("m", [1, 2, 5, 6, 33])
def test_a_number_chooses_between_arrays_whose_size_follows_from_others(m: int) -> None:
    x = np.arange(m, dtype=np.int32)
    for c in (0.0, 2.0):
        y, z = np.zeros(m, np.int32), np.zeros(m, np.int32)
        with asc.device("cpu"):
            chosen_by_a_number(x, c, y, z)
        backward = x[::-2]
        assert (y == np.where(x.sum() != 2, backward, backward * 2).sum()).all()
        assert (z == np.where(c > 1, x[::2], backward).sum()).all()
