# SPDX-License-Identifier: Apache-2.0
"""Names of arrays that a loop exchanges at the end of each iteration, as plain Python has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pyasc as asc

CASES: list[Callable[..., None]] = []


def case(function: Callable[..., None]) -> Callable[..., None]:
    CASES.append(function)
    return function


@case
def stencil(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    for _ in range(n):
        for i in range(1, len(x) - 1):
            y[i] = (x[i - 1] + x[i + 1]) * 0.5
        x, y = y, x


@case
def in_parallel(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    for _ in range(n):
        for i in asc.parallel_for(1, len(x) - 1):
            y[i] = (x[i - 1] + x[i + 1]) * 0.5
        x, y = y, x


@case
def rotation(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    for t in range(n):
        y[:] = x * 0.5 + t
        x, y, z = y, z, x


@case
def through_a_third_name(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    for t in range(n, 0, -1):
        y[1:] = x[:-1] + t
        spare = x
        x = y
        y = spare


@case
def known_count(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    for _ in range(5):
        y[:] = x + 1
        x, y = y, x
    z[:] = x * 2


@case
def local_arrays(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    a = x + 1
    b = x * 0
    for _ in range(3):
        for i in range(1, len(x)):
            b[i] = a[i - 1] + a[i]
        a, b = b, a
    z[:] = a


@case
def read_behind(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    a = x + 1
    b = x * 0
    for k in range(n, 0, -1):
        b[:] = a * 0.5 + k
        a, b = b, a
    z[:] = a
    y[0] = b[1]


@case
def three_read_behind(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    a, b, c = x * 1, x * 2, x * 3
    for k in range(n):
        c[:] = a + b * k
        a, b, c = b, c, a
    a[0] = 100
    x[:] = a
    y[:] = b
    z[:] = c


@case
def rows_of_a_table(x: asc.float32[S], y: asc.float32[S], z: asc.float32[S], n: int):
    total = 0.0
    before, now = x * 1, y * 1
    for _ in range(2):
        for i in range(n):
            for j in range(1, len(x)):
                if x[j] > y[i]:
                    now[j] = before[j - 1] + 1
                    continue
                now[j] = max(before[j], now[j - 1])
                if now[j] > 3:
                    break
            spare = before
            before = now
            now = spare
        total += before[len(x) - 1]
    z[:] = before
    y[0] = total


KERNELS = [asc.kernel(function) for function in CASES]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(KERNELS)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6, 7])
@pytest.mark.parametrize(
    ("kernel", "function"), list(zip(KERNELS, CASES, strict=True)), ids=[c.__name__ for c in CASES]
)
def test_as_in_python(kernel: asc.Kernel, function: Callable[..., None], count: int) -> None:
    start = np.random.default_rng(0).standard_normal((3, 9)).astype(np.float32)
    found, wanted = [row.copy() for row in start], [row.copy() for row in start]
    kernel(*found, count)
    function(*wanted, count)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("model_library")
def test_on_the_model() -> None:
    with asc.device("model"):
        for kernel, function in zip(KERNELS[-3:], CASES[-3:], strict=True):
            start = np.random.default_rng(0).standard_normal((3, 9)).astype(np.float32)
            found, wanted = start.copy(), start.copy()
            kernel(*found, 5)
            function(*wanted, 5)
            np.testing.assert_array_equal(found, wanted)


def test_arrays_with_other_names_are_not_exchanged() -> None:
    def view(x: asc.float32[S], n: int):
        a, b = x + 1, x * 0
        part = a[1:]
        for _ in range(n):
            b[:] = a * 2
            a, b = b, a
        return a[0] + part[0]

    def in_a_tuple(x: asc.float32[S], n: int):
        a, b = x + 1, x * 0
        both = (a, b)
        for _ in range(n):
            b[:] = a * 2
            a, b = b, a
        return a[0] + both[0][0]

    def by_default(x: asc.float32[S], n: int):
        a, b = x + 1, x * 0

        def first(v=a):
            return v[0]

        for _ in range(n):
            b[:] = a * 2
            a, b = b, a
        return a[0] + first()

    for function in (view, in_a_tuple, by_default):
        with pytest.raises(asc.CompileError, match="`a` has no single value here"):
            asc.kernel(function).lower()


def test_a_name_that_stands_for_either_array_is_refused() -> None:
    def k(x: asc.float32[S], y: asc.float32[S], n: int):
        for _ in range(n):
            y[0] = x[1]
            x, y = y, x
        return x[0]

    with pytest.raises(asc.CompileError, match="`x` has no single value here"):
        asc.kernel(k).lower()
