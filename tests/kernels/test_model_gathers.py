# SPDX-License-Identifier: Apache-2.0
"""Elements at places that other arrays say, on the vector unit of the model: right, and checked as on the cpu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model_strided import gives, numbers

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000, 5001)


def slow_lines(kernel: Any, arrays: Any = ()) -> list[str]:
    """What is left to the scalar unit."""
    remarks = kernel.specialise(kernel.types_of(arrays)).lowered("ascend").remarks
    slow = [each.message for each in remarks if "scalar unit" in each.message]
    return [message for message in slow if "mem.store outside of a parallel loop" not in message]


def places(n: int, extent: int, dtype: Any = np.int32) -> Any:
    """Indices into an axis, from its end too."""
    return np.random.default_rng(n).integers(-extent, extent, n).astype(dtype)


def error_of(device: str, call: Callable[[], Any]) -> str:
    with asc.device(device), pytest.raises(IndexError) as caught:
        call()
    return str(caught.value)


@asc.kernel
def gathered(t: asc.tensor, idx: asc.tensor, y: asc.tensor):
    for i in asc.parallel_for(idx.shape[0]):
        y[i] = t[idx[i]] + t[idx[i]]


@asc.kernel
def taken(t: asc.float32[V], idx: asc.int64[N]):
    return asc.take(t, idx) * 2.0


TABLES_ALONE = ["elements of a table that do not fit on chip run on the scalar unit"]


def test_elements_of_a_table() -> None:
    for dtype in (np.float32, np.float16, np.int32, np.int16):
        t, kinds = numbers(dtype, 300), (np.int32, np.int64) if dtype is np.float32 else (np.int32,)
        for kind in kinds:
            for n in SIZES:
                idx = places(n, 300, kind)
                gives(gathered, [t, idx, np.zeros(n, dtype)], [t[idx] + t[idx]])
        assert slow_lines(gathered, [t, idx, t]) == TABLES_ALONE


def test_tables_of_any_size() -> None:
    idx = places(1000, 1)
    for extent in (1, 2, 29001, 29057, 50000):
        t = numbers(np.float32, extent)
        idx = places(1000, extent, np.int64)
        with asc.device("model"):
            np.testing.assert_array_equal(taken(t, idx), t[idx] * 2)
    assert slow_lines(taken) == TABLES_ALONE


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_an_index_out_of_range(kind: Any) -> None:
    t, y = numbers(np.float32, 40), np.zeros(300, np.float32)
    far = np.iinfo(kind)
    for bad in (40, -41, far.max, far.min, (1 << 32 if kind is np.int64 else 41)):
        for at in (0, 299):
            idx = places(300, 40, kind)
            idx[at], idx[150] = bad, 77

            def loop(idx: Any = idx) -> None:
                gathered(t, idx, y)

            def whole(idx: Any = idx) -> None:
                taken(t, idx.astype(np.int64))

            for call in (loop, whole):
                assert error_of("model", call) == error_of("cpu", call)


@asc.kernel(unchecked=True)
def two_tables(a: asc.float32[V], b: asc.float32[64], i: asc.int32[N], j: asc.uint8[N], y: asc.float32[N]):
    for k in range(N):
        y[k] = a[i[k]] * b[j[k] + 3]


@asc.kernel(unchecked=True)
def of_a_matrix(m: asc.float32[R, 5], i: asc.int32[N], j: asc.int32[N], y: asc.float32[N]):
    for k in asc.parallel_for(N):
        if i[k] > 0:
            y[k] = m[i[k], j[k]] - y[k]


def test_unchecked() -> None:
    for n in SIZES:
        a, b, i, j = numbers(np.float32, 70), numbers(np.float32, 64), places(n, 70), places(n, 60)
        j = np.abs(j).astype(np.uint8)
        gives(two_tables, [a, b, i, j, np.zeros(n, np.float32)], [a[i] * b[j + 3]])
        m, row, column = numbers(np.float32, 9, 5), places(n, 9), places(n, 5)
        y = numbers(np.float32, n)
        gives(of_a_matrix, [m, row, column, y], [np.where(row > 0, m[row, column] - y, y)])
    assert slow_lines(two_tables) == slow_lines(of_a_matrix) == TABLES_ALONE


@asc.kernel
def any_large(x: asc.float32[N]):
    return asc.any(x > 3.0), asc.all(x < 3.0)


def test_bools_are_reduced_as_numbers() -> None:
    assert not slow_lines(any_large)
    for n in SIZES:
        x = numbers(np.float32, n)
        for value in (x, np.where(np.arange(n) == n - 1, np.float32(4), x).astype(np.float32)):
            with asc.device("model"):
                assert tuple(map(bool, any_large(value))) == (
                    bool((value > 3).any()),
                    bool((value < 3).all()),
                )
