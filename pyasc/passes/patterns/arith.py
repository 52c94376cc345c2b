# SPDX-License-Identifier: Apache-2.0
"""Rewrites of arithmetic. Those on floats keep every bit, signed zeros and NaN included."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers import TABLE
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.constants import Number, fold_operation, wrap
from pyasc.passes.rewriter import Rewriter

_COMMUTATIVE = frozenset(row.name for row in TABLE.values() if row.commutative)

Rule = Callable[[arith.Elementwise, Rewriter], Value | None]


def fold_constants(op: Operation, rewriter: Rewriter) -> bool:
    """An operation on constants is a constant."""
    values: list[Number] = []
    for operand in op.operands:
        value = constant_of(operand)
        if value is None:
            return False
        values.append(value)
    result = fold_operation(op, values)
    if result is None:
        return False
    rewriter.replace(op, [rewriter.constant(result, op.results[0].type)])
    return True


def share_constant(op: Operation, rewriter: Rewriter) -> bool:
    """A constant inside a branch or loop moves to the start of the function."""
    assert isinstance(op, arith.Constant)
    if op.parent is rewriter.root.regions[0].block:
        return False
    rewriter.replace(op, [rewriter.constant(op.value, op.result.type)])
    return True


def simplify_elementwise(op: Operation, rewriter: Rewriter) -> bool:
    """Apply the rules of the operation's function."""
    assert isinstance(op, arith.Elementwise)
    fn, operands = op.fn, op.operands
    if isinstance(operands[-1].op, arith.Constant):
        if fold_constants(op, rewriter) or _apply(_CONSTANT_RULES.get(fn, ()), op, rewriter):
            return True
    elif isinstance(operands[0].op, arith.Constant) and fn in _COMMUTATIVE:
        op.operands = operands[::-1]
        rewriter.changed(op)
        return True
    return fn in _RULES and _apply(_RULES[fn], op, rewriter)


def _apply(rules: tuple[Rule, ...], op: arith.Elementwise, rewriter: Rewriter) -> bool:
    for rule in rules:
        value = rule(op, rewriter)
        if value is not None:
            rewriter.replace(op, [value])
            return True
    return False


def simplify_cast(op: Operation, rewriter: Rewriter) -> bool:
    """Casts that change nothing, chains of casts that are one, and casts of constants."""
    assert isinstance(op, arith.Cast)
    if op.value.type == op.result.type:
        rewriter.replace(op, [op.value])
        return True
    inner = op.value.op
    if isinstance(inner, arith.Cast) and _one_cast_does(inner.value, op.value, op.result):
        op.operands = [inner.value]
        rewriter.push(inner)
        rewriter.changed(op)
        return True
    return _cast_choice(op, rewriter) or fold_constants(op, rewriter)


def _cast_choice(op: arith.Cast, rewriter: Rewriter) -> bool:
    """A choice that is narrowed to the type one of its sides was widened from is a choice in that type."""
    choice = _made("select", op.value)
    if choice is None:
        return False
    narrow = op.result.type
    condition, *sides = choice.args
    if not any(isinstance(s.op, arith.Cast) and s.op.value.type == narrow for s in sides):
        return False
    if not holds_all(dtype_of(op.value.type), dtype_of(narrow)):
        return False
    chosen = [rewriter.value_before(op, arith.Cast(value=side, types=[narrow])) for side in sides]
    rewriter.replace(
        op, [rewriter.value_before(op, arith.Elementwise(fn="select", args=[condition, *chosen]))]
    )
    return True


def _one_cast_does(source: Value, middle: Value, target: Value) -> bool:
    a, b, c = dtype_of(source.type), dtype_of(middle.type), dtype_of(target.type)
    if holds_all(b, a):
        return True
    # Wrapping twice is wrapping once to the narrower.
    return a.is_integer and b.is_integer and c.is_integer and c.bits <= b.bits


_SIGNIFICAND_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def holds_all(wide: DType, narrow: DType) -> bool:
    """Whether every value of `narrow` is a value of `wide`, so that a conversion to it loses nothing."""
    if narrow is wide or narrow.is_bool:
        return True
    if wide.is_bool or (narrow.is_float and not wide.is_float):
        return False
    if narrow.is_float:
        return wide is dtypes.f64 or (wide is dtypes.f32 and narrow.bits == 16)
    value_bits = narrow.bits - narrow.is_signed
    if wide.is_float:
        return value_bits <= _SIGNIFICAND_BITS[wide.name]
    return value_bits <= wide.bits - wide.is_signed and (wide.is_signed or not narrow.is_signed)


def _dtype(op: arith.Elementwise) -> DType:
    return dtype_of(op.operands[-1].type)


def _same(op: arith.Elementwise, value: Number, rewriter: Rewriter) -> Value:
    return rewriter.constant(value, op.result.type)


def _is(value: Value, number: float) -> bool:
    """Whether the value is this constant, with the sign of a zero."""
    found = constant_of(value)
    return found is not None and found == number and math.copysign(1, found) == math.copysign(1, number)


