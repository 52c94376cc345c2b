# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions of kernels: the number table's, `where`, and Python's `min`, `max`, `abs`, `round`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from pyasc.frontend import arithmetic, numeric
from pyasc.frontend.numeric import apply, operand, promoted
from pyasc.frontend.values import Const, Scalar, SizeVal, Tuple, Val, is_array, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.types import ScalarType
from pyasc.language.math import Elementwise

_OPERATORS = {op.fn: op for op in arithmetic.BINARY.values()}
_COMPARISONS = {op.fn: op for op in arithmetic.COMPARE.values()}
# Python's own functions on known numbers, where they mean the same.
_FOLDS: dict[str, Callable[..., Any]] = {
    name: getattr(math, name)
    for name in (
        "exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
        "atan2 hypot copysign"
    ).split()
}


def elementwise(v: Visitor, function: Elementwise, args: Sequence[Val]) -> Val:
    """A function of `pyasc.language.math` on numbers and arrays."""
    if len(args) != function.arity:
        raise v.error(
            None,
            "PA0408",
            f"asc.{function.name} takes {numeric.plural(function.arity, 'argument')}, got {len(args)}",
        )
    args = [_as_numpys(each) for each in args]
    if function.fn in _OPERATORS:
        return arithmetic.binary(v, _OPERATORS[function.fn], args[0], args[1])
    if function.fn in _COMPARISONS:
        return arithmetic.compare(v, _COMPARISONS[function.fn], args[0], args[1])
    if function.fn in _OTHERS:
        return _OTHERS[function.fn](v, *args)
    return table_function(v, function.fn, args)


def _as_numpys(value: Val) -> Val:
    """A bool as NumPy's, which real functions take to float16."""
    if isinstance(value, Scalar) and value.weak and value.dtype.is_bool:
        return Scalar(value.value)
    return value


def table_function(v: Visitor, fn: str, args: Sequence[Val]) -> Val:
    """One row of the number table; functions of real numbers take integers as floats."""
    folded = _fold(fn, args)
    if folded is not None:
        return folded
    operands = [operand(v, each) for each in args]
    if fn == "not":
        return _logical_not(v, operands[0])
    row, number = numeric.application(v, fn, operands)
    if not row:
        return operands[0]
    if number.weak and number.dtype.is_float:
        number = numeric.weak_float(v)
    return apply(v, row, operands, number)


def _fold(fn: str, args: Sequence[Val]) -> Val | None:
    """The exact value for known numbers; outside the domain the table's meaning holds, not an exception."""
    if fn not in _FOLDS or not all(isinstance(each, Const) and is_number(each) for each in args):
        return None
    try:
        return Const(_FOLDS[fn](*(each.value for each in args)))  # pyright: ignore[reportAttributeAccessIssue]
    except (ValueError, OverflowError):
        return None


def _logical_not(v: Visitor, value: Val) -> Val:
    if is_number(value):
        found = arithmetic.logical_not(v, value)
        # Of a number of NumPy's, it is NumPy's bool.
        if isinstance(found, Scalar) and isinstance(value, Scalar) and not value.weak:
            return Scalar(found.value, weak=False)
        return found
    tensor = numeric.as_tensor(v, value)
    return numeric.wrap(v.emit.fn("not", v.emit.nonzero(tensor.value)), False)


def where(v: Visitor, condition: Val, yes: Val, no: Val) -> Val:
    """`asc.where`: a choice by element."""
    test, a, b = (operand(v, each) for each in (condition, yes, no))
    number = promoted(v, (a, b))
    if number.weak and not numeric.shape_of(test):
        known = numeric.truth(v, test)
        if isinstance(known, bool):
            return a if known else b
    shape = numeric.common_shape(v, (test, a, b))
    mask = _mask(v, test, shape, (test, a, b))
    args = [numeric.elements(v, each, number.dtype, shape, (test, a, b)) for each in (a, b)]
    return numeric.wrap(v.emit.select(mask, *args), number.weak and not shape)


def _mask(v: Visitor, test: Val, shape: tuple[Any, ...], others: Sequence[Val]) -> Value:
    if is_number(test):
        known = numeric.truth(v, test)
        return v.emit.constant(known, ScalarType(dtypes.i1)) if isinstance(known, bool) else known
    tensor = numeric.as_tensor(v, test)
    mask = numeric.wrap(v.emit.nonzero(tensor.value), False)
    return numeric.elements(v, mask, dtypes.i1, shape, others)


def _logical(v: Visitor, fn: str, a: Val, b: Val) -> Val:
    """A function of truth values, by element."""
    return arithmetic.binary(v, _OPERATORS[fn], to_bool_each(v, a), to_bool_each(v, b))


def to_bool_each(v: Visitor, value: Val) -> Val:
    """Whether each element is not zero."""
    return _logical_not(v, _logical_not(v, operand(v, value)))


def _as_float(v: Visitor, value: Val) -> Val:
    found = operand(v, value)
    number = numeric.number_type(v, found)
    return found if number.dtype.is_float else numeric.cast_to(v, found, dtypes.f32, weak=number.weak)


