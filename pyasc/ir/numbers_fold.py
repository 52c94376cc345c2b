# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false
"""Constant expressions: folded as Python folds them, exactly, and rounded once where they meet a dtype."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType

Number = bool | int | float

_SIGNIFICAND: dict[DType, tuple[int, int, float]] = {
    dtypes.f16: (11, -24, 65504.0),
    dtypes.bf16: (8, -133, 3.3895313892515355e38),
    dtypes.f32: (24, -149, 3.4028234663852886e38),
    dtypes.f64: (53, -1074, 1.7976931348623157e308),
}
"""Bits of the significand, exponent of the smallest subnormal, and the largest finite number."""


def fold(fn: str, *values: Number) -> Number:
    """`fn` of the number table on Python numbers, with Python's own types and precision.

    Raises what Python raises (ZeroDivisionError, OverflowError, ValueError, TypeError for an operator that the types
    do not have) and KeyError for an unknown function.
    """
    return _FOLDS[fn](*values)


def round_constant(value: Number, dtype: DType) -> Number:
    """A Python number as `dtype` holds it, rounded once to nearest even.

    Raises OverflowError for an integer outside the range of an integer `dtype`, as NumPy does, and TypeError for a
    float where an integer is wanted.
    """
    if dtype.is_bool:
        return bool(value)
    if dtype.is_float:
        return _round_float(value, dtype)
    if isinstance(value, float):
        raise TypeError(f"{value!r} is not an integer, which {dtype} needs")
    low = -(1 << dtype.bits - 1) if dtype.is_signed else 0
    high = (1 << dtype.bits - dtype.is_signed) - 1
    if not low <= value <= high:
        raise OverflowError(f"{value} does not fit {dtype} ({low} to {high})")
    return int(value)


def _round_float(value: Number, dtype: DType) -> float:
    if isinstance(value, float) and (dtype is dtypes.f64 or not math.isfinite(value) or not value):
        return value
    return round_fraction(Fraction(value), dtype)


def round_fraction(exact: Fraction, dtype: DType) -> float:
    """An exact number rounded once to nearest even in a float dtype; zero gives +0."""
    if not exact:
        return 0.0
    bits, lowest, largest = _SIGNIFICAND[dtype]
    magnitude = abs(exact)
    exponent = max(_floor_log2(magnitude) - bits + 1, lowest)
    units = round(magnitude / Fraction(2) ** exponent)
    rounded = Fraction(units) * Fraction(2) ** exponent
    result = math.inf if rounded > Fraction(largest) else float(rounded)
    return -result if exact < 0 else result


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def _nan_wins(choose: Callable[[Number, Number], bool]) -> Callable[[Number, Number], Number]:
    return lambda a, b: a if choose(a, b) or a != a else b


def _whole(rounding: Callable[[float], float]) -> Callable[[Number], Number]:
    def apply(value: Number) -> Number:
        if isinstance(value, int) or not math.isfinite(value):
            return value
        return math.copysign(float(rounding(value)), value)

    return apply


def _invert(value: Any) -> Number:
    return not value if isinstance(value, bool) else ~value


def _sign(value: Number) -> Number:
    if value != value:
        return value
    return type(value)((value > 0) - (value < 0))


def _rsqrt(value: Number) -> float:
    return 1.0 / math.sqrt(value)


def _cbrt(value: float) -> float:
    root = math.copysign(abs(value) ** (1.0 / 3.0), value)
    if not root or not math.isfinite(root):
        return root
    # One Newton step takes the last error of the power away.
    return root - (root * root * root - value) / (3.0 * root * root)


def _exp2(value: float) -> float:
    return 2.0**value


def _fma(a: Number, b: Number, c: Number) -> Number:
    if any(isinstance(v, float) and not math.isfinite(v) for v in (a, b, c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return exact.numerator / exact.denominator


def _signbit(value: Number) -> bool:
    return math.copysign(1.0, value) < 0


def _select(condition: Number, a: Number, b: Number) -> Number:
    return a if condition else b


_FOLDS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "fmod": math.fmod,
    "pow": operator.pow,
    "fma": _fma,
    "neg": operator.neg,
    "abs": abs,
    "sign": _sign,
    "minimum": _nan_wins(operator.lt),
    "maximum": _nan_wins(operator.gt),
    "pymin": min,
    "pymax": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": _invert,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "signbit": _signbit,
    "select": _select,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "rint": _whole(round),
    "rsqrt": _rsqrt,
    "cbrt": getattr(math, "cbrt", _cbrt),
    "exp2": getattr(math, "exp2", _exp2),
    **{
        name: getattr(math, name)
        for name in (
            "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
            "atan2 hypot copysign"
        ).split()
    },
}
