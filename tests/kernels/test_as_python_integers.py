# SPDX-License-Identifier: Apache-2.0
"""Loops over integers, as kernels and as the plain Python that they are."""

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
def bits(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        y[i] = (x[i] << 3) ^ ((x[i] >> 2) & 255) | ~x[i]


@case
def quotient_and_remainder(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        q, r = divmod(x[i], 7)
        y[i] = q * 10 + r


@case
def last_largest(x: asc.int32[N], y: asc.int32[N]):
    best = x[0]
    at = 0
    for i in range(len(x)):
        if x[i] >= best:
            best = x[i]
            at = i
    y[0] = at
    y[1] = best


@case
def compact(x: asc.int32[N], y: asc.int32[N]):
    c = 0
    for i in range(len(x)):
        if x[i] % 3 == 0:
            y[c] = x[i]
            c += 1


@case
def insertion_sort(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        j = i
        while j > 0 and y[j - 1] > y[j]:
            y[j - 1], y[j] = y[j], y[j - 1]
            j -= 1


@case
def generator(x: asc.int32[N], y: asc.int32[N]):
    a = 1
    for i in range(len(x)):
        a = (a * 75 + 74) % 65537
        y[i] = a + x[i]


@case
def bit_count(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        y[i] = 0
        for b in range(31):
            y[i] += (x[i] >> b) & 1


@case
def binary_search(x: asc.int32[N], y: asc.int32[N]):
    lo = 0
    hi = len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if mid * mid < 50:
            lo = mid + 1
        else:
            hi = mid
    y[0] = lo


@case
def until_enough(x: asc.int32[N], y: asc.int32[N]):
    s = 0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        s += x[i]
        if s > 1000:
            break
    y[0] = s


@case
def around(x: asc.int32[N], y: asc.int32[N]):
    n = len(x)
    for i in range(n):
        y[i] = x[(i + 3) % n] - x[(i - 3) % n]


@case
def digits(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        y[i] = int(x[i] / 4) + round(x[i] / 3)


@case
def longest_run(x: asc.int32[N], y: asc.int32[N]):
    m = 0
    for i in range(len(x)):
        run = 0
        for j in range(i, len(x)):
            if x[j] > 0:
                run += 1
            else:
                break
        m = max(m, run)
    y[0] = m


@case
def twin(x: asc.int32[N], y: asc.int32[N]):
    n = len(x)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            if x[i] == x[j]:
                y[i] = j
                break
        else:
            y[i] = -1


@case
def larger_by_zip(x: asc.int32[N], y: asc.int32[N]):
    for v, i in zip(x, range(len(x))):  # noqa: B905
        y[i] = v if v > y[i] else y[i]


@case
def by_turns(x: asc.int32[N], y: asc.int32[N]):
    a = 0
    b = 0
    for i in range(len(x)):
        if i & 1:
            a += x[i]
        else:
            b -= x[i]
        y[i] = a * 2 + b


@case
def hash_of_all(x: asc.int32[N], y: asc.int32[N]):
    s = 1
    for i in range(len(x)):
        s = s * 31 + x[i]
        s = s % 1000003
    y[0] = s


@case
def shell_sort(x: asc.int32[N], y: asc.int32[N]):
    y[:] = x
    for gap in (8, 4, 2, 1):
        for i in range(gap, len(x)):
            if y[i - gap] > y[i]:
                t = y[i]
                y[i] = y[i - gap]
                y[i - gap] = t


@case
def counts(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        y[x[i] % len(x)] += 1


@case
def several_arguments(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x)):
        y[i] = min(x[i], 5, i) + max(-x[i], 2)


@case
def since_last(x: asc.int32[N], y: asc.int32[N]):
    last = -1
    for i in range(len(x)):
        if x[i] > 10:
            last = i
        y[i] = i - last


@case
def whole_arrays(x: asc.int32[N], y: asc.int32[N]):
    y[:] = x // 3 - x % 5 + abs(x) ** 2


@case
def suffix_sums(x: asc.int32[N], y: asc.int32[N]):
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] + (y[i + 1] if i + 1 < len(x) else 0)


@case
def sorted_or_not(x: asc.int32[N], y: asc.int32[N]):
    ok = True
    for i in range(1, len(x)):
        ok = ok and x[i] >= x[i - 1]
    y[0] = 1 if ok else 0
    y[1] = any([x[0] > 0, x[1] > 0])


@case
def reverse(x: asc.int32[N], y: asc.int32[N]):
    i = 0
    j = len(x) - 1
    while i < j:
        y[i] = x[j]
        y[j] = x[i]
        i += 1
        j -= 1


KERNELS = {function.__name__: asc.kernel(function) for function in CASES}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(list(KERNELS.values()))


def pair(n: int, seed: int) -> tuple[Any, Any]:
    x, y = np.random.default_rng(seed).integers(-40, 40, (2, n)).astype(np.int32)
    return x, y


@pytest.mark.parametrize("n", [4, 5, 17, 64, 131])
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernel_does_what_python_does(name: str, n: int) -> None:
    for seed in range(3):
        (x, y), (x_there, y_there) = pair(n, seed), pair(n, seed)
        KERNELS[name].py_func(x_there, y_there)
        KERNELS[name](x, y)
        np.testing.assert_array_equal(x, x_there)
        np.testing.assert_array_equal(y, y_there)
