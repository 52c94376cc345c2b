# SPDX-License-Identifier: Apache-2.0
"""Functions of `math` take elements of arrays as Python floats and give Python floats, which are weak."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyasc as asc

FUNCTIONS = (
    "exp expm1 exp2 log log2 log10 log1p sqrt cbrt sin cos tan atan sinh cosh tanh asinh erf erfc fabs radians degrees "
    "isnan isinf isfinite floor ceil"
).split()
NAMES = [name for name in FUNCTIONS if hasattr(math, name)]
DTYPES = ("float16", "float32", "int8", "int32", "bool")
TEXT = """
import math
import pyasc as asc

def math_{name}_{dtype}(x: asc.{dtype}[1], single: asc.float32[1], half: asc.float16[1], byte: asc.int8[1]):
    return math.{name}(x[0]) * single[0], math.{name}(x[0]) * half[0], math.{name}(x[0]) + byte[0]
"""
PAIR = """
import math
import pyasc as asc

def math_{name}(x: asc.float16[1], y: asc.float16[1], single: asc.float32[1], half: asc.float16[1]):
    return math.{name}(x[0], y[0]) * single[0], math.{name}(x[0], y[0]) * half[0]
"""
PAIRS = ("atan2", "copysign", "fmod", "hypot", "pow", "log", "remainder")


def python(text: str) -> Any:
    """The function itself."""
    scope: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + text, scope)
    return next(value for name, value in scope.items() if name.startswith("math_"))


def check(got: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Types that NumPy gives, but float32 for its float64, and values within a few units of that type."""
    for a, b in zip(got, expected, strict=True):
        wanted = np.float32 if b.dtype == np.float64 else b.dtype
        assert a.dtype == wanted
        bound = 4 * np.finfo(wanted).eps if np.issubdtype(wanted, np.floating) else 0
        np.testing.assert_allclose(np.float64(a), np.float64(b), rtol=bound)


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    """All of this file as few units."""
    texts = {f"{name} {dtype}": TEXT.format(name=name, dtype=dtype) for name in NAMES for dtype in DTYPES} | {
        name: PAIR.format(name=name) for name in PAIRS
    }
    made = {key: (asc.kernel_from_source(text), python(text)) for key, text in texts.items()}
    with asc.device("cpu"):
        asc.compile([kernel for kernel, _ in made.values()])
    return made


ONES = (np.float32([1.1]), np.float16([1.1]), np.int8([3]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_an_element_is_a_python_float(kernels: dict[str, Any], name: str, dtype: str) -> None:
    kernel, function = kernels[f"{name} {dtype}"]
    x = np.array([1.7], dtype=np.dtype(dtype))
    with asc.device("cpu"):
        check(kernel(x, *ONES), function(x, *ONES))


@pytest.mark.parametrize("name", PAIRS)
def test_two_elements_are_python_floats(kernels: dict[str, Any], name: str) -> None:
    kernel, function = kernels[name]
    x, y = np.float16([3.7]), np.float16([1.3])
    with asc.device("cpu"):
        check(kernel(x, y, *ONES[:2]), function(x, y, *ONES[:2]))
