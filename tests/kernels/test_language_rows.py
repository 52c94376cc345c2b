# SPDX-License-Identifier: Apache-2.0
"""Rows of the language page that want the same on every device: few kernels, each on the cpu and on the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

N, M, K = asc.dims("N M K")
LOWEST = -(2**63)


@pytest.fixture(params=["cpu", "model"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test of this module runs on both."""
    with asc.device(request.param):
        yield request.param


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def as_python(kernel: asc.Kernel, *arguments: Any) -> None:
    """The kernel gives what its function gives with NumPy: results, and arrays afterwards."""
    assert kernel.py_func is not None
    ours, theirs = ([each.copy() if hasattr(each, "copy") else each for each in arguments] for _ in range(2))
    found, expected = kernel(*ours), kernel.py_func(*theirs)
    results = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for got, wanted in [*results, *zip(ours, theirs, strict=True)]:
        if wanted is not None:
            np.testing.assert_array_equal(got, wanted)


@asc.kernel
def ints(p: int, q: int):
    return p + q, p * q, p // q, p % q, p - 1


@asc.kernel
def conversions(x: asc.float32, p: int, i: asc.int32):
    return int(x), asc.int8(x), asc.uint8(x), p * 0.5, i + 1.5, p / 4, asc.ones(2)


@asc.kernel
def stored(x: asc.int16[2], b: asc.uint8[2], p: int):
    x[0], b[0] = p, p
    x[1] = b[1] = p + 1


def test_documented_differences_of_numbers() -> None:
    x, b = np.zeros(2, np.int16), np.zeros(2, np.uint8)
    stored(x, b, 2**15 - 1)
    assert x.tolist() == [2**15 - 1, -(2**15)] and b.tolist() == [255, 0]
    top = 2**63 - 1
    assert [int(each) for each in ints(top, 1)] == [LOWEST, top, top, 0, top - 1]
    assert [int(each) for each in ints(LOWEST, -1)] == [top, LOWEST, LOWEST, 0, top]
    assert [int(each) for each in ints(-7, 0)] == [-7, 0, 0, 0, -8]
    for value, expected in ((3e9, (3000000000, 127, 255)), (-3.7, (-3, -3, 0)), (np.nan, (0, 0, 0))):
        whole, small, byte, *floats, ones = conversions(np.float32(value), 3, np.int32(2))
        assert (whole, small, byte) == expected
        assert floats == [1.5, 3.5, 0.75]
        assert {each.dtype for each in [*floats, ones]} == {np.dtype("float32")}


@asc.kernel
def met(p: int, x: asc.float32):
    return p * x


def test_a_run_time_int_is_rounded_once() -> None:
    """2**54 + 2**30 + 1 is between two float32; by way of float64 it would be in the middle."""
    for value in (2**54 + 2**30 + 1, 2**24 + 1, -(2**60) - 2**36 - 1):
        low = np.float32(float(value))
        near = [np.nextafter(low, np.float32(way * np.inf)) for way in (-1, 1)]
        nearest = min([low, *near], key=lambda each: abs(int(each) - value))
        assert met(value, np.float32(1)) == nearest


@asc.kernel
def powers(p: int, q: int):
    return p**q


def test_a_negative_power_of_ints_is_an_error() -> None:
    assert powers(-3, 3) == -27
    with pytest.raises(ValueError, match="negative power"):
        powers(2, -1)


@asc.kernel
def weak(h: asc.float16[N], b: asc.int8[N], flags: asc.bool_[N]):
    return h * 1.5, b + 100, flags.sum(), b.sum(), h.sum(), asc.maximum(h, 0.0)


@asc.kernel
def separately(a: asc.float32[N], b: asc.float32[N], c: asc.float32[N]):
    return a * b + c, a * b - a * b


