# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions: one object each, which names its row of the number table and its NumPy equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from pyasc.ir.record import Record


class Elementwise(Record):
    """A function of the number table `fn`, on scalars and arrays. `implementation` is it in NumPy."""

    name: str
    fn: str
    arity: int
    implementation: Callable[..., Any]
    doc: str

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.arity:
            raise TypeError(f"asc.{self.name} takes {self.arity} arguments, got {len(args)}")
        return self.implementation(*args)

    def __repr__(self) -> str:
        return f"asc.{self.name}"


def _numpy(name: str, *args: Any) -> Any:
    import numpy as np

    return getattr(np, name)(*args)


def _each(function: Callable[[float], float], value: Any) -> Any:
    """`function` on every element, in the element type of the input (float64 for Python numbers)."""
    import numpy as np

    array = np.asarray(value)
    result = np.vectorize(function, otypes=[np.float64])(array.astype(np.float64))
    return result.astype(array.dtype if array.dtype.kind == "f" else np.float64)[()]


def _rsqrt(value: Any) -> Any:
    import numpy as np

    return 1 / np.sqrt(value)


def _float_abs(value: Any) -> Any:
    import numpy as np

    array = np.asarray(value)
    return np.fabs(array if array.dtype.kind == "f" else array.astype(np.float32))[()]


def _unary(name: str, doc: str, *, fn: str = "", numpy: str = "") -> Elementwise:
    return Elementwise(name, fn or name, 1, partial(_numpy, numpy or name), doc)


def _binary(name: str, doc: str, *, fn: str = "", numpy: str = "") -> Elementwise:
    return Elementwise(name, fn or name, 2, partial(_numpy, numpy or name), doc)


exp = _unary("exp", "e to the power x")
exp2 = _unary("exp2", "2 to the power x")
expm1 = _unary("expm1", "exp(x) - 1, exact near 0")
log = _unary("log", "natural logarithm")
log2 = _unary("log2", "logarithm to base 2")
log10 = _unary("log10", "logarithm to base 10")
log1p = _unary("log1p", "log(1 + x), exact near 0")
sqrt = _unary("sqrt", "square root")
rsqrt = Elementwise("rsqrt", "rsqrt", 1, _rsqrt, "1 / sqrt(x)")
cbrt = _unary("cbrt", "cube root")
sin = _unary("sin", "sine of an angle in radians")
cos = _unary("cos", "cosine of an angle in radians")
tan = _unary("tan", "tangent of an angle in radians")
asin = _unary("asin", "inverse sine, in radians", numpy="arcsin")
acos = _unary("acos", "inverse cosine, in radians", numpy="arccos")
atan = _unary("atan", "inverse tangent, in radians", numpy="arctan")
sinh = _unary("sinh", "hyperbolic sine")
cosh = _unary("cosh", "hyperbolic cosine")
tanh = _unary("tanh", "hyperbolic tangent")
asinh = _unary("asinh", "inverse hyperbolic sine", numpy="arcsinh")
acosh = _unary("acosh", "inverse hyperbolic cosine", numpy="arccosh")
atanh = _unary("atanh", "inverse hyperbolic tangent", numpy="arctanh")
erf = Elementwise("erf", "erf", 1, partial(_each, math.erf), "error function")
erfc = Elementwise("erfc", "erfc", 1, partial(_each, math.erfc), "1 - erf(x), exact for large x")
floor = _unary("floor", "largest integer not above x, as a float")
ceil = _unary("ceil", "smallest integer not below x, as a float")
trunc = _unary("trunc", "x without its fraction, as a float")
rint = _unary("rint", "nearest integer, ties to even, as a float")
absolute = _unary("absolute", "absolute value", fn="abs")
abs = absolute
negative = _unary("negative", "-x", fn="neg")
sign = _unary("sign", "-1, 0 or 1 with the sign of x")
isnan = _unary("isnan", "whether x is NaN")
isinf = _unary("isinf", "whether x is an infinity")
isfinite = _unary("isfinite", "whether x is neither NaN nor an infinity")
signbit = _unary("signbit", "whether the sign bit is set")
logical_not = _unary("logical_not", "whether x is zero", fn="not")
positive = _unary("positive", "+x", fn="pos")
fabs = Elementwise("fabs", "fabs", 1, _float_abs, "absolute value, of integers as a float")
invert = _unary("invert", "every bit of an integer turned over; of a bool, its opposite", fn="invert")
bitwise_not = invert

add = _binary("add", "x + y")
subtract = _binary("subtract", "x - y", fn="sub")
multiply = _binary("multiply", "x * y", fn="mul")
divide = _binary("divide", "x / y", fn="div")
power = _binary("power", "x ** y", fn="pow")
floor_divide = _binary("floor_divide", "x // y", fn="floordiv")
remainder = _binary("remainder", "x % y, with the sign of y", fn="mod")
mod = remainder
fmod = _binary("fmod", "the rest of x / y with the sign of x")
greater = _binary("greater", "x > y", fn="gt")
greater_equal = _binary("greater_equal", "x >= y", fn="ge")
less = _binary("less", "x < y", fn="lt")
less_equal = _binary("less_equal", "x <= y", fn="le")
equal = _binary("equal", "x == y", fn="eq")
not_equal = _binary("not_equal", "x != y", fn="ne")
logical_and = _binary("logical_and", "whether neither is zero", fn="logical and")
logical_or = _binary("logical_or", "whether one is not zero", fn="logical or")
logical_xor = _binary("logical_xor", "whether exactly one is not zero", fn="logical xor")
bitwise_and = _binary("bitwise_and", "x & y", fn="and")
bitwise_or = _binary("bitwise_or", "x | y", fn="or")
bitwise_xor = _binary("bitwise_xor", "x ^ y", fn="xor")
left_shift = _binary("left_shift", "x << y", fn="shl")
right_shift = _binary("right_shift", "x >> y", fn="shr")
minimum = _binary("minimum", "the smaller one; NaN if either is NaN")
maximum = _binary("maximum", "the larger one; NaN if either is NaN")
atan2 = _binary("atan2", "angle of the point (y, x), in radians", numpy="arctan2")
hypot = _binary("hypot", "sqrt(x*x + y*y) without overflow")
copysign = _binary("copysign", "magnitude of x with the sign of y")

_TABLE = {name: value for name, value in list(globals().items()) if isinstance(value, Elementwise)}
__all__ = list(_TABLE)  # pyright: ignore[reportUnsupportedDunderAll]
