# SPDX-License-Identifier: Apache-2.0
"""Python's operators on numbers and arrays: exact folding of constants, promotion, and one operation otherwise."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from pyasc.frontend import numeric
from pyasc.frontend.emit import bounds, fits
from pyasc.frontend.numeric import apply, describe, number_type, operand, size_polynomial
from pyasc.frontend.promotion import WEAK_INT, NumberType, promote
from pyasc.frontend.values import Const, Scalar, SizeVal, Tuple, Val, is_array, is_iterator, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.language.dtypes import BY_IR, ElementType


class Operator(Record):
    """One Python operator: its sign, its row of the number table, its meaning on Python numbers."""

    sign: str
    fn: str
    fold: Callable[..., Any]


BINARY: dict[type[ast.AST], Operator] = {
    ast.Add: Operator("+", "add", operator.add),
    ast.Sub: Operator("-", "sub", operator.sub),
    ast.Mult: Operator("*", "mul", operator.mul),
    ast.Div: Operator("/", "div", operator.truediv),
    ast.FloorDiv: Operator("//", "floordiv", operator.floordiv),
    ast.Mod: Operator("%", "mod", operator.mod),
    ast.Pow: Operator("**", "pow", operator.pow),
    ast.BitAnd: Operator("&", "and", operator.and_),
    ast.BitOr: Operator("|", "or", operator.or_),
    ast.BitXor: Operator("^", "xor", operator.xor),
    ast.LShift: Operator("<<", "shl", operator.lshift),
    ast.RShift: Operator(">>", "shr", operator.rshift),
}

COMPARE: dict[type[ast.AST], Operator] = {
    ast.Lt: Operator("<", "lt", operator.lt),
    ast.LtE: Operator("<=", "le", operator.le),
    ast.Gt: Operator(">", "gt", operator.gt),
    ast.GtE: Operator(">=", "ge", operator.ge),
    ast.Eq: Operator("==", "eq", operator.eq),
    ast.NotEq: Operator("!=", "ne", operator.ne),
}

_NARROW = (dtypes.f16, dtypes.bf16)
_POLYNOMIAL = frozenset({"add", "sub", "mul"})


def binary(v: Visitor, op: Operator, left: Val, right: Val) -> Val:
    """`left op right`."""
    if isinstance(left, Const) and isinstance(right, Const):
        return _fold(v, op, left, right)
    if isinstance(left, Tuple) or isinstance(right, Tuple):
        return _tuples(v, op, left, right)
    if op.fn in _POLYNOMIAL:
        a, b = size_polynomial(left), size_polynomial(right)
        if a is not None and b is not None:
            return size_val(op.fold(a, b))
    a, b = operand(v, left), operand(v, right)
    return _compute(v, op, a, b)


def size_val(expr: Any) -> Val:
    """A polynomial as a value; one without names is a constant."""
    known = expr.as_constant
    return SizeVal(expr) if known is None else Const(known)


def _fold(v: Visitor, op: Operator, left: Const, right: Const) -> Val:
    if not (
        (is_number(left) and is_number(right))
        or (isinstance(left.value, str) and isinstance(right.value, str))
    ):
        raise _no_operator(v, op, left, right)
    if _is_endless(op, left.value, right.value):
        raise v.error(None, "PA0406", "this constant has too many digits")
    try:
        folded = op.fold(left.value, right.value)
        if isinstance(folded, complex):
            raise ValueError("it is a complex number")
        return Const(folded)
    except ZeroDivisionError:
        # Versions of Python word it differently.
        if op.fn == "pow":
            raise v.error(None, "PA0406", "zero to a negative power") from None
        raise v.error(None, "PA0406", "division by zero", "the divisor is 0 whenever this runs") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise v.error(None, "PA0406", f"this constant cannot be computed: {error.args[-1]}") from None


_MOST_BITS = 1 << 16
"""Integers with more bits than this are not computed."""
_MOST_ITEMS = 1 << 12
"""Tuples with more items than this are not made by repetition."""


def _is_endless(op: Operator, left: Any, right: Any) -> bool:
    """Whether a power or shift of known integers would take a long time and much memory."""
    if not (isinstance(left, int) and isinstance(right, int)) or right <= 0:
        return False
    bits = left.bit_length()
    return (op.fn == "pow" and bits > 1 and bits * right > _MOST_BITS) or (
        op.fn == "shl" and bits + right > _MOST_BITS
    )


def _no_operator(v: Visitor, op: Operator, left: Val, right: Val) -> Exception:
    return v.error(None, "PA0407", f"`{op.sign}` does not take {describe(left)} and {describe(right)}")


def _tuples(v: Visitor, op: Operator, left: Val, right: Val) -> Val:
    if is_iterator(left) or is_iterator(right):
        raise _no_operator(v, op, left, right)
    if (
        op.fn == "add"
        and isinstance(left, Tuple)
        and isinstance(right, Tuple)
        and left.is_list == right.is_list
    ):
        return Tuple(left.items + right.items, left.is_list)
    if op.fn == "mul":
        items, count = (left, right) if isinstance(left, Tuple) else (right, left)
        if isinstance(items, Tuple) and isinstance(count, Const) and isinstance(count.value, int):
            if len(items.items) * count.value > _MOST_ITEMS:
                total = len(items.items) * count.value
                raise v.error(None, "PA0703", f"a tuple of {total} items", hint="use an array: asc.full(...)")
            return Tuple(items.items * count.value, items.is_list)
    raise _no_operator(v, op, left, right)


def _compute(v: Visitor, op: Operator, a: Val, b: Val) -> Val:
    fn, number = numeric.application(v, op.fn, (a, b))
    if v.options.debug and number.dtype.is_integer:
        from pyasc.frontend.debug import check_integers

        check_integers(v, fn, a, b, number)
    if op.fn == "pow":
        return _power(v, fn, a, b, number)
    same = _neutral(op.fn, a, b, number)
    return apply(v, fn, (a, b), number) if same is None else same


def _neutral(fn: str, a: Val, b: Val, number: NumberType) -> Val | None:
    """`i + 0`, `i - 0` and `i * 1` on Python ints, so that index arithmetic reads as it was meant."""
    if (
        number != WEAK_INT
        or not isinstance(b, Const)
        or not isinstance(a, Scalar)
        or a.dtype is not dtypes.i64
    ):
        return None
    neutral = {"add": 0, "sub": 0, "mul": 1, "floordiv": 1}.get(fn)
    return a if neutral is not None and b.value == neutral and not isinstance(b.value, bool) else None


def _power(v: Visitor, fn: str, a: Val, b: Val, number: NumberType) -> Val:
    exponent = b.value if isinstance(b, Const) else None
    if number.dtype.is_integer:
        return _integer_power(v, a, b, number, exponent)
    # The exponents for which NumPy uses a simpler function, with the same rounding as that.
    if exponent == 2:
        return apply(v, "mul", (a, a), number)
    if exponent == 0.5:
        return _half_power(v, a, number)
    if exponent == 1:
        return apply(v, "mul", (a, Const(1)), number)
    if exponent == -1:
        return apply(v, "div", (Const(1.0), a), number)
    return apply(v, fn, (a, b), number)


def _half_power(v: Visitor, a: Val, number: NumberType) -> Val:
    """`a ** 0.5`: the root, which NumPy takes of arrays; of numbers the power, which differs for -0.0 and -inf."""
    root = apply(v, "sqrt", (a,), number)
    if not isinstance(root, Scalar):
        return root
    infinity = Const(float("inf"))
    low = v.emit.fn("eq", *(numeric.scalar(v, each, number.dtype) for each in (a, Const(-float("inf")))))
    plain = apply(v, "add", (root, Const(0.0)), number)
    values = [numeric.scalar(v, each, number.dtype) for each in (infinity, plain)]
    return Scalar(v.emit.select(low, *values), number.weak)


def _integer_power(v: Visitor, a: Val, b: Val, number: NumberType, exponent: int | None) -> Val:
    if exponent is None:
        found = numeric.common_shape(v, (a, b))
        if not found and number.dtype.is_signed:
            power = numeric.scalar(v, b, number.dtype)
            fine = v.emit.fn("ge", power, v.emit.constant(0, number.dtype))
            numeric.check(v, fine, "ValueError", "an integer to the negative power {}", [power])
        elif found and number.dtype.is_signed:
            _refuse_negative_powers(v, b)
        return apply(v, "pow", (a, b), number)
    if exponent < 0 and not number.weak:
        raise v.error(
            None,
            "PA0407",
            "an integer to a negative power is not an integer",
            hint="convert the base to a float",
        )
    if exponent == -1:
        return apply(v, "div", (Const(1.0), a), numeric.weak_float(v))
    if exponent < 0:
        return apply(v, "pow", (a, Const(float(exponent))), numeric.weak_float(v))
    if exponent == 2:
        return apply(v, "mul", (a, a), number)
    return apply(v, "pow", (a, b), number)


def _refuse_negative_powers(v: Visitor, exponents: Val) -> None:
    """A check that no exponent of an array of integers is negative, as NumPy has it."""
    from pyasc.frontend.reductions import all_

    fine = numeric.truth(v, all_(v, compare(v, COMPARE[ast.GtE], exponents, Const(0))))
    if isinstance(fine, Value):
        numeric.check(v, fine, "ValueError", "integers to negative integer powers")


def compare(v: Visitor, op: Operator, left: Val, right: Val) -> Val:
    """`left op right` for one of the six comparisons."""
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return Const(
                bool(op.fold(_as_dtype(left.value, right.value), _as_dtype(right.value, left.value)))
            )
        except TypeError:
            raise _no_operator(v, op, left, right) from None
    if isinstance(left, Tuple) and isinstance(right, Tuple) and op.fn in ("eq", "ne"):
        return _compare_tuples(v, op, left, right)
    known = _compare_sizes(op, left, right)
    if known is not None:
        return Const(known)
    if not all(is_number(x) or is_array(x) for x in (left, right)):
        if op.fn in ("eq", "ne"):
            return Const(op.fn == "ne")
        raise _no_operator(v, op, left, right)
    a, b = operand(v, left), operand(v, right)
    mirrored = next(each for each in COMPARE.values() if each.fn == _MIRRORED.get(op.fn, op.fn))
    for each, first, second in ((op, a, b), (mirrored, b, a)):
        if isinstance(second, Const):
            dtype = number_type(v, first).dtype
            if dtype.is_integer and not _is_held(second, dtype):
                return _compare_beyond(v, each, first, second.value, dtype)
        elif _is_below_zero_possible(v, first, second):
            return _compare_with_unsigned(v, each, first, second)
    fn, number = numeric.application(v, op.fn, (a, b))
    return apply(v, fn, (a, b), _comparable(number, a, b))


_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _is_below_zero_possible(v: Visitor, signed: Val, unsigned: Val) -> bool:
    """Whether a signed number or array meets one of uint64, for which no integer type holds both."""
    if isinstance(signed, Const):
        return False
    a, b = number_type(v, signed), number_type(v, unsigned)
    return a.dtype.kind == "i" and b.dtype is dtypes.u64 and not b.weak


def _is_held(number: Const, dtype: DType) -> bool:
    """Whether an integer type holds a number that is known; floats and bools are no matter here."""
    return type(number.value) is not int or fits(number.value, dtype)


def _compare_beyond(v: Visitor, op: Operator, value: Val, number: int, dtype: DType) -> Val:
    """Elements with an int that their type does not hold: the same for all of them."""
    holds = bool(op.fold(0, number))
    if not is_array(value):
        return Const(holds)
    lowest = Const(bounds(dtype)[0])
    return compare(v, COMPARE[ast.GtE if holds else ast.Lt], value, lowest)


def _compare_with_unsigned(v: Visitor, op: Operator, signed: Val, unsigned: Val) -> Val:
    """Exact, as in NumPy: what is below zero is less than everything, the rest is compared as uint64."""
    negative = compare(v, COMPARE[ast.Lt], signed, Const(0))
    same = compare(v, op, numeric.cast_to(v, signed, dtypes.u64), unsigned)
    if op.fn in ("lt", "le", "ne"):
        return binary(v, BINARY[ast.BitOr], negative, same)
    return binary(v, BINARY[ast.BitAnd], logical_not_each(v, negative), same)


def logical_not_each(v: Visitor, value: Val) -> Val:
    """`~value` of truth values."""
    return invert(v, value) if is_array(value) else logical_not(v, value)


def _as_dtype(value: Any, other: Any) -> Any:
    """A NumPy type or its name as the element type that `x.dtype` is compared with."""
    if not isinstance(other, ElementType) or isinstance(value, ElementType):
        return value
    name = value if isinstance(value, str) else getattr(value, "__name__", str(value))
    dtype = dtypes.BY_NUMPY.get(name)
    return value if dtype is None else BY_IR[dtype]


def _comparable(number: NumberType, a: Val, b: Val) -> NumberType:
    """The type to compare in: a Python int must not wrap before it is compared with narrower elements."""
    if number.weak or not number.dtype.is_integer or number.dtype.bits == 64:
        return number
    for each in (a, b):
        if isinstance(each, SizeVal) or (isinstance(each, Scalar) and each.weak and each.dtype.bits == 64):
            return NumberType(dtypes.i64)
    return number


def _compare_sizes(op: Operator, left: Val, right: Val) -> bool | None:
    """The answer where it is the same for all sizes: the difference of two polynomials is a constant."""
    a, b = size_polynomial(left), size_polynomial(right)
    if a is None or b is None:
        return None
    difference = (a - b).as_constant
    return None if difference is None else bool(op.fold(difference, 0))


def _compare_tuples(v: Visitor, op: Operator, left: Tuple, right: Tuple) -> Val:
    if len(left.items) != len(right.items) or left.is_list != right.is_list:
        return Const(op.fn == "ne")
    result: Val = Const(True)
    equal = COMPARE[ast.Eq]
    for a, b in zip(left.items, right.items, strict=True):
        result = logical_and(v, result, compare(v, equal, a, b))
    return result if op.fn == "eq" else logical_not(v, result)


def logical_and(v: Visitor, a: Val, b: Val) -> Val:
    """Both truth values, each evaluated already."""
    first, second = numeric.truth(v, a), numeric.truth(v, b)
    if isinstance(first, bool):
        return b if first else Const(False)
    if isinstance(second, bool):
        return a if second else Const(False)
    return Scalar(v.emit.fn("and", first, second), weak=True)


def logical_not(v: Visitor, value: Val) -> Val:
    """`not value`."""
    found = numeric.truth(v, value)
    if isinstance(found, bool):
        return Const(not found)
    return Scalar(v.emit.fn("not", found), weak=True)


def negate(v: Visitor, value: Val) -> Val:
    """`-value`."""
    if isinstance(value, Const) and is_number(value):
        return Const(-value.value)
    if isinstance(value, SizeVal):
        return size_val(value.expr * -1)
    found = operand(v, value)
    fn, number = numeric.application(v, "neg", (found,))
    if v.options.debug:
        from pyasc.frontend.debug import check_sign

        check_sign(v, found, number)
    return apply(v, fn, (found,), number)


def positive(v: Visitor, value: Val) -> Val:
    """`+value`."""
    if isinstance(value, Const) and is_number(value):
        return Const(+value.value)
    number = number_type(v, value)
    if number.dtype.is_bool:
        if not number.weak:
            raise v.error(None, "PA0407", "`+` does not take bools", hint="convert them: asc.int32(x)")
        return numeric.cast_to(v, value, dtypes.i64, weak=True)
    return operand(v, value)


def invert(v: Visitor, value: Val) -> Val:
    """`~value`."""
    if isinstance(value, Const) and isinstance(value.value, int):
        return Const(~int(value.value))
    found = operand(v, value)
    fn, number = numeric.application(v, "not", (found,))
    return apply(v, fn, (found,), number)


def accumulate(v: Visitor, sign: str, total: Val, term: Val) -> Val | None:
    """`total += term` of float16 or bfloat16 numbers, carried in float32; None when it is not such a sum."""
    if not (is_number(total) and is_number(term)) or (isinstance(total, Const) and isinstance(term, Const)):
        return None
    number = promote(number_type(v, total), number_type(v, term))
    if number.weak or number.dtype not in _NARROW:
        return None
    wide = [numeric.scalar(v, each, dtypes.f32) for each in (total, term)]
    return Scalar(v.emit.fn("add" if sign == "+" else "sub", *wide), rounds_to=number.dtype)


def wide_product(v: Visitor, left: Val, right: Val) -> Scalar | None:
    """The exact product of float16 or bfloat16 numbers, which float32 holds; None for any other product."""
    if not all(isinstance(each, Scalar) for each in (left, right)):
        return None
    a, b = operand(v, left), operand(v, right)
    number = numeric.promoted(v, (a, b))
    if number.weak or number.dtype not in _NARROW:
        return None
    wide = [v.emit.cast(numeric.scalar(v, each, number.dtype), dtypes.f32) for each in (a, b)]
    return Scalar(v.emit.fn("mul", *wide), rounds_to=number.dtype)
