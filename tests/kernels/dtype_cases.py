# SPDX-License-Identifier: Apache-2.0
"""Kernels that move, choose and order elements of `T`, which whoever loads this module says before it runs."""

from __future__ import annotations

from typing import Any

import pyasc as asc

T: Any


@asc.kernel
def spread_columns(x: T[R], y: T[R, C]):
    for i, j in asc.parallel_for_grid(R, C):
        y[i, j] = x[i]


@asc.kernel
def spread_rows(x: T[C], y: T[R, C]):
    for i, j in asc.parallel_for_grid(R, C):
        y[i, j] = x[j]


@asc.kernel
def every_second(x: T[R], y: T[M]):
    for i in asc.parallel_for(R):
        y[2 * i] = x[i]


@asc.kernel
def far_apart(x: T[R, C], y: T[R]):
    for i in asc.parallel_for(R):
        y[i] = x[i, 1]


@asc.kernel
def diagonal(x: T[R], y: T[R, R]):
    for i in asc.parallel_for(R):
        y[i, i] = x[i]


@asc.kernel
def turned(x: T[R, C], y: T[C, R]):
    for i, j in asc.parallel_for_grid(R, C):
        y[j, i] = x[i, j]


@asc.kernel
def backwards(x: T[C], y: T[C]):
    for i in asc.parallel_for(C):
        y[C - 1 - i] = x[i]


@asc.kernel
def scattered(x: T[C], places: asc.int32[C], y: T[C]):
    for i in asc.parallel_for(C):
        y[places[i]] = x[i]


@asc.kernel
def gathered(x: T[C], places: asc.int32[C], y: T[C]):
    for i in asc.parallel_for(C):
        y[i] = x[places[i]]


@asc.kernel
def chosen(x: T[R, C], z: T[R, C], y: T[R, C]):
    y[:, :] = asc.where(x > z, x, z)


@asc.kernel
def largest(x: T[R, C], y: T[R]):
    y[:] = asc.max(x, axis=1)


@asc.kernel
def least(x: T[R, C], y: T[C]):
    y[:] = asc.min(x, axis=0)


@asc.kernel
def place(x: T[R, C], y: asc.int64[R]):
    y[:] = asc.argmax(x, axis=1)


@asc.kernel
def repeated(x: T[C], y: T[M]):
    for i in asc.parallel_for(C):
        y[2 * i] = x[i]
        y[2 * i + 1] = x[i]


@asc.kernel
def added(x: T[C], places: asc.int32[C], y: T[C]):
    for i in range(C):
        y[places[i]] += x[i]


@asc.kernel
def filled(x: T, y: T[C]):
    for i in asc.parallel_for(C):
        y[i] = x


@asc.kernel
def masked(mask: asc.bool_[R, C], x: T[R, C], y: T[R, C]):
    y[:, :] = asc.where(mask, x, 1)


@asc.kernel
def any_large(x: T[R, C], y: asc.bool_[R]):
    y[:] = asc.any(x > 1, axis=1)


@asc.kernel
def ones(y: T[C]):
    for i in asc.parallel_for(C):
        y[i] = 1
