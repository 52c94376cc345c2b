# SPDX-License-Identifier: Apache-2.0
"""Names that the later parts of a condition set, read where the whole condition holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc

CASES: list[Callable[..., Any]] = []


def case(function: Callable[..., Any]) -> Callable[..., Any]:
    CASES.append(function)
    return function


@case
def in_a_loop(x: asc.float32[5], n: int):
    i, s = 0, 0.0
    while i < n and i < len(x) and (c := x[i]) > 0 and (d := c * 2) < 100:
        s += c * d
        i += 1
        if s == 2:
            continue
        s += 1
    return s, i


@case
def in_branches(x: asc.float32[5], n: int):
    s = 0.0
    for i in range(len(x)):
        if i < n and (c := x[i]) > 1 and (k := i * 2) != 4:
            s += c * k
        elif i > 2 and (c := x[i] * 2) < 0:
            s -= c
        else:
            s += 100
    if n > 2 and (z := n * 2) > 7:
        s += z
    return s


@case
def before_returns(x: asc.float32[5], n: int):
    if n and (m := n - 1) and (q := m * 2) > 2:
        return q + m
    if (a := n + 1) > 3 and (b := a + 1) > 4:
        r = b
    else:
        r = a
    return r


@case
def counters(x: asc.float32[5], n: int):
    i = -1
    while (i := i + 1) < n and (v := i * i) < 10:
        i += v > 4
    while (n := n - 1) > 0 and (p := n % 3) != 1:
        i += p
    return i, n


@case
def loop_with_else(x: asc.float32[5], n: int):
    while n < 3 and (y := n + 1) > 0:
        n = y
        if n == 2:
            break
    else:
        n += 10
    return n


@case
def loop_whose_else_leaves_another(x: asc.float32[5], n: int):
    total = 0
    for i in range(4):
        k = n
        while k > 0 and (half := k // 2) != 1:
            k = half
            if k == 3:
                break
        else:
            if i == 2:
                return total, k
        total += k + i
    return total, -1


KERNELS = [asc.kernel(function) for function in CASES]


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.usefixtures("model_library")
def test_as_in_python(device: str) -> None:
    x = np.array([1, 2, 3, -4, 5], np.float32)
    with asc.device(device):
        asc.compile(KERNELS)
        for kernel, function in zip(KERNELS, CASES, strict=True):
            for n in (0, 1, 3, 5, 7, 12):
                assert kernel(x, n) == function(x, n), (function.__name__, n)


def test_what_an_else_cannot_read() -> None:
    @asc.kernel
    def k(x: asc.float32[5], n: int):
        if n > 0 and (c := n * 2) > 4:
            return c
        return c  # pyright: ignore[reportPossiblyUnboundVariable]

    with pytest.raises(asc.CompileError, match="`c` may have no value here") as caught:
        k.lower()
    assert caught.value.diagnostics[0].loc.line == k.source_code.first_line + 4
