# SPDX-License-Identifier: Apache-2.0
"""The kernels of `pyasc selftest`, each with its inputs at awkward sizes and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pyasc as asc

# The kernels are in pyasc's language: names of sizes stand in annotations, and arrays have methods of their own.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false, reportGeneralTypeIssues=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportIndexIssue=false, reportCallIssue=false, reportReturnType=false
# pyright: reportArgumentType=false, reportInvalidTypeForm=false

Rng = np.random.Generator
Shape = tuple[int, ...]

LENGTHS: tuple[Shape, ...] = ((1,), (7,), (33,), (1000,), (20011,))
MATRICES: tuple[Shape, ...] = ((1, 1), (3, 7), (17, 33), (5, 257), (300, 65))
PRODUCTS: tuple[Shape, ...] = ((1, 1, 1), (15, 17, 16), (33, 64, 100), (129, 127, 65))

EXACT = (0.0, 0.0)
"""The bound of integers, and of what is copied."""
SINGLE = (1e-6, 1e-6)
SINGLE_SUM = (3e-5, 3e-5)
HALF = (2e-3, 2e-3)
HALF_SUM = (1e-2, 1e-2)


@dataclass(frozen=True)
class Case:
    """One kernel: inputs for a shape, the expected arrays, and the bounds (relative, absolute) they are held to.

    Written arrays are compared as they are after the launch, results after them.
    """

    kernel: Any
    inputs: Callable[[Rng, Shape], list[Any]]
    expected: Callable[..., Sequence[Any]]
    shapes: tuple[Shape, ...]
    bounds: tuple[float, float]


@asc.kernel
def add_half(x: asc.float16[N], y: asc.float16[N]):
    return x + y


@asc.kernel
def fused_chain(x: asc.float32[N], y: asc.float32[N], o: asc.float32[N], s: float):
    for i in asc.parallel_for(N):
        o[i] = max(x[i] * y[i] + s * x[i], 0.0) * (x[i] - y[i])


@asc.kernel
def where_exp(x: asc.float32[N], y: asc.float32[N]):
    return asc.where(x > y, asc.exp(x), y / (asc.abs(x) + 1.0))


@asc.kernel
def roots(x: asc.float32[N]):
    return asc.sqrt(asc.abs(x)) + asc.log(asc.abs(x) + 1.0) + asc.tanh(x)


@asc.kernel
def add_int32(x: asc.int32[N], y: asc.int32[N]):
    return asc.maximum(x + y, x * y) - y


@asc.kernel
def add_int16(x: asc.int16[N], y: asc.int16[N]):
    return x * y + x


@asc.kernel
def add_int8(x: asc.int8[N], y: asc.int8[N]):
    return x + y


@asc.kernel
def compare(x: asc.float32[N], y: asc.float32[N]):
    return (x < y) & ~(x > 0.5)


@asc.kernel
def casts(x: asc.float32[N]):
    return x.astype(asc.int32), x.astype(asc.float16)


@asc.kernel
def row_sum(x: asc.float32[R, C]):
    return x.sum(axis=1)


@asc.kernel
def row_max(x: asc.float16[R, C]):
    return x.max(axis=1)


@asc.kernel
def column_sum(x: asc.float32[R, C]):
    return x.sum(axis=0)


@asc.kernel
def softmax(x: asc.float32[R, C]):
    return asc.softmax(x)


@asc.kernel
def layer_norm(x: asc.float32[R, C], g: asc.float32[C], b: asc.float32[C]):
    return asc.layer_norm(x, g, b)


@asc.kernel
def bias_relu(x: asc.float32[R, C], b: asc.float32[C]):
    return asc.relu(x + b)


@asc.kernel
def stencil(x: asc.float32[R, C], o: asc.float32[R, C]):
    for i, j in asc.parallel_for_grid(R - 2, C - 2):
        o[i + 1, j + 1] = 0.2 * (
            x[i + 1, j + 1] + x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]
        )


@asc.kernel
def transpose(x: asc.float32[R, C]):
    return x.T.copy()


@asc.kernel
def gather(x: asc.float32[N], i: asc.int32[N], o: asc.float32[N]):
    for k in range(N):
        o[k] = x[i[k]]


@asc.kernel
def prefix_sum(x: asc.int32[N], o: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        o[i] = total


@asc.kernel
def collatz(x: asc.int32[N], o: asc.int32[N]):
    for i in range(N):
        n = x[i]
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        o[i] = steps


@asc.kernel
def matmul_half(a: asc.float16[M, K], b: asc.float16[K, N]):
    return a @ b


@asc.kernel
def matmul_single(a: asc.float32[M, K], b: asc.float32[K, N]):
    return a @ b


def _floats(dtype: Any, count: int) -> Callable[[Rng, Shape], list[Any]]:
    return lambda rng, shape: [rng.standard_normal(shape).astype(dtype) for _ in range(count)]


def _integers(dtype: Any, count: int, low: int = -100, high: int = 100) -> Callable[[Rng, Shape], list[Any]]:
    return lambda rng, shape: [rng.integers(low, high, shape).astype(dtype) for _ in range(count)]


def _with_output(make: Callable[[Rng, Shape], list[Any]], *scalars: Any) -> Callable[[Rng, Shape], list[Any]]:
    def made(rng: Rng, shape: Shape) -> list[Any]:
        arrays = make(rng, shape)
        return [*arrays, np.zeros_like(arrays[0]), *scalars]

    return made


def _with_columns(count: int) -> Callable[[Rng, Shape], list[Any]]:
    def made(rng: Rng, shape: Shape) -> list[Any]:
        sides = [rng.standard_normal(shape[1]).astype(np.float32) for _ in range(count)]
        return [rng.standard_normal(shape).astype(np.float32), *sides]

    return made


def _factors(dtype: Any) -> Callable[[Rng, Shape], list[Any]]:
    def made(rng: Rng, shape: Shape) -> list[Any]:
        m, k, n = shape
        return [(0.1 * rng.standard_normal(each)).astype(dtype) for each in ((m, k), (k, n))]

    return made


def _indices(rng: Rng, shape: Shape) -> list[Any]:
    x = rng.standard_normal(shape).astype(np.float32)
    return [x, rng.integers(-shape[0], shape[0], shape).astype(np.int32), np.zeros_like(x)]


def _double(x: Any) -> Any:
    return x.astype(np.float64)


def _chain(x: Any, y: Any, o: Any, s: float) -> Sequence[Any]:
    a, b = _double(x), _double(y)
    return [np.maximum(a * b + s * a, 0.0) * (a - b)]


def _softmax(x: Any) -> Sequence[Any]:
    e = np.exp(_double(x) - x.max(1, keepdims=True))
    return [e / e.sum(1, keepdims=True)]


def _layer_norm(x: Any, g: Any, b: Any) -> Sequence[Any]:
    x = _double(x)
    scaled = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return [scaled * g + b]


def _stencil(x: Any, o: Any) -> Sequence[Any]:
    x, made = _double(x), np.zeros(x.shape)
    made[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return [made]


def _collatz(x: Any, o: Any) -> Sequence[Any]:
    n, steps = x.astype(np.int64), np.zeros_like(x)
    while (n > 1).any():
        steps += n > 1
        n = np.where(n > 1, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
    return [steps]


CASES: tuple[Case, ...] = (
    Case(add_half, _floats(np.float16, 2), lambda x, y: [_double(x) + y], LENGTHS, HALF),
    Case(fused_chain, _with_output(_floats(np.float32, 2), 2.5), _chain, LENGTHS, SINGLE),
    Case(
        where_exp,
        _floats(np.float32, 2),
        lambda x, y: [np.where(x > y, np.exp(_double(x)), _double(y) / (np.abs(_double(x)) + 1))],
        LENGTHS,
        SINGLE,
    ),
    Case(
        roots,
        _floats(np.float32, 1),
        lambda x: [np.sqrt(np.abs(_double(x))) + np.log(np.abs(_double(x)) + 1) + np.tanh(_double(x))],
        LENGTHS,
        SINGLE_SUM,
    ),
    Case(add_int32, _integers(np.int32, 2), lambda x, y: [np.maximum(x + y, x * y) - y], LENGTHS, EXACT),
    Case(add_int16, _integers(np.int16, 2), lambda x, y: [x * y + x], LENGTHS, EXACT),
    Case(add_int8, _integers(np.int8, 2), lambda x, y: [x + y], LENGTHS, EXACT),
    Case(compare, _floats(np.float32, 2), lambda x, y: [(x < y) & ~(x > 0.5)], LENGTHS, EXACT),
    Case(
        casts,
        lambda rng, shape: [(100 * rng.standard_normal(shape)).astype(np.float32)],
        lambda x: [x.astype(np.int32), x.astype(np.float16)],
        LENGTHS,
        EXACT,
    ),
    Case(row_sum, _floats(np.float32, 1), lambda x: [_double(x).sum(1)], MATRICES, SINGLE_SUM),
    Case(row_max, _floats(np.float16, 1), lambda x: [x.max(1)], MATRICES, EXACT),
    Case(column_sum, _floats(np.float32, 1), lambda x: [_double(x).sum(0)], MATRICES, SINGLE_SUM),
    Case(softmax, _floats(np.float32, 1), _softmax, MATRICES, SINGLE_SUM),
    Case(layer_norm, _with_columns(2), _layer_norm, MATRICES, (1e-3, 1e-3)),
    Case(bias_relu, _with_columns(1), lambda x, b: [np.maximum(_double(x) + b, 0)], MATRICES, SINGLE),
    Case(stencil, _with_output(_floats(np.float32, 1)), _stencil, ((3, 3), (17, 33), (5, 257)), SINGLE_SUM),
    Case(transpose, _floats(np.float32, 1), lambda x: [x.T], MATRICES, EXACT),
    Case(gather, _indices, lambda x, i, o: [x[i]], LENGTHS, EXACT),
    Case(
        prefix_sum,
        _with_output(_integers(np.int32, 1)),
        lambda x, o: [np.cumsum(x, dtype=np.int32)],
        LENGTHS[:4],
        EXACT,
    ),
    Case(collatz, _with_output(_integers(np.int32, 1, 1, 100)), _collatz, LENGTHS[:4], EXACT),
    Case(matmul_half, _factors(np.float16), lambda a, b: [_double(a) @ _double(b)], PRODUCTS, HALF_SUM),
    Case(matmul_single, _factors(np.float32), lambda a, b: [_double(a) @ _double(b)], PRODUCTS, SINGLE_SUM),
)
