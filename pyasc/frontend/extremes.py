# SPDX-License-Identifier: Apache-2.0
"""Python's `min` and `max` of numbers, which give one of them as it is."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.frontend import numeric
from pyasc.frontend.emit import bounds
from pyasc.frontend.joins import meeting_type
from pyasc.frontend.numeric import apply, operand, promoted
from pyasc.frontend.promotion import NumberType
from pyasc.frontend.values import Const, Scalar, SizeVal, Val, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.types import dtype_of


def smallest_or_largest(v: Visitor, name: str, args: Sequence[Val]) -> Val:
    """Builtin `min` or `max` of several numbers: the first one unless a later one is smaller (larger)."""
    result = args[0]
    for each in args[1:]:
        result = _pair(v, name, result, each)
    return result


def _pair(v: Visitor, name: str, a: Val, b: Val) -> Val:
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(min(a.value, b.value) if name == "min" else max(a.value, b.value))
    if isinstance(a, SizeVal) or isinstance(b, SizeVal):
        left, right = numeric.size_polynomial(a), numeric.size_polynomial(b)
        difference = (left - right).as_constant if left is not None and right is not None else None
        if difference is not None:
            return a if (difference <= 0) == (name == "min") else b
    pair = [operand(v, each) for each in (a, b)]
    number = promoted(v, pair)
    if not all(map(is_number, pair)):
        raise v.error(
            None,
            "PA0405",
            f"`{name}` of arrays",
            hint=f"use asc.{name}imum for each element, or asc.{name} over an axis",
        )
    kept = meeting_type(v, *pair).number
    if kept == number and not number.weak:
        return apply(v, f"py{name}", [_within(v, each, number) for each in pair], number)
    found = apply(v, f"py{name}", pair, kept)
    narrow = _narrow_type(v, pair)
    if narrow is None or not isinstance(found, Scalar):
        return found
    twin = apply(v, f"py{name}", [_narrowed(v, each, narrow) for each in pair], narrow)
    assert isinstance(twin, Scalar)
    return Scalar(found.value, found.weak, narrow=twin.value)


def _narrow_type(v: Visitor, pair: Sequence[Val]) -> NumberType | None:
    """The one type, narrower than Python's, that elements among the numbers have."""
    found: set[NumberType] = set()
    for each in pair:
        number = numeric.number_type(v, each)
        if isinstance(each, Scalar) and each.narrow is not None:
            number = NumberType(dtype_of(each.narrow.type))
        if not number.weak:
            found.add(number)
    return found.pop() if len(found) == 1 else None


def _narrowed(v: Visitor, value: Val, number: NumberType) -> Val:
    if isinstance(value, Scalar) and value.narrow is not None:
        return Scalar(value.narrow)
    return _within(v, value, number)


def _within(v: Visitor, value: Val, number: NumberType) -> Val:
    """A Python int as the nearest number of a narrower type, so that it stays on its side of the others."""
    if number.weak or not number.dtype.is_integer or number.dtype is dtypes.i64:
        return value
    low, high = bounds(number.dtype)
    if isinstance(value, Const):
        return Const(min(max(value.value, low), high))
    if isinstance(value, SizeVal):
        value = Scalar(numeric.index(v, value), weak=True)
    if not isinstance(value, Scalar) or not value.weak or value.dtype is not dtypes.i64:
        return value
    found = v.emit.fn("maximum", value.value, v.emit.constant(low, dtypes.i64))
    if high < bounds(dtypes.i64)[1]:
        found = v.emit.fn("minimum", found, v.emit.constant(high, dtypes.i64))
    return Scalar(found, weak=True)
