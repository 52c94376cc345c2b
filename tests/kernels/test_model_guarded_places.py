# SPDX-License-Identifier: Apache-2.0
"""Stores to places that only their condition keeps inside of the array: nothing beside it is read or written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")


@asc.kernel
def two_rows_up(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in range(M):
        for j in range(N):
            if i >= 2 and x[i, j] > 0:
                y[i - 2, j] = x[i, j]


@asc.kernel
def one_up(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        if i >= 1 and x[i] > 0:
            y[i - 1] = x[i]


@asc.kernel
def shifted(x: asc.float32[N], y: asc.float32[N], k: int):
    for i in range(N):
        if i + k < N and i + k >= 0 and x[i] > 0:
            y[i + k] = x[i]


@asc.kernel
def rows_shifted(x: asc.float32[M, N], y: asc.float32[M, N], k: int):
    for i in asc.parallel_for(M):
        if i + k < M and k >= 0:
            for j in range(N):
                if x[i, j] > 0:
                    y[i + k, j] = x[i, j]


@asc.kernel
def one_right(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in range(M):
        for j in range(N):
            if x[i, j] > 0 and j < N - 1:
                y[i, j + 1] = x[i, j] + (x[i - 1, j] if i > 0 else 0.0)


@asc.kernel
def neighbours(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            v = x[i - 1, j] if i >= 1 else 0.0
            w = x[i + 1, j] if i < M - 1 and x[i, j] > 0 else 0.0
            y[i, j] = v + w


@asc.kernel
def counted_up(x: asc.int32[N], y: asc.int32[N]):
    for i in range(N):
        if i >= 3 and x[i] > 0:
            y[i - 3] += x[i]


@asc.kernel
def always_inside(x: asc.float32[N], y: asc.float32[N]):
    for i in range(1, N):
        if x[i] > 0:
            y[i - 1] = x[i]


LINES = (one_up, shifted, counted_up, always_inside)
KERNELS = (two_rows_up, rows_shifted, one_right, neighbours, *LINES)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_on_the_processor(kernel: Any) -> None:
    generator = np.random.default_rng(0)
    dtype = np.int32 if kernel is counted_up else np.float32
    for m, n in ((0, 0), (1, 1), (5, 9), (3, 300), (40, 2)):
        shape = (n,) if kernel in LINES else (m, n)
        x = (generator.standard_normal(shape) * 9).astype(dtype)
        results = []
        for device in ("cpu", "model"):
            y = np.full(shape, 7, dtype)
            with asc.device(device):
                kernel(x.copy(), y, *([1] if kernel in (shifted, rows_shifted) else []))
            results.append(y)
        np.testing.assert_array_equal(results[1], results[0], err_msg=f"{m} x {n}")


def test_what_is_inside_anyway_stays_on_the_vector_unit() -> None:
    remarks = always_inside.specialise(always_inside.types_of()).lowered("ascend").remarks
    assert [each.message for each in remarks if "unit" in each.message] == ["runs on the vector unit"]
