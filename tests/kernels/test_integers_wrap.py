# SPDX-License-Identifier: Apache-2.0
"""Integers that wrap before something is computed from them, which compilers of C++ may take not to happen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

TYPES = ("int32", "int64")


def wrapping(x):
    high, low, seven = x[0], x[1], x[2]
    total, power = seven * 0, seven
    for v in x:
        total += v * 3
    for _ in range(12):
        power = power * power + 1
    return (
        high * 2 // 2,
        (high + high) // 2,
        (high - low) < 0,
        high + 1 > high,
        low - 1 < low,
        -low == low,
        abs(low) < 0,
        high * high // high,
        (high << 1) >> 1,
        high * 5 % 5,
        total,
        power,
    )


wrapped = asc.kernel(wrapping)


@asc.kernel
def ints(n: int):
    return n * 2 // 2, n + 1 > n, abs(-n - 1) < 0, (n << 1) >> 1


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize("dtype", TYPES)
def test_elements(device: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    x: Any = np.array([info.max, info.min, 7], dtype)
    with asc.device(device), np.errstate(all="ignore"):
        assert [int(each) for each in wrapped(x)] == [int(each) for each in wrapping(x)]


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("device", ["cpu", "model"])
def test_ints_of_run_time_as_int64(device: str) -> None:
    with asc.device(device):
        assert ints(2**63 - 1) == (-1, False, True, -1)
