# SPDX-License-Identifier: Apache-2.0
"""Slices that move with a counter, such as `x[2 * i : 2 * i + 3]`, whose extent is known where all are in range."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from pyasc.frontend import arithmetic, numeric
from pyasc.frontend.arithmetic import BINARY
from pyasc.frontend.values import Const, Scalar, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir import sizes
from pyasc.ir.core import Value
from pyasc.ir.dialects import arith, func
from pyasc.ir.sizes import SizeExpr

_ZERO = sizes.constant(0)
_DEPTH = 4
"""Of operations between a counter and a bound."""


@dataclass(frozen=True)
class _Place:
    """`factor * counter + offset`."""

    offset: SizeExpr
    counter: Value | None = None
    factor: int = 0

    def plus(self, other: _Place, sign: int) -> _Place | None:
        """The sum or difference, where that has one counter."""
        counters = {each for each in (self.counter, other.counter) if each is not None}
        if len(counters) > 1:
            return None
        factor = self.factor + sign * other.factor
        return _Place(self.offset + other.offset * sign, next(iter(counters), None), factor)

    def times(self, other: _Place) -> _Place | None:
        """The product, where one of both is a number."""
        for number, place in ((self, other), (other, self)):
            by = number.offset.as_constant
            if number.counter is None and by is not None:
                return _Place(place.offset * by, place.counter, place.factor * by)
        return None


def extent(v: Visitor, length: Val, start: Val | None, stop: Val | None, step: int) -> Val | None:
    """How many elements each slice has; None where that differs, or where one may reach beyond the axis."""
    low, high = (None if bound is None else _place(v, bound) for bound in (start, stop))
    if low is None or high is None or low.counter is None:
        return None
    if (low.counter, low.factor) != (high.counter, high.factor) or low.factor <= 0:
        return None
    whole, end = numeric.size_polynomial(length), numeric.size_polynomial(v.counters[low.counter])
    if whole is None or end is None:
        return None
    span = high.offset - low.offset + (step - 1)
    last = (end - 1) * high.factor + high.offset
    if not all(_is_not_negative(each) for each in (span, low.offset, whole - last)):
        return None
    return arithmetic.binary(v, BINARY[ast.FloorDiv], arithmetic.size_val(span), Const(step))


def _is_not_negative(expr: SizeExpr) -> bool:
    return all(coefficient >= 0 for _, coefficient in expr.terms)


def _place(v: Visitor, bound: Val) -> _Place | None:
    known = numeric.size_polynomial(bound)
    if known is not None:
        return _Place(known)
    return _of(bound.value, v.counters, _DEPTH) if isinstance(bound, Scalar) else None


def _of(value: Value, counters: Mapping[Value, Val], depth: int) -> _Place | None:
    if value in counters:
        return _Place(_ZERO, value, 1)
    match value.op:
        case arith.Constant(value=int(number)) if not isinstance(number, bool):
            return _Place(sizes.constant(number))
        case func.Size(symbol=symbol):
            return _Place(sizes.size(symbol))
        case arith.Elementwise(fn="add" | "sub" | "mul" as fn, args=args) if depth:
            left, right = (_of(each, counters, depth - 1) for each in args)
            if left is None or right is None:
                return None
            return left.times(right) if fn == "mul" else left.plus(right, 1 if fn == "add" else -1)
        case _:
            return None
