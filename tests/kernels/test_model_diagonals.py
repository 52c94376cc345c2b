# SPDX-License-Identifier: Apache-2.0
"""Elements that several indices of an array say: diagonals, one of every second row, and the last of each row."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
SIZES = (0, 1, 2, 3, 8, 17, 300)


@asc.kernel
def along_diagonal(A: asc.float32[N, M], x: asc.float32[K]):
    for i in asc.parallel_for(K):
        A[i, i] = A[i, i] * 2.0 + x[i]


@asc.kernel
def against_diagonal(A: asc.float32[N, N], x: asc.float32[N]):
    for i in asc.parallel_for(N):
        x[i] = A[i, N - 1 - i] + 1.0


@asc.kernel
def every_second_row(A: asc.float32[N, M], x: asc.float32[K]):
    for i in asc.parallel_for(K):
        x[i] = A[2 * i + 1, 3] + 1.0


@asc.kernel
def last_column(A: asc.float32[N, M], x: asc.float32[N]):
    for i in asc.parallel_for(N):
        x[i] = A[i, M - 1] + 1.0


@pytest.fixture(scope="module", autouse=True)
def compiled(model_library: None) -> None:
    with asc.device("model"):
        asc.compile([along_diagonal, against_diagonal, every_second_row, last_column])


def _vector_alone(kernel: object) -> None:
    lowered = kernel.specialise(kernel.types_of()).lowered("tile")  # type: ignore[attr-defined]
    assert not any("scalar unit" in remark.message for remark in lowered.remarks)


@pytest.mark.parametrize("size", SIZES)
def test_a_diagonal_is_read_and_written(size: int) -> None:
    _vector_alone(along_diagonal)
    A = np.random.default_rng(size).random((size + 2, size + 3), dtype=np.float32)
    x = A[:size, 1].copy()
    expected = A.copy()
    expected[range(size), range(size)] = expected[range(size), range(size)] * 2 + x
    with asc.device("model"):
        along_diagonal(A, x)
    np.testing.assert_array_equal(A, expected)


@pytest.mark.parametrize("size", SIZES)
def test_a_diagonal_may_run_backwards(size: int) -> None:
    _vector_alone(against_diagonal)
    A = np.random.default_rng(size).random((size, size), dtype=np.float32)
    x = np.zeros(size, np.float32)
    with asc.device("model"):
        against_diagonal(A, x)
    np.testing.assert_array_equal(x, A[range(size), range(size - 1, -1, -1)] + np.float32(1))


@pytest.mark.parametrize("size", SIZES)
def test_rows_may_be_left_out(size: int) -> None:
    _vector_alone(every_second_row)
    A = np.random.default_rng(size).random((2 * size + 2, size + 5), dtype=np.float32)
    x = np.zeros(size, np.float32)
    with asc.device("model"):
        every_second_row(A, x)
    np.testing.assert_array_equal(x, A[1 : 2 * size + 1 : 2, 3] + np.float32(1))


@pytest.mark.parametrize("size", SIZES)
def test_the_last_column_is_copied_as_one(size: int) -> None:
    _vector_alone(last_column)
    for columns in (1, 2, 9):
        A = np.random.default_rng(size).random((size, columns), dtype=np.float32)
        x = np.zeros(size, np.float32)
        with asc.device("model"):
            last_column(A, x)
        np.testing.assert_array_equal(x, A[:, -1] + 1)


def test_an_array_without_columns_has_no_last_one() -> None:
    with asc.device("model"):
        last_column(np.zeros((0, 0), np.float32), np.zeros(0, np.float32))
        with pytest.raises(IndexError, match="index -1 is out of range for axis 1 of A with extent 0"):
            last_column(np.zeros((3, 0), np.float32), np.zeros(3, np.float32))
