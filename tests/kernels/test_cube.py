# SPDX-License-Identifier: Apache-2.0
"""Products on the cube unit of the model, checks on: every layout and dtype, at sizes around those of fractals.

Outputs are full of NaN before a launch, on-chip memory starts as NaN, and the model tells of reads outside an array.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir import dtypes
from pyasc.ir.interpreter import interpret
from pyasc.ir.numbers_half import from_float, to_float
from tests.compilers import needs_compiler

needs_model = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (1, 15, 16, 17, 100, 127, 129, 1000)
PAIRS = [(m, n, SIZES[(i + j) % 8]) for i, m in enumerate(SIZES) for j, n in enumerate(SIZES)]
"""Every two of M, N and K together."""
SINGLES = [(m, SIZES[(3 * i + 1) % 8], SIZES[(5 * i + 2) % 8]) for i, m in enumerate(SIZES)]
"""Every M, N and K once."""


@asc.kernel
def halves(a: asc.float16[M, K], b: asc.float16[K, N], out: asc.float16[M, N]):
    out[:] = a @ b


@asc.kernel
def half_loops(a: asc.float16[M, K], b: asc.float16[K, N], out: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = asc.float32(0.0)
            for k in range(K):
                total += asc.float32(a[i, k]) * asc.float32(b[k, j])
            out[i, j] = total


@asc.kernel
def half_left(a: asc.float16[K, M], b: asc.float16[K, N], out: asc.float16[M, N]):
    out[:] = a.T @ b


@asc.kernel
def half_right(a: asc.float16[M, K], b: asc.float16[N, K], out: asc.float16[M, N]):
    out[:] = a @ b.T


@asc.kernel
def half_both(a: asc.float16[K, M], b: asc.float16[N, K], out: asc.float16[M, N]):
    out[:] = a.T @ b.T


@asc.kernel
def half_turned(a: asc.float16[M, K], b: asc.float16[K, N], out: asc.float16[N, M]):
    out[:] = asc.relu(a @ b).T


@asc.kernel
def brains(a: asc.bfloat16[M, K], b: asc.bfloat16[K, N], out: asc.bfloat16[M, N]):
    out[:] = a @ b


@asc.kernel
def floats(a: asc.float32[M, K], b: asc.float32[K, N], out: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            out[i, j] = total


@asc.kernel
def float_left(a: asc.float32[K, M], b: asc.float32[K, N], out: asc.float32[M, N]):
    out[:] = a.T @ b


@asc.kernel
def float_right(a: asc.float32[M, K], b: asc.float32[N, K], out: asc.float32[M, N]):
    out[:] = a @ b.T


@asc.kernel
def float_both(a: asc.float32[K, M], b: asc.float32[N, K], out: asc.float32[M, N]):
    out[:] = a.T @ b.T


@asc.kernel
def octets(a: asc.int8[M, K], b: asc.int8[K, N], out: asc.int32[M, N]):
    out[:] = a.astype(asc.int32) @ b.astype(asc.int32)


@asc.kernel
def byte_left(a: asc.int8[K, M], b: asc.int8[K, N], out: asc.int32[M, N]):
    out[:] = a.T.astype(asc.int32) @ b.astype(asc.int32)


@asc.kernel
def byte_right(a: asc.int8[M, K], b: asc.int8[N, K], out: asc.int32[M, N]):
    out[:] = a.astype(asc.int32) @ b.T.astype(asc.int32)


@asc.kernel
def biased(a: asc.float16[M, K], b: asc.float16[K, N], bias: asc.float32[N], out: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = asc.float32(0.0)
            for k in range(K):
                total += asc.float32(a[i, k]) * asc.float32(b[k, j])
            out[i, j] = asc.relu(total + bias[j])


@asc.kernel
def added(a: asc.float32[M, K], b: asc.float32[K, N], out: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            for k in range(K):
                out[i, j] += a[i, k] * b[k, j]


@asc.kernel
def batches(a: asc.float16[3, M, K], b: asc.float16[3, K, N], out: asc.float16[3, M, N]):
    out[:] = a @ b


@asc.kernel
def summed(a: asc.float32[B, M, K], b: asc.float32[B, N, K], out: asc.float32[M, N]):
    out[:] = asc.einsum("bmk,bnk->mn", a, b)


@asc.kernel
def row_times(a: asc.float32[M, K], x: asc.float32[K], out: asc.float32[M]):
    out[:] = a @ x


@asc.kernel
def half_row_times(a: asc.float16[M, K], x: asc.float16[K], out: asc.float16[M]):
    out[:] = a @ x


@asc.kernel
def convolved(x: asc.float16[2, H, W, C], w: asc.float16[3, 3, C, F], out: asc.float16[2, H - 2, W - 2, F]):
    for n in asc.parallel_for(2):
        for i in range(H - 2):
            for j in range(W - 2):
                for f in range(F):
                    total = asc.float32(0.0)
                    for p in range(3):
                        for q in range(3):
                            for c in range(C):
                                total += asc.float32(x[n, i + p, j + q, c]) * asc.float32(w[p, q, c, f])
                    out[n, i, j, f] = asc.float16(total)


@asc.kernel
def convolved_first(
    x: asc.float32[N, C, H, W], w: asc.float32[F, C, 3, 5], out: asc.float32[N, F, H - 2, W - 4]
):
    for n, f in asc.parallel_for_grid(N, F):
        for i in range(H - 2):
            for j in range(W - 4):
                total = 0.0
                for c in range(C):
                    for p in range(3):
                        for q in range(5):
                            total += x[n, c, i + p, j + q] * w[f, c, p, q]
                out[n, f, i, j] = total


@asc.kernel
def convolved_halves(
    x: asc.float16[N, C, H, W], w: asc.float16[F, C, 3, 3], out: asc.float16[N, F, H - 2, W - 2]
):
    for n, f in asc.parallel_for_grid(N, F):
        for i in range(H - 2):
            for j in range(W - 2):
                total = asc.float32(0.0)
                for c in range(C):
                    for p in range(3):
                        for q in range(3):
                            total += asc.float32(x[n, c, i + p, j + q]) * asc.float32(w[f, c, p, q])
                out[n, f, i, j] = asc.float16(total)


@asc.kernel
def scaled(a: asc.float32[M, K], b: asc.float32[K, N], out: asc.float32[M, N], alpha: asc.float32):
    for i in asc.parallel_for(M):
        for j in range(N):
            for k in range(K):
                out[i, j] += alpha * a[i, k] * b[k, j]


@asc.kernel
def centred(a: asc.float32[K, M], b: asc.float16[K, N], mean: asc.float32[M], out: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = asc.float32(0.0)
            for k in range(K):
                total += (a[k, i] - mean[i]) * asc.float32(b[k, j])
            out[i, j] = total


@asc.kernel
def attention(q: asc.float16[S, D], k: asc.float16[T, D], v: asc.float16[T, D]):
    return asc.softmax(q @ k.T) @ v


@asc.kernel
def heads(
    q: asc.float32[B, H, S, D],
    k: asc.float32[B, H, T, D],
    v: asc.float32[B, H, T, D],
    out: asc.float32[B, H, S, D],
):
    for b, h in asc.parallel_for_grid(B, H):
        weights = asc.softmax(q[b, h] @ k[b, h].T)
        out[b, h] = weights @ v[b, h]


@asc.kernel
def gelu_layer(
    x: asc.float16[M, K],
    w: asc.float16[K, N],
    bias: asc.float16[N],
    alpha: asc.float32,
    out: asc.float32[M, N],
):
    out[:] = asc.gelu((x @ w).astype(asc.float32) * alpha + bias)


@asc.kernel
def outer_product(x: asc.float32[M], y: asc.float32[N]):
    return asc.einsum("i,j->ij", x, y)


@dataclass(frozen=True)
class Case:
    """A kernel, how to order the axes of its operands, and their dtype; `half` is the relative error of its output."""

    kernel: Any
    left: str = "mk"
    right: str = "kn"
    dtype: str = "f16"
    out: Any = np.float16
    order: str = "mn"


CASES = {
    "halves": Case(halves),
    "half_loops": Case(half_loops, out=np.float32),
    "half_left": Case(half_left, "km"),
    "half_right": Case(half_right, right="nk"),
    "half_both": Case(half_both, "km", "nk"),
    "half_turned": Case(half_turned, order="nm"),
    "brains": Case(brains, dtype="bf16", out=np.uint16),
    "floats": Case(floats, dtype="f32", out=np.float32),
    "float_left": Case(float_left, "km", dtype="f32", out=np.float32),
    "float_right": Case(float_right, right="nk", dtype="f32", out=np.float32),
    "float_both": Case(float_both, "km", "nk", "f32", np.float32),
    "octets": Case(octets, dtype="i8", out=np.int32),
    "byte_left": Case(byte_left, "km", dtype="i8", out=np.int32),
    "byte_right": Case(byte_right, right="nk", dtype="i8", out=np.int32),
}
EPSILON = {np.float16: 2.0**-11, np.uint16: 2.0**-8, np.float32: 2.0**-24}


def operand(axes: str, sizes: dict[str, int], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """A random array, and its values as float64."""
    shape = [sizes[axis] for axis in axes]
    rng = np.random.default_rng(sum(shape))
    if dtype == "i8":
        data = rng.integers(-128, 128, shape).astype(np.int8)
        return data, data.astype(np.float64)
    values = rng.normal(size=shape).astype(np.float32)
    if dtype == "bf16":
        data = from_float(values, dtypes.bf16)
        return data, to_float(data, dtypes.bf16).astype(np.float64)
    data = values.astype({"f16": np.float16, "f32": np.float32}[dtype])
    return data, data.astype(np.float64)


def fresh(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An output full of NaN, or of bits that no product has."""
    return np.full(shape, {np.uint16: 0x7FC0, np.int32: -(2**31)}.get(dtype, np.nan), dtype)


