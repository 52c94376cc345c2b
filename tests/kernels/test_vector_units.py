# SPDX-License-Identifier: Apache-2.0
"""Products and filters written for the vector registers of other processors give the same bits, at every size."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = needs_compiler

UNITS = ("64x32", "32x16", "16x26")
SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255)


def product(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def wide(a: asc.float64[M, K], b: asc.float64[K, N], c: asc.float64[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            for k in range(K):
                c[i, j] += a[i, k] * b[k, j]


def turned(a: asc.float16[K, M], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += a[K - 1 - k, i] * b[k, j]
            c[i, j] = total


def filters(x: asc.float32[K, N + 2], w: asc.float32[M, K, 3], y: asc.float32[M, N]):
    for f in asc.parallel_for(M):
        for j in range(N):
            total = 0.0
            for c in range(K):
                for k in range(3):
                    total += x[c, j + k] * w[f, c, k]
            y[f, j] = total


def more(x: asc.float32[K, N + 2], w: asc.float32[M, K, 3], y: asc.float32[M, N]):
    for f in asc.parallel_for(M):
        for j in range(N):
            for c in range(K):
                for k in range(3):
                    y[f, j] += x[c, j + k] * w[f, c, k]


KERNELS = (product, wide, turned, filters, more)


@cache
def compiled(unit: str) -> dict[str, asc.Kernel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYASC_VECTORS", unit)
        kernels = {each.__name__: asc.kernel(each) for each in KERNELS}
        with asc.device("cpu"):
            asc.compile(list(kernels.values()))
    return kernels


def arguments(name: str, m: int, k: int, n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(m + k + n)
    shapes = {"product": ((m, k), (k, n)), "turned": ((k, m), (k, n)), "wide": ((m, k), (k, n))}
    first, second = shapes.get(name, ((k, n + 2), (m, k, 3)))
    dtype = np.float64 if name == "wide" else np.float32
    a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in (first, second, (m, n)))
    return [a.astype(np.float16) if name == "turned" else a, b, c]


def exact(name: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    a, b, c = (each.astype(np.float64) for each in (a, b, c))
    if name in ("filters", "more"):
        n = c.shape[1]
        taps = [np.einsum("fc,cj->fj", b[:, :, k], a[:, k : k + n]) for k in range(3)]
        return np.sum(taps, axis=0) + (c if name == "more" else 0)
    return (a[::-1].T if name == "turned" else a) @ b + (c if name == "wide" else 0)


@pytest.mark.parametrize("name", [each.__name__ for each in KERNELS])
def test_the_same_bits_on_every_vector_unit(name: str) -> None:
    for m in SIZES:
        for k, n in ((1, m), (33, 65), (m, 17), (65, 255)):
            wanted = exact(name, *arguments(name, m, k, n))
            results: list[np.ndarray] = []
            for unit in UNITS:
                a, b, c = arguments(name, m, k, n)
                compiled(unit)[name](a, b, c)
                results.append(c)
            np.testing.assert_allclose(results[0], wanted, rtol=1e-5, atol=1e-4)
            assert all(each.tobytes() == results[0].tobytes() for each in results[1:]), (m, k, n)


def test_texts_are_for_the_unit_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = ("16>, 14, 2>", "8>, 6, 2>", "4>, 11, 2>")
    for unit, tile in zip(UNITS, tiles, strict=True):
        monkeypatch.setenv("PYASC_VECTORS", unit)
        assert f"pa_tile<pa_vec<float, {tile} " in asc.kernel(product).source("cpu")
