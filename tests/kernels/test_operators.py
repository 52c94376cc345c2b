# SPDX-License-Identifier: Apache-2.0
"""Operators as those who write them for networks, images and signals do: by loops, by whole arrays, or both.

Each runs at odd sizes on the cpu and on the model, against NumPy in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pyasc as asc

N, M, K, D, V, B, T, C, H, W = asc.dims("N M K D V B T C H W")

RANDOM = np.random.default_rng(7)
BOUND = 2e-5
"""Of the largest magnitude of a result: some dozens of roundings of float32."""


@dataclass(frozen=True)
class Operator:
    """A kernel, what it leaves in its arrays and returns by NumPy, and the arguments that it is called with."""

    kernel: Any
    reference: Callable[..., Any]
    arguments: tuple[tuple[Any, ...], ...]


OPERATORS: list[Operator] = []


def operator(reference: Callable[..., Any], *arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Register a kernel. The reference changes its arrays, or returns the result, or both."""

    def register(kernel: Any) -> Any:
        OPERATORS.append(Operator(kernel, reference, arguments))
        return kernel

    return register


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def integers(low: int, high: int, *shape: int) -> np.ndarray:
    return RANDOM.integers(low, high, shape).astype(np.int32)


ROWS = [(1, 1), (1, 33), (7, 2), (7, 257)]
LINES = [0, 1, 7, 33, 257]


# Normalisation and attention.


def softmax(x: np.ndarray) -> np.ndarray:
    z = np.exp(x - x.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


def rms_norm_of(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * w


@operator(rms_norm_of, *[(floats(n, d), floats(d)) for n, d in ROWS])
@asc.kernel
def rms_norm(x, w):
    return x * asc.rsqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * w


def layer_norm_gradient_of(x, g, dy, dx, dg, db):
    d = x - x.mean(1, keepdims=True)
    r = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-2)
    h, dh = d * r, dy * g
    dx[:] = r * (dh - dh.mean(1, keepdims=True) - h * (dh * h).mean(1, keepdims=True))
    dg[:], db[:] = (dy * h).sum(0), dy.sum(0)


@operator(
    layer_norm_gradient_of,
    *[(floats(n, d), floats(d), floats(n, d), zeros(n, d), zeros(d), zeros(d)) for n, d in ROWS],
)
@asc.kernel
def layer_norm_gradient(
    x: asc.float32[N, D],
    g: asc.float32[D],
    dy: asc.float32[N, D],
    dx: asc.float32[N, D],
    dg: asc.float32[D],
    db: asc.float32[D],
):
    mu = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, keepdims=True)
    r = 1.0 / np.sqrt(var + 1e-2)
    xh = (x - mu) * r
    dxh = dy * g
    dx[...] = r * (dxh - dxh.mean(axis=1, keepdims=True) - xh * np.mean(dxh * xh, axis=1, keepdims=True))
    dg[:] = np.sum(dy * xh, axis=0)
    db[:] = dy.sum(axis=0)


def masked_softmax_of(x, mask, y):
    y[:] = softmax(np.where(mask, x, -1e9))


@operator(masked_softmax_of, *[(floats(n, m), RANDOM.random((n, m)) < 0.7, zeros(n, m)) for n, m in ROWS])
@asc.kernel
def masked_softmax(x: asc.float32[N, M], mask: asc.bool[N, M], y: asc.float32[N, M]):
    z = np.where(mask, x, -1e9)
    z = z - z.max(axis=1, keepdims=True)
    p = np.exp(z)
    y[...] = p / p.sum(axis=1, keepdims=True)


def cross_entropy_of(x, t, loss):
    loss[:] = -np.log(softmax(x))[np.arange(len(t)), t]


@operator(cross_entropy_of, *[(floats(n, v), integers(0, v, n), zeros(n)) for n, v in ROWS])
@asc.kernel
def cross_entropy(x: asc.float32[N, V], t: asc.int32[N], loss: asc.float32[N]):
    logp = asc.log_softmax(x)
    for i in range(N):
        loss[i] = -logp[i, t[i]]