def close(result: np.ndarray, exact: np.ndarray, size: np.ndarray, terms: int) -> None:
    """Within the bound of a sum of `terms` float32 products of total size `size`, rounded once more."""
    if result.dtype == np.int32:
        np.testing.assert_array_equal(result, exact)
        return
    epsilon = EPSILON[result.dtype.type]
    values = to_float(result, dtypes.bf16) if result.dtype == np.uint16 else result
    bound = terms * 2.0**-24 * size + epsilon * np.abs(exact) + 1e-7
    assert not np.isnan(values).any()
    assert (np.abs(values.astype(np.float64) - exact) <= 1.01 * bound).all()


def check(case: Case, shape: tuple[int, int, int]) -> None:
    sizes = dict(zip("mnk", shape, strict=True))
    a, left = operand(case.left, sizes, case.dtype)
    b, right = operand(case.right, sizes, case.dtype)
    out = fresh((sizes[case.order[0]], sizes[case.order[1]]), case.out)
    with asc.device("model"):
        case.kernel(a, b, out)
    path = f"{case.left},{case.right}->{case.order}"
    exact = np.einsum(path, left, right, optimize=True)
    exact = np.maximum(exact, 0) if case.kernel is half_turned else exact
    close(out, exact, np.einsum(path, np.abs(left), np.abs(right), optimize=True), sizes["k"])


