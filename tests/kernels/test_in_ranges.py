# SPDX-License-Identifier: Apache-2.0
"""`in` and `not in` for integers and ranges, against CPython."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]

BOUNDS = ((0, 7), (7, 0), (-5, 12), (3, 3), (-(2**62), 2**62))


@asc.kernel
def elements(x: asc.int32[N], a: int, b: int, y: asc.int32[N]):
    for i in range(N):
        y[i] = 1 if x[i] in range(a, b) else 0
        y[i] += 2 if x[i] not in range(b, a, -3) else 0
        y[i] += 4 if i in range(N // 2) else 0
        y[i] += 8 if x[i] in range(-7, 100, 4) else 0


def elements_in_python(x: Any, a: int, b: int) -> list[int]:
    found = []
    for i, value in enumerate(x.tolist()):
        terms = (
            value in range(a, b),
            value not in range(b, a, -3),
            i in range(x.size // 2),
            value in range(-7, 100, 4),
        )
        found.append(sum(bit * held for bit, held in zip((1, 2, 4, 8), terms, strict=True)))
    return found


@asc.kernel
def numbers(n: int, known: asc.constexpr, flags: asc.bool_[3], y: asc.int32[7]):
    y[0] = 1 if n in range(3, 20, 2) else 0
    y[1] = 1 if known in range(3, 20, 2) else 0
    y[2] = 1 if True in range(2) else 0
    y[3] = 1 if flags[1] in range(1, 9, 2) else 0
    y[4] = 1 if n in range(n, n + 1) else 0
    y[5] = 1 if n in range(0) else 0
    y[6] = 1 if not (0 < n in range(10, 0, -2)) else 0


@asc.kernel
def narrow(x: asc.int8[N], u: asc.uint64[N], y: asc.int32[N]):
    for i in range(N):
        y[i] = (1 if x[i] in range(-300, 300, 7) else 0) + (2 if u[i] in range(1, 2**62, 5) else 0)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([elements, narrow])


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize(("a", "b"), BOUNDS)
def test_elements_in_ranges(a: int, b: int, device: str) -> None:
    x = np.arange(-20, 45, dtype=np.int32)
    y = np.zeros_like(x)
    with asc.device(device):
        elements(x, a, b, y)
    assert y.tolist() == elements_in_python(x, a, b)


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize("n", [-1, 0, 3, 4, 19, 20])
def test_numbers_in_ranges(n: int, device: str) -> None:
    flags, y = np.array([False, True, False]), np.zeros(7, np.int32)
    with asc.device(device):
        numbers(n, 7, flags, y)
    held = (n in range(3, 20, 2), True, True, True, True, False, not (0 < n in range(10, 0, -2)))
    assert y.tolist() == [int(each) for each in held]


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_distances_that_the_elements_do_not_hold(device: str) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    u = np.array([2**64 - 1, 2**63, 2**63 - 1, 1, 6, 0, 11, 12] * 32, np.uint64)
    y = np.zeros(x.size, np.int32)
    with asc.device(device):
        narrow(x, u, y)
    wanted = [
        (a in range(-300, 300, 7)) + 2 * (b in range(1, 2**62, 5))
        for a, b in zip(x.tolist(), u.tolist(), strict=True)
    ]
    assert y.tolist() == wanted
