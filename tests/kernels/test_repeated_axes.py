# SPDX-License-Identifier: Apache-2.0
"""Axes of extent 1 in `einsum` are repeated along longer ones of the other operand, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]


@asc.kernel
def both_rows(x: asc.float32[1, N], y: asc.float32[1, N]):
    return asc.einsum("ij,jk->ik", x, y)


@asc.kernel
def a_column(x: asc.float32[M, 1], y: asc.float32[4, N]):
    return asc.einsum("ij,jk->ik", x, y), asc.einsum("ij,jk->ijk", x, y)


@asc.kernel
def a_row(x: asc.float32[1, N], y: asc.float32[3, N]):
    return asc.einsum("ij,ij->j", x, y), asc.einsum("ij,ij->i", x, y)


@asc.kernel
def one_number(x: asc.int32[1, 1], y: asc.int32[3, N]):
    return (asc.einsum("ij,ik->jk", x, y),)


@asc.kernel
def all_axes(x: asc.float32[M, N], y: asc.float32[1, 1]):
    return asc.einsum("ij,ij->j", x, y), asc.einsum("ij,ij->ji", x, y), asc.einsum("ij,ij->", x, y)


@asc.kernel
def all_axes_first(x: asc.int32[1, 1], y: asc.int32[M, N]):
    return asc.einsum("ij,ij->i", x, y), asc.einsum("ij,ij->ij", x, y)


@asc.kernel
def all_axes_of_bools(x: asc.bool_[M, N], y: asc.bool_[1, 1]):
    return (asc.einsum("ij,ij->j", x, y),)


CASES = (
    (all_axes, ("ij,ij->j", "ij,ij->ji", "ij,ij->"), lambda n: ((3, n), (1, 1)), np.float32),
    (all_axes_first, ("ij,ij->i", "ij,ij->ij"), lambda n: ((1, 1), (n, 4)), np.int32),
    (all_axes_of_bools, ("ij,ij->j",), lambda n: ((2, n), (1, 1)), np.bool_),
    (both_rows, ("ij,jk->ik",), lambda n: ((1, n), (1, n)), np.float32),
    (a_column, ("ij,jk->ik", "ij,jk->ijk"), lambda n: ((2, 1), (4, n)), np.float32),
    (a_row, ("ij,ij->j", "ij,ij->i"), lambda n: ((1, n), (3, n)), np.float32),
    (one_number, ("ij,ik->jk",), lambda n: ((1, 1), (3, n)), np.int32),
)


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize(("kernel", "equations", "shapes", "dtype"), CASES, ids=lambda each: str(each))
def test_as_in_numpy(
    kernel: asc.Kernel, equations: tuple[str, ...], shapes, dtype: type, device: str
) -> None:
    for n in (0, 1, 5, 33):
        rng = np.random.default_rng(n)
        x, y = (rng.integers(-3, 4, shape).astype(dtype) for shape in shapes(n))
        with asc.device(device):
            found = kernel(x, y)
        for got, equation in zip(found if isinstance(found, tuple) else (found,), equations, strict=True):
            assert np.array_equal(got, np.einsum(equation, x, y)), (n, equation)


def test_other_sizes_do_not_fit() -> None:
    with pytest.raises(ValueError, match="axis `j` has sizes 5 and 3"):
        asc.kernel_from_source(
            "import pyasc as asc\n"
            "def k(x: asc.float32[2, N], y: asc.float32[M, 4]):\n"
            "    return asc.einsum('ij,jk->ik', x, y)\n"
        )(np.zeros((2, 5), np.float32), np.zeros((3, 4), np.float32))
