# SPDX-License-Identifier: Apache-2.0
"""Conditions that a kernel computes before its loops and asks the opposite of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]


@asc.kernel
def masked_rows(x: asc.int32[N, M], y: asc.int32[N, M], z: asc.float32[8], skip: asc.bool_[N]):
    for i, j in asc.parallel_for_grid(N, M):
        if not skip[i]:
            y[i, j] += x[N - 1 - i, j]
        for k, value in enumerate(z):
            y[i, j] = max(y[i, j], x[i, j])


@asc.kernel
def numbered_rows(x: asc.int32[N, M], y: asc.int32[N, M], z: asc.float32[8], skip: asc.int32[N]):
    for i, j in asc.parallel_for_grid(N, M):
        if not skip[i] == 1:
            y[i, j] += x[N - 1 - i, j]
        for k, value in enumerate(z):
            y[i, j] = max(y[i, j], x[i, j])


@asc.kernel
def ordered_rows(x: asc.int32[N, M], y: asc.int32[N, M], z: asc.float32[8], skip: asc.int32[N]):
    for i, j in asc.parallel_for_grid(N, M):
        if skip[i] > 0:
            pass
        else:
            y[i, j] += x[N - 1 - i, j]
        for k, value in enumerate(z):
            y[i, j] = max(y[i, j], x[i, j])


def expected(x: Any, y: Any, skip: Any) -> Any:
    found = y.copy()
    for i in range(len(x)):
        if not skip[i]:
            found[i] += x[len(x) - 1 - i]
        found[i] = np.maximum(found[i], x[i])
    return found


@pytest.mark.parametrize("shape", [(1, 3), (5, 7), (7, 33), (65, 2)])
@pytest.mark.parametrize(
    "kernel", [masked_rows, numbered_rows, ordered_rows], ids=lambda kernel: kernel.__name__
)
def test_the_opposite_of_a_condition(kernel: Any, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[0])
    x, y = rng.integers(-50, 50, (2, *shape), dtype=np.int32)
    skip = rng.integers(0, 2, shape[0], dtype=np.int32)
    wanted = expected(x, y, skip)
    for device in ("cpu", "model"):
        given = y.copy()
        with asc.device(device):
            kernel(x, given, np.ones(8, np.float32), skip.astype(bool) if kernel is masked_rows else skip)
        np.testing.assert_array_equal(given, wanted)
