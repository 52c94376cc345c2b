# SPDX-License-Identifier: Apache-2.0
"""Loop counters as data, and integer division, on the vector unit of the model."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model import agree
from tests.kernels.test_model_rows import f32, on_vector

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

LENGTHS = (1, 7, 64, 65, 1000, 20011)
SHAPES = ((1, 1), (3, 7), (9, 31), (300, 65), (50, 257), (3, 2500))


@asc.kernel
def ramp(o: asc.float32[N]):
    for i in asc.parallel_for(N):
        o[i] = i * 0.5 + asc.sqrt(float(i))


@asc.kernel
def squares(o: asc.int64[N], p: asc.int32[N]):
    for i in asc.parallel_for(N):
        o[i] = i * i // 7
        p[i] = i % 13 - i // 5


@asc.kernel
def weighted_sum(x: asc.float32[N]):
    s = 0.0
    for i in range(N):
        s += x[i] * (i + 1)
    return s


def test_counters_of_one_loop() -> None:
    for n in LENGTHS:
        agree(ramp, [np.zeros(n, np.float32)], bound=1e-6)
        agree(squares, [np.zeros(n, np.int64), np.zeros(n, np.int32)])
        agree(weighted_sum, [f32(n)], bound=1e-4 * n)
    for kernel in (ramp, squares, weighted_sum):
        on_vector(kernel)


@asc.kernel
def checked(x: asc.float32[R, C], o: asc.float32[R, C]):
    for i in asc.parallel_for(R):
        for j in range(C):
            o[i, j] = x[i, j] * (i + 2 * j) if j % 3 == 0 else float(i)


@asc.kernel
def lower_part(x: asc.float32[N, N], o: asc.float32[N, N]):
    for i in asc.parallel_for(N):
        for j in range(N):
            o[i, j] = x[i, j] if j <= i else 0.0


@asc.kernel
def moments(x: asc.float32[R, C], o: asc.float32[R], t: asc.float32[C]):
    for i in asc.parallel_for(R):
        s = 0.0
        for j in range(C):
            s += x[i, j] * j
        o[i] = s + i
    for j in asc.parallel_for(C):
        for i in range(R):
            t[j] += x[i, j] * i


def test_counters_of_rows_and_columns() -> None:
    for shape in SHAPES:
        x = f32(*shape)
        agree(checked, [x, np.zeros_like(x)], bound=1e-6)
        agree(moments, [x, np.zeros(shape[0], np.float32), np.zeros(shape[1], np.float32)], bound=1e-3)
    for n in (1, 7, 65, 200):
        agree(lower_part, [f32(n, n), np.zeros((n, n), np.float32)])
    for kernel in (checked, moments, lower_part):
        on_vector(kernel)


@asc.kernel
def divided(x: asc.int32[N], y: asc.int16[N]):
    return x // 7, x % 7, x // 8, x % 1000003, y // 3, y % 10


def test_division_by_numbers_rounds_down() -> None:
    rng = np.random.default_rng(0)
    edges = [-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2, 0, -1, 1, 6, 7, -7, -8, 1000003, -1000003, 999999]
    x = np.array(edges * 3, np.int32)
    agree(divided, [x, x.astype(np.int16)])
    for n in LENGTHS:
        x = rng.integers(-(2**31), 2**31 - 1, n, endpoint=True).astype(np.int32)
        agree(divided, [x, x.astype(np.int16)])
    on_vector(divided)


def test_sizes_that_32_bits_do_not_hold_are_refused() -> None:
    from pyasc.runtime.ascend import ascend_kernel

    made = ascend_kernel(ramp.specialise(ramp.types_of()).lowered("ascend"))
    assert len(list(made.launches({}, {"N": 2**31}))) == 1
    with pytest.raises(OverflowError, match="computed in 32 bits"):
        list(made.launches({}, {"N": 2**31 + 1}))


@asc.kernel
def turned_after(x: asc.float32[N, M], y: asc.float32[N, M], p: asc.int32[N]):
    x[:] = x[p]
    for i in range(N):
        x[i] += y[p[N - 1 - i]]
        p[i] = (p[i] + 1) % N


def test_what_fits_in_32_bits_at_no_size_runs_elsewhere() -> None:
    for n in (1, 5, 9):
        agree(turned_after, [f32(n, 7), f32(n, 7), np.arange(n - 1, -1, -1, dtype=np.int32)])


@asc.kernel
def single_columns(x: asc.float32[N, 1], o: asc.float32[4, 1], p: asc.float32[1]):
    turned = asc.eye(2)[..., ::-2]
    o[...] = asc.concatenate((turned, turned))
    p[...] = asc.sum(asc.eye(1)[:, ::-1] * x, axis=0)


def test_the_counter_of_a_single_column_is_zero() -> None:
    x = np.arange(5, dtype=np.float32)[:, None]
    agree(single_columns, [x, np.zeros((4, 1), np.float32), np.zeros(1, np.float32)])
    on_vector(single_columns)


@asc.kernel
def few_columns(x: asc.float32[N, 5]):
    return asc.sum(x, axis=0), asc.max(x * 2, axis=0)


def test_columns_of_one_strip() -> None:
    x = np.random.default_rng(0).integers(-9, 9, (300, 5)).astype(np.float32)
    with asc.device("model"):
        sums, largest = few_columns(x)
    np.testing.assert_array_equal(sums, x.sum(axis=0))
    np.testing.assert_array_equal(largest, 2 * x.max(axis=0))


@asc.kernel
def around(x: asc.int32[N], y: asc.int32[K]):
    x[1:] = x[:-1]
    for i in range(K):
        y[i] = y[i] + i % N + i // N


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_division_by_a_size_that_a_launch_makes_zero(device: str) -> None:
    y = np.arange(7, dtype=np.int32)
    with asc.device(device):
        around(np.zeros(0, np.int32), y)
    assert y.tolist() == list(range(7))
