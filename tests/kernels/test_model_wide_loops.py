# SPDX-License-Identifier: Apache-2.0
"""Elements of 64 bits in loops within a loop over elements, each kernel against its own Python function."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]


@asc.kernel
def carried(x: asc.int64[M], y: asc.int64[M], n: int):
    for i in asc.parallel_for(M):
        v = x[i]
        for j in range(n):
            v = v * 3 + j
        x[i] = v


@asc.kernel
def replaced(x: asc.int64[M], y: asc.int64[M], n: int):
    for i in asc.parallel_for(M):
        v = x[i]
        while v < n:
            v = y[i] if v > 3 else abs(v) + 5
        x[i] = v


@asc.kernel
def counted_with_elements(x: asc.int64[M], y: asc.int64[M], n: int):
    for i in asc.parallel_for(M):
        k = 0
        while k < 10 and x[i] > k:
            k = y[i] if k > 3 else k + 2
        x[i] = k


@asc.kernel
def in_place(x: asc.int64[M], y: asc.int64[M], n: int):
    for i in asc.parallel_for(M):
        j = 0
        while j < n:
            x[i] -= x[i] if i != j else y[-2]
            x[i] = min((i % 7) - y[0], y[1]) + x[i]
            j += 1


@asc.kernel
def largest_of_both(x: asc.int64[M], y: asc.int64[M], n: int):
    for i in asc.parallel_for(M):
        v = y[i]
        for j in range(n):
            v = max(v, x[i]) + 1
        x[i] = v if v != 3 else y[i]


KERNELS = (carried, replaced, counted_with_elements, in_place, largest_of_both)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_python(kernel: Any) -> None:
    rng = np.random.default_rng(5)
    for m in (2, 9, 65, 300):
        x = rng.integers(-20, 20, m)
        x[::3] *= 2**35
        y = rng.integers(10, 60, m)
        for n in (0, 1, 7):
            wanted = x.copy()
            names = kernel.py_func.__globals__ | {"M": m}
            types.FunctionType(kernel.py_func.__code__, names)(wanted, y.copy(), n)
            for device in ("cpu", "model"):
                given = x.copy()
                with asc.device(device):
                    kernel(given, y.copy(), n)
                np.testing.assert_array_equal(given, wanted, f"{device} {m} {n}")
