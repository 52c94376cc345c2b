# SPDX-License-Identifier: Apache-2.0
"""Loops on the scalar units of all cores of the model: right, and no two cores write into one cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model import agree, f32

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]


@asc.kernel
def steps(x: asc.int32[N], y: asc.int32[N]):
    for i in asc.parallel_for(N):
        n = x[i]
        c = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            c += 1
        y[i] = c


@asc.kernel
def shifted(x: asc.float32[N], y: asc.float32[M]):
    for i in asc.parallel_for(N):
        n = x[i]
        total = 1.0
        count = 0
        while n > 1.0:
            n = n / 2.0
            total += asc.exp(n)
            count += 1
        y[i + 3] = total + count


@asc.kernel
def recurrence(x: asc.float32[R, C], y: asc.float32[R, C], z: asc.float32[R]):
    for i in asc.parallel_for(R):
        y[i, 0] = x[i, 0]
        j = 1
        while j < C:
            y[i, j] = y[i, j - 1] * y[i, j - 1] * 0.1 + x[i, j]
            j += 1
        z[i] = y[i, C - 1]


@asc.kernel
def back_substitution(U: asc.float32[N, N], x: asc.float32[N], b: asc.float32[N]):
    for i in range(N - 1, -1, -1):
        x[i] = b[i]
        for j in range(i + 1, N):
            x[i] -= U[i, j] * x[j]
        x[i] /= U[i, i]


@asc.kernel
def ends(x: asc.float32[N], y: asc.int32[N]):
    steps = 0
    while x[0] < 100.0 and steps < 9:
        x[0] = x[0] * 2.0 + 1.0
        steps += 1
    x[N - 1] = x[0] - x[N // 2]
    y[0] = steps
    y[N - 1] = y[0] + y[N // 2]


@asc.kernel
def swap_two(x: asc.float32[N], i: int, j: int):
    x[i], x[j] = x[j], x[i]


def cores(kernel: Any, **sizes: int) -> list[int]:
    """The cores of each launch."""
    from pyasc.runtime.ascend import ascend_kernel

    made = ascend_kernel(kernel.specialise(kernel.types_of()).lowered("ascend"))
    return [launch.blocks for launch in made.launches({}, sizes)]


def test_loops_that_depend_on_data() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 7, 15, 16, 17, 100, 1000):
        x = rng.integers(1, 50, n).astype(np.int32)
        agree(steps, [x, np.zeros_like(x)])
        agree(shifted, [f32(rng, n) * 5, np.zeros(n + 5, np.float32)], bound=1e-5)


def test_recurrences_along_rows() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (3, 16), (40, 33), (100, 16), (64, 4)):
        x = f32(rng, rows * columns).reshape(rows, columns)
        agree(recurrence, [x, np.zeros_like(x), np.zeros(rows, np.float32)], bound=1e-5)


def test_rows_are_dealt_by_whole_cache_lines() -> None:
    assert cores(steps, N=1) == [1]
    assert cores(steps, N=33) == [3]
    assert cores(steps, N=100_000) == [48]
    assert cores(shifted, N=14, M=100) == [2]
    assert cores(recurrence, R=40, C=32) == [3]


def test_one_element_is_computed_by_the_launch_in_front_of_it() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 16, 33, 65):
        u = (np.triu(f32(rng, n * n).reshape(n, n)) + n * np.eye(n)).astype(np.float32)
        agree(back_substitution, [u, np.zeros(n, np.float32), f32(rng, n)], bound=1e-5)
    assert cores(back_substitution, N=100) == [1, 1]


def test_single_elements_behind_a_loop() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 17):
        agree(ends, [f32(rng, n), np.arange(n, dtype=np.int32)])


def test_two_elements_change_places() -> None:
    rng = np.random.default_rng(0)
    for n, i, j in ((1, 0, 0), (2, 0, 1), (17, -1, 3), (40, 39, -40)):
        agree(swap_two, [f32(rng, n)], (i, j))


@asc.kernel
def by_roots(x: asc.float32[N], s: asc.float32[M], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = x[i] * asc.sqrt(abs(s[-1]))


@asc.kernel
def by_exponentials(x: asc.float32[N, K], s: asc.float32[M], y: asc.float32[N, K], t: asc.float32[N]):
    for i in asc.parallel_for(N):
        for j in range(K):
            y[i, j] = x[i, j] + asc.exp(s[0]) - asc.sqrt(s[1] * s[1])
        t[i] = asc.tanh(s[2])


@asc.kernel
def by_halves(x: asc.float16[N], s: asc.float16[M], y: asc.float16[N]):
    y[:] = x * asc.sqrt(abs(s[1])) + asc.log(abs(s[0]) + asc.float16(1.0))


@asc.kernel
def sums_by_roots(x: asc.float32[N, K], s: asc.float32[M], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        total = 0.0
        for j in range(K):
            total += x[i, j] * asc.sqrt(abs(s[0]))
        y[i] = total


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_elements_beside_a_function_of_a_number() -> None:
    s = noise(5)
    for n in (1, 9, 33, 255):
        agree(by_roots, [noise(n), s, np.zeros(n, np.float32)], bound=1e-6)
        agree(by_exponentials, [noise(n, 7), s, *(np.zeros(k, np.float32) for k in ((n, 7), n))], bound=1e-5)
        halves = [each.astype(np.float16) for each in (noise(n), s, np.zeros(n, np.float32))]
        agree(by_halves, halves, bound=2e-3)
        agree(sums_by_roots, [noise(n, 17), s, np.zeros(n, np.float32)], bound=1e-5)


@asc.kernel
def doubled_apart(x: asc.uint32[N, M], y: asc.uint32[N], z: asc.int64[M]):
    s = 0
    for i in range(M):
        s += 3
    z[-1] = s
    x[0, -1] = s % 100
    y[::2] += y[::2]
    y[1::3] += y[1::3]
    for i, j in asc.parallel_for_grid(N, M):
        x[i, j] = x[i, j] // 2


def test_numbers_of_sizes_in_front_of_loops() -> None:
    for n, m in ((1, 1), (2, 5), (9, 3), (33, 7)):
        x = np.arange(n * m, dtype=np.uint32).reshape(n, m)
        agree(doubled_apart, [x, np.arange(n, dtype=np.uint32), np.zeros(m, np.int64)])
