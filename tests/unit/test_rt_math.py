# SPDX-License-Identifier: Apache-2.0
"""The float32 functions of the kernel runtime stay within their stated bounds, with and without fma."""

from __future__ import annotations

import os

import numpy as np
import pytest
from math_accuracy import FUNCTIONS, Function, compare, make_shim, measure
from rt_shim import Loop, Shim

STRIDE = int(os.environ.get("PYASC_TEST_MATH_STRIDE", "65521"))


@pytest.fixture(scope="module", params=[("-march=native",), ()], ids=["native", "baseline"])
def shim(request: pytest.FixtureRequest) -> Shim:
    return make_shim(request.param)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_error_is_within_the_bound(shim: Shim, function: Function) -> None:
    worst = measure(shim, function, STRIDE)
    assert not worst.wrong
    assert worst.ulps <= function.bound


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_error_on_a_dense_sample(shim: Shim, function: Function) -> None:
    worst = measure(shim, function, 1021)
    assert not worst.wrong
    assert worst.ulps <= function.bound


TWO_ARGUMENTS = {"pow": (np.power, 1.0), "atan2": (np.arctan2, 2.0), "hypot": (np.hypot, 1.0)}
EDGES = np.array(
    """0 1 2 0.5 3 inf nan 1e-45 1e38 16777216 16777217 1.5 33554432 0.1 1e-20 7 8 127 149 150 2147483648
    0.9999999 1.0000001 8388607.5 3.4028235e38 1.1754944e-38""".split(),
    np.float32,
)


@pytest.fixture(scope="module", params=[("-march=native",), ()], ids=["native", "baseline"])
def binary(request: pytest.FixtureRequest) -> Shim:
    return Shim([Loop(f, f"pa_{f}(a, b)", ("f32", "f32"), "f32") for f in TWO_ARGUMENTS], request.param)


@pytest.mark.parametrize("name", TWO_ARGUMENTS)
def test_special_cases_of_two_arguments_are_numpys(binary: Shim, name: str) -> None:
    edges = np.concatenate([EDGES, -EDGES])
    a, b = (m.ravel() for m in np.meshgrid(edges, edges))
    reference, bound = TWO_ARGUMENTS[name]
    with np.errstate(all="ignore"):
        worst = compare(a, binary(name, a, b), reference(a.astype(np.float64), b.astype(np.float64)))
    assert not worst.wrong
    assert worst.ulps <= bound


def random_pairs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All bit patterns, then pairs whose result is neither 0 nor infinite."""
    rng = np.random.default_rng(17)
    n = 300_000
    a, b = rng.integers(0, 2**32, (2, n), dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        x = np.abs(a)
        exponent = np.where(np.isfinite(x) & (x > 0) & (x != 1), np.log2(x.astype(np.float64)), 1.0)
        near = rng.uniform(-150, 130, n) / exponent if name == "pow" else a * np.exp(rng.uniform(-10, 10, n))
        return np.concatenate([a, x]), np.concatenate([b, near.astype(np.float32)])


@pytest.mark.parametrize("name", TWO_ARGUMENTS)
def test_error_of_two_arguments_is_within_the_bound(binary: Shim, name: str) -> None:
    a, b = random_pairs(name)
    reference, bound = TWO_ARGUMENTS[name]
    with np.errstate(all="ignore"):
        worst = compare(a, binary(name, a, b), reference(a.astype(np.float64), b.astype(np.float64)))
    assert not worst.wrong
    assert worst.ulps <= bound


def test_powers_that_are_float32_come_out_exactly(binary: Shim) -> None:
    base, exponent = (m.ravel() for m in np.meshgrid(np.arange(-40, 41), np.arange(0, 24)))
    exact = [int(x) ** int(y) for x, y in zip(base, exponent, strict=True)]
    keep = np.array([abs(v) < 2**24 for v in exact])
    got = binary("pow", base[keep].astype(np.float32), exponent[keep].astype(np.float32))
    assert got.tolist() == [float(v) for v, k in zip(exact, keep, strict=True) if k]


DOUBLES = {f.name: f.reference for f in FUNCTIONS}


@pytest.fixture(scope="module")
def doubles() -> Shim:
    return Shim([Loop(f, f"pa_{f}(a)", ("f64",), "f64", simd=False) for f in DOUBLES])


@pytest.mark.parametrize("name", DOUBLES)
def test_float64_functions_agree_with_numpy_or_scipy(doubles: Shim, name: str) -> None:
    rng = np.random.default_rng(23)
    x = np.concatenate(
        [rng.standard_normal(2000) * 3, rng.uniform(0, 1, 2000), [0.0, np.inf, -np.inf, np.nan]]
    )
    with np.errstate(all="ignore"):
        want, got = DOUBLES[name](x), doubles(name, x)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=0)
