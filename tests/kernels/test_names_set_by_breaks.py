# SPDX-License-Identifier: Apache-2.0
"""Names that have a value behind a loop because every way to its `break` sets them, as in a search."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")


@asc.kernel
def searched(x: asc.float32[8], n: int):
    for i in range(n):
        if x[i] > 3:
            found = i
            break
    else:
        found = -1
    return found


@asc.kernel
def searched_or_returned(x: asc.float32[8], n: int):
    for i in range(n):
        if x[i] > 3:
            found = i
            break
    else:
        return -1
    return found


@asc.kernel
def endless(x: asc.float32[8], n: int):
    i = 0
    while True:
        if x[i] > 3:
            t = x[i] * 2
            break
        i += 1
    return t + i


@asc.kernel
def two_breaks(x: asc.float32[8], n: int):
    i = 0
    while True:
        if x[i] > 3:
            t = x[i] * 2
            s = i
            break
        elif i >= 6:
            t = x[0]
            s = 2.5
            break
        i += 1
    return t + s


@asc.kernel
def after_a_condition(x: asc.float32[8], n: int):
    i = 0
    while i < n:
        y = x[i] * 2
        if y > 3:
            z = y + 1
            break
        i += 1
    else:
        z = 0.0
    return z


@asc.kernel
def in_a_nest(x: asc.float32[8], n: int):
    total = 0.0
    for i in range(8):
        for j in range(8):
            if x[j] > i:
                k = j
                break
        else:
            k = 100
            continue
        total += k
    return total


@asc.kernel
def turned(x: asc.float32[8], n: int):
    while True:
        n += 1
        if n > 20:
            m = n
            break
        if n % 7 == 3:
            m = -n
            break
    return m


@asc.kernel
def left_by_its_last_line(x: asc.float32[8], n: int):
    while True:
        for i in range(8):
            if x[i] > 3:
                q = i
                break
        else:
            q = -5
        break
    return q


@asc.kernel
def or_returned(x: asc.float32[8], n: int):
    i = 0
    while True:
        if x[i] > 3:
            t, u = x[i], i
            break
        if i > 5:
            return -1.0
        i += 1
    return t + u


@asc.kernel
def written_out(x: asc.float32[8], n: int):
    for i in asc.unroll(range(4)):
        if x[i] > 2:
            found = i
            break
    else:
        found = -1
    return found


@asc.kernel
def over_a_tuple(x: asc.float32[8], n: int):
    for k in (2, 5, 1):
        if x[k] > n:
            found = x[k]
            break
    else:
        found = -1
    return found


@asc.kernel
def three_loops(x: asc.float32[8], n: int):
    s = 0
    for r in range(3):
        i = r
        while True:
            if x[i] > 3:
                hit = i
                break
            i = (i + 1) % 8
        for j in range(8):
            if x[j] >= hit:
                at = j * 10
                kind = True
                break
        else:
            at = 0.5
            kind = False
        s += at + hit
        if kind:
            s += 1
    return s


@asc.kernel
def of_two_types(x: asc.float32[8], n: int):
    for i in range(n):
        if x[i] > 3:
            if i > 4:
                found = i
                break
            else:
                found = x[i]
                break
    else:
        found = -1
    return found


@asc.kernel
def summed_on(x: asc.float32[8], n: int):
    for i in range(n):
        if x[i] > 3:
            found = 1
            break
        if x[i] > 100:
            return 55
    else:
        return 77
    for j in range(n):
        if x[j] > 1:
            found += j
            break
    return found


@asc.kernel
def broken_twice(x: asc.float32[8], n: int):
    best = -1
    for i in range(n):
        for j in range(n):
            if x[j] > i + 2:
                pos = i + j
                val = x[j]
                break
        else:
            break
        best = pos + val
    return best


@asc.kernel
def backwards(x: asc.float32[8], n: int):
    while n > 0:
        n -= 1
        if x[n] < 3:
            y = x[n]
            z = n + y
            break
        y = 7
    else:
        z = 100
    return z


KERNELS = [
    searched,
    searched_or_returned,
    endless,
    two_breaks,
    after_a_condition,
    in_a_nest,
    turned,
    left_by_its_last_line,
    or_returned,
    written_out,
    over_a_tuple,
    three_loops,
    of_two_types,
    summed_on,
    broken_twice,
    backwards,
]


@pytest.mark.parametrize(
    ("device", "kernels"), [("cpu", KERNELS), ("model", [searched, three_loops, over_a_tuple])]
)
def test_as_in_python(device: str, kernels: list[asc.Kernel]) -> None:
    with asc.device(device):
        asc.compile(kernels)
        for kernel in kernels:
            assert kernel.py_func is not None
            for x in (np.arange(8), np.array([1, 2, 3, 4, 0, 9, 2, 7])):
                numbers = x.astype(np.float32)
                for n in (2, 8):
                    assert kernel(numbers, n) == kernel.py_func(numbers, n), kernel.__name__


@asc.kernel
def ends_without_a_break(x: asc.float32[8], n: int):
    for i in range(8):
        if x[i] > 3:
            v = x[i]
            break
    if x[7] > -1e30:
        v = x[7]
    return v  # pyright: ignore[reportPossiblyUnboundVariable]


@asc.kernel
def a_break_without_it(x: asc.float32[8], n: int):
    for i in range(n):
        if x[i] > 3:
            found = i
            break
        if x[i] > 2:
            break
    else:
        found = -1
    return found  # pyright: ignore[reportPossiblyUnboundVariable]


@asc.kernel
def an_array(x: asc.float32[8], n: int):
    i = 0
    while True:
        if x[i] > 3:
            row = x * 2
            break
        i += 1
    return row[i]


@pytest.mark.parametrize(
    ("kernel", "path"),
    [
        (ends_without_a_break, "when this loop ends without `break`"),
        (a_break_without_it, "when this loop is left before it is set"),
        (an_array, "when this loop is left before it is set"),
    ],
)
def test_refused_with_the_path(kernel: asc.Kernel, path: str) -> None:
    with pytest.raises(asc.CompileError) as caught:
        kernel.lower()
    (found,) = caught.value.diagnostics
    assert found.code == "PA0302" and found.label == path and found.hint