def _made(fn: str, value: Value) -> arith.Elementwise | None:
    op = value.op
    return op if isinstance(op, arith.Elementwise) and op.fn == fn else None


def _build(op: arith.Elementwise, rewriter: Rewriter, fn: str, *args: Value) -> Value:
    return rewriter.value_before(op, arith.Elementwise(fn=fn, args=args))


def _neutral(*numbers: float) -> Rule:
    """The first operand when the second is neutral: for floats the second of `numbers`, when there are two."""

    def rule(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
        number = numbers[-1] if _dtype(op).is_float else numbers[0]
        return op.operands[0] if _is(op.operands[1], number) else None

    return rule


def _absorbing(number: int, result: int | None = None) -> Rule:
    """A constant when the second operand of an integer function is `number`."""

    def rule(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
        dtype = _dtype(op)
        if dtype.is_float or not _is(op.operands[1], number):
            return None
        value = number if result is None else result
        return _same(op, bool(value) if dtype.is_bool else value, rewriter)

    return rule


def _itself(op: arith.Elementwise, _: Rewriter) -> Value | None:
    return op.operands[0] if op.operands[0] is op.operands[1] else None


def _with_itself(value: Number, floats: bool = False) -> Rule:
    """A constant when both operands are one value; with NaN only where `floats` says so."""

    def rule(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
        if op.operands[0] is not op.operands[1]:
            return None
        dtype = _dtype(op)
        if dtype.is_float and not floats:
            return None
        same = isinstance(value, bool) or not dtype.is_bool
        return _same(op, value if same else bool(value), rewriter)

    return rule


def _undone(op: arith.Elementwise, _: Rewriter) -> Value | None:
    inner = _made(op.fn, op.operands[0])
    return inner.operands[0] if inner is not None else None


def _add_of_negative(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    opposite = "sub" if op.fn == "add" else "add"
    inner = _made("neg", op.operands[1])
    return None if inner is None else _build(op, rewriter, opposite, op.operands[0], inner.operands[0])


def _sum_with_constants(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """`(x + a) - b` is `x + (a - b)` for integers."""
    inner = op.operands[0].op
    dtype = _dtype(op)
    if not dtype.is_integer or not isinstance(inner, arith.Elementwise) or inner.fn not in ("add", "sub"):
        return None
    first, second = constant_of(inner.operands[1]), constant_of(op.operands[1])
    if not isinstance(first, int) or not isinstance(second, int):
        return None
    total = (first if inner.fn == "add" else -first) + (second if op.fn == "add" else -second)
    total = wrap(total, dtype)
    fn = "sub" if total < 0 else "add"
    return _build(op, rewriter, fn, inner.operands[0], _same(op, wrap(abs(total), dtype), rewriter))


def _add_negative_constant(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """`x + -3` is `x - 3` for integers, so that one form is seen."""
    number = constant_of(op.operands[1])
    dtype = _dtype(op)
    if not dtype.is_integer or not isinstance(number, int) or not -(1 << dtype.bits - 1) < number < 0:
        return None
    opposite = "sub" if op.fn == "add" else "add"
    return _build(op, rewriter, opposite, op.operands[0], _same(op, -number, rewriter))


def _product_with_constants(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    inner = _made("mul", op.operands[0])
    dtype = _dtype(op)
    if inner is None or not dtype.is_integer:
        return None
    first, second = constant_of(inner.operands[1]), constant_of(op.operands[1])
    if not isinstance(first, int) or not isinstance(second, int):
        return None
    return _build(op, rewriter, "mul", inner.operands[0], _same(op, wrap(first * second, dtype), rewriter))


def _product_with_minus_one(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    if _dtype(op).is_integer and _is(op.operands[1], -1):
        return _build(op, rewriter, "neg", op.operands[0])
    return None


def _zero_minus(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    if _is(op.operands[0], 0) and _dtype(op).is_integer:
        return _build(op, rewriter, "neg", op.operands[1])
    return None


def _divide_by_power_of_two(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """`x / 8.0` is `x * 0.125`: both round the same number once."""
    divisor, dtype = constant_of(op.operands[1]), _dtype(op)
    if divisor is None or not math.isfinite(divisor) or not divisor:
        return None
    mantissa, exponent = math.frexp(divisor)
    limit = {"f16": 14, "bf16": 126, "f32": 126, "f64": 1022}[dtype.name]
    if abs(mantissa) != 0.5 or abs(exponent) >= limit:
        return None
    return _build(op, rewriter, "mul", op.operands[0], _same(op, 1.0 / divisor, rewriter))


def _square(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    if _is(op.operands[1], 2):
        return _build(op, rewriter, "mul", op.operands[0], op.operands[0])
    return None


def _abs_of_sign_change(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    inner = _made("neg", op.operands[0])
    if inner is not None and _dtype(op).is_signed:
        return _build(op, rewriter, "abs", inner.operands[0])
    return op.operands[0] if _made("abs", op.operands[0]) is not None else None


def _with_truth(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """A logical operation with a constant is the other operand, its negation or the constant."""
    truth = constant_of(op.operands[1])
    if not isinstance(truth, bool) or not _dtype(op).is_bool:
        return None
    if op.fn == "xor":
        return _build(op, rewriter, "not", op.operands[0]) if truth else op.operands[0]
    return op.operands[0] if truth == (op.fn == "and") else op.operands[1]


_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _not_comparison(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """The negation of a comparison is the opposite one, but for NaN (`eq` and `ne` are opposites always)."""
    inner = op.operands[0].op
    if not isinstance(inner, arith.Elementwise) or inner.fn not in _NEGATED or not _dtype(op).is_bool:
        return None
    if dtype_of(inner.operands[0].type).is_float and inner.fn not in ("eq", "ne"):
        return None
    return _build(op, rewriter, _NEGATED[inner.fn], *inner.operands)


def _compare_with_truth(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """`b == True` is `b`, and `b == False` is `not b`."""
    truth = constant_of(op.operands[1])
    if not _dtype(op).is_bool or not isinstance(truth, bool):
        return None
    return op.operands[0] if truth == (op.fn == "eq") else _build(op, rewriter, "not", op.operands[0])


def _compare_widened_truth(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """`int(b) != 0` is `b`, and `int(b) == 0` is `not b`."""
    inner = op.operands[0].op
    if not isinstance(inner, arith.Cast) or not dtype_of(inner.value.type).is_bool:
        return None
    if constant_of(op.operands[1]) != 0:
        return None
    return inner.value if op.fn == "ne" else _build(op, rewriter, "not", inner.value)


def _select_known(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    condition, first, second = op.operands
    known = constant_of(condition)
    if known is not None:
        return first if known else second
    if first is second:
        return first
    inner = _made("not", condition)
    return None if inner is None else _build(op, rewriter, "select", inner.operands[0], second, first)


def _select_truth(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """`True if c else b` and `c if c else b` are `c or b`, and so on, where all three have one shape."""
    condition, first, second = op.operands
    if condition.type != first.type:
        return None
    # `a and b` and `a or b` arrive as choices by `a`. Not only are these shorter: g++ 12 forgets about NaN where it
    # sees one comparison tested twice on the way to a branch.
    if second is condition:
        return _build(op, rewriter, "and", condition, first)
    if first is condition:
        return _build(op, rewriter, "or", condition, second)
    match constant_of(first), constant_of(second):
        case (True, False):
            return condition
        case (False, True):
            return _build(op, rewriter, "not", condition)
        case (True, _):
            return _build(op, rewriter, "or", condition, second)
        case (_, False):
            return _build(op, rewriter, "and", condition, first)
        case _:
            return None


def _same_condition(op: arith.Elementwise, rewriter: Rewriter) -> Value | None:
    """A choice inside a choice on the same condition is already made."""
    condition, first, second = op.operands
    inner_first, inner_second = _made("select", first), _made("select", second)
    if inner_first is not None and inner_first.operands[0] is condition:
        return _build(op, rewriter, "select", condition, inner_first.operands[1], second)
    if inner_second is not None and inner_second.operands[0] is condition:
        return _build(op, rewriter, "select", condition, first, inner_second.operands[2])
    return None


_CONSTANT_RULES: dict[str, tuple[Rule, ...]] = {
    "add": (_neutral(0, -0.0), _sum_with_constants, _add_negative_constant),
    "sub": (_neutral(0, 0.0), _sum_with_constants, _add_negative_constant),
    "mul": (_neutral(1), _absorbing(0), _product_with_constants, _product_with_minus_one),
    "div": (_neutral(1), _divide_by_power_of_two),
    "floordiv": (_neutral(1, math.nan), _absorbing(0)),
    "mod": (_absorbing(1, 0), _absorbing(0)),
    "pow": (_neutral(1), _square),
    "and": (_with_truth, _absorbing(0), _neutral(-1)),
    "or": (_with_truth, _neutral(0), _absorbing(-1)),
    "xor": (_with_truth, _neutral(0)),
    "shl": (_neutral(0),),
    "shr": (_neutral(0),),
    "eq": (_compare_with_truth, _compare_widened_truth),
    "ne": (_compare_with_truth, _compare_widened_truth),
}
"""Rules that look at a constant second operand, by function."""

_RULES: dict[str, tuple[Rule, ...]] = {
    "add": (_add_of_negative,),
    "sub": (_with_itself(0), _zero_minus, _add_of_negative),
    "neg": (_undone,),
    "not": (_undone, _not_comparison),
    "abs": (_abs_of_sign_change,),
    "minimum": (_itself,),
    "maximum": (_itself,),
    "pymin": (_itself,),
    "pymax": (_itself,),
    "and": (_itself,),
    "or": (_itself,),
    "xor": (_with_itself(0),),
    "eq": (_with_itself(True),),
    "ne": (_with_itself(False),),
    "lt": (_with_itself(False, floats=True),),
    "gt": (_with_itself(False, floats=True),),
    "le": (_with_itself(True),),
    "ge": (_with_itself(True),),
    "select": (_select_known, _select_truth, _same_condition),
}
"""The other rules, by function."""
