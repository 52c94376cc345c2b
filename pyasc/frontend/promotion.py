# SPDX-License-Identifier: Apache-2.0
"""The type that numbers of different types meet in: NumPy 2's rules, with float32 where NumPy makes float64.

Python numbers are weak: they take the type of what they meet, unless it cannot hold their kind of value.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType

_FLOATS = (dtypes.f16, dtypes.f32, dtypes.f64)


@dataclass(frozen=True, slots=True)
class NumberType:
    """The type of a number in promotion."""

    dtype: DType
    weak: bool = False

    def __str__(self) -> str:
        return {"f": "float", "i": "int", "b": "bool"}[self.dtype.kind] if self.weak else str(self.dtype)


WEAK_BOOL = NumberType(dtypes.i1, True)
WEAK_INT = NumberType(dtypes.i64, True)
WEAK_FLOAT = NumberType(dtypes.f32, True)


def promote(a: NumberType, b: NumberType) -> NumberType:
    """The type in which two numbers are computed together."""
    if a == b:
        return a
    if a.weak == b.weak:
        return _promote_weak(a, b) if a.weak else NumberType(promote_dtypes(a.dtype, b.dtype))
    weak, strong = (a, b) if a.weak else (b, a)
    if _rank(weak.dtype) <= _rank(strong.dtype):
        return strong
    if weak.dtype.is_float:
        return NumberType(weak.dtype)
    return NumberType(dtypes.i64)


def _promote_weak(a: NumberType, b: NumberType) -> NumberType:
    first, second = sorted((a, b), key=lambda t: (_rank(t.dtype), t.dtype.bits))
    return second if first != second else first


def _rank(dtype: DType) -> int:
    """Bool below integers below floats."""
    return "biuf".index(dtype.kind) if dtype.kind != "u" else 1


def promote_dtypes(a: DType, b: DType) -> DType:
    """NumPy's result type of two strong types; bfloat16 with float16 and wide integers gives float32."""
    if a is b:
        return a
    low, high = sorted((a, b), key=_rank)
    if low.is_bool:
        return high
    if low.is_float:
        return _promote_floats(low, high)
    if high.is_float:
        return high if high.bits > 16 or low.bits == 8 else dtypes.f32
    return _promote_integers(low, high)


def _promote_floats(a: DType, b: DType) -> DType:
    if a.bits == b.bits:
        return dtypes.f32
    return a if a.bits > b.bits else b


def _promote_integers(a: DType, b: DType) -> DType:
    if a.kind == b.kind:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    wide = {8: dtypes.i16, 16: dtypes.i32, 32: dtypes.i64}.get(unsigned.bits)
    # NumPy answers float64 for uint64 with a signed type; float32 is what stands for it here.
    return dtypes.f32 if wide is None else wide


def float_of(number: NumberType) -> NumberType:
    """The type in which a function of real numbers computes: floats as they are, integers as NumPy widens them."""
    if number.dtype.is_float:
        return number
    if number.weak:
        return WEAK_FLOAT
    return NumberType(dtypes.f16 if number.dtype.bits == 8 else dtypes.f32)


def quotient_of(number: NumberType) -> NumberType:
    """The type of `/`: floats as they are, integers in float32."""
    if number.dtype.is_float:
        return number
    return WEAK_FLOAT if number.weak else NumberType(dtypes.f32)
