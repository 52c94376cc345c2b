# SPDX-License-Identifier: Apache-2.0
"""Rows in several statements that read what others of them write: divided or not, the results are the processor's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")


@asc.kernel
def first_taken_off(x: asc.int32[M, N], z: asc.int32[M], label: asc.int32[M]):
    for i in asc.parallel_for(M):
        t = x[i, 0]
        for j in range(N):
            x[i, j] = x[i, j] - t
        z[i] = x[i, label[i]]


@asc.kernel
def first_taken_off_before_a_triangle(x: asc.int32[M, N], z: asc.int32[M, N]):
    for i in asc.parallel_for(M):
        t = x[i, 0]
        for j in range(N):
            x[i, j] = x[i, j] - t
        for j in range(i + 1):
            if j < N:
                z[i, j] = x[i, j]


@asc.kernel
def first_read_by_two_stores(x: asc.int32[M, M], z: asc.int32[M, M]):
    for i in asc.parallel_for(M):
        t = x[i, 0]
        m = 0
        for j in range(i + 1):
            m = max(m, x[i, j])
        for j in range(M):
            x[i, j] = x[i, j] - t + m
            z[i, j] = x[i, j] * t


@asc.kernel
def largest_taken_off_below(x: asc.float32[M, M], z: asc.float32[M, M]):
    for i in asc.parallel_for(M):
        m = asc.max(x[i])
        for j in range(i + 1):
            x[i, j] = x[i, j] - m
        for j in range(M):
            z[i, j] = x[i, j] * m


@asc.kernel
def one_part_from_another(x: asc.float32[M, N], y: asc.float32[M, N + N]):
    for i in asc.parallel_for(M):
        y[i, :N] = x[i]
        y[i, N:] = y[i, :N] + 1.0
        x[i] = y[i, N:] * 2.0


@asc.kernel
def copied_before_it_changes(x: asc.float32[M, N], y: asc.float32[M, N + N]):
    for i in asc.parallel_for(M):
        s = x[i].copy()
        x[i] = s + 1.0
        y[i, :N] = s
        y[i, N:] = x[i]


def given(kernel: Any, m: int, n: int) -> list[np.ndarray]:
    generator = np.random.default_rng(m + n)
    shape = (m, m) if kernel in (first_read_by_two_stores, largest_taken_off_below) else (m, n)
    whole = generator.integers(0, 99, shape).astype(np.int32)
    if kernel is first_taken_off:
        return [whole, np.zeros(m, np.int32), generator.integers(0, max(n, 1), m).astype(np.int32)]
    if kernel in (first_taken_off_before_a_triangle, first_read_by_two_stores):
        return [whole, np.zeros_like(whole)]
    x = whole.astype(np.float32)
    return [x, np.zeros((m, x.shape[1] * (1 if kernel is largest_taken_off_below else 2)), np.float32)]


KERNELS = (
    first_taken_off,
    first_taken_off_before_a_triangle,
    first_read_by_two_stores,
    largest_taken_off_below,
    one_part_from_another,
    copied_before_it_changes,
)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_on_the_processor(kernel: Any) -> None:
    for m, n in ((0, 0), (1, 1), (4, 4), (40, 40), (3, 700)):
        results = []
        for device in ("cpu", "model"):
            arguments = given(kernel, m, n)
            with asc.device(device):
                kernel(*arguments)
            results.append(arguments)
        for expected, found in zip(*results, strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=f"{m} x {n}")


@asc.kernel
def sums_of_all_but_two(x: asc.float32[N], y: asc.float32[N], start: asc.float32[M], out: asc.float32[N]):
    for i in range(N - 2):
        total = start[-1]
        for _ in range(1, N - 2):
            total += x[N - 1 - i] * y[i + 2]
        out[(i - 4) % N] = total


def test_a_workspace_for_fewer_than_none() -> None:
    """What is kept between launches has N - 2 elements, and none where that is negative."""
    for size in (0, 1, 2, 3, 40):
        x, start = (np.arange(size) % 5).astype(np.float32), np.ones(2, np.float32)
        results = []
        for device in ("cpu", "model"):
            out = np.zeros(size, np.float32)
            with asc.device(device):
                sums_of_all_but_two(x, x[::-1].copy(), start, out)
            results.append(out)
        np.testing.assert_array_equal(results[1], results[0])
