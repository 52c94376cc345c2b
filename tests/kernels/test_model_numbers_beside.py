# SPDX-License-Identifier: Apache-2.0
"""Functions of one number beside elements are computed once, and the elements stay on the vector unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

SIZES = (0, 1, 7, 33, 257, 5000)


@asc.kernel
def inside(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    for i in range(N):
        y[i] = x[i] * asc.exp(s[1]) + asc.tanh(s[0])


@asc.kernel
def outside(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    t = asc.exp(s[0]) / asc.sqrt(s[1])
    for i in range(N):
        y[i] = x[i] * t


@asc.kernel
def in_halves(x: asc.float16[N], s: asc.float16[2], y: asc.float16[N]):
    y[:] = x * asc.exp(s[0]) - asc.floor(s[1])


@asc.kernel
def as_integers(x: asc.int32[N], s: asc.float32[2], y: asc.int32[N]):
    for i in range(N):
        y[i] = x[i] + asc.int32(s[1])


@asc.kernel
def of_what_is_written(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    for i in range(N):
        y[i] = x[i] * asc.exp(s[0])
    s[0] = s[1]
    for i in range(N):
        y[i] = y[i] + asc.exp(s[0])


@asc.kernel
def in_time(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    for t in range(2):
        for i in range(N):
            y[i] = y[i] * asc.exp(s[t]) + x[i]


@asc.kernel
def chosen(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    for i in range(N):
        if x[i] > asc.log(s[0]):
            y[i] = asc.sqrt(s[1])
        else:
            y[i] = x[i]


@asc.kernel
def normalised(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    total = s[0]
    for i in range(N):
        total += x[i] * x[i]
    root = asc.sqrt(total / (N + 1))
    for i in range(N):
        y[i] = x[i] / root


@asc.kernel
def normalised_whole(x: asc.float32[N], s: asc.float32[2], y: asc.float32[N]):
    y[:] = x / asc.sqrt(asc.sum(x * x) + s[0])


KERNELS = (
    inside,
    outside,
    in_halves,
    as_integers,
    of_what_is_written,
    in_time,
    chosen,
    normalised,
    normalised_whole,
)


def given(kernel: Any, size: int) -> list[np.ndarray]:
    generator = np.random.default_rng(size)
    dtype = {in_halves: np.float16, as_integers: np.int32}.get(kernel, np.float32)
    x = (generator.random(size) * 4 - 2).astype(dtype)
    number = np.float16 if kernel is in_halves else np.float32
    return [x, np.array([0.75, 1.5], number), np.zeros(size, dtype)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_on_the_processor(kernel: Any) -> None:
    for size in SIZES:
        found, expected = given(kernel, size), given(kernel, size)
        with asc.device("cpu"):
            kernel(*expected)
        with asc.device("model"):
            kernel(*found)
        bound = 2e-3 if kernel is in_halves else 2e-6
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound, err_msg=str(size))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_elements_stay_on_the_vector_unit(kernel: Any) -> None:
    remarks = kernel.specialise(kernel.types_of(given(kernel, 9))).lowered("ascend").remarks
    assert any(each.message == "runs on the vector unit" for each in remarks)
    assert not any("takes vector calls of its own" in each.message for each in remarks)


@asc.kernel
def of_an_array_that_may_be_empty(x: asc.float32[N], s: asc.float32[M], y: asc.float32[N]):
    for i in range(N):
        y[i] = x[i] * asc.exp(s[0])


def test_what_no_iteration_reads_is_not_read_before() -> None:
    for size, numbers in ((0, 0), (9, 1)):
        x, s, y = np.ones(size, np.float32), np.zeros(numbers, np.float32), np.zeros(size, np.float32)
        with asc.device("model"):
            of_an_array_that_may_be_empty(x, s, y)
        assert np.array_equal(y, x)
    kernel = of_an_array_that_may_be_empty
    remarks = kernel.specialise(kernel.types_of()).lowered("ascend").remarks
    assert [each.message for each in remarks] == ["runs on the vector unit"]


@asc.kernel
def differences_in_rows(x: asc.float16[M, N], y: asc.float16[M, N], z: asc.float16[M, N]):
    for i, j in asc.parallel_for_grid(M, N):
        y[i, j] = x[M - 1 - i, j]
        z[i, j] = x[i, N - 1] - x[i, j] * x[i, 0]


@asc.kernel
def one_number_a_row(x: asc.uint8[N, M], y: asc.uint8[N]):
    unread = asc.zeros(N, dtype=asc.uint8)
    for i in asc.parallel_for(N):
        unread[i] = unread[i] + x[i, M - 1]


def test_rows_of_one_number_each() -> None:
    for size in (0, 1, 40):
        x, y = np.ones((size, 3), np.uint8), np.full(size, 250, np.uint8)
        with asc.device("model"):
            one_number_a_row(x, y)
        assert np.array_equal(y, np.full(size, 250, np.uint8))


@pytest.mark.parametrize("shape", [(65, 0), (0, 5), (3, 1), (5, 300)])
def test_rows_without_columns_have_no_numbers(shape: tuple[int, int]) -> None:
    x = (np.arange(shape[0] * shape[1]) % 7).reshape(shape).astype(np.float16)
    y, z = np.zeros_like(x), np.zeros_like(x)
    with asc.device("model"):
        differences_in_rows(x, y, z)
    assert np.array_equal(y, x[::-1])
    if x.size:
        assert np.array_equal(z, x[:, -1:] - x * x[:, :1])


@asc.kernel
def of_a_long_chain(x: asc.float32[N], s: asc.float32[1], y: asc.float32[N]):
    for i in range(N):
        t = asc.exp(s[0])
        for _ in range(12):
            t = asc.sqrt(t * t + t) / (t + 2.0)
        y[i] = x[i] * t


def test_a_number_is_computed_once_however_often_it_is_used() -> None:
    assert len(of_a_long_chain.source("ascend910b1").splitlines()) < 600
