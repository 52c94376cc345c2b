# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, contractions and row-wise kernels, as loops and as tensor operations, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyasc as asc

SIZES = (1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000)
MATRICES = [(1, 1), (1, 9), (7, 1), (8, 8), (9, 31), (33, 17), (65, 63), (3, 257)]


@asc.kernel
def total(x: asc.float32[N]) -> asc.float32:
    return asc.sum(x)


@asc.kernel
def total_loop(x: asc.float32[N]) -> asc.float32:
    s = 0.0
    for i in range(N):
        s += x[i]
    return s


@asc.kernel
def integer_total(x: asc.int32[N]) -> asc.int64:
    return asc.sum(x)


@asc.kernel
def largest(x: asc.float32[N]) -> asc.float32:
    return asc.max(x)


@asc.kernel
def where_largest(x: asc.float32[N]) -> asc.int64:
    return asc.argmax(x)


@asc.kernel
def where_largest_loop(x: asc.float32[N]) -> asc.int64:
    best, place = x[0], 0
    for i in range(1, N):
        if x[i] > best:
            best = x[i]
            place = i
    return place


@asc.kernel
def row_sums(x: asc.float32[M, N]) -> asc.float32[M]:
    return asc.sum(x, axis=1)


@asc.kernel
def column_sums(x: asc.float32[M, N], out: asc.float32[N]):
    for j in asc.parallel_for(0, N):
        s = 0.0
        for i in range(M):
            s += x[i, j]
        out[j] = s


@asc.kernel
def softmax_rows(x: asc.float32[M, N], out: asc.float32[M, N]):
    for i in asc.parallel_for(0, M):
        high = x[i, 0]
        for j in range(1, N):
            high = max(high, x[i, j])
        s = 0.0
        for j in range(N):
            s += asc.exp(x[i, j] - high)
        for j in range(N):
            out[i, j] = asc.exp(x[i, j] - high) / s


@asc.kernel
def layer_norm_rows(x: asc.float32[M, N], out: asc.float32[M, N]):
    for i in asc.parallel_for(0, M):
        mean = 0.0
        for j in range(N):
            mean += x[i, j]
        mean = mean / N
        variance = 0.0
        for j in range(N):
            variance += (x[i, j] - mean) * (x[i, j] - mean)
        scale = 1.0 / asc.sqrt(variance / N + 1e-5)
        for j in range(N):
            out[i, j] = (x[i, j] - mean) * scale


@asc.kernel
def prefix_sum(x: asc.int64[N], out: asc.int64[N]):
    s = 0
    for i in range(N):
        s += x[i]
        out[i] = s


@asc.kernel
def histogram(x: asc.int32[N], bins: asc.int32[K]):
    for i in asc.parallel_for(0, N):
        asc.atomic_add(bins, x[i], 1)


@asc.kernel
def matmul(a: asc.float32[M, K], b: asc.float32[K, N]) -> asc.float32[M, N]:
    return a @ b


