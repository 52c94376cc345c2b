# SPDX-License-Identifier: Apache-2.0
"""Sizes beyond what the fields of copies hold: the host refuses them, since no core could tell.

No array of such a size is made: what the host does with sizes is asked for alone.
"""

from __future__ import annotations

from typing import Any

import pytest

import pyasc as asc
from pyasc.runtime.ascend import ascend_kernel

BYTES = 1 << 32


@asc.kernel
def biased(x: asc.float32[R, C], b: asc.float32[C]):
    return asc.relu(x + b)


@asc.kernel
def column_sums(x: asc.float16[R, C]):
    return x.sum(axis=0)


@asc.kernel
def neighbours(x: asc.int32[R, C], y: asc.int32[R, C]):
    for i, j in asc.parallel_for_grid(R - 2, C):
        y[i, j] = x[i, j] + x[i + 2, j]


@asc.kernel
def last_column(x: asc.float32[R, C], y: asc.float32[R]):
    for i in asc.parallel_for(R):
        y[i] = x[i, C - 1] + 1.0


@asc.kernel
def every_third_row(x: asc.float32[R, C], y: asc.float32[P, C]):
    for i, j in asc.parallel_for_grid(P, C - 1):
        y[i, j] = x[3 * i, j + 1]


@asc.kernel
def diagonal(x: asc.float32[C, C], y: asc.float32[C]):
    for i in asc.parallel_for(C):
        y[i] = x[i, i] * 2.0


@asc.kernel
def turned(x: asc.float32[R, C]):
    return x.T * 2.0


@asc.kernel
def relaxed(x: asc.float32[R, C], y: asc.float32[R, C], steps: int):
    for _ in range(steps):
        for i, j in asc.parallel_for_grid(R - 2, C):
            y[i + 1, j] = x[i, j] + x[i + 2, j]
        for i, j in asc.parallel_for_grid(R - 2, C):
            x[i + 1, j] = y[i + 1, j]


@asc.kernel
def product(a: asc.float16[R, 64], b: asc.float16[64, C]) -> asc.float16[R, C]:
    return a @ b


@pytest.mark.parametrize(
    ("kernel", "most", "sizes"),
    [
        (biased, BYTES // 4 - 1, {"R": 2}),
        (column_sums, BYTES // 2 - 1, {"R": 2}),
        (neighbours, BYTES // 4 - 1, {"R": 4}),
        (last_column, BYTES // 4 - 1, {"R": 2}),
        (every_third_row, (BYTES - 1) // 12, {"R": 6, "P": 2}),
        (diagonal, BYTES // 4 - 2, {}),
        (turned, BYTES // 4 - 1, {"R": 2}),
        (relaxed, BYTES // 4 - 1, {"R": 4}),
        (product, BYTES - 1, {"R": 2}),
    ],
)
def test_rows_too_far_apart_for_one_copy_are_refused(kernel: Any, most: int, sizes: dict[str, int]) -> None:
    made = ascend_kernel(kernel.specialise(kernel.types_of()).lowered("ascend"))
    scalars = {"steps": 1} if kernel is relaxed else {}
    assert list(made.launches(scalars, {**sizes, "C": most}))
    with pytest.raises(asc.LaunchError, match="elements apart are copied together"):
        list(made.launches(scalars, {**sizes, "C": most + 1}))


@pytest.mark.parametrize("kernel", [biased, column_sums, last_column, product])
def test_one_row_may_have_any_length(kernel: Any) -> None:
    made = ascend_kernel(kernel.specialise(kernel.types_of()).lowered("ascend"))
    assert list(made.launches({}, {"R": 1, "C": 1 << 40}))


def test_a_size_known_to_be_small_is_not_asked_for() -> None:
    assert "copied together" in _host(biased, {})
    assert "copied together" not in _host(biased, {"C": 1000})


def _host(kernel: Any, sizes: dict[str, int]) -> str:
    return ascend_kernel(kernel.specialise(kernel.types_of(), sizes).lowered("ascend")).host
