# SPDX-License-Identifier: Apache-2.0
"""Integers combined bit by bit on the model: `and` and `or` of bools are extremes, those of integers are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")


@asc.kernel
def ors_of_rows(x: asc.int32[M, N], y: asc.int32[M]):
    for i in asc.parallel_for(M):
        t = 0
        for j in range(N):
            t |= x[i, j]
        y[i] = t


@asc.kernel
def ands_of_rows(x: asc.int16[M, N], y: asc.int16[M]):
    for i in asc.parallel_for(M):
        t = asc.int16(-1)
        for j in range(N):
            t &= x[i, j]
        y[i] = t


@asc.kernel
def xors_of_rows(x: asc.int32[M, N], y: asc.int32[M]):
    for i in asc.parallel_for(M):
        t = 0
        for j in range(N):
            t ^= x[i, j]
        y[i] = t


@asc.kernel
def ors_of_columns(x: asc.int32[M, N], y: asc.int32[N]):
    for j in asc.parallel_for(N):
        t = 0
        for i in range(M):
            t |= x[i, j]
        y[j] = t


@asc.kernel
def or_of_all(x: asc.int32[M, N], y: asc.int32[1]):
    t = 0
    for i in range(M):
        for j in range(N):
            t |= x[i, j]
    y[0] = t


@asc.kernel
def running_ors(x: asc.int32[M, N], y: asc.int32[M, N]):
    for i in asc.parallel_for(M):
        t = 0
        for j in range(N):
            t |= x[i, j]
            y[i, j] = t


@asc.kernel
def any_of_rows(x: asc.bool[M, N], y: asc.bool[M]):
    for i in asc.parallel_for(M):
        t = False
        for j in range(N):
            t |= x[i, j]
        y[i] = t


@asc.kernel
def ors_by_place(x: asc.int32[M, N], y: asc.int32[8]):
    for i in range(M):
        for j in range(N):
            y[x[i, j] & 7] |= x[i, j]


KERNELS: dict[Any, Any] = {
    ors_of_rows: lambda m, n: m,
    ands_of_rows: lambda m, n: m,
    xors_of_rows: lambda m, n: m,
    ors_of_columns: lambda m, n: n,
    or_of_all: lambda m, n: 1,
    running_ors: lambda m, n: (m, n),
    any_of_rows: lambda m, n: m,
    ors_by_place: lambda m, n: 8,
}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_bits_are_those_of_the_processor(kernel: Any) -> None:
    dtype = {ands_of_rows: np.int16, any_of_rows: np.bool_}.get(kernel, np.int32)
    generator = np.random.default_rng(0)
    for m, n in ((0, 3), (5, 0), (5, 3), (3, 300), (70, 1)):
        x = (generator.integers(0, 4000, (m, n)) % (2 if dtype is np.bool_ else 4001)).astype(dtype)
        results = []
        for device in ("cpu", "model"):
            y = np.zeros(KERNELS[kernel](m, n), dtype)
            with asc.device(device):
                kernel(x, y)
            results.append(y)
        assert np.array_equal(*results), (m, n)
