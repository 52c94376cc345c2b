# SPDX-License-Identifier: Apache-2.0
"""Nests in order on the model give the bits that the processor gives, at every awkward size."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.kernels.polybench import blas, medley, solvers, stencils

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
SIZES = (1, 2, 3, 4, 9, 33)


def _square(generator: np.random.Generator, n: int) -> np.ndarray:
    return generator.random((n, n), dtype=np.float32)


def _definite(generator: np.random.Generator, n: int) -> np.ndarray:
    lower = np.tril(_square(generator, n)) + n * np.eye(n, dtype=np.float32)
    return (lower @ lower.T).astype(np.float32)


def _solved(generator: np.random.Generator, n: int) -> dict[str, Any]:
    vectors = {name: generator.random(n, dtype=np.float32) for name in "xb"}
    return {"L": np.tril(_definite(generator, n)), **vectors}


def _swept(generator: np.random.Generator, n: int) -> dict[str, Any]:
    return {**{name: _square(generator, n) for name in "uvpq"}, "steps": 2}


def _filtered(generator: np.random.Generator, n: int) -> dict[str, Any]:
    arrays = {name: generator.random((n, n + 2), dtype=np.float32) for name in ("img", "out", "y1", "y2")}
    return {**arrays, "alpha": 0.25}


Data = Callable[[np.random.Generator, int], dict[str, Any]]

KERNELS: list[tuple[Any, Data]] = [
    (solvers.lu, lambda g, n: {"A": _definite(g, n)}),
    (solvers.cholesky, lambda g, n: {"A": _definite(g, n)}),
    (solvers.trisolv, _solved),
    (blas.trmm, lambda g, n: {"A": _square(g, n), "B": g.random((n, n + 3), dtype=np.float32), "alpha": 1.5}),
    # Weights below zero, cycles of them too: rows and columns change while they are read.
    (medley.floyd_warshall, lambda g, n: {"path": g.integers(-9, 30, (n, n)).astype(np.int32)}),
    (medley.deriche, _filtered),
    (stencils.seidel_2d, lambda g, n: {"A": _square(g, n), "steps": 3}),
    (stencils.adi, _swept),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kernel", "data"), KERNELS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_model_gives_the_same_bits(model_library: None, kernel: Any, data: Data, size: int) -> None:
    found, expected = (data(np.random.default_rng(size), size) for _ in range(2))
    with asc.device("cpu"):
        kernel(**expected)
    with asc.device("model"):
        kernel(**found)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in KERNELS], ids=lambda kernel: kernel.__name__)
def test_none_of_them_stays_on_the_scalar_unit(kernel: Any) -> None:
    remarks = kernel.specialise(kernel.types_of()).lowered("tile").remarks
    assert any("vector unit" in remark.message for remark in remarks)
    assert not any("follow each other" in remark.message for remark in remarks)


@asc.kernel
def bound_from_data(A: asc.float32[N, N], count: asc.int32[1]):
    for i in range(1, count[0]):
        for j in range(N):
            A[i, j] = A[i - 1, j] + A[i, j]


@asc.kernel
def number_of_before(A: asc.float32[N], B: asc.float32[N], steps: int):
    start = A[0]
    for t in range(steps):
        for i in asc.parallel_for(N):
            A[i] = A[i] + 1.0
        for i in asc.parallel_for(N):
            B[i] = B[i] + start


@asc.kernel
def number_that_changes(A: asc.float32[N, N]):
    start = A[0, 0]
    for i in range(1, N):
        for j in range(N):
            A[i - 1, j] = A[i, j] * start
            A[i, j] = A[i - 1, j] + start


@pytest.mark.parametrize("size", (1, 2, 5, 20))
def test_loops_of_the_host_start_from_what_was_there_before(model_library: None, size: int) -> None:
    generator = np.random.default_rng(size)
    square, line = _square(generator, size), generator.random(size, dtype=np.float32)
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (bound_from_data, (square, np.array([size], np.int32))),
        (number_of_before, (line, line * 2, 3)),
        (number_that_changes, (square,)),
    ]
    for kernel, given in cases:
        results = []
        for device in ("cpu", "model"):
            arguments = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
            with asc.device(device):
                kernel(*arguments)
            results.append(arguments)
        for found, expected in zip(results[1], results[0], strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=kernel.__name__)


@asc.kernel
def difference_of_before(x: asc.int32[N], y: asc.int32[N], z: asc.int32[N]):
    for i in asc.parallel_for(x.shape[0]):
        x[i] = min(x[i], y[i]) + y[i]
        before = x[i] - z[i]
        y[i] = -z[i]
        for j in range(x.shape[0]):
            x[i] = before - z[j]


@asc.kernel
def element_of_before(A: asc.int32[N, N], x: asc.int32[N], y: asc.int32[N]):
    for i in range(x.shape[0]):
        x[i] = x[i] + y[i]
        for j in range(x.shape[0]):
            before = A[i, j]
            for k in range(x.shape[0]):
                A[i, j] = before + x[k]
        y[i] = A[i, 0]


@asc.kernel
def factor_of_before(x: asc.int32[N], y: asc.int32[N], z: asc.int32[N]):
    for i in range(x.shape[0]):
        y[i] = y[i] - x[i]
        before = x[i]
        for j in range(i):
            x[i] = max(before, z[j]) * 2


@pytest.mark.parametrize("size", (1, 2, 5, 20))
def test_what_is_read_before_a_loop_is_not_what_the_loop_updates(model_library: None, size: int) -> None:
    generator = np.random.default_rng(size)
    x, y, z = (generator.integers(-99, 99, size).astype(np.int32) for _ in range(3))
    square = generator.integers(-99, 99, (size, size)).astype(np.int32)
    for kernel, given in (
        (difference_of_before, (x, y, z)),
        (element_of_before, (square, x, y)),
        (factor_of_before, (x, y, z)),
    ):
        expected = [each.copy() for each in given]
        kernel.__wrapped__(*expected)
        for device in ("cpu", "model"):
            found = [each.copy() for each in given]
            with asc.device(device):
                kernel(*found)
            for got, wanted in zip(found, expected, strict=True):
                np.testing.assert_array_equal(got, wanted, err_msg=f"{kernel.__name__} on {device}")
