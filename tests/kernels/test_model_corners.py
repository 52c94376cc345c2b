# SPDX-License-Identifier: Apache-2.0
"""What random loops found on the model: numbers of halves, 64 bits beside counters, empty axes, rows of one piece."""

from __future__ import annotations

import types

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

N, M, K = asc.dims("N M K")
WIDE = np.array([2**61 + 3, -(2**40), 7, 2**33, 5], np.int64)
ONES = np.ones(9, np.float32)
HALVES = np.array([1.1, 2.2, -3.7, 5.3, 0, -2.5, 7, 8], np.float16)


@asc.kernel
def guarded(x: asc.int64[N]):
    for i in range(N):
        if i > 0:
            x[i] = i % 7


@asc.kernel
def chosen(x: asc.int64[N], y: asc.int64[N], z: asc.int64[N]):
    for i in range(N):
        y[i] = i if i % 2 == 0 else x[i]
    for i in range(N):
        z[i] = x[i] if i % 2 == 0 else i


@asc.kernel
def combined(x: asc.int64[N], y: asc.int64[N], z: asc.int64[N]):
    for i in range(N):
        y[i] = max(i, x[i])
    for i in range(N):
        z[i] = i + x[i] - 2 * i


@asc.kernel
def half_to_int(x: asc.int32[N], h: asc.float16[8]):
    for i in asc.parallel_for(N):
        x[i] = max(asc.int32(h[3]), x[i]) + asc.int32(h[2])


@asc.kernel
def half_numbers(x: asc.float16[N], h: asc.float16[8]):
    for i in asc.parallel_for(N):
        x[i] = x[i] * (h[3] + h[5]) + (1 if h[3] > h[5] else 2) + max(h[2], h[1]) - h[4 + 3]


@asc.kernel
def half_from_int(x: asc.float16[N], c: asc.int32[8]):
    for i in asc.parallel_for(N):
        x[i] = x[i] * asc.float16(c[3])


@asc.kernel
def checked_by_a_check(x: asc.float32[8], at: asc.int32[N, M], y: asc.float32[K]):
    for i in range(K):
        x[at[i % N, 0] % 8] += y[i]


@asc.kernel
def last_of_none(x: asc.float32[N, M], y: asc.float32[M], z: asc.float32[M]):
    for i in asc.parallel_for(M):
        y[i] = max(z[i], x[0, -1])


@asc.kernel
def unread(x: asc.float32[N, M], y: asc.float32[8]):
    t = asc.zeros((M, N), dtype=asc.float32)
    for i, j in asc.parallel_for_grid(M, N):
        t[i, j] -= t[i, j] + x[j, i]
        t[i, j] = y[6]


@asc.kernel
def first_of_eight(x: asc.float16[N], y: asc.float16[N]):
    for i in asc.parallel_for(N):
        most = 0.0
        at = 0
        for j in range(8):
            if x[-1 - i] > most:
                most = x[-1 - i]
                at = j
        y[i] = at % 100


@asc.kernel
def written_and_reduced(x: asc.int32[N], y: asc.int32[N]):
    for i in asc.parallel_for(N):
        x[i] *= y[i]
    most = 0
    for i in range(N):
        most = max(most, x[i])
    x[-1] = most


def integers(n: int) -> np.ndarray:
    return np.arange(-9, n - 9, dtype=np.int32) % 11 - 5


@asc.kernel
def scaled_sums(
    x: asc.float32[N, M], w: asc.float32[M], y: asc.float32[N], total: asc.int32[1], c: asc.int32[M]
):
    for i in asc.parallel_for(N):
        for j in range(M):
            y[i] += x[i, j] * w[M - 1]
    for j in range(M):
        total[0] += c[j] * c[0]


@asc.kernel
def scaled_counts(place: asc.int32[M], w: asc.float32[M], bins: asc.float32[16]):
    for j in range(M):
        bins[place[j]] += w[0]


def scaled(m: int) -> tuple[np.ndarray, ...]:
    """Arguments of `scaled_sums` for sums of `m` terms."""
    ones = np.ones((3, m), np.float32)
    return ones, ones[0] * 2, ONES[:3], np.ones(1, np.int32), integers(m)


@asc.kernel
def until_it_stands(x: asc.float32[N], y: asc.float32[N]):
    moved = 1.0
    while moved > 0.01:
        y[:] = x * 0.5
        moved = asc.max(asc.abs(x - y))
        x[:] = y


CASES: list[tuple[asc.Kernel, dict[str, int], tuple[np.ndarray, ...]]] = [
    (guarded, {"N": 5}, (WIDE,)),
    (chosen, {"N": 5}, (WIDE, WIDE, WIDE)),
    (combined, {"N": 5}, (WIDE, WIDE, WIDE)),
    (half_to_int, {"N": 33}, (integers(33), HALVES)),
    (half_numbers, {"N": 33}, (integers(33).astype(np.float16), HALVES)),
    (half_from_int, {"N": 33}, (integers(33).astype(np.float16), integers(8))),
    (checked_by_a_check, {"N": 5, "K": 9}, (np.zeros(8, np.float32), integers(15).reshape(5, 3), ONES)),
    (last_of_none, {"M": 0}, (np.zeros((3, 0), np.float32), ONES[:0], ONES[:0])),
    (unread, {"N": 3, "M": 5}, (np.ones((3, 5), np.float32), ONES[:8])),
    (first_of_eight, {"N": 33}, (integers(33).astype(np.float16), np.zeros(33, np.float16))),
    (written_and_reduced, {"N": 257}, (integers(257), integers(257)[::-1])),
    (scaled_sums, {"N": 3, "M": 0}, scaled(0)),
    (scaled_sums, {"N": 3, "M": 40}, scaled(40)),
    (until_it_stands, {"N": 33}, (np.arange(33, dtype=np.float32), np.zeros(33, np.float32))),
    (scaled_counts, {"M": 0}, (integers(0), ONES[:0], np.zeros(16, np.float32))),
]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """One unit for all."""
    with asc.device("model"):
        asc.compile([kernel for kernel, *_ in CASES])


@pytest.mark.parametrize(
    ("kernel", "sizes", "arguments"), CASES, ids=lambda each: getattr(each, "__name__", "")
)
def test_as_python(kernel: asc.Kernel, sizes: dict[str, int], arguments: tuple[np.ndarray, ...]) -> None:
    found, expected = ([each.copy() for each in arguments] for _ in range(2))
    assert kernel.py_func is not None
    types.FunctionType(kernel.py_func.__code__, {**kernel.py_func.__globals__, **sizes})(*expected)
    with asc.device("model"):
        kernel(*found)
    for got, wanted in zip(found, expected, strict=True):
        assert got.tolist() == wanted.tolist()


def test_a_check_in_front_of_a_check_of_no_rows() -> None:
    with asc.device("model"), pytest.raises(IndexError, match="index 0 is out of range for axis 0 of at"):
        checked_by_a_check(np.zeros(8, np.float32), np.zeros((0, 3), np.int32), np.ones(9, np.float32))
