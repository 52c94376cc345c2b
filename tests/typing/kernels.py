# SPDX-License-Identifier: Apache-2.0
"""Kernels as they are written, for type checkers: `tests/integration/test_type_checkers.py` expects no complaint."""

from __future__ import annotations

import functools
import math

import numpy as np

import pyasc as asc

N, M, C = asc.dims("N M C")
WEIGHTS = (0.25, 0.5, 0.25)


@asc.func
def clipped(v, low, high):
    return min(max(v, low), high)


def scaled(v, factor: float = 2.0):
    return v * factor


@asc.kernel
def elementwise(x: asc.float32[N, C], y: asc.float32[N, C], s: asc.float32, n: int) -> None:
    for i in asc.parallel_for(N):
        for j in range(C):
            y[i, j] = clipped(x[i, j] * s + n, -1.0, 1.0) ** 2
            y[i, j] += math.exp(-x[i, j]) if x[i, j] > 0 else scaled(x[i, j])


@asc.kernel
def sizes(x: asc.float32[N, 2 * M], y: asc.float32[N - 2, M], z: asc.float32[..., 3], w: asc.float16[16, 16]):
    rows = x.shape[0]
    for i, j in asc.parallel_for_grid(rows - 2, M):
        y[i, j] = x[i + 1, j] + x[i, 2 * j]
    w[...] = asc.float16(w.T @ w) + asc.eye(16, dtype=asc.float16)
    for k in asc.unroll(range(3)):
        z[..., k] = WEIGHTS[k]


@asc.kernel(debug=True, name="checked", precision="strict")
def with_options(x: asc.int32[N], k: asc.constexpr = 3, mode: asc.constexpr = "sum") -> asc.int32:
    total = 0
    for i in range(0, N, k):
        if mode == "sum":
            total += x[i]
        assert total >= 0, "overflow"
        asc.print(f"{i}: {total}")
    return asc.int32(total)


@asc.kernel
def tensors(x: asc.tensor, y, p: asc.float64[M], flags: asc.bool[M]) -> tuple[asc.float32[N, M], asc.int64]:
    z = asc.softmax(x @ y, axis=-1)
    z = z.reshape(x.shape[0], -1).astype(asc.float32)
    best = asc.argmax(z, axis=1)
    z[0] = asc.where(flags & (p > 0), asc.sqrt(asc.abs(p)), 0.0)
    return z, asc.sum(best)


@asc.kernel
def memory(x: asc.float32[N], bins: asc.int32[256]):
    tile = asc.shared_memory((256,), asc.float32)
    for block in asc.parallel_for(0, N, 256):
        asc.copy(x[block : block + 256], tile)
        for i, value in enumerate(tile):
            asc.atomic_add(bins, (int(value) + i) % 256, 1)


@asc.kernel
def integers(a: asc.int32, b: asc.uint8, c: asc.bfloat16, n: asc.int64):
    for i in range(a):
        a = divmod(a, 3)[0] << i | ~b & n
    return round(float(c)) + a


half = asc.kernel(lambda x: x / 2)
twice = functools.partial(elementwise, n=2)


class Layer:
    """Kernels may stand in classes."""

    @staticmethod
    @asc.kernel
    def forward(x: asc.float32[N]):
        x[...] = asc.relu(x)


def run() -> None:
    """What a program does with kernels."""
    x = np.ones((4, 3), np.float32)
    elementwise(x, x.copy(), 1.0, n=2)
    elementwise.compile()
    print(elementwise.lower()["cpp"], elementwise.remarks, elementwise.cache_info().compilations)
    with asc.device("cpu"):
        try:
            asc.compile([elementwise, (half, asc.float32[N])])
        except (asc.CompileError, asc.LaunchError) as error:
            print(error)
    kernel = asc.kernel_from_source("def f(x: asc.float32[4]): x[0] = 1.0", debug=True)
    kernel(x[0], asc.float16(1.5), asc.zeros((2, 2)))
