# SPDX-License-Identifier: Apache-2.0
"""Numbers that phases read from arrays which the kernel changes: what counts is what they were when they were read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model import agree
from tests.kernels.test_model_rows import on_vector

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]


@asc.kernel
def normalised(x: asc.float32[N], y: asc.float32[N]):
    x /= x[0]
    y -= y[-1] * 2


@asc.kernel
def filled(x: asc.float32[N], y: asc.float32[N]):
    x[3:9] = x[6]
    y[8:0:-1] = y[5]


@asc.kernel
def kept(x: asc.float32[N], y: asc.float32[N]):
    t = x[5] * 2
    u = asc.exp(x[6] * 0.1) + 1
    x[:] = 0.0
    for i in range(N):
        y[i] = t - u * y[i]


@asc.kernel
def beside(x: asc.float32[N], y: asc.float32[N]):
    first = x[0]
    for i in range(1, N):
        x[i] -= first
    y[: N - 1] += y[N - 1]


@asc.kernel
def rows(x: asc.float32[M, N], y: asc.float32[N]):
    for i in range(M):
        x[i] -= x[i, 0]
    for i in range(1, M):
        t = x[i - 1, 1]
        x[i] = x[i - 1] * 0.5 + t
        x[i - 1] = t
    for i in range(M):
        y += y[0] * x[i]


@asc.kernel
def nothing(a: asc.float32[3, 0], b: asc.float32[0, 4]):
    return a @ b, (a @ b) + 1


@pytest.mark.parametrize("kernel", [normalised, filled, kept, beside], ids=lambda each: each.__name__)
def test_of_one_axis(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    for n in (10, 77, 20011):
        x, y = rng.normal(size=(2, n)).astype(np.float32)
        agree(kernel, [x, y])
    if kernel is not kept:
        on_vector(kernel)


def test_in_loops_of_the_host() -> None:
    rng = np.random.default_rng(0)
    for m, n in ((1, 2), (4, 33), (3, 5000)):
        agree(rows, [rng.normal(size=(m, n)).astype(np.float32), rng.normal(size=n).astype(np.float32)])
    on_vector(rows)


def test_a_number_that_nothing_overwrites_is_read_where_it_is() -> None:
    assert "Signature  beside_1(x, N)" in beside.source("ascend910b1")
    assert "Signature  beside_2(y, N)" in beside.source("ascend910b1")
    assert "beside_3" not in beside.source("ascend910b1")


def test_products_over_nothing() -> None:
    with asc.device("model"):
        product, more = nothing(np.zeros((3, 0), np.float32), np.zeros((0, 4), np.float32))
    np.testing.assert_array_equal(product, np.zeros((3, 4)))
    np.testing.assert_array_equal(more, np.ones((3, 4)))


@asc.kernel
def wide(x: asc.int16[N], t: asc.int32[M], places: asc.int32[N]):
    return x * asc.argmax(x), t[places] * asc.sum(t), asc.minimum(asc.sum(t), t[places % M])


def test_numbers_of_64_bits_that_arrays_give() -> None:
    x, t = np.arange(20, dtype=np.int16) % 7, np.arange(31, dtype=np.int32) * 100003
    arguments = (x, t, np.arange(20, dtype=np.int32))
    expected = wide(*arguments)
    with asc.device("model"):
        found = wide(*arguments)
    for got, wanted in zip(found, expected, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