@pytest.mark.parametrize("name", CASES)
class TestProducts:
    """Each kernel at some sizes in `make test`, at all of them in `make cube`."""

    pytestmark = needs_model

    def test_sizes(self, name: str) -> None:
        for shape in PAIRS if name == "halves" else SINGLES:
            check(CASES[name], shape)

    def test_nothing_at_all(self, name: str) -> None:
        """An empty sum is zero, and an empty result is left alone."""
        for shape in ((3, 5, 0), (0, 5, 3), (3, 0, 5)):
            check(CASES[name], shape)

    @pytest.mark.fuzz
    def test_every_size(self, name: str) -> None:
        for shape in itertools.product(SIZES, repeat=3):
            check(CASES[name], shape)


def run(kernel: Any, *arguments: Any) -> None:
    with asc.device("model"):
        kernel(*arguments)


class TestAround:
    """What surrounds a product: batches, biases, running sums, more summed axes."""

    pytestmark = needs_model

    @pytest.mark.parametrize("shape", SINGLES)
    def test_bias_and_clamp(self, shape: tuple[int, int, int]) -> None:
        sizes = dict(zip("mnk", shape, strict=True))
        (a, left), (b, right) = operand("mk", sizes, "f16"), operand("kn", sizes, "f16")
        bias, added_ = operand("n", sizes, "f32")
        out = fresh(shape[:2], np.float32)
        run(biased, a, b, bias, out)
        size = np.abs(left) @ np.abs(right) + np.abs(added_)
        close(out, np.maximum(left @ right + added_, 0), size, shape[2] + 1)

    @pytest.mark.parametrize("shape", [*SINGLES, (3, 5, 0)])
    def test_running_sums(self, shape: tuple[int, int, int]) -> None:
        sizes = dict(zip("mnk", shape, strict=True))
        (a, left), (b, right), (out, start) = (operand(axes, sizes, "f32") for axes in ("mk", "kn", "mn"))
        run(added, a, b, out)
        size = np.abs(left) @ np.abs(right) + np.abs(start)
        close(out, left @ right + start, size, shape[2] + 1)

    @pytest.mark.parametrize("shape", SINGLES)
    def test_batches(self, shape: tuple[int, int, int]) -> None:
        sizes = dict(zip("mnkb", (*shape, 3), strict=True))
        (a, left), (b, right) = operand("bmk", sizes, "f16"), operand("bkn", sizes, "f16")
        out = fresh((3, *shape[:2]), np.float16)
        run(batches, a, b, out)
        close(out, left @ right, np.abs(left) @ np.abs(right), shape[2])

    @pytest.mark.parametrize("batch", [0, 1, 4])
    def test_a_second_summed_axis(self, batch: int) -> None:
        sizes = dict(zip("mnkb", (33, 47, 70, batch), strict=True))
        (a, left), (b, right) = operand("bmk", sizes, "f32"), operand("bnk", sizes, "f32")
        out = fresh((33, 47), np.float32)
        run(summed, a, b, out)
        size = np.einsum("bmk,bnk->mn", np.abs(left), np.abs(right))
        close(out, np.einsum("bmk,bnk->mn", left, right), size, 70 * batch)

    @pytest.mark.parametrize(("m", "k"), [(1, 1), (17, 129), (300, 1000)])
    def test_a_matrix_and_a_vector(self, m: int, k: int) -> None:
        (a, left), (x, right) = operand("mk", {"m": m, "k": k}, "f32"), operand("k", {"k": k}, "f32")
        out = fresh((m,), np.float32)
        run(row_times, a, x, out)
        close(out, left @ right, np.abs(left) @ np.abs(right), k)

        (a, left), (x, right) = operand("mk", {"m": m, "k": k}, "f16"), operand("k", {"k": k}, "f16")
        out = fresh((m,), np.float16)
        run(half_row_times, a, x, out)
        close(out, left @ right, np.abs(left) @ np.abs(right), k)

    @pytest.mark.parametrize(("h", "w", "c", "f"), [(3, 3, 1, 1), (5, 19, 17, 33), (4, 140, 16, 100)])
    def test_a_convolution_of_channels_last(self, h: int, w: int, c: int, f: int) -> None:
        sizes = {"n": 2, "h": h, "w": w, "c": c, "f": f, "p": 3}
        (x, left), (weight, right) = operand("nhwc", sizes, "f16"), operand("ppcf", sizes, "f16")
        out = fresh((2, h - 2, w - 2, f), np.float16)
        run(convolved, x, weight, out)
        windows = np.lib.stride_tricks.sliding_window_view(left, (3, 3), axis=(1, 2))
        exact = np.einsum("nijcpq,pqcf->nijf", windows, right, optimize=True)
        size = np.einsum("nijcpq,pqcf->nijf", np.abs(windows), np.abs(right), optimize=True)
        close(out, exact, size, 9 * c)

    @pytest.mark.parametrize(("h", "w", "c", "f"), [(3, 5, 1, 1), (5, 33, 20, 17), (4, 300, 3, 130)])
    @pytest.mark.parametrize("dtype", ["f32", "f16"])
    def test_a_convolution_of_channels_first(self, h: int, w: int, c: int, f: int, dtype: str) -> None:
        q = 5 if dtype == "f32" else 3
        sizes = {"n": 2, "h": h, "w": w, "c": c, "f": f, "p": 3, "q": q}
        (x, left), (weight, right) = operand("nchw", sizes, dtype), operand("fcpq", sizes, dtype)
        kernel, kind = (convolved_first, np.float32) if dtype == "f32" else (convolved_halves, np.float16)
        out = fresh((2, f, h - 2, w - q + 1), kind)
        run(kernel, x, weight, out)
        windows = np.lib.stride_tricks.sliding_window_view(left, (3, q), axis=(2, 3))
        exact = np.einsum("ncijpq,fcpq->nfij", windows, right, optimize=True)
        size = np.einsum("ncijpq,fcpq->nfij", np.abs(windows), np.abs(right), optimize=True)
        close(out, exact, size, 3 * q * c)

    @pytest.mark.parametrize("shape", [(1, 1, 1), (33, 100, 129)])
    def test_computed_factors(self, shape: tuple[int, int, int]) -> None:
        """A factor that is more than an element is computed by the vector unit before."""
        sizes = dict(zip("mnk", shape, strict=True))
        (a, left), (b, right), (out, start) = (operand(axes, sizes, "f32") for axes in ("mk", "kn", "mn"))
        run(scaled, a, b, out, np.float32(0.7))
        left = left * np.float64(np.float32(0.7))
        size = np.abs(left) @ np.abs(right) + np.abs(start)
        close(out, left @ right + start, size, shape[2] + 2)

        (a, left), (b, right), (mean, middle) = (
            operand("km", sizes, "f32"),
            operand("kn", sizes, "f16"),
            operand("m", sizes, "f32"),
        )
        out = fresh(shape[:2], np.float32)
        run(centred, a, b, mean, out)
        left = (left - middle).T
        close(out, left @ right, np.abs(left) @ np.abs(right), shape[2] + 1)

    @pytest.mark.parametrize(("s", "t", "d"), [(1, 1, 1), (17, 65, 100), (300, 129, 64), (5, 9000, 16)])
    def test_attention(self, s: int, t: int, d: int) -> None:
        """Cube, vector and cube again in one launch; rows of scores may be longer than a tile."""
        sizes = {"s": s, "t": t, "d": d}
        (q, query), (k, key), (v, value) = (operand(axes, sizes, "f16") for axes in ("sd", "td", "td"))
        q, query = (q / np.float16(4)).astype(np.float16), query / 4
        with asc.device("model"):
            out = attention(q, k, v)
        scores = (query @ key.T).astype(np.float16).astype(np.float64)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        # A score may be rounded to either neighbour, which is a relative error of its weight; weights are halves.
        error = np.spacing(np.abs(scores).max().astype(np.float16)).astype(np.float64) + 2.0**-10
        bound = (
            2 * error * (weights @ np.abs(value)) + t * 2.0**-24 + 2.0**-10 * np.abs(weights @ value) + 1e-6
        )
        assert (np.abs(out - weights @ value) <= bound).all()

    @pytest.mark.parametrize(
        ("b", "h", "s", "t", "d"), [(2, 3, 33, 50, 16), (1, 1, 1, 1, 1), (0, 2, 3, 0, 4)]
    )
    def test_attention_in_loops(self, b: int, h: int, s: int, t: int, d: int) -> None:
        """Loops over heads: what stands in them is done for all heads, one thing after the other."""
        sizes = {"b": b, "h": h, "s": s, "t": t, "d": d}
        (q, query), (k, key), (v, value) = (operand(axes, sizes, "f32") for axes in ("bhsd", "bhtd", "bhtd"))
        out = fresh((b, h, s, d), np.float32)
        run(heads, q / 4, k, v, out)
        scores = query / 4 @ key.swapaxes(2, 3)
        weights = np.exp(scores - scores.max(axis=3, keepdims=True, initial=-np.inf))
        weights /= weights.sum(axis=3, keepdims=True)
        np.testing.assert_allclose(out, weights @ value, rtol=1e-4, atol=1e-5)

    def test_an_error_in_loops(self) -> None:
        (q, _), (k, _) = (
            operand("bhsd", {"b": 1, "h": 2, "s": 3, "d": 4}, "f32"),
            operand("bhtd", {"b": 1, "h": 2, "t": 0, "d": 4}, "f32"),
        )
        with pytest.raises(ValueError, match="zero-size"):
            run(heads, q, k, k, np.zeros((1, 2, 3, 4), np.float32))

    @pytest.mark.parametrize("shape", [(1, 1, 1), (129, 100, 17), (40, 1000, 127)])
    def test_a_layer_behind_a_product(self, shape: tuple[int, int, int]) -> None:
        sizes = dict(zip("mnk", shape, strict=True))
        (x, left), (w, right), (bias, row) = (operand(axes, sizes, "f16") for axes in ("mk", "kn", "n"))
        out = fresh(shape[:2], np.float32)
        run(gelu_layer, x, w, bias, np.float32(0.5), out)
        product = left @ right
        size = np.abs(left) @ np.abs(right)
        inner = product.astype(np.float16) * 0.5 + row
        exact = 0.5 * inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        # The half next to it, and gelu's slope of at most 1.13.
        slack = 1.13 * 0.5 * (shape[2] * 2.0**-24 * size + 2.0**-10 * np.abs(product)) + 1e-5
        assert (np.abs(out - exact) <= slack).all()

    def test_nothing_to_sum(self) -> None:
        """A product of every pair is no sum, and is exact."""
        (x, _), (y, _) = operand("m", {"m": 33}, "f32"), operand("n", {"n": 70}, "f32")
        with asc.device("model"):
            np.testing.assert_array_equal(outer_product(x, y), np.multiply.outer(x, y))

    def test_rows_that_no_stride_reaches(self) -> None:
        """Rows more than 65,535 elements apart are copied one at a time."""
        sizes = {"m": 3, "n": 66000, "k": 20}
        (a, left), (b, right) = operand("mk", sizes, "f16"), operand("kn", sizes, "f16")
        out = fresh((3, 66000), np.float16)
        run(halves, a, b, out)
        close(out, left @ right, np.abs(left) @ np.abs(right), 20)


