# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F821
"""Whole-array expressions, subscripts and library functions, in the interpreter against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.unit.frontend_support import check, lower, run, the_function

Array = np.ndarray[Any, Any]
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, int]]] = []
RNG = np.random.default_rng(7)


def case(*args: Any, **sizes: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function with arguments and the values of its sizes."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, args, sizes))
        return function

    return register


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def integers(*shape: int, dtype: str = "int32") -> Array:
    return RNG.integers(-20, 20, shape).astype(dtype)


@case(floats(3, 4), floats(4), M=3, N=4)
def broadcasting(x: asc.float32[M, N], y: asc.float32[N]):
    return x * y + 1.5 - y / 2


@case(floats(3, 1), floats(1, 4))
def outer(x: asc.float32[3, 1], y: asc.float32[1, 4]):
    return x * y, x + y > 0.5


@case(floats(3, 4), floats(3, 4), M=3, N=4)
def writes_whole(x: asc.float32[M, N], y: asc.float32[M, N]):
    y[:] = asc.exp(x)
    y[0] = 1.0
    y[:, 1] = x[:, 0]
    y[1:, 2:] += 10.0
    y[...] = y * 2


@case(integers(4), floats(4), N=4)
def mixed_types(i: asc.int32[N], f: asc.float32[N]):
    return i + 1, i * f, i // 3, i % 3, -i, abs(i), f**2, 2 - f, i == 3


@case(integers(5, dtype="int8"), integers(5, dtype="uint8"))
def narrow_integers(a: asc.int8[5], b: asc.uint8[5]):
    return a + a, a * 3, a + b, b - 1, a & 3, b >> 1, ~a


@case(np.array([True, False, True]), np.array([True, True, False]))
def bools(a: asc.bool_[3], b: asc.bool_[3]):
    return a & b, a | b, a ^ b, ~a, a + b, a * b, asc.where(a, 1, 2)


@case(floats(4, 5), M=4, N=5)
def slices(x: asc.float32[M, N]):
    return (
        x[1:, :-1],
        asc.sum(x[::2], axis=0),
        x[::-1],
        x[1],
        x[-1],
        x[:, 2],
        x[..., 0],
        x[None, 1],
        x[1:3, None, ::-1],
    )


@case(floats(4, 5))
def static_slices(x: asc.float32[4, 5]):
    return x[1:10], x[3:1], x[-2:], x[::-2, 1:4:2], x[2][1:3], x[1:][0], x.T[1], x[:2].T


@case(floats(6), 2, 5, N=6)
@case(floats(6), -4, 100, N=6)
@case(floats(6), 4, 1, N=6)
def run_time_slices(x: asc.float32[N], a: int, b: int):
    return asc.sum(x[a:b]), asc.sum(x[a:b:2]), asc.sum(x[b:a:-1]), x[a], x[a:][0]


@case(floats(4, 5), M=4, N=5)
def reductions(x: asc.float32[M, N]):
    return (
        asc.sum(x),
        asc.sum(x, axis=0),
        asc.max(x, 1),
        x.min(axis=-1, keepdims=True),
        asc.mean(x, axis=1),
        x.var(),
    )


@case(integers(4, 5), M=4, N=5)
def integer_reductions(x: asc.int32[M, N]):
    return (
        asc.sum(x),
        x.sum(axis=0),
        asc.prod(x, axis=1),
        x.max(),
        asc.argmax(x, axis=1),
        asc.argmin(x),
        asc.any(x > 3),
    )


@case(floats(3, 4), M=3, N=4)
def scans(x: asc.float32[M, N]):
    return asc.cumsum(x, axis=1), asc.cumsum(x), asc.cumprod(x, axis=0)


@case(floats(3, 4), floats(4, 5), floats(4), M=3, K=4, N=5)
def products(a: asc.float32[M, K], b: asc.float32[K, N], v: asc.float32[K]):
    return a @ b, asc.matmul(a, b), a @ v, v @ b, v @ v, asc.dot(v, v), (a @ b).T


@case(floats(2, 3, 4), floats(2, 4, 5), floats(4, 5))
def batched(a: asc.float32[2, 3, 4], b: asc.float32[2, 4, 5], c: asc.float32[4, 5]):
    return a @ b, a @ c


@case(integers(3, 4, dtype="int8"), integers(4, 5, dtype="int8"))
def int8_products(a: asc.int8[3, 4], b: asc.int8[4, 5]):
    return a @ b, asc.matmul(a, b, dtype=asc.int32)


@case(floats(4), N=4)
def creation(x: asc.float32[N]):
    return (
        asc.zeros(N) + x,
        asc.ones((2, N)),
        asc.full((3,), 2),
        asc.eye(3),
        asc.arange(N),
        asc.arange(2, 9, 3),
        asc.zeros_like(x),
    )


@case(5)
def run_time_sizes(n: int):
    return asc.sum(asc.arange(n)), asc.sum(asc.ones(n) * asc.arange(n))


@case(floats(3, 4), M=3, N=4)
def activations(x: asc.float32[M, N]):
    return asc.softmax(x), asc.log_softmax(x, axis=0), asc.relu(x), asc.sigmoid(x), asc.gelu(x), asc.silu(x)


@case(floats(3, 4), floats(4), floats(4), M=3, N=4)
def normalisations(x: asc.float32[M, N], w: asc.float32[N], b: asc.float32[N]):
    return asc.layer_norm(x), asc.layer_norm(x, w, b, eps=1e-3), asc.rms_norm(x), asc.rms_norm(x, w)


@case(floats(3, 4), M=3, N=4)
def rearrangement(x: asc.float32[M, N]):
    return (
        x.T,
        x.transpose(),
        x.transpose(1, 0),
        asc.transpose(x, (0, 1)),
        x.reshape(N, M),
        x.reshape(-1),
        x.flatten(),
    )


@case(floats(2, 3, 4))
def three_axes(x: asc.float32[2, 3, 4]):
    return (
        x.transpose(2, 0, 1),
        x.reshape(6, -1),
        x.reshape((4, 6)),
        x[:, 1],
        x[1, ..., 2],
        asc.sum(x, axis=(0, 2)),
    )


@case(floats(2, 3), floats(4, 3), floats(2, 5))
def joining(a: asc.float32[2, 3], b: asc.float32[4, 3], c: asc.float32[2, 5]):
    return asc.concatenate((a, b)), asc.concatenate([a, c], axis=1), asc.broadcast_to(a[0], (5, 3))


@case(floats(2, 3), floats(2, 3))
def stacking(a: asc.float32[2, 3], b: asc.float32[2, 3]):
    return asc.stack((a, b)), asc.stack([a, b], axis=-1), asc.stack((a, b), 1)


@case(floats(4, 6), M=4, N=6)
def splitting(x: asc.float32[M, 6]):
    a, b = asc.split(x, 2, axis=1)
    return a + b, asc.split(x, 3, 1)[2]


@case(floats(4, 5), np.array([3, -1, 0]))
def taking(x: asc.float32[4, 5], i: asc.int64[3]):
    return asc.take(x, i), asc.take(x, i, axis=0), asc.take(x, i, axis=1)


@case(floats(3, 4), floats(4, 5), floats(3), M=3, K=4, N=5)
def einstein(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M]):
    return (
        asc.einsum("ij,jk->ik", a, b),
        asc.einsum("ij,jk->ki", a, b),
        asc.einsum("ij->j", a),
        asc.einsum("ij->ji", a),
        asc.einsum("ij,i->ij", a, c),
        asc.einsum("ij,jk->i", a, b),
        asc.einsum("i,i->", c, c),
    )


@case(floats(3, 4), integers(4))
def small_functions(x: asc.float32[3, 4], i: asc.int32[4]):
    return (
        asc.clip(x, -0.5, 0.5),
        asc.clip(i, 0, None),
        asc.square(i),
        asc.reciprocal(x),
        asc.std(x, axis=1),
        i.clip(0, 3),
    )


@case(floats(6), np.array([3, -1, 0, 3]), N=6)
def gathers(x: asc.float32[N], i: asc.int64[4]):
    return x[i], x[i] + 1


@case(floats(5, 3), np.array([3, -1, 0], np.int32), np.array([0, 1, 2], np.int32))
def row_gathers(x: asc.float32[5, 3], i: asc.int32[3], j: asc.int32[3]):
    return x[i], x[i, j], x[i, 1]


@case(floats(6), np.array([3, -1, 0, 3]), floats(4), N=6)
def scatters(x: asc.float32[N], i: asc.int64[4], v: asc.float32[4]):
    x[i] = v
    x[i[0]] = 9.0


@case(floats(4, 4))
def masks(x: asc.float32[4, 4]):
    x[x < 0] = 0.0
    return asc.where(x > 0.5, x, -1.0), asc.where(x[0] > 0, 1, 0)


@case(floats(5), N=5)
def local_arrays(x: asc.float32[N]):
    t = x * 2
    u = t
    t[0] = 100.0
    u[1] += 1.0
    return t, u, x


@case(floats(5), N=5)
def local_buffer(x: asc.float32[N]):
    b = asc.empty(N)
    for i in range(N):
        b[i] = x[N - 1 - i]
    asc.copy(x[1:], b[:-1])
    return b


@case(floats(5), N=5)
def in_place(x: asc.float32[N]):
    x += 1
    x *= x
    y = x[1:3]
    y -= 5.0


@case(floats(4), 3, N=4)
def tensors_through_a_loop(x: asc.float32[N], n: int):
    y = x * 0.5
    z = x + 1.0
    for _ in range(n):
        y, z = z, y + z
    return y, z


@case(floats(4), 3)
@case(floats(4), -3)
def tensors_from_branches(x: asc.float32[4], n: int):
    if n > 0:
        y = x * 2
    else:
        y = x + 1
    return y


@case(floats(4), 2)
def tensors_in_a_while_loop(x: asc.float32[4], n: int):
    y = x * 1.0
    while n > 0:
        y = y * 2
        n -= 1
    return y


@case(floats(4), 3, N=4)
@case(floats(4), 0, N=4)
def arrays_replaced_in_a_loop(x: asc.float32[N], n: int):
    y = x * 2
    for k in range(n):
        y = y + x
        y[k] = 7.0
        if k == 1:
            y = y * 10
    y[0] += 1.0
    return y


@case(floats(4), 3)
@case(floats(4), 2)
def arrays_change_places(x: asc.float32[4], n: int):
    u = x * 1.0
    v = x * 0.0
    for k in range(n):
        v[k] = u[0] + u[1]
        u, v = v, u
    return u, v


@case(floats(4), 3)
def arrays_made_in_a_loop(x: asc.float32[4], n: int):
    for k in range(2):
        y = x * (k + n)
        y[k] = 0.0
    return y


@case(floats(3, 4), M=3, N=4)
def rows(x: asc.float32[M, N]):
    total = 0.0
    for row in x:
        total += asc.sum(row) * row[0]
    return total, x[1][2], len(x), len(x[0]), x.shape[1], x.ndim, x.size


@case(floats(3, 4), M=3, N=4)
def shape_arithmetic(x: asc.float32[M, N]):
    m, n = x.shape
    return asc.zeros((m, n + 2)), m * n


@case(floats(6), N=6)
def neighbours(x: asc.float32[N]):
    return x[1:] - x[:-1], (x[:-2] + x[1:-1] + x[2:]) / 3


@case(np.float32(3.5))
def a_single_number(x: asc.float32):
    return x * 2, asc.minimum(x, 2), asc.where(x > 0, x, 0)


@case(np.array(2.5, np.float32))
def no_axes(x: asc.float32[()]):
    x[()] = x[()] * 2
    return x + 1


@case(floats(4), floats(4), N=4)
def overlapping_views(x: asc.float32[N], y: asc.float32[N]):
    x[1:] = x[:-1]
    y[:-1] = y[1:] * 2


@case(np.array([1.5, -2.5, 3e9, -1e20, 7.9], np.float32))
def conversions(x: asc.float32[5]):
    return x.astype(asc.int64), asc.float64(x), x.astype(asc.bool_)


@pytest.mark.parametrize(
    ("function", "args", "sizes"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _, _) in enumerate(CASES)]
)
def test_as_numpy(function: Callable[..., Any], args: tuple[Any, ...], sizes: dict[str, int]) -> None:
    check(function, *args, rtol=2e-5, **sizes)


def test_float16_sums_are_carried_in_float32() -> None:
    def total(x: asc.float16[N]):
        s = 0.0
        for i in range(N):
            s += x[i]
        return s

    values = np.full(5000, 1.0, np.float16)
    assert run(total, values) == np.float16(5000)


def test_float16_products_in_a_sum_are_exact() -> None:
    def dot(x: asc.float16[N], y: asc.float16[N]):
        s = 0.0
        for i in range(N):
            s += x[i] * y[i]
        return s

    x = np.array([300.0, -300.0, 1.0], np.float16)
    assert run(dot, x, np.array([300.0, 300.0, 2.0], np.float16)) == 2.0


def test_a_float16_product_outside_a_sum_is_rounded() -> None:
    def scale(x: asc.float16[N]):
        s = 1.0
        s += x[0] * x[0]
        return x[0] * x[0], s - 1.0

    x = np.array([1.001], np.float16)
    product, total = run(scale, x)
    assert product == x[0] * x[0]
    assert total == np.float16(np.float16(1 + np.float32(x[0]) ** 2) - 1)


def test_a_float16_sum_is_rounded_where_it_is_read() -> None:
    def running(x: asc.float16[N], y: asc.float16[N]):
        s = 0.0
        for i in range(N):
            s = s + x[i]
            y[i] = s

    x = RNG.standard_normal(100).astype(np.float16)
    y = np.zeros_like(x)
    run(running, x, y)
    np.testing.assert_array_equal(y, np.cumsum(x.astype(np.float32)).astype(np.float16))


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("float16", 1.5, "f16"),
        ("float32", 1.5, "f32"),
        ("int32", 1.5, "f32"),
        ("int32", 2, "i32"),
        ("uint8", 2, "u8"),
    ],
)
def test_python_numbers_are_weak(dtype: str, value: float, expected: str) -> None:
    def k(x, v: asc.constexpr):
        return x + v

    module = lower(k, np.zeros(3, dtype), value).module
    (output,) = the_function(module).outputs
    assert str(the_function(module).params[output].type) == f"ref<x_0 x {expected}>"


def test_dtypes_are_compared_at_compile_time() -> None:
    def k(x):
        if x.dtype == np.float16 or x.dtype == "float16":
            return 16
        return 32 if x.dtype == asc.float32 and x.dtype != np.int32 else 0

    assert run(k, np.zeros(2, np.float16)) == 16
    assert run(k, np.zeros(2, np.float32)) == 32
    assert run(k, np.zeros(2, np.int32)) == 0


def test_run_time_floats_are_float64_beside_float64() -> None:
    def k(x: asc.float64[N], s: float):
        return x * s

    x = np.array([1.0, 3.0])
    np.testing.assert_array_equal(run(k, x, 0.1), x * 0.1)


@pytest.mark.parametrize("index", [4, -5, 100])
def test_an_index_out_of_range_is_an_index_error(index: int) -> None:
    def k(x: asc.float32[N], i: int):
        return x[i]

    with pytest.raises(IndexError):
        run(k, floats(4), index)


def test_sizes_that_differ_at_run_time() -> None:
    def k(x: asc.float32[M], y: asc.float32[N]):
        return x + y

    with pytest.raises(ValueError, match="sizes 3 and 4 differ"):
        run(k, floats(3), floats(4))


def test_casts_and_broadcasts_are_not_repeated() -> None:
    def k(x: asc.float32[M, N], y: asc.float32[M, N]):
        return x * 2.0 + y * 2.0

    names = [op.name for op in the_function(lower(k).module).walk()]
    assert "tensor.broadcast" not in names
    assert "arith.cast" not in names
    assert names.count("arith.constant") == 1


def test_what_is_written_is_listed() -> None:
    def k(x: asc.float32[N], y: asc.float32[N], z: asc.float32[N]):
        row = y[1:]
        row[0] = x[0]
        asc.atomic_add(z, 0, x[1])

    assert the_function(lower(k).module).written == (1, 2)
