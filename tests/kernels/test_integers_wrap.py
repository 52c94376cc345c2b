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


NUMBERS = """
import pyasc as asc

def k(x: asc.TYPE[N], s: asc.TYPE[M], o: asc.TYPE[N], y: asc.int32[N]):
    for i in asc.parallel_for(N):
        o[i] = x[i] + s[0] * s[1]
        y[i] = (s[0] * s[1]) // 3 + (s[0] - s[1]) * 2 + (-s[2]) + (s[1] + s[2])
"""


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32"])
def test_numbers_of_narrow_arrays_beside_elements_wrap(name: str) -> None:
    dtype = np.dtype(name)
    ends = np.iinfo(dtype)
    kernel = asc.kernel_from_source(NUMBERS.replace("TYPE", name))
    for s in ((ends.max, ends.max - 3, ends.min), (ends.min, 7, ends.max), (100, ends.max, 1)):
        x = np.arange(33).astype(dtype)
        numbers, o, y = np.array(s, dtype), np.zeros(33, dtype), np.zeros(33, np.int32)
        with asc.device("model"):
            kernel(x, numbers, o, y)
        with np.errstate(over="ignore"):
            a, b, c = numbers
            wanted = (a * b) // dtype.type(3) + (a - b) * dtype.type(2) + (-c) + (b + c)
            np.testing.assert_array_equal(o, x + a * b)
        np.testing.assert_array_equal(y, np.full(33, wanted, np.int32))
