# SPDX-License-Identifier: Apache-2.0
"""Products and filters written for the vector registers of other processors give the same bits, at every size."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pyasc as asc
from pyasc.runtime.host import processor
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


def softmax(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        largest = -float("inf")
        for j in range(N):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(N):
            total += asc.exp(x[i, j] - largest)
        for j in range(N):
            y[i, j] = asc.exp(x[i, j] - largest) / total


def sums(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        running = 0.0
        for j in range(N):
            running += x[i, j]
            y[i, j] = running


def steps(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            z = x[i, j]
            count = 0
            while z * z < 30.0 and count < 20:
                z = z * z - 1.2
                count += 1
            y[i, j] = count


def mixed(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            wide = asc.float64(x[i, j]) * 1.1
            small = asc.int8(x[i, j] * 20.0)
            y[i, j] = asc.log(wide * wide + 1.0) if small > 3 else small * x[i, j]


def extremes(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        best = 0
        low = x[i, 0]
        for j in range(N):
            if x[i, j] > x[i, best]:
                best = j
            low = asc.minimum(low, x[i, j])
        for j in range(N):
            y[i, j] = best * 0.5 + low


NARROW = """#!/bin/sh
for word in "$@"; do
  shift
  case $word in
    -march=native) set -- "$@" -march=x86-64-v3 ;;
    -mprefer-vector-width=*) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec g++ "$@"
"""


def _built_by(compiler: Path | None) -> dict[str, asc.Kernel]:
    with pytest.MonkeyPatch.context() as patch:
        if compiler is not None:
            patch.setenv("PYASC_CXX", str(compiler))
            patch.setenv("PYASC_VECTORS", "32x16")
        kernels = {
            each.__name__: asc.kernel(each) for each in (softmax, sums, steps, mixed, extremes, product)
        }
        with asc.device("cpu"):
            asc.compile(list(kernels.values()))
    return kernels


@pytest.mark.skipif(
    not processor().has("avx512f") or shutil.which("g++") is None,
    reason="compares two widths of vectors of x86",
)
def test_kernels_for_a_processor_with_narrower_vectors(tmp_path: Path) -> None:
    compiler = tmp_path / "narrow-g++"
    compiler.write_text(NARROW)
    os.chmod(compiler, 0o755)
    wide, narrow = _built_by(None), _built_by(compiler)
    for name, kernel in wide.items():
        for size in (1, 7, 16, 33, 255, 1000):
            x = np.random.default_rng(size).standard_normal((3, size)).astype(np.float32)
            x[0, 0], x[1, size // 2] = -0.0, 3.0
            given = [x, np.ascontiguousarray(x.T)] if name == "product" else [x]
            results = [np.full((3, 3) if name == "product" else x.shape, 7, np.float32) for _ in range(2)]
            kernel(*given, results[0])
            narrow[name](*given, results[1])
            assert results[0].tobytes() == results[1].tobytes(), (name, size)
