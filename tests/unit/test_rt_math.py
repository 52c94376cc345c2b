# SPDX-License-Identifier: Apache-2.0
"""The float32 functions of the kernel runtime stay within their stated bounds, with and without fma."""

from __future__ import annotations

import os

import numpy as np
import pytest
from math_accuracy import (
    BINARY_FUNCTIONS,
    FUNCTIONS,
    BinaryFunction,
    Function,
    edge_pairs,
    make_shim,
    measure,
    measure_pairs,
    random_pairs,
)
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
def test_error_on_a_dense_sample(function: Function) -> None:
    worst = measure(make_shim(), function, 1021)
    assert not worst.wrong
    assert worst.ulps <= function.bound


@pytest.mark.parametrize("function", BINARY_FUNCTIONS, ids=lambda f: f.name)
def test_special_cases_of_two_arguments_are_numpys(shim: Shim, function: BinaryFunction) -> None:
    worst = measure_pairs(shim, function, *edge_pairs())
    assert not worst.wrong
    assert worst.ulps <= function.bound


@pytest.mark.parametrize("function", BINARY_FUNCTIONS, ids=lambda f: f.name)
def test_error_of_two_arguments_is_within_the_bound(shim: Shim, function: BinaryFunction) -> None:
    worst = measure_pairs(shim, function, *random_pairs(function.name, 300_000))
    assert not worst.wrong
    assert worst.ulps <= function.bound


def test_powers_that_are_float32_come_out_exactly(shim: Shim) -> None:
    base, exponent = (m.ravel() for m in np.meshgrid(np.arange(-40, 41), np.arange(0, 24)))
    exact = [int(x) ** int(y) for x, y in zip(base, exponent, strict=True)]
    keep = np.array([abs(v) < 2**24 for v in exact])
    got = shim("pow", base[keep].astype(np.float32), exponent[keep].astype(np.float32))
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
