# SPDX-License-Identifier: Apache-2.0
"""Functions and conversions of the model that take more than one instruction: powers, signs, wide unsigned integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model_rows import on_vector

pytestmark = [needs_compiler, pytest.mark.usefixtures("model_library")]

NUMBERS = np.float32([
    0, -0.0, -1, -0.5, 0.7, 1.9, 2**31, 2**31 - 128, 2**32, 2**32 - 256, 3e9, 5e9, 2**63, 2**63 - 2**39, 2**64,
    2**64 - 2**40, 1e19, 1e30, np.inf, -np.inf, np.nan, -3e9, -1e20,
])  # fmt: skip


@asc.kernel
def powers(x: asc.float32[N], whole: int, exponent: float):
    return x**whole, x**exponent, exponent**x


@asc.kernel
def rows_of_powers(x: asc.float32[M, N], exponent: float):
    return asc.sum(abs(x) ** exponent, axis=1)


@asc.kernel
def power_of_element(x: asc.float32[N], exponent: asc.float32[1]):
    return x ** exponent[0]


@asc.kernel
def unsigned(x: asc.float32[N], h: asc.float16[N]):
    return x.astype(asc.uint32), x.astype(asc.uint64), h.astype(asc.uint32), h.astype(asc.uint64)


@asc.kernel
def signs(a: asc.uint8[N], b: asc.uint16[N], c: asc.uint32[N], d: asc.uint64[N]):
    return asc.sign(a), asc.sign(b), asc.sign(c), asc.sign(d)


@asc.kernel
def running_root(x: asc.float16[N], y: asc.float16[N]):
    s = x[0]
    for i in range(N):
        s = asc.rsqrt(s + x[i])
        y[i] = s


def both(kernel: Any, *arguments: Any) -> list[tuple[Any, Any]]:
    """Pairs of what the cpu and the model give."""
    found: list[list[Any]] = []
    for device in ("cpu", "model"):
        with asc.device(device):
            made = kernel(*arguments)
        found.append(list(made) if isinstance(made, tuple) else [made])
    return list(zip(*found, strict=True))


@pytest.mark.parametrize("exponent", [3, -1, 0, 2.5, np.inf])
def test_powers_of_numbers_of_run_time(exponent: float) -> None:
    x = np.float32([1, 2, 3.5, -2, 0, -0.0, 0.5, 1e20, 1e-20, np.inf, np.nan])
    whole = int(exponent) if np.isfinite(exponent) else 7
    pairs = both(powers, x, whole, float(exponent))
    pairs += both(rows_of_powers, np.abs(x[:9]).reshape(3, 3) % 7, float(exponent))
    pairs += both(power_of_element, x, np.float32([exponent]))
    for expected, got in pairs:
        # Both are within two units in the last place, of subnormal numbers too.
        np.testing.assert_allclose(got, expected, rtol=6e-7, atol=6e-45)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    on_vector(powers)
    on_vector(rows_of_powers)


def test_floats_become_the_nearest_unsigned_integer() -> None:
    with np.errstate(over="ignore"):
        pairs = both(unsigned, NUMBERS, NUMBERS.astype(np.float16))
    for expected, got in pairs:
        np.testing.assert_array_equal(got, expected)
    assert pairs[0][1].max() == 2**32 - 1
    assert pairs[1][1].max() == 2**64 - 1


def test_signs_of_unsigned_integers() -> None:
    arrays = [np.array([0, 1, 7, 200, 255]).astype(f"uint{bits}") for bits in (8, 16, 32, 64)]
    for expected, got in both(signs, *arrays):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, [0, 1, 1, 1, 1])


def test_running_reciprocal_roots_of_halves() -> None:
    x = np.linspace(0.1, 3, 20).astype(np.float16)
    results = [np.zeros_like(x), np.zeros_like(x)]
    for device, result in zip(("cpu", "model"), results, strict=True):
        with asc.device(device):
            running_root(x, result)
    np.testing.assert_allclose(results[1], results[0], rtol=2e-3)


@asc.kernel
def exponentials(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = asc.exp(x[i])


def test_exp_is_within_an_ulp_and_goes_to_infinity_and_zero() -> None:
    rng = np.random.default_rng(11)
    edges = [
        0.0,
        -0.0,
        88.722836,
        88.72284,
        89.5,
        1e30,
        np.inf,
        -87.33655,
        -103.97,
        -103.98,
        -110,
        -1e30,
        -np.inf,
        np.nan,
    ]
    x = np.concatenate([edges, rng.uniform(-104, 89, 200_000), np.exp2(rng.uniform(-140, 7, 5000))]).astype(
        np.float32
    )
    y = np.empty_like(x)
    with asc.device("model"):
        exponentials(x, y)
    with np.errstate(over="ignore"):
        exact = np.exp(x.astype(np.float64))
        nearest = exact.astype(np.float32)
    assert np.isnan(y[len(edges) - 1]) and np.isnan(nearest[len(edges) - 1])
    np.testing.assert_array_equal(np.isinf(y), np.isinf(nearest))
    finite = np.isfinite(nearest)
    ulp = np.spacing(nearest[finite]).astype(np.float64)
    assert (np.abs(y[finite] - exact[finite]) / ulp).max() < 1