@asc.kernel
def matmul_loops(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i, j in asc.parallel_for_grid(M, N):
        s = 0.0
        for k in range(K):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@asc.kernel
def matvec(a: asc.float64[M, N], x: asc.float64[N]) -> asc.float64[M]:
    return a @ x


@asc.kernel
def conv3x3(x: asc.float32[H, W], w: asc.float32[3, 3], y: asc.float32[H - 2, W - 2]):
    for i, j in asc.parallel_for_grid(H - 2, W - 2):
        s = 0.0
        for p in asc.unroll(range(3)):
            for q in asc.unroll(range(3)):
                s += x[i + p, j + q] * w[p, q]
        y[i, j] = s


@asc.kernel
def conv_channels(x: asc.float32[C, H, W], w: asc.float32[F, C, 3, 3], y: asc.float32[F, H - 2, W - 2]):
    for f, i in asc.parallel_for_grid(F, H - 2):
        for j in range(W - 2):
            s = 0.0
            for c in range(C):
                for p in range(3):
                    for q in range(3):
                        s += x[c, i + p, j + q] * w[f, c, p, q]
            y[f, i, j] = s


KERNELS = [
    total, total_loop, integer_total, largest, where_largest, where_largest_loop, row_sums, column_sums,
    softmax_rows, layer_norm_rows, prefix_sum, histogram, matmul, matmul_loops, matvec, conv3x3,
    conv_channels,
]  # fmt: skip


def counts(*shape: int) -> np.ndarray:
    """Whole numbers, whose sums are exact in any order."""
    return (np.arange(math.prod(shape)).reshape(shape) % 13 - 6).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """All kernels of this file, as few units."""
    asc.compile(KERNELS)


def floats(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("kernel", [total, total_loop])
@pytest.mark.parametrize("n", (0, *SIZES))
def test_sum(kernel: Any, n: int) -> None:
    x = floats(n)
    np.testing.assert_allclose(kernel(x), x.astype(np.float64).sum(), rtol=1e-5, atol=1e-5 * max(n, 1))


@pytest.mark.parametrize("n", (0, *SIZES))
def test_integer_sums_are_exact(n: int) -> None:
    x = np.random.default_rng(0).integers(-(1 << 31), 1 << 31, n, np.int32)
    result = integer_total(x)
    assert result == x.sum(dtype=np.int64) and type(result) is np.int64


@pytest.mark.parametrize("n", SIZES)
def test_maximum_and_its_place(n: int) -> None:
    x = floats(n)
    assert largest(x) == x.max()
    assert where_largest(x) == x.argmax() and where_largest_loop(x) == x.argmax()


def test_the_first_of_equal_maxima_wins() -> None:
    x = np.array([1, 5, 5, 2, 5], np.float32)
    assert where_largest(x) == 1 and where_largest_loop(x) == 1


@pytest.mark.parametrize(("m", "n"), [*MATRICES, (0, 3), (3, 0)])
def test_sums_of_rows_and_columns(m: int, n: int) -> None:
    x, out = floats(m, n), np.full(n, 9, np.float32)
    np.testing.assert_allclose(row_sums(x), x.sum(axis=1), rtol=1e-4, atol=1e-5)
    column_sums(x, out)
    np.testing.assert_allclose(out, x.sum(axis=0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("m", "n"), MATRICES)
def test_softmax(m: int, n: int) -> None:
    x, out = floats(m, n) * 10, np.zeros((m, n), np.float32)
    softmax_rows(x, out)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize(("m", "n"), MATRICES)
def test_layer_norm(m: int, n: int) -> None:
    x, out = floats(m, n), np.zeros((m, n), np.float32)
    layer_norm_rows(x, out)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", (0, *SIZES))
def test_prefix_sum(n: int) -> None:
    x = np.random.default_rng(0).integers(-1000, 1000, n)
    out = np.zeros(n, np.int64)
    prefix_sum(x, out)
    assert np.array_equal(out, np.cumsum(x))


@pytest.mark.parametrize("n", (0, *SIZES, 20000))
def test_histogram(n: int) -> None:
    x = np.random.default_rng(0).integers(0, 10, n, np.int32)
    bins = np.zeros(10, np.int32)
    histogram(x, bins)
    assert np.array_equal(bins, np.bincount(x, minlength=10))


def test_a_bin_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="histogram"):
        histogram(np.array([3, 99], np.int32), np.zeros(10, np.int32))


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (2, 3, 4), (8, 8, 8), (9, 31, 7), (33, 65, 17), (3, 0, 2), (64, 64, 64)]
)
def test_matmul(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b, c = floats(m, k), floats(k, n, seed=1), np.full((m, n), 9, np.float32)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    matmul_loops(a, b, c)
    for result in (matmul(a, b), c):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("m", "n"), MATRICES)
def test_matvec(m: int, n: int) -> None:
    a, x = floats(m, n, dtype=np.float64), floats(n, seed=1, dtype=np.float64)
    np.testing.assert_allclose(matvec(a, x), a @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (3, 9), (10, 4), (33, 65)])
def test_convolution(shape: tuple[int, int]) -> None:
    h, w = shape
    x, weights, y = floats(h, w), floats(3, 3, seed=1), np.zeros((h - 2, w - 2), np.float32)
    expected = sum(x[p : h - 2 + p, q : w - 2 + q] * weights[p, q] for p in range(3) for q in range(3))
    conv3x3(x, weights, y)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", [3, 9, 18, 19, 34, 50, 51, 65, 82, 98])
