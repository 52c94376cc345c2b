# SPDX-License-Identifier: Apache-2.0
"""Scalars of the ascend level as C++ expressions: a handler for each function of the number table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pyasc.codegen.ascendc.inlining import may_inline
from pyasc.codegen.ascendc.signs import divides, nonnegative
from pyasc.codegen.ascendc.spelling import CTYPES, converted, literal
from pyasc.codegen.cpp.nodes import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    EQUALITY,
    PRIMARY,
    PRODUCT,
    RELATION,
    SHIFT,
    SUM,
    TERNARY,
    UNARY,
    Expr,
)
from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc, asc_cube
from pyasc.ir.dtypes import DType
from pyasc.ir.types import dtype_of

Inner = Callable[[Value], Expr]
_AND, _OR = 5, 4
_INT_BITS = 32
_WIDENED = frozenset(("add", "sub", "mul", "neg", "not", "abs", "shl", "floordiv", "pow"))
"""Functions of narrower integers whose result C++ has as an int, which may be another number."""


class NotScalar(TypeError):
    """Arithmetic that the scalar unit has no operator for."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of the number table with the expressions of its arguments; `dtype` is that of the last one."""

    op: arith.Elementwise
    args: list[Expr]
    dtype: DType
    inner: Inner

    def refused(self) -> NotScalar:
        """The error for a function without an operator."""
        return NotScalar(f"{self.op.fn} of one {self.dtype} number")


def scalar(op: Operation, inner: Inner) -> Expr:
    """The expression of a pure scalar operation. Raises NotScalar."""
    match op:
        case arith.Constant():
            return literal(op.value, dtype_of(op.result.type))
        case arith.Cast():
            return converted(inner(op.value), dtype_of(op.value.type), dtype_of(op.result.type))
        case arith.Elementwise():
            return _elementwise(op, inner)
        case asc.CoreNumber():
            return Expr(f"{op.call}()")
        case asc_cube.RoundUp():
            return Expr(f"RoundUp<{CTYPES[dtype_of(op.result.type)]}>({inner(op.value)}, {inner(op.unit)})")
        case _:
            raise NotScalar(op.name)


def _elementwise(op: arith.Elementwise, inner: Inner) -> Expr:
    dtype = dtype_of(op.args[-1].type)
    applied = Applied(op, [inner(arg) for arg in op.args], dtype, inner)
    handler = _FUNCTIONS.get(op.fn)
    if handler is None or (dtype in (dtypes.f16, dtypes.bf16) and op.fn != "select"):
        raise applied.refused()
    made = handler(applied)
    if op.fn in _WIDENED and dtype.is_integer and dtype.bits < _INT_BITS:
        # C++ computes narrower integers as int, which neither wraps as they do nor is the type of their vectors.
        return Expr(f"static_cast<{CTYPES[dtype]}>({made})")
    return made


def _infix(symbol: str, precedence: int, applied: Applied) -> Expr:
    left, right = applied.args
    return Expr(f"{left.inside(precedence)} {symbol} {right.inside(precedence + 1)}", precedence)


def _sum(applied: Applied) -> Expr:
    """A negative constant is subtracted."""
    left, right = applied.args
    if str(right).startswith("-") and isinstance(applied.op.args[1].op, arith.Constant):
        return Expr(f"{left.inside(SUM)} - {str(right)[1:]}", SUM)
    if applied.dtype.is_integer:
        return Expr(f"{left.inside(SUM)} + {right.inside(SUM)}", SUM)
    return _infix("+", SUM, applied)


def _logical(symbol: str, precedence: int, bits: tuple[str, int], applied: Applied) -> Expr:
    if applied.dtype is not dtypes.i1:
        return _bits(*bits, applied)
    # Mixed operators get their parentheses, as compilers ask for.
    sides = [
        f"({each})" if each.precedence in (_AND, _OR) else each.inside(precedence) for each in applied.args
    ]
    return Expr(f" {symbol} ".join(sides), precedence)


def _bits(symbol: str, precedence: int, applied: Applied) -> Expr:
    if not applied.dtype.is_integer:
        raise applied.refused()
    return Expr(f" {symbol} ".join(each.inside(UNARY) for each in applied.args), precedence)