def causal_of(q, k, v, o):
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
    o[:] = softmax(np.where(np.tri(q.shape[1]) > 0, scores, -np.inf)) @ v


HEADS = [(1, 1, 1), (2, 7, 5), (1, 33, 16)]


@operator(causal_of, *[(*(floats(h, t, d) for _ in range(3)), zeros(h, t, d)) for h, t, d in HEADS])
@asc.kernel
def causal_attention(
    q: asc.float32[B, T, D], k: asc.float32[B, T, D], v: asc.float32[B, T, D], o: asc.float32[B, T, D]
):
    scale = 1.0 / math.sqrt(D)
    for h, i in asc.parallel_for_grid(B, T):
        s = asc.zeros((T,), asc.float32)
        m = -asc.inf
        for j in range(i + 1):
            a = 0.0
            for d in range(D):
                a += q[h, i, d] * k[h, j, d]
            s[j] = a * scale
            m = max(m, s[j])
        total = 0.0
        for j in range(i + 1):
            s[j] = math.exp(s[j] - m)
            total += s[j]
        for d in range(D):
            acc = 0.0
            for j in range(i + 1):
                acc += s[j] * v[h, j, d]
            o[h, i, d] = acc / total


@operator(
    lambda q, k: np.einsum("bqd,bkd->bqk", q, k),
    *[(floats(b, t, d), floats(b, t + 2, d)) for b, t, d in HEADS],
)
@asc.kernel
def scores(q, k):
    return asc.einsum("bqd,bkd->bqk", q, k)


@operator(np.matmul, (floats(2, 7, 5), floats(2, 5, 3)), (floats(1, 3, 4), floats(4, 4, 1)))
@asc.kernel
def products(a, b):
    return a @ b


def attention_of(q, k, v, o):
    o[:] = softmax(q @ k.T / np.sqrt(q.shape[1])) @ v


@operator(
    attention_of, *[(*(floats(t, d) for _ in range(3)), zeros(t, d)) for t, d in ((1, 1), (7, 5), (37, 16))]
)
@asc.kernel
def attention_in_blocks(
    q: asc.float32[T, D], k: asc.float32[T, D], v: asc.float32[T, D], o: asc.float32[T, D]
):
    for i0 in asc.parallel_for(0, T, 16):
        i1 = min(i0 + 16, T)
        m = asc.full((i1 - i0, 1), -1e30, asc.float32)
        l = asc.zeros((i1 - i0, 1), asc.float32)
        acc = asc.zeros((i1 - i0, D), asc.float32)
        for j0 in range(0, T, 16):
            j1 = min(j0 + 16, T)
            s = q[i0:i1] @ k[j0:j1].T / math.sqrt(D)
            m_new = np.maximum(m, s.max(axis=1, keepdims=True))
            p = np.exp(s - m_new)
            c = np.exp(m - m_new)
            l = l * c + p.sum(axis=1, keepdims=True)
            acc = acc * c + p @ v[j0:j1]
            m = m_new
        o[i0:i1] = acc / l


def one_hot_of(t, y):
    y[:] = np.eye(y.shape[1])[t]


@operator(one_hot_of, *[(integers(0, c, n), floats(n, c)) for n in (0, 1, 33) for c in (1, 10)])
@asc.kernel
def one_hot(t: asc.int32[N], y: asc.float32[N, C]):
    y[...] = t[:, None] == asc.arange(C)


# Running values.


def reverse_sum_of(x, y):
    y[:] = np.cumsum(x[::-1])[::-1]


@operator(reverse_sum_of, *[(floats(n), zeros(n)) for n in LINES])
@asc.kernel
def reverse_sum(x: asc.float32[N], y: asc.float32[N]):
    s = 0.0
    for i in range(N - 1, -1, -1):
        s += x[i]
        y[i] = s


# Blocks that move with counters.


def lu_of(a):
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


