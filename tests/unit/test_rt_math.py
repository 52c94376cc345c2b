# SPDX-License-Identifier: Apache-2.0
"""The float32 functions of the kernel runtime stay within their stated bounds, with and without fma."""

from __future__ import annotations

import os

import pytest
from math_accuracy import FUNCTIONS, Function, make_shim, measure
from rt_shim import Shim

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