def _exclusive(applied: Applied) -> Expr:
    if applied.dtype is dtypes.i1:
        left, right = applied.args
        return Expr(f"{left.inside(EQUALITY + 1)} != {right.inside(EQUALITY + 1)}", EQUALITY)
    return _bits("^", BIT_XOR, applied)


def _not(applied: Applied) -> Expr:
    (arg,) = applied.args
    if applied.dtype is dtypes.i1:
        return Expr(f"!{arg.inside(UNARY)}", UNARY)
    if applied.dtype.is_integer:
        return Expr(f"~{arg.inside(PRIMARY)}", UNARY)
    raise applied.refused()


def _neg(applied: Applied) -> Expr:
    return Expr(f"-{applied.args[0].inside(PRIMARY)}", UNARY)


def _extreme(symbol: str, applied: Applied) -> Expr:
    """NumPy's: a NaN wins."""
    if not applied.dtype.is_float:
        return _first_if(symbol, applied)
    left, right = (each.inside(RELATION + 1) for each in applied.args)
    return Expr(f"{left} {symbol} {right} || {left} != {left} ? {left} : {right}", TERNARY)


def _python_extreme(symbol: str, applied: Applied) -> Expr:
    """Python's: the second only where the comparison holds."""
    if not applied.dtype.is_float:
        return _first_if(symbol, applied)
    left, right = (each.inside(RELATION + 1) for each in applied.args)
    return Expr(f"{right} {symbol} {left} ? {right} : {left}", TERNARY)


def _first_if(symbol: str, applied: Applied) -> Expr:
    left, right = (each.inside(RELATION + 1) for each in applied.args)
    first, second = (each.inside(TERNARY + 1) for each in applied.args)
    return Expr(f"{left} {symbol} {right} ? {first} : {second}", TERNARY)


def _select(applied: Applied) -> Expr:
    condition, then, otherwise = (each.inside(TERNARY + 1) for each in applied.args)
    return Expr(f"{condition} ? {then} : {otherwise}", TERNARY)


def _abs(applied: Applied) -> Expr:
    (arg,) = applied.args
    inside, negated = arg.inside(RELATION + 1), arg.inside(PRIMARY)
    if applied.dtype is dtypes.f32:
        # Subtracted from 0, so that -0.0 becomes 0.0.
        return Expr(f"{inside} <= 0.0f ? 0.0f - {negated} : {inside}", TERNARY)
    if applied.dtype.is_integer:
        return Expr(f"{inside} < 0 ? -{negated} : {inside}", TERNARY)
    raise applied.refused()


def _isnan(applied: Applied) -> Expr:
    inside = applied.args[0].inside(EQUALITY + 1)
    return Expr(f"{inside} != {inside}", EQUALITY)


def _floordiv(applied: Applied) -> Expr:
    numerator = _rounded_up(applied)
    if not _exact(applied):
        return _helper("FloorDivide", applied)
    if numerator is not None:
        type_ = CTYPES[applied.dtype]
        return Expr(f"CeilDiv<{type_}>({applied.inner(numerator)}, {applied.args[1]})")
    return _infix("/", PRODUCT, applied)


def _mod(applied: Applied) -> Expr:
    return _infix("%", PRODUCT, applied) if _exact(applied) else _helper("FloorModulo", applied)


def _fmod(applied: Applied) -> Expr:
    if applied.dtype is not dtypes.f32:
        raise applied.refused()
    return _helper("Remainder", applied)


def _exact(applied: Applied) -> bool:
    """Whether C++ divides as Python does."""
    if not applied.dtype.is_integer:
        raise applied.refused()
    return nonnegative(applied.op.args[0]) and divides(applied.op)


