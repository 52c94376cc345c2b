# SPDX-License-Identifier: Apache-2.0
"""Temporary arrays as long as an argument says: on both devices what NumPy makes of the same function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]


@asc.kernel
def begin(x: asc.float32[N], n: int, y: asc.float32[N]):
    t = x[:n] * 2
    t[0] = 5
    y[:n] = t[::-1]


@asc.kernel
def as_data_say(x: asc.float32[N], n: asc.int32[1], y: asc.float32[N]):
    t = x[: n[0]] * 2
    t[0] = 5
    y[: n[0]] = t[::-1]


@asc.kernel
def corner(x: asc.float32[M, N], n: int, y: asc.float32[M, N]):
    t = x[1:, n:] + 1
    t[0] *= 5
    y[1:, n:] = t[::-1, ::-1] + asc.sum(t)


@asc.kernel
def window(x: asc.float32[N], n: int, y: asc.float32[N]):
    t = x[n : n + 3] + 1
    t[t > 2] = 7
    y[n : n + 3] = t


@asc.kernel
def ends(x: asc.float32[N], n: int, y: asc.float32[N]):
    for i in range(x.shape[0]):
        t = x[i:] + 1
        t[0] = 3
        y[i] = asc.sum(t[:n])


ROW = np.arange(9, dtype=np.float32)
CASES = [
    *((begin, ROW, n) for n in (6, 9, 1, 20, -2)),
    (as_data_say, ROW, np.int32([6])),
    *((corner, np.tile(ROW, (4, 1)), n) for n in (0, 5, -3)),
    *((window, ROW, n) for n in (2, 6)),
    (ends, ROW, 4),
]


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize("kernel, x, n", CASES)
def test_temporary_arrays(kernel: Any, x: np.ndarray, n: Any, device: str) -> None:
    expected, found = np.zeros_like(x), np.zeros_like(x)
    kernel.py_func(x.copy(), n, expected)
    with asc.device(device):
        kernel(x, n, found)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@asc.kernel
def empty_begin(x: asc.float32[N], n: int):
    t = x[:n] * 2
    t[0] = 5
    return asc.sum(t)


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_an_index_out_of_what_there_is(device: str) -> None:
    with asc.device(device), pytest.raises(IndexError, match="index 0 is out of range for axis 0"):
        empty_begin(ROW, 0)