@asc.kernel
def extremes(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        y[i] = max(0.0, x[i])
    return asc.maximum(x, 0.0), min(x[0], 1.0), -x


def test_numbers_of_arrays() -> None:
    half = np.array([np.nan, 2, -0.0, 2048, 0.5, 0.5], np.float16)
    found = weak(half[1:], np.array([100, 27, 28, -128, 3], np.int8), np.ones(5, bool))
    assert found[0].dtype == np.float16 and found[0].tolist() == [3, 0, 3072, 0.75, 0.75]
    assert found[1].dtype == np.int8 and found[1].tolist() == [-56, 127, -128, -28, 103]
    assert found[2].dtype == found[3].dtype == np.int64 and (int(found[2]), int(found[3])) == (5, 30)
    assert found[4] == np.float16(2051) and np.signbit(found[5][1]) in (False, True)
    # With a fused multiply-add the first would be 2**-24, and the second not be 0.
    a = f32(1 + 2**-12, 3)
    fused, zero = separately(a, a, -(a * a))
    assert not fused.any() and not zero.any()
    x, y = f32(np.nan, -0.0, np.inf, -2), f32(9, 9, 9, 9)
    propagated, least, turned = extremes(x, y)
    assert y.tolist() == [0, 0, np.inf, 0] and np.isnan(propagated[0]) and np.isnan(least)
    assert np.signbit(turned[1:]).tolist() == [False, True, False]


@asc.kernel
def indexed(a: asc.float32[N, M], k: int, order: asc.int64[K]):
    b = a[::-2, order] + a[k, None, 0]
    c = a.copy()
    c[c < 0] = 0
    c[..., -1] += 10
    c[k:, 1] = a[0, 0]
    d = c.T
    d[0, -1] = 77
    return b.sum(), c, a[-1], a @ a.T, d[order]


def test_indices_of_every_kind() -> None:
    a = np.arange(20, dtype=np.float32).reshape(4, 5) - 7
    for k in (1, -2):
        as_python(indexed, a, k, np.array([2, 0, -1]))


@asc.kernel
def turned_in_place(x: asc.float32[8]):
    z = x + 1
    z[:], first = z[::-1], z[0]
    z[1:] -= z[:-1]
    x[0], x[1] = x[1], x[0]
    return z, first


def test_an_array_that_is_stored_into_itself() -> None:
    as_python(turned_in_place, np.arange(8, dtype=np.float32))


@asc.kernel
def buffers(a: asc.float32[N, M], out: asc.float32[N, M]):
    m = a.shape[1]
    for i in asc.parallel_for(a.shape[0]):
        row = asc.shared_memory((m,), asc.float32)
        other = asc.aligned_alloc((m,), asc.float32, 64)
        asc.copy(a[i, 1:], row[: m - 1])
        row[m - 1] = i
        for j in range(m):
            other[j] = row[m - 1 - j] * 2
        asc.copy(other[:2], out[i, 2:4])
        out[i, 0] = other[0]


@asc.kernel
def in_order(x: asc.float32[N], counts: asc.int32[M], most: asc.int32[M], first: asc.float32[N]):
    total = 0.0
    n, m = x.shape[0], counts.shape[0]
    for i in asc.parallel_for(n):
        if x[i] < 0:
            continue
        total += x[i]
        asc.atomic_add(counts, int(x[i]) % m, 1)
        asc.atomic_max(most, i % m, i)
    first[0] += 1
    for i in asc.parallel_for(1, n):
        first[i] = x[i - 1] + total
    return total


def test_parallel_loops_and_buffers() -> None:
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    as_python(buffers, a, np.zeros((4, 6), np.float32))
    x = np.arange(200, dtype=np.float32) - 50
    as_python(in_order, x, np.zeros(7, np.int32), np.zeros(7, np.int32), np.zeros(200, np.float32))


@asc.kernel
def products(a: asc.float32[N, K], b: asc.float32[K, M]):
    with asc.precision("mixed"):
        rounded = a @ b
    return rounded, a @ b


@asc.kernel(precision="auto", tolerance=1e-2)
def automatic(a: asc.float32[N, K], b: asc.float32[K, M]):
    return a @ b


@asc.kernel
def integer_products(a: asc.int8[N, K], b: asc.int8[K, M], h: asc.float16[N, K], g: asc.float16[K, M]):
    return asc.matmul(a, b, dtype=asc.int32), asc.matmul(h, g, dtype=asc.float32), h @ g


@asc.kernel(precision="strict")
def in_written_order(x: asc.float32[N]):
    total = 0.0
    for i in range(N):
        total += x[i]
    return total


def test_precision() -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((9, 40), (40, 7)))
    half = a.astype(np.float16).astype(np.float64) @ b.astype(np.float16).astype(np.float64)
    wide = a.astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a) @ np.abs(b)
    rounded, plain = products(a, b)
    assert (abs(rounded - half) / scale).max() < 1e-5 < (abs(rounded - wide) / scale).max()
    assert (abs(plain - wide) / scale).max() < 1e-5
    assert (abs(automatic(a, b) - wide) / scale).max() < 1e-2
    c, d = np.full((2, 40), 100, np.int8), np.full((40, 3), 100, np.int8)
    h, g = np.full((2, 40), 100, np.float16), np.full((40, 3), 100, np.float16)
    whole, kept, narrow = integer_products(c, d, h, g)
    assert whole.dtype == np.int32 and (whole == 400000).all()
    assert kept.dtype == np.float32 and (kept == 400000).all()
    assert narrow.dtype == np.float16 and np.isinf(narrow).all()
    x = generator.standard_normal(3000).astype(np.float32)
    assert in_written_order(x) == np.add.accumulate(x)[-1]


