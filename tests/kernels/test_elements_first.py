# SPDX-License-Identifier: Apache-2.0
"""Kernels that start with single elements at places that are checked at launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = needs_compiler


@asc.kernel
def swap_two(x: asc.float32[N], i: int, j: int):
    x[i], x[j] = x[j], x[i]


@asc.kernel
def set_two(x: asc.float32[N], i: int, j: int):
    x[i] = x[j]
    x[j] = x[i + 1]


@asc.kernel
def add_two(x: asc.float32[N], i: int, j: int):
    x[i] += x[j]
    x[j] -= x[i]


@asc.kernel
def of_rows(x: asc.float32[R, C], i: int, j: int):
    x[i, j], x[j, i] = x[j, i], x[i, j]
    x[i, i] += x[j, j]


KERNELS = (swap_two, set_two, add_two, of_rows)


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])
@pytest.mark.parametrize("places", [(0, 1), (1, 0), (2, 2), (-1, 0), (0, -2), (-3, -2)])
def test_as_in_python(kernel: Any, places: tuple[int, int]) -> None:
    x = np.arange(25, dtype=np.float32).reshape(5, 5) if kernel is of_rows else np.arange(5, dtype=np.float32)
    expected = x.copy()
    kernel.__wrapped__(expected, *places)
    kernel(x, *places)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.__name__ for kernel in KERNELS])
@pytest.mark.parametrize("places", [(0, 5), (5, 0), (-6, 1), (1, -6)])
def test_places_beyond_the_ends(kernel: Any, places: tuple[int, int]) -> None:
    x = np.zeros((5, 5) if kernel is of_rows else 5, np.float32)
    with pytest.raises(IndexError, match="out of range"):
        kernel(x, *places)
