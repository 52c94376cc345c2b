# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false
"""The meaning of every elementwise function and conversion on NumPy arrays, exactly as kernels compute it.

float16 and bfloat16 are computed in float32 and rounded once. Transcendental functions on float32 are computed in
float64 and rounded once, so the result is the correctly rounded one but for rare ties.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers_half import Array, carrier, float32_to_odd, from_float, to_float
from pyasc.ir.numbers_table import TABLE

_NARROW_FLOATS = (dtypes.f16, dtypes.bf16)


def evaluate(fn: str, *args: Array, dtype: DType | None = None) -> Array:
    """`fn` of the number table on arrays that broadcast, carried as numbers_half.py says.

    `dtype` is the type of the operands (for `select`: of the last two); without it, NumPy's dtype of the last one
    says so, which cannot tell bfloat16. Raises KeyError for an unknown function and TypeError for a wrong number of
    operands or a dtype that the function is not defined on.
    """
    row = TABLE[fn]
    if len(args) != row.arity:
        raise TypeError(f"{fn} takes {row.arity} operands, got {len(args)}")
    arrays = [np.asarray(arg) for arg in args]
    kind = dtypes.BY_NUMPY[arrays[-1].dtype.name] if dtype is None else dtype
    if kind.kind not in row.kinds:
        raise TypeError(f"{fn} is not defined on {kind}")
    with np.errstate(all="ignore"):
        if fn == "select":
            return np.where(arrays[0], arrays[1], arrays[2])
        if not kind.is_float:
            return np.asarray(_INTEGER.get(fn, _COMMON.get(fn))(*arrays))  # pyright: ignore[reportOptionalCall]
        wide = [to_float(array, kind) for array in arrays]
        result = np.asarray(_float_function(fn)(*wide))
        return result if row.result == "bool" else from_float(result, kind)


def evaluate_constants(fn: str, dtype: DType, *values: bool | int | float) -> bool | int | float:
    """`evaluate` on single numbers of `dtype`, given and returned as Python numbers."""
    direct = _DIRECT.get(fn)
    if direct is not None and dtype in _DIRECT_DTYPES:
        return _narrow(direct(*values), dtype)
    comparison = _COMPARISONS.get(fn)
    if comparison is not None:
        return comparison(*values)
    target = dtypes.i1 if TABLE[fn].result == "bool" else dtype
    arrays = [carried(value, dtype) for value in values]
    if fn == "select":
        arrays[0] = np.asarray(bool(values[0]))
    return plain(evaluate(fn, *arrays, dtype=dtype), target)


# A Python number holds the elements exactly, and float64 has more than twice the digits of float32, so one operation
# in Python and one rounding give the same bits as the operation in the dtype.
_DIRECT: dict[str, Callable[..., Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_DIRECT_DTYPES = frozenset({dtypes.f32, dtypes.f64, *(d for d in dtypes.ALL if d.is_integer)})
_COMPARISONS: dict[str, Callable[..., bool]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}


_FLOAT32 = struct.Struct("=f")


def _narrow(value: Any, dtype: DType) -> int | float:
    if dtype is dtypes.f32:
        try:
            return _FLOAT32.unpack(_FLOAT32.pack(value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    if dtype.is_float:
        return value
    half = 1 << dtype.bits - 1 if dtype.is_signed else 0
    return (value + half & (1 << dtype.bits) - 1) - half


def carried(value: bool | int | float, dtype: DType) -> Array:
    """A Python number that `dtype` holds exactly, as a 0-d array."""
    if dtype is dtypes.bf16:
        return from_float(np.asarray(value, np.float32), dtype)
    return np.asarray(value, carrier(dtype))


def plain(array: Array, dtype: DType) -> bool | int | float:
    """The Python number in a carried 0-d array."""
    return (to_float(array, dtype) if dtype is dtypes.bf16 else array).item()


def convert(array: Array, source: DType, target: DType) -> Array:
    """Elements of `source` converted to `target`, both carried.

    Float to integer truncates, saturates and sends NaN to 0; integers wrap; anything becomes True when it is not
    zero; a result that is a float is rounded once to nearest even.
    """
    if source is target:
        return np.asarray(array)
    with np.errstate(all="ignore"):
        wide = to_float(array, source) if source.is_float else np.asarray(array)
        if target.is_bool:
            return wide != 0
        if target.is_float:
            return from_float(wide if wide.dtype.kind == "f" else _integers_as_floats(wide, target), target)
        return _saturate(wide, target) if source.is_float else wide.astype(carrier(target))


def _integers_as_floats(array: Array, target: DType) -> Array:
    if target is dtypes.bf16:
        return float32_to_odd(array.astype(np.int64) if array.dtype.kind == "b" else array)
    # float16 overflows long before float32 rounds an integer, so going through float32 rounds once.
    return array.astype(np.float64 if target is dtypes.f64 else np.float32)


def _saturate(array: Array, target: DType) -> Array:
    info = np.iinfo(carrier(target))
    # The first number above the largest integer is a power of two, hence exact in any float type.
    limit = 2.0 ** (target.bits - (1 if target.is_signed else 0))
    inside = (array > info.min - 1.0 if target.bits < 64 else array >= info.min) & (array < limit)
    whole = np.trunc(np.where(inside, array, 0)).astype(carrier(target))
    clamped = np.where(array >= limit, info.max, np.where(array <= info.min, info.min, whole))
    return np.where(np.isnan(array), 0, clamped).astype(carrier(target))


def _floor_power(base: Array, exponent: Array) -> Array:
    negative = exponent < 0
    power = np.power(base, np.where(negative, 0, exponent).astype(base.dtype))
    return np.where(negative, 0, power).astype(base.dtype)


def _float_power(base: Array, exponent: Array) -> Array:
    # NumPy takes the square root for a single exponent of 0.5, which differs at -0.0 and -infinity.
    root = (exponent == 0.5) & ((base == 0) | np.isinf(base))
    return np.where(root, np.abs(base), np.power(base, exponent))


def _minimum(a: Array, b: Array) -> Array:
    return np.where((a < b) | (a != a), a, b)


def _maximum(a: Array, b: Array) -> Array:
    return np.where((a > b) | (a != a), a, b)


def _pymin(a: Array, b: Array) -> Array:
    return np.where(b < a, b, a)


def _pymax(a: Array, b: Array) -> Array:
    return np.where(b > a, b, a)


def _reciprocal_root(value: Array) -> Array:
    return 1.0 / np.sqrt(value)


def _fma(a: Array, b: Array, c: Array) -> Array:
    if a.dtype == np.float64:
        return np.vectorize(_exact_fma, otypes=[np.float64])(a, b, c)
    # The product of two float32 is exact in float64; its sum is rounded to odd, so that the last rounding decides.
    product = a.astype(np.float64) * b.astype(np.float64)
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    inexact = np.isfinite(total) & (error != 0) & np.isfinite(error)
    return np.where(inexact & even, np.nextafter(total, toward), total).astype(np.float32)


def _exact_fma(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        # A product that overflows is still finite, so an infinite addend alone decides then.
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _with_python(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return np.vectorize(function, otypes=[np.float64])


_COMMON: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "fmod": np.fmod,
    "neg": np.negative,
    "abs": np.absolute,
    "sign": np.sign,
    "minimum": _minimum,
    "maximum": _maximum,
    "pymin": _pymin,
    "pymax": _pymax,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
"""Functions that NumPy computes as kernels do on every dtype that they have."""

_INTEGER: dict[str, Callable[..., Any]] = {
    "pow": _floor_power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "shl": np.left_shift,
    "shr": np.right_shift,
}

_FLOAT: dict[str, Callable[..., Any]] = {
    "div": np.divide,
    "fma": _fma,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "copysign": np.copysign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}
"""Functions that are exact or correctly rounded in the type of their operands."""

_WIDENED: dict[str, Callable[..., Any]] = {
    "rsqrt": _reciprocal_root,
    "pow": _float_power,
    "erf": _with_python(math.erf),
    "erfc": _with_python(math.erfc),
    **{
        name: getattr(np, row.numpy)
        for name, row in TABLE.items()
        if row.ulps and row.numpy and name not in ("rsqrt", "pow", "erf", "erfc")
    },
}
"""Functions that are computed in float64."""


def _float_function(fn: str) -> Callable[..., Any]:
    if fn not in _WIDENED:
        return _FLOAT.get(fn) or _COMMON[fn]
    function = _WIDENED[fn]

    def rounded(*args: Array) -> Array:
        return np.asarray(function(*(arg.astype(np.float64) for arg in args))).astype(args[0].dtype)

    return rounded