@asc.kernel
def scaled(x: asc.float32, factor: float, shift: bool):
    return x * factor + shift


class Scaling:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    @asc.kernel
    def apply(self, x: asc.tensor):
        return x * self.factor


@asc.kernel
def added(x: asc.tensor, y: asc.tensor, out: asc.tensor):
    out[...] = x + y


def test_arguments(device: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(scaled(x.T, 2.0, True), x.T * 2 + 1)
    assert scaled(3.0, 0.5, False) == 1.5
    np.testing.assert_array_equal(Scaling(0.5).apply(x), x / 2)
    data = np.arange(40, dtype=np.float32)
    added(data[::4], data[1::4], data[2::4])
    assert data[2::4].tolist() == [8 * k + 1 for k in range(10)]
    data = np.arange(10, dtype=np.float32)
    added(data[:-1], data[:-1], data[1:])
    assert data.tolist() == [0, *(2 * k for k in range(9))]
    with pytest.raises(asc.LaunchError, match="read-only"):
        frozen = x.copy()
        frozen.flags.writeable = False
        added(x, x, frozen)


DTYPES = "float16 float32 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(dtype: str) -> None:
    x = np.array([0, 1, 2, 3, 100]).astype(dtype)
    out = np.zeros_like(x)
    added(x, x[::-1], out)
    np.testing.assert_array_equal(out, x + x[::-1])


@asc.kernel
def drawn(seed: int):
    first, second = asc.random.split(asc.random.key(seed))
    return (
        asc.random.uniform(first, (5,)),
        asc.random.randint(second, (5,), -3, 9),
        asc.random.bits(first, (2,)),
    )


def test_random_numbers_are_those_of_plain_python() -> None:
    as_python(drawn, 7)
    as_python(drawn, 123456789)


@asc.kernel
def halves_added(x: asc.float16[N]):
    total = asc.float16(0)
    for i in range(N):
        total += x[i]
    return total, x.sum(), x.mean()


def test_sums_of_halves_are_carried_in_float32() -> None:
    x = np.full(5000, 0.5, np.float16)
    assert [float(each) for each in halves_added(x)] == [2500, 2500, 0.5]
