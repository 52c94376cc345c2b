# SPDX-License-Identifier: Apache-2.0
"""Loops over one array into another, as kernels and as the plain Python that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc

CASES: list[Callable[..., None]] = []


def case(function: Callable[..., None]) -> Callable[..., None]:
    CASES.append(function)
    return function


@case
def until_large(x: asc.float32[N], y: asc.float32[N]):
    for i in reversed(range(len(x))):
        if i % 3 == 0:
            continue
        y[i] = x[i] if x[i] > 0 else -x[i]
        if x[i] > 1.9:
            break
    else:
        y[0] = 7.0


@case
def shifted_sums(x: asc.float32[N], y: asc.float32[N]):
    a, b = 0.0, 1.0
    for i, v in enumerate(x):
        a, b = b, a + v
        y[i] = a


@case
def decay(x: asc.float32[N], y: asc.float32[N]):
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + x[i]


@case
def triangle(x: asc.float32[N], y: asc.float32[N]):
    n = len(x)
    for i in range(n):
        for j in range(i, n, 2):
            y[j] += x[i]


@case
def slices(x: asc.float32[N], y: asc.float32[N]):
    y[1:] = x[:-1]
    y[0] = 0.0
    y[::2] += x[::2]


@case
def changed_temporary(x: asc.float32[N], y: asc.float32[N]):
    x2 = x * 2.0
    x2[0] = 5.0
    y[:] = x2 + x


@case
def skipping_while(x: asc.float32[N], y: asc.float32[N]):
    i = 0
    while i < len(x):
        if x[i] < 0:
            i += 2
            continue
        y[i] = x[i]
        i += 1


@case
def count_of_largest(x: asc.float32[N], y: asc.float32[N]):
    best = -1e30
    for v in x:
        if v > best:
            best = v
    count = 0
    for v in x:
        if v == best:
            count += 1
    y[0] = best
    y[1] = count


@case
def rotate(x: asc.float32[N], y: asc.float32[N]):
    y[:] = x
    for i in range(len(x) - 1):
        y[i], y[i + 1] = y[i + 1], y[i]


@case
def clipped_window(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        s = 0.0
        for d in (-1, 0, 1):
            j = i + d
            if 0 <= j < len(x):
                s += x[j]
        y[i] = s


@case
def mirrored_sum(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        y[i] = y[len(x) - 1 - i] + x[i]


@case
def statistics(x: asc.float32[N], y: asc.float32[N]):
    lo = x[0]
    hi = x[0]
    s = 0.0
    c = 0
    for i in range(len(x)):
        lo = min(lo, x[i])
        hi = max(hi, x[i])
        if x[i] > 0:
            s += x[i]
            c += 1
    y[0] = lo
    y[1] = hi
    y[2] = s
    y[3] = c


@case
def break_inside(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        for j in range(len(x)):
            if j > i:
                break
            y[i] += x[j]


@case
def signed_products(x: asc.float32[N], y: asc.float32[N]):
    p = 1.0
    for i in range(len(x)):
        p *= 1.0 + 0.01 * x[i]
        y[i] = p if i % 2 else -p


@case
def swap_pairs(x: asc.float32[N], y: asc.float32[N]):
    n = len(x)
    for i in range(0, n - 1, 2):
        y[i] = x[i + 1]
        y[i + 1] = x[i]


@case
def nested_functions(x: asc.float32[N], y: asc.float32[N]):
    def g(a, b=2.0):
        return a * b + 1.0

    h = lambda v: g(v) - g(v, 0.5)  # noqa: E731
    for i in range(len(x)):
        y[i] = h(x[i])


@case
def from_the_end(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        y[-1 - i] = x[i]


@case
def differences(x: asc.float32[N], y: asc.float32[N]):
    prev = x[-1]
    for i in range(len(x)):
        cur = x[i]
        y[i] = cur - prev
        prev = cur


@case
def halvings(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        v = x[i]
        k = 0
        while abs(v) > 0.1 and k < 10:
            v = v / 2.0
            k += 1
        else:
            k += 100
        y[i] = k


@case
def recurrence_of_two(x: asc.float32[N], y: asc.float32[N]):
    for i in range(2, len(x)):
        y[i] = x[i] + y[i - 2]


@case
def permuted(x: asc.float32[N], y: asc.float32[N]):
    for i in range(len(x)):
        y[(i * 7) % len(x)] = x[i]


@case
def running_by_cases(x: asc.float32[N], y: asc.float32[N]):
    s = 0.0
    for i in range(len(x)):
        if (i > 3 and x[i] > 0) or i == 0:
            s = s + x[i]
        elif x[i] < -1:
            s = s - 1.0
        y[i] = s


@case
def two_names_for_one(x: asc.float32[N], y: asc.float32[N]):
    z = asc.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] * x[i]
    w = z
    w[0] = -1.0
    y[:] = z


KERNELS = {function.__name__: asc.kernel(function) for function in CASES}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(list(KERNELS.values()))


def pair(n: int, seed: int) -> tuple[Any, Any]:
    x, y = np.random.default_rng(seed).standard_normal((2, n)).astype(np.float32)
    return x, y


@pytest.mark.parametrize("n", [4, 5, 17, 64, 131])
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernel_does_what_python_does(name: str, n: int) -> None:
    for seed in range(3):
        (x, y), (x_there, y_there) = pair(n, seed), pair(n, seed)
        KERNELS[name].py_func(x_there, y_there)
        KERNELS[name](x, y)
        np.testing.assert_array_equal(x, x_there)
        # Python adds in double precision where it starts from a number, kernels in float32.
        np.testing.assert_allclose(y, y_there, rtol=1e-4, atol=1e-4)
