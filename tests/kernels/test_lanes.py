# SPDX-License-Identifier: Apache-2.0
"""While loops in lanes, each against its own Python function: what a lane leaves behind is what it stopped with."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]

SIZES = (0, 1, 7, 15, 16, 17, 63, 64, 65, 100)
LIMITS = (-1, 0, 1, 5, 1000)


@asc.kernel
def halvings(x: asc.float32[N], limit: int, counts: asc.int32[N], rest: asc.float32[N]):
    for i in asc.parallel_for(N):
        value = x[i]
        n = 0
        while n < limit and value > 1.0:
            value = value * 0.5
            n += 1
        counts[i] = n
        rest[i] = value


@asc.kernel
def two_limits(x: asc.float32[N], limit: int, counts: asc.int32[N], rest: asc.float32[N]):
    for i in asc.parallel_for(N):
        value = x[i]
        n = 0
        left = limit
        while n < 40 and left > 0 and value > 1.0:
            value = value - 3.0
            n += 1
            left -= 2
        counts[i] = left + 100 * n
        rest[i] = value


@asc.kernel
def roots(x: asc.float32[N], limit: int, counts: asc.int32[N], rest: asc.float32[N]):
    for i in asc.parallel_for(N):
        value = x[i]
        n = 0
        while n < limit and value > 1.5:
            value = asc.sqrt(value)
            n += 1
        counts[i] = n
        rest[i] = value


@asc.kernel
def swapped(x: asc.float32[N], limit: int, counts: asc.int32[N], rest: asc.float32[N]):
    for i in asc.parallel_for(N):
        a, b = x[i], 1.0
        n = 0
        while n < limit and a > 0.25:
            a, b = b * 0.5, a
            n += 1
        counts[i] = n
        rest[i] = a + 8.0 * b


@asc.kernel
def without_limit(x: asc.float32[N], limit: int, counts: asc.int32[N], rest: asc.float32[N]):
    for i in asc.parallel_for(N):
        value = x[i]
        n = limit
        while value > 1.0 and value == value:
            value = value * 0.25
            n += 2
        counts[i] = n
        rest[i] = value


@asc.kernel
def rows(x: asc.float32[M, N], limit: int, counts: asc.int32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            value = x[i, j]
            n = 0
            while n < limit and value > 1.0:
                value = value * 0.5
                n += 1
            counts[i, j] = n


KERNELS = (halvings, two_limits, roots, swapped, without_limit)


def expected(kernel: Any, x: np.ndarray[Any, Any], limit: int) -> tuple[np.ndarray[Any, Any], ...]:
    """What CPython makes of the same function."""
    counts, rest = np.zeros(x.size, np.int32), np.zeros(x.size, np.float32)
    names = kernel.py_func.__globals__ | {"N": x.size}
    types.FunctionType(kernel.py_func.__code__, names)(x, limit, counts, rest)
    return counts, rest


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([*KERNELS, rows])


def numbers(n: int) -> np.ndarray[Any, Any]:
    """Lanes that stop at once and lanes that stop late, side by side; a NaN never begins."""
    rng = np.random.default_rng(n)
    x = np.exp2(rng.integers(-3, 30, n)).astype(np.float32)
    x[::5] = 0.5
    x[3::11] = np.nan
    return x


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_what_lanes_leave_behind(kernel: Any, n: int, device: str) -> None:
    x = numbers(n)
    for limit in LIMITS if device == "cpu" else LIMITS[1:4:2]:
        counts, rest = np.full(n, -7, np.int32), np.full(n, -7, np.float32)
        with asc.device(device):
            kernel(x, limit, counts, rest)
        wanted = expected(kernel, x, limit)
        np.testing.assert_array_equal(counts, wanted[0])
        np.testing.assert_array_equal(rest, wanted[1])


@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (3, 16), (4, 17), (5, 33), (9, 100)])
def test_rows_side_by_side(shape: tuple[int, int]) -> None:
    x = numbers(shape[0] * shape[1]).reshape(shape)
    for limit in LIMITS:
        counts = np.full(shape, -7, np.int32)
        rows(x, limit, counts)
        wanted = expected(halvings, x.ravel(), limit)[0].reshape(shape)
        np.testing.assert_array_equal(counts, wanted)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_every_loop_here_is_in_lanes(kernel: Any) -> None:
    assert ".any()" in kernel.source("cpu")


def test_an_iteration_that_costs_much_is_not_begun_without_lanes() -> None:
    ends = {kernel.__name__: "if (!left" in kernel.source("cpu") for kernel in KERNELS}
    assert [name for name, at_end in ends.items() if not at_end] == ["roots"]
