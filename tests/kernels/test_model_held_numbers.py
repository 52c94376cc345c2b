# SPDX-License-Identifier: Apache-2.0
"""Numbers that are read from arrays which the same kernel writes afterwards: on the model every launch reads anew."""

from __future__ import annotations

import types

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

H, W = asc.dims("H W")


@asc.kernel
def first_taken_off(a: asc.float32[H, W], p: asc.float32[W]):
    p -= p[0]
    a -= a[0, 0]


@asc.kernel
def last_taken_off(a: asc.float32[H, W], p: asc.float32[W]):
    p[:] = a[0] - p[-1]


@asc.kernel
def expression_of_one(a: asc.float32[H, W], p: asc.float32[W]):
    x = p[0] * 2
    p[:] = 5
    a[:] = x


@asc.kernel
def expression_of_two(a: asc.float32[H, W], p: asc.float32[W]):
    x = abs(p[0]) + 1
    for j in range(W):
        p[j] = a[0, j]
    y = x * p[1]
    for j in range(W):
        a[0, j] = x + y


@asc.kernel
def root(a: asc.float32[H, W], p: asc.float32[W]):
    n = asc.sqrt(p[0] * p[0])
    p /= n
    a *= n


@asc.kernel
def beside_a_sum(a: asc.float32[H, W], p: asc.float32[W]):
    x = p[0] * 2
    s = p.sum()
    p[:] = p - s + x
    a[:, 0] = x - s


@asc.kernel
def rows_by_their_first(a: asc.float32[H, W], p: asc.float32[W]):
    for i in range(H):
        x = a[i, 0] * 2
        y = a[i, -1] - x
        a[i] += p * a[i, 0] + x
        p[:] = a[i] * 0.5 + y


@asc.kernel
def passed_on(a: asc.float32[H, W], p: asc.float32[W]):
    for i in range(H):
        x = p[0] * 2
        p[:] = a[i]
        a[i] = x


@asc.kernel
def by_the_pivot(a: asc.float32[H, W], p: asc.float32[W]):
    for k in range(min(H, W)):
        a[k] /= a[k, k]
        for i in range(k + 1, H):
            a[i] -= a[i, k] * a[k]


@asc.kernel
def below_the_pivot(a: asc.float32[H, W], p: asc.float32[W]):
    for k in range(min(H, W)):
        for i in range(k + 1, H):
            a[i, k] /= a[k, k]


@asc.kernel
def by_one_in_front(a: asc.float32[H, W], p: asc.float32[W]):
    for i in range(1, H):
        for j in range(W):
            a[i, j] *= a[0, 1]


@asc.kernel
def one_element_each(a: asc.float32[H, W], p: asc.float32[W]):
    for i in asc.parallel_for(H):
        s = a[i, W - 1]
        while s > 1:
            s -= p[0]
        a[i, 0] = s


KERNELS = [
    first_taken_off,
    last_taken_off,
    expression_of_one,
    expression_of_two,
    root,
    beside_a_sum,
    rows_by_their_first,
    passed_on,
    by_the_pivot,
    below_the_pivot,
    by_one_in_front,
    one_element_each,
]
SIZES = [(2, 5), (7, 9), (9, 33), (3, 1000)]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """One unit for all."""
    with asc.device("model"):
        asc.compile(KERNELS)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.__name__)
def test_numbers_are_those_of_their_line(kernel: asc.Kernel) -> None:
    assert kernel.py_func is not None
    for h, w in SIZES:
        rng = np.random.default_rng(h)
        given = [rng.uniform(1, 2, shape).astype(np.float32) for shape in ((h, w), (w,))]
        given[0] += 3 * np.eye(h, w, dtype=np.float32)
        found, expected = ([each.copy() for each in given] for _ in range(2))
        sizes = {**kernel.py_func.__globals__, "asc": _Plain, "H": h, "W": w}
        types.FunctionType(kernel.py_func.__code__, sizes)(*expected)
        with asc.device("model"):
            kernel(*found)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


@asc.kernel
def last_column_by_first(x: asc.float32[H, W]):
    for i in range(H):
        row = x[i]
        for j in range(H):
            x[j, -1] = x[i, 0] + row[0] + x[j, -1]


@asc.kernel
def one_by_another(p: asc.float32[H], at: int, to: int):
    p[to] = p[at] * 2.0 + p[to]


@asc.kernel
def one_row_by_its_number(a: asc.float32[H, W], p: asc.float32[W]):
    for j in range(1):
        a[0, j] = a[0, W - 1] + p[j]


def test_a_number_may_be_the_element_that_is_made_of_it() -> None:
    """One place for both, which sizes and arguments decide: the element is written after it was read."""
    for h, w in ((1, 1), (4, 1), (4, 2), (3, 9)):
        x = np.arange(h * w, dtype=np.float32).reshape(h, w) % 5
        expected = x.copy()
        for i in range(h):
            for j in range(h):
                expected[j, -1] = expected[i, 0] + expected[i, 0] + expected[j, -1]
        with asc.device("model"):
            last_column_by_first(x)
        assert np.array_equal(x, expected)
    for at, to in ((0, 0), (0, 3), (3, 3), (-1, 3)):
        p = np.arange(4, dtype=np.float32)
        expected = p.copy()
        expected[to] = expected[at] * 2 + expected[to]
        with asc.device("model"):
            one_by_another(p, at, to)
        assert np.array_equal(p, expected)
    for w in (1, 2, 9):
        a, p = np.full((2, w), 3, np.float32), np.full(w, 2, np.float32)
        with asc.device("model"):
            one_row_by_its_number(a, p)
        assert np.array_equal(a, [[5, *[3] * (w - 1)], [3] * w])


class _Plain:
    """What the kernels use of pyasc, in NumPy."""

    sqrt = np.sqrt
    parallel_for = range


def test_what_is_apart_needs_no_launch_of_its_own() -> None:
    assert by_one_in_front.lower()["tile"].count("func.launch") == 1
    assert first_taken_off.lower()["tile"].count("func.launch") == 4
