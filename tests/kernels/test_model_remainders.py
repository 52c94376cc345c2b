# SPDX-License-Identifier: Apache-2.0
"""`//`, `%`, `divmod` and `asc.fmod` of floats: the model has the bits of the `cpu`, and both have NumPy's.

Annotations are evaluated here, as those of nested functions have to be that name a parameter of the outer one.
"""

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]

N, M = asc.dims("N M")

EDGES = [
    0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, 0.1, -0.1, 7.5, 1e-45, -1e-45, 1.1754944e-38, 2.3e-38, 3.4e38, -3.4e38,
    np.inf, -np.inf, np.nan, 12345.678, 2.0**24, -65504.0, 6e-8, 2.0**127, 2.0**-126, 99.99,
]  # fmt: skip
DIVISORS = (3.7, 0.0, -0.0, -2.5, float("inf"))


def of_dtype(dtype: Any) -> tuple[Any, ...]:
    """Kernels of one dtype: whole arrays, elements, values that are carried, a number for all."""

    @asc.kernel
    def arrays(x: dtype[N], y: dtype[N]):
        return x % y, x // y, asc.fmod(x, y)

    @asc.kernel
    def elements(x: dtype[N], y: dtype[N], p: dtype[N], q: dtype[N], r: dtype[N]):
        for i in range(N):
            a, b = divmod(x[i], y[i])
            p[i] = b
            q[i] = a
            r[i] = asc.fmod(x[i], y[i])

    @asc.kernel
    def carried(x: dtype[N], y: dtype[N], z: dtype[N]):
        s = x[0]
        for i in range(N):
            s = (s + x[i]) % y[i]
            z[i] = s // 0.5

    @asc.kernel
    def by_number(x: dtype[N], y: dtype):
        return x % y, x // y, asc.fmod(x, y), y % x

    @asc.kernel
    def by_constants(x: dtype[N]):
        return x % 2, x // 0.25, asc.fmod(x, -8.0), x % -0.5, x // 1, x % 0.1, 7 // x

    return arrays, elements, carried, by_number, by_constants


DTYPES = ("float32", "float16", "bfloat16")
KERNELS = {name: of_dtype(getattr(asc, name)) for name in DTYPES}


def numbers(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of edges, bit patterns of every kind, and usual numbers; bfloat16 as its bits."""
    rng = np.random.default_rng(0)
    pairs = np.meshgrid(*[np.array(EDGES, np.float32)] * 2)
    patterns = rng.integers(0, 2**32, (2, 400), dtype=np.uint64).astype(np.uint32).view(np.float32)
    usual = (rng.normal(size=(2, 400)) * 10).astype(np.float32)
    x, y = (np.concatenate([p.ravel(), b, u]) for p, b, u in zip(pairs, patterns, usual, strict=True))
    if name == "bfloat16":
        return (x.view(np.uint32) >> 16).astype(np.uint16), (y.view(np.uint32) >> 16).astype(np.uint16)
    with np.errstate(over="ignore"):
        return x.astype(name), y.astype(name)


def widened(array: np.ndarray) -> np.ndarray:
    """The float32 numbers that halves are; bfloat16 is given by its bits."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal bits, but for those of NaN."""
    assert got.dtype == expected.dtype
    a, b = widened(got), widened(expected)
    np.testing.assert_array_equal(a, b)
    known = ~np.isnan(a)
    np.testing.assert_array_equal(np.signbit(a)[known], np.signbit(b)[known])


def results(name: str, device: str) -> list[np.ndarray]:
    """What all kernels of a dtype give on a device."""
    arrays, elements, carried, by_number, by_constants = KERNELS[name]
    x, y = numbers(name)
    with asc.device(device):
        made = [*arrays(x, y)]
        places = [np.zeros_like(x) for _ in range(3)]
        elements(x, y, *places)
        finite = np.isfinite(widened(x)) & np.isfinite(widened(y)) & (widened(y) != 0)
        last = np.zeros_like(x[finite])
        carried(x[finite], y[finite], last)
        made += [*places, last]
        for number in DIVISORS:
            made += by_number(x, number)
        return [*made, *by_constants(x)]


@pytest.mark.parametrize("name", DTYPES)
def test_the_model_has_the_bits_of_the_cpu(name: str) -> None:
    on_cpu, on_model = results(name, "cpu"), results(name, "model")
    for got, expected in zip(on_model, on_cpu, strict=True):
        same(got, expected)
    if name == "bfloat16":
        return
    x, y = numbers(name)
    with np.errstate(all="ignore"):
        for got, function in zip(on_model, (np.remainder, np.floor_divide, np.fmod), strict=False):
            same(got, function(x, y))


@asc.kernel
def of_rows(x: asc.float32[N, M]):
    return (
        x % asc.max(x, axis=1, keepdims=True),
        asc.max(x % 3.3, axis=1),
        asc.max(x // 0.7, axis=0),
        asc.max(x % 0.7),
    )


@asc.kernel
def inside_loops(x: asc.float32[N, M], y: asc.float32[N, M], z: asc.float32[N, M]):
    for i in range(N):
        for j in range(M):
            v = x[i, j]
            while v > 1.0:
                v = v / 2.0 + v % 0.3 - 0.5
            y[i, j] = v
    for i in range(N):
        z[i, 0] = x[i, 0]
        for j in range(1, M):
            z[i, j] = (z[i, j - 1] + x[i, j]) % 1.3


@asc.kernel
def by_condition(x: asc.float32[N], y: asc.float32[N], s: float):
    return asc.where(s > 0.0, x, y), asc.where((s < 1.0) & (x > 0.0), x, y)


@asc.kernel
def of_integers(x: asc.int32[N], y: asc.int32[N]):
    return asc.fmod(x, y), asc.fmod(x, 7), asc.fmod(x, -7)


def compare(kernel: Any, *arguments: Any) -> None:
    """Both devices give the same bits."""
    found: list[list[Any]] = []
    for device in ("cpu", "model"):
        copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        with asc.device(device):
            results = kernel(*copies) or ()
        found.append([*results, *(each for each in copies if isinstance(each, np.ndarray))])
    for expected, got in zip(*found, strict=True):
        same(np.asarray(got), np.asarray(expected))


def test_rows_loops_and_conditions() -> None:
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (5, 3), (37, 53), (3, 700)):
        x = (rng.normal(size=shape) * 20).astype(np.float32)
        compare(of_rows, x)
        compare(inside_loops, x, np.zeros_like(x), np.zeros_like(x))
    x, y = (rng.normal(size=(2, 1000)) * 20).astype(np.float32)
    for number in (-1.0, 0.5, 2.0):
        compare(by_condition, x, y, number)
    compare(of_integers, (x * 100).astype(np.int32), y.astype(np.int32))


def test_they_run_on_the_vector_unit() -> None:
    for kernel in (*KERNELS["float32"][0:2], KERNELS["float32"][4], of_rows, by_condition):
        assert not [each for each in kernel.remarks if "scalar unit" in each.message]
