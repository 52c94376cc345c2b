# SPDX-License-Identifier: Apache-2.0
"""Control flow: each kernel against its own Python function, on the same data."""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np
import pytest

import pyasc as asc

SIZES = (0, 1, 2, 7, 8, 9, 31, 33, 100)


@asc.kernel
def first_negative(x: asc.int32[N], out: asc.int32[1]):
    for i in range(N):
        if x[i] < 0:
            out[0] = i
            break
    else:
        out[0] = -1


@asc.kernel
def skip_odd(x: asc.int32[N], out: asc.int32[N]):
    for i in range(N):
        if x[i] % 2 == 1:
            continue
        out[i] = x[i]


@asc.kernel
def branches(x: asc.int32[N], out: asc.int32[N]):
    for i in asc.parallel_for(0, N):
        if x[i] > 10:
            out[i] = 1
        elif x[i] > 0:
            out[i] = 2
        elif x[i] == 0:
            out[i] = 3
        else:
            out[i] = -x[i]


@asc.kernel
def early_return(x: asc.int32[N], out: asc.int32[N]):
    if N > 8:
        out[0] = 99
        return
    for i in range(N):
        out[i] = x[i] + 1


@asc.kernel
def fibonacci(out: asc.int64[N]):
    a, b = 0, 1
    for i in range(N):
        out[i] = a
        a, b = b, a + b


@asc.kernel
def bubble_sort(x: asc.int32[N]):
    for i in range(N):
        for j in range(N - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]


@asc.kernel
def sieve(out: asc.int32[N]):
    for i in range(2, N):
        prime = True
        d = 2
        while d * d <= i:
            if i % d == 0:
                prime = False
                break
            d += 1
        out[i] = 1 if prime else 0


@asc.kernel
def backwards(x: asc.int32[N], out: asc.int32[N]):
    k = 0
    for i in range(N - 1, -1, -1):
        out[k] = x[i]
        k += 1


@asc.kernel
def strided_steps(x: asc.int32[N], out: asc.int32[N]):
    for i in range(1, N, 3):
        out[i] = x[i] * 2
    for i in reversed(range(0, N, 4)):
        out[i] += 5


@asc.kernel
def negative_indices(x: asc.int32[N], out: asc.int32[N]):
    for i in range(N):
        out[-1 - i] = x[i]


@asc.kernel
def pairs(x: asc.int32[N], y: asc.int32[N], out: asc.int32[N]):
    for i, (a, b) in enumerate(zip(x, y)):  # noqa: B905
        out[i] = max(a, b) - min(a, b)


@asc.kernel
def gcds(x: asc.int32[N], y: asc.int32[N], out: asc.int32[N]):
    for i in asc.parallel_for(0, N):
        a, b = abs(x[i]), abs(y[i])
        while b != 0:
            a, b = b, a % b
        out[i] = a


@asc.kernel
def short_circuit(x: asc.int32[N], out: asc.int32[N]):
    for i in range(N):
        if (i > 0 and x[i - 1] > x[i]) or x[i] == 7:
            out[i] = 1


@asc.kernel
def nested_function(x: asc.int32[N], out: asc.int32[N]):
    def bump(v, by=3):
        return v + by

    twice = lambda v: v * 2  # noqa: E731
    for i in range(N):
        out[i] = bump(twice(x[i])) + bump(1, by=x[i])


ONE = [first_negative, skip_odd, branches, early_return, backwards, strided_steps, negative_indices, short_circuit,
       nested_function]  # fmt: skip
TWO = [pairs, gcds]
ALONE = [fibonacci, sieve]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """All kernels of this file, as few units."""
    asc.compile([*ONE, *TWO, *ALONE, bubble_sort])


def check(kernel: Any, *arguments: np.ndarray[Any, Any]) -> None:
    """The kernel leaves its arguments as its Python function does."""
    expected = copy.deepcopy(arguments)
    function = kernel.py_func
    # A size has its value only in a launch, so plain Python is given one.
    names = function.__globals__ | {"N": len(arguments[0])}
    types.FunctionType(function.__code__, names)(*expected)
    kernel(*arguments)
    for got, want in zip(arguments, expected, strict=True):
        assert np.array_equal(got, want)


def ints(n: int, seed: int = 0, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-20, 20, n).astype(dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kernel", ONE, ids=lambda kernel: kernel.__name__)
def test_one_input(kernel: Any, n: int) -> None:
    if kernel is early_return and n == 0:
        pytest.skip("writes nothing at size 0")
    check(kernel, ints(n), np.zeros(1 if kernel is first_negative else n, np.int32))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kernel", TWO, ids=lambda kernel: kernel.__name__)
def test_two_inputs(kernel: Any, n: int) -> None:
    check(kernel, ints(n), ints(n, 1), np.zeros(n, np.int32))


@pytest.mark.parametrize("n", SIZES)
def test_outputs_alone(n: int) -> None:
    check(fibonacci, np.zeros(min(n, 80), np.int64))
    check(sieve, np.zeros(n, np.int32))


@pytest.mark.parametrize("n", SIZES)
def test_sorting_in_place(n: int) -> None:
    x = ints(n)
    expected = np.sort(x)
    bubble_sort(x)
    assert np.array_equal(x, expected)