KERNELS: list[Callable[..., Any]] = [case.kernel for case in CASES.values()]
CONVOLUTIONS = [convolved, convolved_first, convolved_halves]


@pytest.mark.parametrize("kernel", [*KERNELS, biased, added, batches, summed, half_row_times, *CONVOLUTIONS])
def test_products_are_one_launch_without_remarks(kernel: Any) -> None:
    """No loop over elements is left, and no pass over the result behind the product."""
    source = kernel.source("ascend910b1")
    assert source.count("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY)") == source.count("__global__") == 1
    assert "GetValue" not in source
    assert {each.message for each in kernel.remarks} <= {"runs on the cube unit"}


@pytest.mark.parametrize("kernel", [attention, heads, gelu_layer])
def test_cube_and_vector_work_is_one_mixed_kernel(kernel: Any) -> None:
    source = kernel.source("ascend910b1")
    assert (
        source.count("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2)") == source.count("__global__") == 1
    )
    assert "SyncAll<false>()" in source
    assert "GetValue" not in source


@pytest.mark.parametrize("name", ["halves", "float_left", "byte_right", "half_turned"])
def test_the_tile_level_means_the_same(name: str) -> None:
    """The blocks, interpreted, are NumPy's product."""
    case = CASES[name]
    sizes = {"m": 140, "n": 33, "k": 300}
    a, left = operand(case.left, sizes, case.dtype)
    b, right = operand(case.right, sizes, case.dtype)
    out = fresh((sizes[case.order[0]], sizes[case.order[1]]), case.out)
    module = case.kernel.specialise(case.kernel.types_of()).lowered("tile").module
    (phase,) = [each for each in module.functions if each.kernel]
    interpret(module, phase.symbol, [a, b, out])
    path = f"{case.left},{case.right}->{case.order}"
    exact = np.einsum(path, left, right)
    exact = np.maximum(exact, 0) if name == "half_turned" else exact
    close(out, exact, np.einsum(path, np.abs(left), np.abs(right)), 300)