def _mul(applied: Applied) -> Expr:
    """A quotient rounded up, times its divisor, is a size in whole units."""
    division, unit = applied.op.args[0].op, applied.op.args[1]
    if (
        isinstance(division, arith.Elementwise)
        and division.fn == "floordiv"
        and _is_spelled_out(division.result, applied.inner)
        and _same_number(division.args[1], unit)
    ):
        inner = Applied(division, [], applied.dtype, applied.inner)
        numerator = _rounded_up(inner)
        if numerator is not None and _exact(inner):
            type_ = CTYPES[applied.dtype]
            return Expr(f"RoundUp<{type_}>({applied.inner(numerator)}, {applied.args[1]})")
    return _infix("*", PRODUCT, applied)


def _rounded_up(applied: Applied) -> Value | None:
    """What a division rounds up: `n` in `(n + (unit - 1)) / unit` and in `(n + unit - 1) / unit`."""
    total, unit = applied.op.args
    if not isinstance(total.op, arith.Elementwise) or not _is_spelled_out(total, applied.inner):
        return None
    fn, args = total.op.fn, total.op.args
    divisor = _number(unit)
    if fn == "add" and divisor is not None and _number(args[1]) == divisor - 1:
        return args[0]
    if fn != "sub" or _number(args[1]) != 1 or not _is_spelled_out(args[0], applied.inner):
        return None
    inside = args[0].op
    whole = isinstance(inside, arith.Elementwise) and inside.fn == "add" and inside.args[1] is unit
    return inside.operands[0] if whole and inside is not None else None


def _is_spelled_out(value: Value, inner: Inner) -> bool:
    """Whether a value is written where it is used, and is no member of the class that another method computes."""
    return may_inline(value) and not inner(value).text.isidentifier()


def _number(value: Value) -> int | None:
    return int(value.op.value) if isinstance(value.op, arith.Constant) else None


def _same_number(one: Value, other: Value) -> bool:
    return one is other or (_number(one) is not None and _number(one) == _number(other))


def _shift(symbol: str, helper: str, applied: Applied) -> Expr:
    count = _number(applied.op.args[1])
    if count is not None and 0 <= count < applied.dtype.bits:
        return Expr(f" {symbol} ".join(each.inside(SUM) for each in applied.args), SHIFT)
    return _helper(helper, applied)


def _helper(name: str, applied: Applied) -> Expr:
    return Expr(f"{name}<{CTYPES[applied.dtype]}>({', '.join(map(str, applied.args))})")


_FUNCTIONS: dict[str, Callable[[Applied], Expr]] = {
    "add": _sum,
    "sub": partial(_infix, "-", SUM),
    "mul": _mul,
    "div": partial(_infix, "/", PRODUCT),
    "floordiv": _floordiv,
    "mod": _mod,
    "fmod": _fmod,
    "lt": partial(_infix, "<", RELATION),
    "le": partial(_infix, "<=", RELATION),
    "gt": partial(_infix, ">", RELATION),
    "ge": partial(_infix, ">=", RELATION),
    "eq": partial(_infix, "==", EQUALITY),
    "ne": partial(_infix, "!=", EQUALITY),
    "and": partial(_logical, "&&", _AND, ("&", BIT_AND)),
    "or": partial(_logical, "||", _OR, ("|", BIT_OR)),
    "xor": _exclusive,
    "not": _not,
    "neg": _neg,
    "minimum": partial(_extreme, "<"),
    "maximum": partial(_extreme, ">"),
    "pymin": partial(_python_extreme, "<"),
    "pymax": partial(_python_extreme, ">"),
    "select": _select,
    "abs": _abs,
    "isnan": _isnan,
    "shl": partial(_shift, "<<", "ShiftedLeft"),
    "shr": partial(_shift, ">>", "ShiftedRight"),
}

_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def negated(value: Value, inner: Inner) -> Expr:
    """The opposite of a condition: of integers by the opposite comparison, else behind an exclamation mark."""
    op = value.op
    if (
        isinstance(op, arith.Elementwise)
        and op.fn in _OPPOSITE
        and dtype_of(op.args[0].type).is_integer
        and _is_spelled_out(value, inner)
    ):
        args = [inner(arg) for arg in op.args]
        return _FUNCTIONS[_OPPOSITE[op.fn]](Applied(op, args, dtype_of(op.args[0].type), inner))
    return Expr(f"!{inner(value).inside(UNARY)}", UNARY)
