# SPDX-License-Identifier: Apache-2.0
"""Reductions of integers on the vector unit of the model, whose reducing instructions know floats alone."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model import agree

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]


@asc.kernel
def row_extremes(x: asc.int32[R, C]):
    return x.max(axis=1), x.min(axis=1)


@asc.kernel
def extremes(x: asc.int32[N]):
    return x.max(), x.min()


@asc.kernel
def row_sums(x: asc.int32[R, C], o: asc.int32[R]):
    for i in asc.parallel_for(R):
        s = asc.int32(0)
        for j in range(C):
            s += x[i, j]
        o[i] = s


@asc.kernel
def counted(x: asc.float32[R, C], o: asc.int64[R]):
    for i in asc.parallel_for(R):
        c = 0
        for j in range(C):
            if x[i, j] > 0.5:
                c += 1
        o[i] = c


@asc.kernel
def positive(x: asc.float32[N]):
    return (x > 0.0).sum()


@asc.kernel
def sums_of_bytes(x: asc.int8[R, C]):
    return x.sum(axis=1)


def test_integers_are_reduced_exactly() -> None:
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (3, 7), (60, 65), (5, 2500)):
        x = rng.integers(-(2**31), 2**31 - 1, shape, endpoint=True).astype(np.int32)
        agree(row_extremes, [x])
        agree(row_extremes, [x // 2**20])
        agree(row_sums, [x, np.zeros(shape[0], np.int32)])
        agree(counted, [rng.random(shape, np.float32), np.zeros(shape[0], np.int64)])
        agree(sums_of_bytes, [(x % 256).astype(np.uint8).view(np.int8)])
    for n in (1, 9, 65, 20011):
        agree(extremes, [rng.integers(-(2**31), 2**31 - 1, n, endpoint=True).astype(np.int32)])
        agree(positive, [rng.standard_normal(n).astype(np.float32)])
    edges = np.array([2**31 - 1, -(2**31), 0, -1, 1, 65535, 65536, -65536] * 3, np.int32)
    agree(extremes, [edges])
    agree(row_extremes, [edges.reshape(3, 8)])
