# SPDX-License-Identifier: Apache-2.0
"""Element loops and elementwise tensor expressions against NumPy, at awkward sizes, on every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000)
DTYPES = (
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


@asc.kernel
def saxpy(a: asc.float32, x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(0, N):
        y[i] = a * x[i] + y[i]


@asc.kernel
def add_loop(x: asc.tensor, y: asc.tensor, out: asc.tensor):
    for i in asc.parallel_for(0, x.shape[0]):
        out[i] = x[i] + y[i]


@asc.kernel
def add_tensors(x: asc.tensor, y: asc.tensor):
    return x + y


@asc.kernel
def chain(x: asc.float32[N], y: asc.float32[N]) -> asc.float32[N]:
    return asc.sqrt(x * x + y * y) - asc.minimum(x, y)


@asc.kernel
def guarded(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(0, N):
        if x[i] > 0.0:
            y[i] = asc.sqrt(x[i])


@asc.kernel
def clamp(x: asc.float32[N], lo: float, hi: float, out: asc.float32[N]):
    for i in range(N):
        out[i] = min(max(x[i], lo), hi)


@asc.kernel
def shift(x: asc.int32[N], out: asc.int32[N - 1]):
    for i in asc.parallel_for(0, N - 1):
        out[i] = x[i + 1]


@asc.kernel
def mean3(x: asc.float32[N], out: asc.float32[N]):
    for i in range(1, N - 1):
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0


@asc.kernel
def collatz(start: asc.int64[N], steps: asc.int64[N]):
    for i in asc.parallel_for(0, N):
        value = start[i]
        count = 0
        while value != 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            count += 1
        steps[i] = count


@asc.kernel
def floor_divide(x: asc.int32[N], y: asc.int32[N], q: asc.int32[N], r: asc.int32[N]):
    for i in asc.parallel_for(0, N):
        q[i] = x[i] // y[i]
        r[i] = x[i] % y[i]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """One unit for all kernels of this file whose types are known."""
    vectors = [np.zeros(1, dtype) for dtype in DTYPES]
    asc.compile([
        saxpy, chain, guarded, clamp, shift, mean3, collatz, floor_divide,
        *((add_loop, v, v, v) for v in vectors),
        *((add_tensors, v, v) for v in vectors),
    ])  # fmt: skip


def numbers(n: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray[Any, Any]:
    """Numbers of both signs where the dtype has them."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=n).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype, endpoint=True)


@pytest.mark.parametrize("n", SIZES)
def test_saxpy(n: int) -> None:
    x, y = numbers(n), numbers(n, seed=1)
    expected = np.float32(2.5) * x + y
    saxpy(2.5, x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_loop_on_every_dtype(dtype: str) -> None:
    for n in SIZES:
        x, y = numbers(n, dtype), numbers(n, dtype, 1)
        out = np.zeros(n, dtype)
        add_loop(x, y, out)
        assert np.array_equal(out, x + y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_tensors_on_every_dtype(dtype: str) -> None:
    for n in SIZES:
        x, y = numbers(n, dtype), numbers(n, dtype, 1)
        out = add_tensors(x, y)
        assert out.dtype == dtype and np.array_equal(out, x + y)


@pytest.mark.parametrize("n", SIZES)
def test_chain(n: int) -> None:
    x, y = numbers(n), numbers(n, seed=1)
    assert np.array_equal(chain(x, y), np.sqrt(x * x + y * y) - np.minimum(x, y))


@pytest.mark.parametrize("n", SIZES)
def test_guarded_store_leaves_the_others(n: int) -> None:
    x, y = numbers(n), numbers(n, seed=1)
    expected = np.where(x > 0, np.sqrt(np.maximum(x, 0)), y)
    guarded(x, y)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("n", SIZES)
def test_clamp(n: int) -> None:
    x, out = numbers(n), np.zeros(n, np.float32)
    clamp(x, -0.5, 0.5, out)
    assert np.array_equal(out, np.clip(x, np.float32(-0.5), np.float32(0.5)))


@pytest.mark.parametrize("n", SIZES[1:])
def test_shift(n: int) -> None:
    x, out = numbers(n, np.int32), np.zeros(n - 1, np.int32)
    shift(x, out)
    assert np.array_equal(out, x[1:])


@pytest.mark.parametrize("n", SIZES)
def test_mean_of_three_leaves_the_ends(n: int) -> None:
    x, out = numbers(n), np.full(n, 7, np.float32)
    expected = out.copy()
    if n > 2:
        expected[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / np.float32(3)
    mean3(x, out)
    assert np.array_equal(out, expected)


def test_while_loop() -> None:
    start = np.arange(1, 50, dtype=np.int64)
    steps = np.zeros_like(start)
    collatz(start, steps)
    assert steps[26] == 111 and steps[0] == 0 and steps[5] == 8


@pytest.mark.parametrize("n", SIZES)
def test_integer_division_floors(n: int) -> None:
    x, y = numbers(n, np.int32), numbers(n, np.int32, 1) // 100000
    y[y == 0] = 1
    q, r = np.zeros_like(x), np.zeros_like(x)
    floor_divide(x, y, q, r)
    assert np.array_equal(q, x // y) and np.array_equal(r, x % y)
