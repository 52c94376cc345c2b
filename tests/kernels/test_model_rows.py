# SPDX-License-Identifier: Apache-2.0
"""Reductions of any length on the model device: whole arrays, long rows, columns, rows that differ in length."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.kernels.test_model import agree, layer_norm, softmax, softmax_loops

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="no g++"),
    pytest.mark.usefixtures("model_library"),
]

LENGTHS = (1, 7, 9, 63, 65, 1000, 20011, 200003)
SHAPES = ((1, 1), (3, 7), (9, 31), (300, 65), (50, 257), (4, 1000), (3, 5000), (500, 3))


def f32(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def on_vector(kernel: Any) -> None:
    """No loop of the kernel is left to the scalar unit."""
    remarks = kernel.specialise(kernel.types_of()).lowered("ascend").remarks
    assert not [each for each in remarks if "loop" in each.message and "scalar unit" in each.message]


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


def test_columns() -> None:
    for rows, columns in SHAPES:
        a = f32(rows, columns)
        agree(weighted_columns, [a, f32(rows), f32(columns)], bound=3e-5)
        agree(two_of_each_column, [a, f32(columns), f32(columns)], bound=3e-5)
        agree(middle_axis, [f32(3, rows, columns)])
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