def _inverted(v: Visitor, value: Val) -> Val:
    return arithmetic.invert(v, value)


def _positive(v: Visitor, value: Val) -> Val:
    if numeric.number_type(v, operand(v, value)).dtype.is_bool:
        raise v.error(
            None, "PA0407", "asc.positive does not take bools", hint="convert them: x.astype(asc.int32)"
        )
    return operand(v, value)


_OTHERS: dict[str, Callable[..., Val]] = {
    "logical and": lambda v, a, b: _logical(v, "and", a, b),
    "logical or": lambda v, a, b: _logical(v, "or", a, b),
    "logical xor": lambda v, a, b: _logical(v, "xor", a, b),
    "invert": _inverted,
    "pos": _positive,
    "fabs": lambda v, value: absolute(v, _as_float(v, value)),
}
"""Functions that are no row of the number table."""


def absolute(v: Visitor, value: Val) -> Val:
    """`abs`."""
    if isinstance(value, Const) and is_number(value):
        return Const(abs(value.value))
    if isinstance(value, Scalar) and not value.weak and numeric.number_type(v, value).dtype.is_bool:
        return value
    if v.options.debug and is_number(value):
        from pyasc.frontend.debug import check_sign

        check_sign(v, value, numeric.number_type(v, value))
    return table_function(v, "abs", (value,))


def round_number(v: Visitor, value: Val, digits: Val) -> Val:
    """Builtin `round`: an int without digits; ties go to even."""
    places = digits.value if isinstance(digits, Const) else 0
    if isinstance(value, Const) and is_number(value):
        return Const(round(value.value, places) if places is not None else round(value.value))
    if not isinstance(digits, Const) or (places and not numeric.number_type(v, value).dtype.is_integer):
        raise v.error(None, "PA0208", "`round` to decimal places", hint="scale, round and scale back")
    if places is not None and places < 0:
        raise v.error(None, "PA0208", "`round` of ints to tens", hint="divide, round and multiply again")
    found = operand(v, value)
    if not numeric.number_type(v, found).dtype.is_float:
        return arithmetic.positive(v, found)
    rounded = table_function(v, "rint", (found,))
    return rounded if places == 0 else numeric.cast_to(v, rounded, dtypes.i64, weak=True)


def to_int(v: Visitor, value: Val) -> Val:
    """Builtin `int`: without the fraction; of a text, the number that it spells."""
    if _known(value):
        return _converted(v, int, value)
    if isinstance(value, SizeVal):
        return value
    _refuse_axes(v, "int", value)
    return numeric.cast_to(v, value, dtypes.i64, weak=True)


def _refuse_axes(v: Visitor, name: str, value: Val) -> None:
    if is_array(value) and numeric.shape_of(operand(v, value)):
        hint = f"use x.astype(asc.{name}32) for every element"
        raise v.error(None, "PA0402", f"`{name}` of {numeric.describe(value)}", hint=hint)


def _known(value: Val) -> TypeGuard[Const]:
    return isinstance(value, Const) and (is_number(value) or isinstance(value.value, str))


def _converted(v: Visitor, type_: Callable[[Any], Any], value: Const) -> Const:
    try:
        return Const(type_(value.value))
    except (ValueError, OverflowError) as error:
        raise v.error(None, "PA0406", str(error)) from None


def to_float(v: Visitor, value: Val) -> Val:
    """Builtin `float`; of a text, the number that it spells, such as `float("inf")`."""
    if _known(value):
        return _converted(v, float, value)
    _refuse_axes(v, "float", value)
    found = operand(v, value)
    wide = numeric.number_type(v, found).dtype is dtypes.f64
    return numeric.cast_to(v, found, dtypes.f64 if wide else numeric.weak_float(v).dtype, weak=True)


def to_bool(v: Visitor, value: Val) -> Val:
    """Builtin `bool`."""
    found = numeric.truth(v, value)
    return Const(found) if isinstance(found, bool) else Scalar(found, weak=True)


def integral(v: Visitor, fn: str, value: Val) -> Val:
    """`math.floor`, `ceil` and `trunc`, which give ints."""
    if isinstance(value, Const) and is_number(value):
        return Const(getattr(math, fn)(value.value))
    found = operand(v, value)
    if not numeric.number_type(v, found).dtype.is_float:
        return to_int(v, found)
    return numeric.cast_to(v, table_function(v, fn, (found,)), dtypes.i64, weak=True)


def combine(v: Visitor, fn: str, value: Val) -> Val:
    """Builtin `any` and `all` of a tuple."""
    if not isinstance(value, Tuple):
        raise v.error(None, "PA0402", f"`{fn}` of {numeric.describe(value)}", hint=f"use asc.{fn} for arrays")
    result: Val = Const(fn == "all")
    for each in value.items:
        truth = to_bool(v, each)
        negated = [arithmetic.logical_not(v, part) for part in (result, truth)]
        both = arithmetic.logical_and(v, *(negated if fn == "any" else (result, truth)))
        result = arithmetic.logical_not(v, both) if fn == "any" else both
    return result
