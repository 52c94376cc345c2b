# SPDX-License-Identifier: Apache-2.0
"""Functions spelt in others keep the bound of the number table, at all exponents and at special values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir.dialects.func import Module
from pyasc.ir.interpreter import interpret
from pyasc.ir.numbers_table import TABLE
from pyasc.passes.base import run_passes
from pyasc.passes.expand_functions import RECIPES
from pyasc.passes.pipeline_parser import parse_pipeline

SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    1024.0,
    1e-45,
    -1e-45,
    3.4e38,
    88.7,
    89.0,
    -88.0,
    -103.0,
    127.0,
    -126.5,
)
TRIGONOMETRIC = ("sin", "cos", "tan")
SPELT_OUT = [fn for fn in RECIPES if fn not in ("fmod", "floordiv")]
"""All but the remainder, which stays one operation unless it is known, and the quotient that float32 gives."""
LARGEST_ANGLE = 12000.0


def sample(count: int) -> np.ndarray:
    """All exponents and signs, numbers around zero and one, and the special ones."""
    rng = np.random.default_rng(1)
    anything = rng.integers(0, 2**32, count, np.uint64).astype(np.uint32).view(np.float32)
    parts = [rng.uniform(-1, 1, count), rng.uniform(-100, 100, count), 1 + rng.uniform(-1e-3, 1e-3, count)]
    edges = np.array([*SPECIAL, math.inf, -math.inf, math.nan])
    # A NaN has no sign that a comparison tells.
    known = np.where(np.isnan(anything), np.float32(math.nan), anything)
    return np.concatenate([known, *(part.astype(np.float32) for part in (*parts, edges))])


def expanded(fn: str, arguments: list[np.ndarray]) -> np.ndarray:
    names = ("x", "y")[: len(arguments)]
    annotated = ", ".join(f"{name}: asc.float32[N]" for name in names)
    name = "power" if fn == "pow" else fn
    text = f"import pyasc as asc\n\ndef spelt({annotated}):\n    return asc.{name}({', '.join(names)})\n"
    kernel = asc.kernel_from_source(text)
    module = kernel.specialise(kernel.types_of()).lowered("py").module
    run_passes(module, parse_pipeline("expand-functions"))
    assert not any(op.name == f"arith.{fn}" or op.attrs.get("fn") == fn for op in module.walk())
    row = TABLE[fn]
    out = np.empty(len(arguments[0]), np.bool_ if row.result == "bool" else np.float32)
    interpret(module, "spelt", [*arguments, out], {"N": len(out)})
    return out


def agrees(found: np.ndarray, exact: np.ndarray, ulps: int) -> np.ndarray:
    """Where a result is as near to the exact one as its bound asks; truths, infinities and zeros have to be equal."""
    if found.dtype == np.bool_:
        return found == exact
    rounded = exact.astype(np.float32)
    same = (found == rounded) & (np.signbit(found) == np.signbit(rounded))
    unit = np.spacing(np.maximum(np.abs(rounded), np.finfo(np.float32).tiny))
    near = (
        np.isfinite(found) & np.isfinite(rounded) & (np.abs(found - exact) <= ulps * unit.astype(np.float64))
    )
    return same | (near & (rounded != 0)) | (np.isnan(found) & np.isnan(rounded))


@pytest.mark.parametrize("fn", SPELT_OUT)
def test_a_recipe_keeps_the_bound_of_its_function(fn: str) -> None:
    row = TABLE[fn]
    x = sample(20_000)
    arguments = [x, np.random.default_rng(2).permutation(x)][: row.arity]
    with np.errstate(all="ignore"):
        function: Any = getattr(np, row.numpy or fn)
        exact = function(*(each.astype(np.float64) for each in arguments))
        if fn in TRIGONOMETRIC:
            exact = np.where(np.abs(x) < LARGEST_ANGLE, exact, math.nan)
        found = expanded(fn, arguments)
        right = agrees(found, exact, row.ulps)
    assert right.all(), [float(each[~right][0]) for each in (*arguments, found, exact)]


def spelt(signature: str, expression: str) -> Module:
    text = f"import pyasc as asc\n\ndef spelt({signature}):\n    return {expression}\n"
    kernel = asc.kernel_from_source(text)
    module = kernel.specialise(kernel.types_of()).lowered("py").module
    run_passes(module, parse_pipeline("expand-functions"))
    return module


def same_bits(found: np.ndarray, expected: np.ndarray) -> bool:
    known = ~np.isnan(expected)
    return found[known].tobytes() == expected[known].tobytes() and bool(np.isnan(found[~known]).all())


def test_quotients_rounded_down_are_those_of_numpy() -> None:
    module = spelt("x: asc.float32[N], y: asc.float32[N]", "x // y")
    assert not any(op.attrs.get("fn") == "floordiv" for op in module.walk())
    x = sample(20_000)
    y, out = np.random.default_rng(2).permutation(x), np.empty_like(x)
    interpret(module, "spelt", [x, y, out], {"N": len(x)})
    with np.errstate(all="ignore"):
        assert same_bits(out, x // y)


@pytest.mark.parametrize("divisor", [1.0, -0.5, 8.0, 2.0**20, -(2.0**-30)])
@pytest.mark.parametrize(
    "fn, form", [("fmod", "asc.fmod(x, {})"), ("mod", "x % {}"), ("floor_divide", "x // {}")]
)
def test_remainders_of_powers_of_two_are_products(fn: str, form: str, divisor: float) -> None:
    module = spelt("x: asc.float32[N]", form.format(f"({divisor!r})"))
    assert not any(op.attrs.get("fn") in ("fmod", "mod", "floordiv") for op in module.walk())
    x = sample(20_000)
    out = np.empty_like(x)
    interpret(module, "spelt", [x, out], {"N": len(x)})
    with np.errstate(all="ignore"):
        assert same_bits(out, getattr(np, fn)(x, np.float32(divisor)))


@pytest.mark.parametrize("fn", ["sin", "acosh", "isinf"])
def test_halves_are_computed_in_float32_and_rounded_once(fn: str) -> None:
    kernel = asc.kernel_from_source(
        f"import pyasc as asc\n\ndef halves(x: asc.float16[N]):\n    return asc.{fn}(x)\n"
    )
    module = kernel.specialise(kernel.types_of()).lowered("py").module
    run_passes(module, parse_pipeline("expand-functions"))
    x = np.array([0.1, 1.5, 2.75, 100.0, math.inf], np.float16)
    function = getattr(np, TABLE[fn].numpy or fn)
    with np.errstate(invalid="ignore"):
        expected = function(x.astype(np.float32))
    out = np.empty(5, np.bool_ if fn == "isinf" else np.float16)
    interpret(module, "halves", [x, out], {"N": 5})
    np.testing.assert_array_equal(out, expected.astype(out.dtype))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
@pytest.mark.parametrize("exponent", ["y", "0", "1", "3", "7"])
def test_integer_powers_wrap(dtype: str, exponent: str) -> None:
    text = f"import pyasc as asc\n\ndef spelt(x: asc.{dtype}[N], y: asc.{dtype}[N]):\n    return x ** {exponent}\n"
    kernel = asc.kernel_from_source(text)
    module = kernel.specialise(kernel.types_of()).lowered("py").module
    run_passes(module, parse_pipeline("expand-functions"))
    x = np.array([-7, -2, -1, 0, 1, 2, 3, 11, 100], np.int64).astype(dtype)
    y = np.array([5, 3, 100, 0, 7, 31, 9, 2, 40], np.int64).astype(dtype)
    out = np.empty_like(x)
    interpret(module, "spelt", [x, y, out], {"N": len(x)})
    np.testing.assert_array_equal(out, x ** (y if exponent == "y" else np.array(int(exponent), dtype)))
