# SPDX-License-Identifier: Apache-2.0
"""Loops that every element runs for itself, on the vector unit of the model under a mask."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model import agree
from tests.kernels.test_model_rows import f32, on_vector

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]


@asc.kernel
def halvings(x: asc.float32[N], y: asc.float32[N], last: asc.float32[N]):
    for i in asc.parallel_for(N):
        n = x[i]
        c = 0.0
        while n > 1.0:
            n = n * 0.5 + 0.1
            c += 1.0
        y[i] = c
        last[i] = n


def test_each_element_stops_by_itself() -> None:
    for n in (1, 9, 65, 1000, 20011):
        agree(halvings, [np.abs(f32(n)) * 100, np.zeros(n, np.float32), np.zeros(n, np.float32)])
    on_vector(halvings)


@asc.kernel
def escape(steps: asc.int32[H, W], left: float, top: float, step: float, limit: int):
    for i in asc.parallel_for(H):
        ci = top - i * step
        for j in asc.parallel_for(W):
            cr = left + j * step
            zr, zi = 0.0, 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                n += 1
            steps[i, j] = n


def test_a_count_with_a_bound() -> None:
    for limit in (0, 1, 7, 50):
        for shape in ((1, 1), (3, 7), (20, 65), (2, 1000)):
            agree(escape, [np.zeros(shape, np.int32)], (-2.0, 1.2, 3.0 / max(shape[1], 2), limit))
    on_vector(escape)


@asc.kernel
def newton(x: asc.float32[R, C], y: asc.float32[R, C], start: asc.float32[R], rounds: int):
    for i in asc.parallel_for(R):
        for j in asc.parallel_for(C):
            root = start[i]
            steps = 0
            for k in range(rounds):
                if abs(root * root - x[i, j]) > 0.01:
                    root = 0.5 * (root + x[i, j] / root)
                    steps = k
            y[i, j] = root + steps


def test_rounds_that_are_counted() -> None:
    for rounds in (0, 1, 9):
        for shape in ((1, 1), (3, 7), (20, 65), (2, 1000)):
            x = np.abs(f32(*shape)) + 1
            agree(newton, [x, np.zeros_like(x), np.abs(f32(shape[0])) + 1], (rounds,), bound=1e-6)
    on_vector(newton)


@asc.kernel
def unbounded(x: asc.int32[N], y: asc.int32[N]):
    for i in asc.parallel_for(N):
        n = x[i]
        c = 0
        while n > 1:
            n = n // 2
            c += 1
        y[i] = c


def test_counts_without_a_bound_stay_on_the_scalar_unit() -> None:
    x = np.arange(100, dtype=np.int32)
    agree(unbounded, [x, np.zeros_like(x)])
    with pytest.raises(AssertionError):
        on_vector(unbounded)
