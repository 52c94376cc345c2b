# SPDX-License-Identifier: Apache-2.0
"""Reductions of any length on the model device: whole arrays, long rows, columns, rows that differ in length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model import agree, layer_norm, softmax, softmax_loops
from tests.kernels.test_model_strided import numbers

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

LENGTHS = (1, 7, 9, 63, 65, 1000, 20011, 200003)
SHAPES = ((1, 1), (3, 7), (9, 31), (300, 65), (50, 257), (4, 1000), (3, 5000), (500, 3))


def f32(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def on_vector(kernel: Any) -> None:
    """No loop of the kernel is left to the scalar unit."""
    remarks = kernel.specialise(kernel.types_of()).lowered("ascend").remarks
    slow = [each.message for each in remarks if "scalar unit" in each.message]
    assert not [message for message in slow if "mem.store outside of a parallel loop" not in message]


@asc.kernel
def total(x: asc.float32[N]):
    return x.sum()


@asc.kernel
def deviation(x: asc.float32[N]):
    m = x.mean()
    return asc.sqrt(((x - m) * (x - m)).mean())


@asc.kernel
def largest_relative(x: asc.float32[N], y: asc.float32[N], o: asc.float32[1]):
    most = 0.0
    for i in range(N):
        most = max(most, abs(x[i] - y[i]))
    o[0] = most


@asc.kernel
def half_total(x: asc.float16[N]):
    return x.sum()


@asc.kernel
def sum_of_squares_into(x: asc.float32[N], o: asc.float32[1]):
    for i in range(N):
        o[0] += x[i] * x[i] + 1.0


def test_whole_arrays() -> None:
    for n in LENGTHS:
        x = f32(n)
        agree(total, [x], bound=2e-5)
        agree(deviation, [x], bound=2e-5)
        agree(half_total, [x.astype(np.float16)])
        agree(largest_relative, [x, x[::-1].copy(), np.zeros(1, np.float32)])
        agree(sum_of_squares_into, [x, np.ones(1, np.float32)], bound=3e-5)


@asc.kernel
def mean_of_matrix(x: asc.float32[R, C]):
    return x.mean()


def test_whole_matrices() -> None:
    for shape in ((1, 1), (3, 7), (300, 65), (5, 40001)):
        agree(mean_of_matrix, [f32(*shape)], bound=2e-5)


def test_rows_of_any_length() -> None:
    for rows, columns in ((2, 2100), (50, 2041), (1, 30000), (3, 12001)):
        x = f32(rows, columns)
        agree(softmax, [x], bound=2e-5)
        agree(softmax_loops, [x, np.zeros_like(x)], bound=2e-5)
        agree(layer_norm, [x, f32(columns), f32(columns)], bound=2e-5)
    on_vector(softmax)
    on_vector(layer_norm)


@asc.kernel
def weighted_rows(x: asc.float32[R, C], g: asc.float32[C], y: asc.float32[R], z: asc.float32[R, C]):
    for i in asc.parallel_for(R):
        total = 0.0
        for j in range(C):
            total += x[i, j] * (g[j] * 2.0 + 1.0)
        y[i] = total
        for j in range(C):
            z[i, j] = x[i, j] * g[j] - total


def test_a_row_that_all_tiles_read_stays_as_it_is() -> None:
    # The last one gives a core more than one tile.
    for rows, columns in ((1, 1), (7, 0), (0, 7), (3, 65), (500, 9), (260, 2000)):
        g = f32(columns)
        agree(weighted_rows, [f32(rows, columns), g, f32(rows), f32(rows, columns)], bound=1e-4)
    on_vector(weighted_rows)
    text = weighted_rows.source("ascend910b1")
    assert "LoadRows();" in text and text.count("DataCopyPad(g, ") == 2  # once, and in pieces of long rows


@asc.kernel
def weighted_columns(a: asc.float32[R, C], w: asc.float32[R], y: asc.float32[C]):
    for j in asc.parallel_for(C):
        for i in range(R):
            y[j] += asc.exp(a[i, j] - w[i])


@asc.kernel
def two_of_each_column(a: asc.float32[R, C], s: asc.float32[C], t: asc.float32[C]):
    for j in asc.parallel_for(C):
        total = 0.0
        squares = 0.0
        for i in range(R):
            total += a[i, j]
            squares += a[i, j] * a[i, j]
        s[j] = total
        t[j] = squares


@asc.kernel
def middle_axis(a: asc.float32[B, R, C]):
    return a.max(axis=1)


@asc.kernel
def stored_and_added(a: asc.float32[R, C], b: asc.float32[R, C], s: asc.float32[C]):
    t = a * a
    a += 1
    s += a.sum(axis=0)
    b[:] = t + s
    a *= s


@asc.kernel
def stored_where_positive(a: asc.float32[R, C], s: asc.float32[C]):
    for i in range(R):
        for j in range(C):
            if a[i, j] > 0:
                s[j] += a[i, j]
                a[i, j] = 0


@asc.kernel
def stored_by_channel(a: asc.float32[B, R, C], s: asc.float32[C]):
    a -= a.mean(axis=(0, 1))
    s[:] = (a * a).mean(axis=(0, 1))
    a /= s + 1


def test_what_is_stored_beside_sums_of_columns() -> None:
    for rows, columns in SHAPES:
        agree(stored_and_added, [f32(rows, columns), f32(rows, columns), f32(columns)], bound=3e-5)
        agree(stored_where_positive, [f32(rows, columns), f32(columns)], bound=3e-5)
        agree(stored_by_channel, [f32(2, rows, columns), f32(columns)], bound=3e-5)
    on_vector(stored_and_added)


def test_columns() -> None:
    for rows, columns in SHAPES:
        a = f32(rows, columns)
        agree(weighted_columns, [a, f32(rows), f32(columns)], bound=3e-5)
        agree(two_of_each_column, [a, f32(columns), f32(columns)], bound=3e-5)
        agree(middle_axis, [f32(3, rows, columns)])
    for rows, columns in ((255, 1), (256, 9), (600, 3), (511, 129), (4100, 2)):
        agree(middle_axis, [f32(2, rows, columns)])
    on_vector(weighted_columns)
    on_vector(middle_axis)


@asc.kernel
def triangle(a: asc.float32[N, N], b: asc.float32[N, N], s: asc.float32[N]):
    for i in asc.parallel_for(N):
        t = 0.0
        for j in range(i + 1):
            t += a[i, j]
        s[i] = t
        for j in range(i + 1):
            b[i, j] = a[i, j] * t


@asc.kernel
def inner_columns(x: asc.float32[R, C], y: asc.float32[R, C]):
    for i in asc.parallel_for(1, R - 1):
        for j in range(1, C - 1):
            y[i, j] = x[i, j - 1] + x[i - 1, j] + x[i + 1, j] - x[i, j + 1]


def test_rows_that_differ_and_rows_cut_short() -> None:
    for n in (1, 2, 7, 65, 200):
        agree(triangle, [f32(n, n), f32(n, n), f32(n)], bound=3e-5)
    for shape in SHAPES:
        if min(shape) > 1:
            agree(inner_columns, [f32(*shape), np.zeros(shape, np.float32)])
    on_vector(triangle)
    on_vector(inner_columns)


@asc.kernel
def written_then_read(x: asc.float32[R, C], y: asc.float32[R, C], z: asc.float32[R, C]):
    for i in asc.parallel_for(R):
        total = 0.0
        for j in range(C):
            y[i, j] = x[i, j] * 2.0
            total += y[i, j]
        for j in range(C):
            z[i, j] = y[i, j] + total


def test_what_a_row_has_written_is_what_it_reads() -> None:
    for shape in SHAPES:
        agree(written_then_read, [f32(*shape), f32(*shape), f32(*shape)], bound=3e-4)


@asc.kernel
def cut_off(x: asc.float32[N]):
    o = asc.empty(N, asc.float32)
    for i in asc.parallel_for(N):
        o[i] = max(x[i], 0.0)
    return o


@asc.kernel
def limited(x: asc.float32[N]):
    o = asc.empty(N, asc.float32)
    for i in asc.parallel_for(N):
        o[i] = min(max(x[i], -0.0), 1.0)
    return o


def test_signs_of_zeros_follow_python() -> None:
    x = np.array([-0.0, 0.0, -1.0, 2.0, np.nan, np.inf, -np.inf] * 5, np.float32)
    for kernel in (cut_off, limited):
        agree(kernel, [x])
        with asc.device("model"):
            made = kernel(x)
        with asc.device("cpu"):
            np.testing.assert_array_equal(np.signbit(made), np.signbit(kernel(x)))


@asc.kernel
def to_bytes(x: asc.float32[N]):
    return x.astype(asc.uint8), x.astype(asc.int8)


def test_floats_to_bytes_stop_at_the_limits() -> None:
    x = np.array(
        [-1e9, -129.5, -128.5, -1, -0.5, 0, 0.5, 127.5, 128, 254.9, 255.9, 256, 1e9, np.nan], np.float32
    )
    agree(to_bytes, [x])


@asc.kernel
def running_largest(x: asc.float32[R, C], y: asc.float32[R]):
    for i in asc.parallel_for(R):
        most = x[i, 0]
        for j in range(1, C):
            most = max(most, x[i, j])
        y[i] = most


@asc.kernel
def smoothed(image: asc.uint8[H, W], weights: asc.float32[K], o: asc.float32[H, W - K + 1]):
    for y in asc.parallel_for(H):
        for x in range(W - K + 1):
            level = 0.0
            for k in range(K):
                level += weights[k] * image[y, x + k]
            o[y, x] = level


def test_extremes_from_the_first_element_and_sums_of_neighbours() -> None:
    for rows, columns in SHAPES:
        agree(running_largest, [f32(rows, columns), f32(rows)])
        image = (f32(rows, columns + 4) * 50).astype(np.int32).astype(np.uint8)
        agree(smoothed, [image, f32(5), f32(rows, columns)], bound=1e-5)
    on_vector(running_largest)
    on_vector(smoothed)


@asc.kernel
def first_largest(x: asc.float32[R, C]):
    return x.argmax(axis=1)


@asc.kernel
def first_smallest(x: asc.float32[R, C]):
    return x.argmin(axis=1)


@asc.kernel
def place_of_largest(x: asc.float32[R, C], place: asc.int32[R], value: asc.float32[R]):
    for i in asc.parallel_for(R):
        best = x[i, 0]
        where = 0
        for j in range(1, C):
            if x[i, j] > best:
                best = x[i, j]
                where = j
        place[i] = where
        value[i] = best


def with_ties_and_nan(shape: tuple[int, int]) -> Any:
    x = np.round(f32(*shape))
    x.reshape(-1)[::17] = np.nan
    return x


def test_places_of_extremes() -> None:
    edges = np.full((4, 5), -np.inf, np.float32)
    edges[1], edges[2, 2:] = np.nan, np.nan
    for x in (edges, *map(with_ties_and_nan, SHAPES), *(f32(*shape) for shape in SHAPES)):
        agree(first_largest, [x])
        agree(first_smallest, [x])
        agree(place_of_largest, [x, np.zeros(len(x), np.int32), np.zeros(len(x), np.float32)])
    for kernel in (first_largest, first_smallest, place_of_largest):
        on_vector(kernel)


@asc.kernel
def many_neighbours(x: asc.float32[R, C], w: asc.float32[R, C], o: asc.float32[R, C]):
    for i, j in asc.parallel_for_grid(R - 2, C - 4):
        across = x[i + 1, j] + x[i + 1, j + 1] + x[i + 1, j + 2] + x[i + 1, j + 3] + x[i + 1, j + 4]
        corners = x[i, j + 1] + x[i, j + 3] + x[i + 2, j + 1] + x[i + 2, j + 3]
        o[i + 1, j + 2] = w[i + 1, j + 2] * (across - corners)


@asc.kernel
def many_arrays(
    a: asc.float32[N],
    b: asc.float32[N],
    c: asc.float32[N],
    d: asc.float32[N],
    e: asc.float32[N],
    f: asc.float32[N],
    g: asc.float16[N],
    h: asc.int32[N],
    i: asc.float32[N],
):
    return a * b + c * d + e * f + g * h + i


def test_more_arrays_than_a_core_has_buffers_for() -> None:
    for shape in ((3, 5), (9, 31), (7, 2500)):
        agree(many_neighbours, [f32(*shape), f32(*shape), np.zeros(shape, np.float32)], bound=1e-5)
    for n in (1, 65, 20011):
        arrays = [f32(n) for _ in range(9)]
        arrays[6], arrays[7] = arrays[6].astype(np.float16), (arrays[7] * 10).astype(np.int32)
        agree(many_arrays, arrays, bound=1e-5)
    on_vector(many_neighbours)
    on_vector(many_arrays)


@asc.kernel
def first_columns(p: asc.float32[R, C], q: asc.float32[R], r: asc.float32[R, C]):
    for i in asc.parallel_for(R):
        p[i, 1] = p[i, 0] * 2.0 + q[i]
        r[i, 0] = 1.0


@asc.kernel
def half_columns(p: asc.float16[R, C]):
    for i in asc.parallel_for(R):
        p[i, 1] = p[i, 0] + p[i, 2]


def test_single_columns() -> None:
    for shape in ((2, 3), (9, 31), (300, 65), (700, 5)):
        agree(first_columns, [f32(*shape), f32(shape[0]), f32(*shape)], bound=1e-6)
        agree(half_columns, [f32(*shape).astype(np.float16)])
    on_vector(first_columns)
    on_vector(half_columns)


@asc.kernel
def beside_columns(x: asc.float32[N, 1, 1], t: asc.float32[M]):
    return x + t, x * 2


def test_what_is_written_once_a_row_needs_no_columns() -> None:
    x = np.arange(31, dtype=np.float32)[:, None, None]
    for columns in (3, 0, 300):
        t = np.arange(columns, dtype=np.float32)
        with asc.device("model"):
            sums, doubled = beside_columns(x, t)
        np.testing.assert_array_equal(sums, x + t)
        np.testing.assert_array_equal(doubled, x * 2)


@asc.kernel
def rows_of_nothing(x: asc.float32[9, 0], y: asc.int32[1, 9, 0]):
    return asc.sum(x * 2, axis=1), asc.sum(x, axis=1) + 1, y.all(axis=-1)


def test_reductions_of_rows_that_are_known_to_be_empty() -> None:
    with asc.device("model"):
        sums, more, every = rows_of_nothing(np.zeros((9, 0), np.float32), np.zeros((1, 9, 0), np.int32))
    assert sums.tolist() == [0] * 9
    assert more.tolist() == [1] * 9
    assert every.tolist() == [[True] * 9]


@asc.kernel
def late_columns(x: asc.float32[N, M], low: asc.float32[N], last: asc.float32[N], total: asc.float32[N]):
    for i in asc.parallel_for(N):
        last[i] = x[i, M - 1] * 2.0
        smallest = 0.0
        for j in range(2, M):
            smallest = asc.minimum(smallest, x[i, j - 2])
        low[i] = smallest
    for i in asc.parallel_for(N):
        s = 0.5
        for j in range(i + 2, M - 1):
            s += x[i, j] * x[i, j - 1]
        total[i] = s


def test_rows_whose_columns_end_before_they_begin() -> None:
    for shape in ((9, 1), (300, 1), (9, 2), (7, 3), (7, 4), (40, 33), (65, 9)):
        agree(late_columns, [f32(*shape), *(np.zeros(shape[0], np.float32) for _ in range(3))], bound=1e-5)


@asc.kernel
def masked_rows(x: asc.tensor, z: asc.tensor, m: asc.bool[N], y: asc.tensor):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] if m[j] else (z[j] if z[j] > 0 else j)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_masks_of_rows_as_long_as_what_fits_on_chip(dtype: type) -> None:
    for columns in (1791, 1793, 2017, 2041, 3839, 3841, 4081, 5000):
        x, z = (numbers(dtype, 3 * columns).reshape(3, columns), numbers(dtype, columns))
        mask, y = np.arange(columns) % 3 == 0, np.zeros((3, columns), dtype)
        with asc.device("model"):
            masked_rows(x, z, mask, y)
        places = np.arange(columns).astype(dtype)
        assert np.array_equal(y, np.where(mask, x, np.where(z > 0, z, places)))