@operator(lu_of, *[(floats(n, n) + n * np.eye(n, dtype=np.float32),) for n in (1, 7, 17)])
@asc.kernel
def lu(a: asc.float32[N, N]):
    for k in range(N):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k : k + 1, k + 1 :]


def transposed_convolution_of(x, w, y):
    y[:] = 0
    for i, j in np.ndindex(*x.shape):
        y[2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += x[i, j] * w


SPREAD = [(floats(h, w), floats(3, 3), zeros(2 * h + 1, 2 * w + 1)) for h, w in ((1, 1), (3, 4), (0, 2))]


@operator(transposed_convolution_of, *SPREAD)
@asc.kernel
def transposed_convolution(x: asc.float32[H, W], w: asc.float32[3, 3], y: asc.float32[2 * H + 1, 2 * W + 1]):
    y[...] = 0.0
    for i in range(H):
        for j in range(W):
            y[2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += x[i, j] * w


@operator(transposed_convolution_of, *SPREAD)
@asc.kernel
def transposed_convolution_by_taps(
    x: asc.float32[H, W], w: asc.float32[3, 3], y: asc.float32[2 * H + 1, 2 * W + 1]
):
    y[...] = 0
    for p in range(3):
        for q in range(3):
            y[p : p + 2 * H - 1 : 2, q : q + 2 * W - 1 : 2] += x * w[p, q]


@operator(
    lambda x, w: np.array([x[i : i + 3] @ w for i in range(len(x) - 2)]),
    *[(floats(n), floats(3)) for n in (3, 7, 33)],
)
@asc.kernel
def correlation(x: asc.float32[N], w: asc.float32[3]):
    y = asc.zeros(N - 2)
    for i in asc.parallel_for(N - 2):
        y[i] = (x[i : i + 3] * w).sum()
    return y


@operator(
    lambda x: np.array(
        [x[i : i + 3].sum() for i in range(len(x))] + [x[i : i + 1].sum() for i in range(len(x))]
    ),
    *[(floats(n),) for n in LINES],
)
@asc.kernel
def sums_cut_short(x: asc.float32[N]):
    y = asc.zeros(2 * N)
    for i in range(N):
        y[i] = x[i : i + 3].sum()
        y[N + i] = x[i : i + 1].sum()
    return y


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """One unit for all that the cpu runs."""
    asc.compile([(each.kernel, *each.arguments[0]) for each in OPERATORS])


@pytest.mark.parametrize("each", OPERATORS, ids=lambda each: each.kernel.__name__)
@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.usefixtures("model_library")
def test_operators(device: str, each: Operator) -> None:
    for arguments in each.arguments:
        found, wide = (copies(arguments, kind) for kind in ("f4", "f8"))
        with asc.device(device):
            results = as_list(each.kernel(*found))
        results += [x for x in found if isinstance(x, np.ndarray)]
        expected = as_list(each.reference(*wide)) + [x for x in wide if isinstance(x, np.ndarray)]
        assert len(results) == len(expected)
        for result, right in zip(results, expected, strict=True):
            assert result.shape == right.shape
            most = np.max(np.abs(right), initial=0) if right.dtype.kind == "f" else 0
            np.testing.assert_allclose(result, right, rtol=0, atol=float(BOUND * most))


def copies(arguments: tuple[Any, ...], kind: str) -> list[Any]:
    """The arguments with arrays of their own, those of float32 in another dtype."""
    return [
        x.astype(kind if x.dtype == np.float32 else x.dtype) if isinstance(x, np.ndarray) else x
        for x in arguments
    ]


def as_list(result: Any) -> list[np.ndarray]:
    """What a kernel returned, one array a result."""
    several = result if isinstance(result, tuple) else () if result is None else (result,)
    return [np.asarray(x) for x in several]


@pytest.mark.usefixtures("model_library")
def test_sizes_that_are_taken_to_be_equal_are_vector_work() -> None:
    with asc.device("model"):
        rms_norm(floats(7, 33), floats(33))
    assert not [each.message for each in rms_norm.remarks if "scalar unit" in each.message]