@pytest.mark.parametrize("filters", [1, 2, 3, 4, 5, 7, 8, 9, 12, 19])
def test_a_convolution_of_any_number_of_filters_and_vectors(filters: int, width: int) -> None:
    x, weights = counts(2, 4, width), counts(filters, 2, 3, 3)
    y = np.full((filters, 2, width - 2), np.nan, np.float32)
    taps = [(p, q, x[:, p : 2 + p, q : width - 2 + q]) for p in range(3) for q in range(3)]
    expected = sum(np.einsum("chw,fc->fhw", part, weights[:, :, p, q]) for p, q, part in taps)
    conv_channels(x, weights, y)
    assert np.array_equal(y, expected)


@asc.kernel
def places_kept(x: asc.float32[M, N, K]):
    return asc.argmax(x, keepdims=True), asc.argmin(x, axis=1, keepdims=True), asc.argmax(x)


@asc.kernel
def one_element_reduced(x: asc.int32[1, 1], y: asc.int32[1, 1]):
    return asc.prod(x, axis=(0, 1)), asc.std(y, axis=0), asc.sum(x), asc.var(y)


def test_places_keep_the_axes() -> None:
    x = floats(3, 4, 5).reshape(3, 4, 5)
    for got, expected in zip(
        places_kept(x),
        (np.argmax(x, keepdims=True), np.argmin(x, axis=1, keepdims=True), np.argmax(x)),
        strict=True,
    ):
        assert np.shape(got) == np.shape(expected) and np.array_equal(got, expected)


def test_one_element() -> None:
    x = np.array([[7]], np.int32)
    product, deviation, sum_, variance = one_element_reduced(x, x)
    assert (product, deviation.tolist(), sum_, variance) == (7, [0.0], 7, 0.0)


@asc.kernel
def sums_of_numbers(x: asc.int8[N], b: asc.bool[N]):
    return asc.sum(x[0]), asc.prod(b.any()), asc.sum(x[1] > 0), asc.sum(x.max())


def test_a_sum_of_one_number_has_the_type_of_a_sum() -> None:
    x, b = np.array([-3, 5], np.int8), np.array([False, True])
    found = sums_of_numbers(x, b)
    assert found == (-3, 1, 1, 5) and all(type(each) is np.int64 for each in found)


@asc.kernel
def taken_at_a_number(x: asc.float32[M, N], k: int):
    return asc.take(x, k, axis=0), asc.take(x, k, axis=1), asc.take(x, -1), asc.take(x[0], k, axis=0)


def test_take_at_a_number_drops_the_axis() -> None:
    x = floats(3, 4)
    rows, columns, last, one = taken_at_a_number(x, 2)
    assert np.array_equal(rows, x[2]) and np.array_equal(columns, x[:, 2])
    assert last == x[2, 3] and one == x[0, 2]


@asc.kernel
def zeros_of_a_part(x: asc.float16[M, N], start: int):
    return asc.logical_not(x[start:0:-1, 0:3]).sum(), (x[::-1][start:] != 0).sum()


def test_counts_over_extents_that_only_the_run_time_knows() -> None:
    x = np.array([[0, 1, 0, 3], [2, 0, 0, 1], [1, 1, 1, 0]], np.float16)
    for start in (0, 1, 2):
        expected = (x[start:0:-1, 0:3] == 0).sum(), (x[::-1][start:] != 0).sum()
        assert zeros_of_a_part(x, start) == expected


@asc.kernel
def running_products(x: asc.float32[1, N]):
    return asc.cumsum(x * asc.mean(x * 2.0, axis=0), axis=1)


def test_a_running_sum_of_products() -> None:
    """Products are rounded before lanes are added up, so none may be left to a fused multiply-add."""
    for n in (1, 7, 100):
        x = np.linspace(-1, 2, n, dtype=np.float32).reshape(1, n)
        np.testing.assert_allclose(running_products(x), np.cumsum(x * x * 2, axis=1), rtol=1e-5, atol=1e-5)
