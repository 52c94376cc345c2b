# SPDX-License-Identifier: Apache-2.0
"""Scalars of the ascend level as C++ expressions, and how dtypes and numbers are spelt in Ascend C."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyasc.codegen.cpp.nodes import (
    EQUALITY,
    PRIMARY,
    PRODUCT,
    RELATION,
    SUM,
    TERNARY,
    UNARY,
    Expr,
)
from pyasc.ir import dtypes
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, asc, asc_cube, func, scf
from pyasc.ir.dtypes import DType
from pyasc.ir.types import dtype_of

CTYPES = {
    dtypes.f16: "half",
    dtypes.bf16: "bfloat16_t",
    dtypes.f32: "float",
    dtypes.i1: "bool",
    **{d: f"{'u' if d.kind == 'u' else ''}int{d.bits}_t" for d in dtypes.ALL if d.is_integer},
}
"""The C++ name of each dtype that a kernel may hold."""

CTYPE_BYTES = {name: dtype.bytes for dtype, name in CTYPES.items()}
"""The size of each of them."""

_OPERATORS = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
    "lt": ("<", RELATION),
    "le": ("<=", RELATION),
    "gt": (">", RELATION),
    "ge": (">=", RELATION),
    "eq": ("==", EQUALITY),
    "ne": ("!=", EQUALITY),
}
_AND, _OR = 5, 4

Inner = Callable[[Value], Expr]


class NotScalar(TypeError):
    """Arithmetic that the scalar unit has no operator for."""


def literal(value: bool | int | float, dtype: DType) -> Expr:
    """A number of a dtype, so that template arguments are deduced from it alone."""
    if dtype is dtypes.i1:
        return Expr("true" if value else "false")
    if not dtype.is_float:
        text = str(int(value))
        if value == -(1 << 31) and dtype is dtypes.i32:
            # The number behind the sign does not fit, so it would be a long one.
            return Expr(f"static_cast<{CTYPES[dtype]}>({text})")
        if dtype.bits == 64 or dtype is dtypes.i32:
            return Expr(text, UNARY if value < 0 else PRIMARY)
        return Expr(f"static_cast<{CTYPES[dtype]}>({text})")
    text = _float(float(value))
    if dtype is dtypes.f32:
        return Expr(text, UNARY if text.startswith("-") else PRIMARY)
    return Expr(f"static_cast<{CTYPES[dtype]}>({text})")


def _float(value: float) -> str:
    if math.isnan(value):
        return '__builtin_nanf("")'
    if math.isinf(value):
        return "-__builtin_inff()" if value < 0 else "__builtin_inff()"
    return f"{value!r}f"


def scalar(op: Operation, inner: Inner) -> Expr:
    """The expression of a pure scalar operation. Raises NotScalar."""
    match op:
        case arith.Constant():
            return literal(op.value, dtype_of(op.result.type))
        case arith.Cast():
            return Expr(f"static_cast<{CTYPES[dtype_of(op.result.type)]}>({inner(op.value)})")
        case arith.Elementwise():
            return _elementwise(op, [inner(arg) for arg in op.args])
        case asc.CoreNumber():
            return Expr(f"{op.call}()")
        case asc_cube.RoundUp():
            return Expr(f"RoundUp<{CTYPES[dtype_of(op.result.type)]}>({inner(op.value)}, {op.multiple})")
        case _:
            raise NotScalar(op.name)


def _elementwise(op: arith.Elementwise, args: list[Expr]) -> Expr:
    dtype = dtype_of(op.args[-1].type)
    if dtype in (dtypes.f16, dtypes.bf16) and op.fn != "select":
        raise NotScalar(f"{op.fn} of one {dtype} number")
    if op.fn in _OPERATORS:
        symbol, precedence = _OPERATORS[op.fn]
        if op.fn == "add" and str(args[1]).startswith("-") and isinstance(op.args[1].op, arith.Constant):
            return Expr(f"{args[0].inside(precedence)} - {str(args[1])[1:]}", precedence)
        return Expr(f"{args[0].inside(precedence)} {symbol} {args[1].inside(precedence + 1)}", precedence)
    match op.fn:
        case "and" | "or" if dtype is dtypes.i1:
            symbol, precedence = ("&&", _AND) if op.fn == "and" else ("||", _OR)
            # Mixed operators get their parentheses, as compilers ask for.
            sides = [
                f"({each})" if each.precedence in (_AND, _OR) else each.inside(precedence) for each in args
            ]
            return Expr(f" {symbol} ".join(sides), precedence)
        case "not" if dtype is dtypes.i1:
            return Expr(f"!{args[0].inside(UNARY)}", UNARY)
        case "neg":
            return Expr(f"-{args[0].inside(PRIMARY)}", UNARY)
        case "minimum" | "maximum" | "pymin" | "pymax" if not dtype.is_float:
            symbol = "<" if "min" in op.fn else ">"
            left, right = args[0].inside(RELATION + 1), args[1].inside(RELATION + 1)
            return Expr(
                f"{left} {symbol} {right} ? {args[0].inside(TERNARY + 1)} : {args[1].inside(TERNARY + 1)}",
                TERNARY,
            )
        case "select":
            parts = [each.inside(TERNARY + 1) for each in args]
            return Expr(f"{parts[0]} ? {parts[1]} : {parts[2]}", TERNARY)
        case "maximum" | "minimum":
            symbol = "<" if op.fn == "minimum" else ">"
            left, right = (each.inside(RELATION + 1) for each in args)
            # NaN wins, as NumPy has it.
            return Expr(f"{left} {symbol} {right} || {left} != {left} ? {left} : {right}", TERNARY)
        case "pymin" | "pymax":
            symbol = "<" if op.fn == "pymin" else ">"
            left, right = (each.inside(RELATION + 1) for each in args)
            return Expr(f"{right} {symbol} {left} ? {right} : {left}", TERNARY)
        case "abs" if dtype.is_integer or dtype is dtypes.f32:
            inside = args[0].inside(RELATION + 1)
            if dtype is dtypes.f32:
                # Subtracted from 0, so that -0.0 becomes 0.0.
                return Expr(f"{inside} <= 0.0f ? 0.0f - {args[0].inside(PRIMARY)} : {inside}", TERNARY)
            return Expr(f"{inside} < 0 ? -{args[0].inside(PRIMARY)} : {inside}", TERNARY)
        case "isnan":
            return Expr(f"{args[0].inside(EQUALITY + 1)} != {args[0].inside(EQUALITY + 1)}", EQUALITY)
        case "and" | "or" | "xor" if dtype.is_integer:
            symbol, precedence = {"and": ("&", 8), "or": ("|", 6), "xor": ("^", 7)}[op.fn]
            return Expr(f" {symbol} ".join(each.inside(UNARY) for each in args), precedence)
        case "xor":
            return Expr(f"{args[0].inside(EQUALITY + 1)} != {args[1].inside(EQUALITY + 1)}", EQUALITY)
        case "not" if dtype.is_integer:
            return Expr(f"~{args[0].inside(PRIMARY)}", UNARY)
        case "floordiv" | "mod" if dtype.is_integer and not (nonnegative(op.args[0]) and _divides(op)):
            name = "FloorDivide" if op.fn == "floordiv" else "FloorModulo"
            return Expr(f"{name}<{CTYPES[dtype]}>({args[0]}, {args[1]})")
        case "shl" | "shr":
            name = "ShiftedLeft" if op.fn == "shl" else "ShiftedRight"
            count = op.args[1].op
            if isinstance(count, arith.Constant) and 0 <= count.value < dtype.bits:
                symbol = "<<" if op.fn == "shl" else ">>"
                return Expr(f"{args[0].inside(SUM)} {symbol} {args[1].inside(SUM)}", 12)
            return Expr(f"{name}<{CTYPES[dtype]}>({args[0]}, {args[1]})")
        case "floordiv" | "mod" if dtype.is_integer:
            symbol = "/" if op.fn == "floordiv" else "%"
            return Expr(f"{args[0].inside(PRODUCT)} {symbol} {args[1].inside(PRODUCT + 1)}", PRODUCT)
        case _:
            raise NotScalar(f"{op.fn} of one {dtype} number")


HELPERS = {
    "RoundUp": """// A size in whole units.
template <typename T>
__aicore__ inline T RoundUp(T size, T unit)
{
    return (size + unit - 1) / unit * unit;
}""",
    "CopyNdToNz": """// Rows of global memory, `pitch` elements apart, to columns of fractals of `padded` rows in L1.
template <typename T>
__aicore__ inline void CopyNdToNz(const LocalTensor<T>& dst, const GlobalTensor<T>& src, int64_t rows, int64_t columns,
                                  int64_t pitch, int64_t padded)
{
    Nd2NzParams copy;
    copy.ndNum = 1;
    copy.dValue = static_cast<uint16_t>(columns);
    copy.srcNdMatrixStride = 0;
    copy.dstNzC0Stride = static_cast<uint16_t>(padded);
    copy.dstNzNStride = 1;
    copy.dstNzMatrixStride = 0;
    if (pitch <= 65535) {
        copy.nValue = static_cast<uint16_t>(rows);
        copy.srcDValue = static_cast<uint16_t>(pitch);
        DataCopy(dst, src, copy);
        return;
    }
    // Further than the instruction steps: row by row.
    copy.nValue = 1;
    copy.srcDValue = copy.dValue;
    for (int64_t row = 0; row < rows; ++row) {
        DataCopy(dst[row * (32 / sizeof(T))], src[row * pitch], copy);
    }
}""",
    "FloorDivide": """// Python's `//`: rounded down, and 0 for a division by zero.
template <typename T>
__aicore__ inline T FloorDivide(T a, T b)
{
    if (b == 0) {
        return 0;
    }
    if (b < 0 && b + 1 == 0) {
        return static_cast<T>(0 - a);
    }
    const T quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}""",
    "ShiftedLeft": """// A shift by any count: one that leaves the width shifts everything out.
template <typename T>
__aicore__ inline T ShiftedLeft(T a, T count)
{
    return count >= 0 && count < static_cast<T>(8 * sizeof(T)) ? static_cast<T>(a << count) : static_cast<T>(0);
}""",
    "ShiftedRight": """// A shift by any count: one that leaves the width leaves the sign alone.
template <typename T>
__aicore__ inline T ShiftedRight(T a, T count)
{
    const T all = static_cast<T>(8 * sizeof(T));
    return count >= 0 && count < all ? static_cast<T>(a >> count) : static_cast<T>(a < 0 ? -1 : 0);
}""",
    "FloorModulo": """// Python's `%`: with the sign of the divisor, and 0 for a division by zero.
template <typename T>
__aicore__ inline T FloorModulo(T a, T b)
{
    if (b == 0 || (b < 0 && b + 1 == 0)) {
        return 0;
    }
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}""",
}
"""Functions that the expressions of a file may call, in the order in which they are defined."""

_GROWING = frozenset(("add", "mul", "minimum", "maximum", "floordiv", "mod"))


def nonnegative(value: Value, depth: int = 12) -> bool:
    """Whether an i64 is told to be no less than zero by how it is computed, so that C++ divides as Python does."""
    if isinstance(value.owner, Block):
        loop = value.owner.parent_op
        return isinstance(loop, scf.For) and value.index == 0 and nonnegative(loop.lower)
    match value.owner:
        case arith.Constant(value=number):
            return number >= 0
        case func.Size() | asc.CoreNumber() | asc_cube.RoundUp():
            return True
        case arith.Elementwise(fn="sub", args=[whole, Value(owner=arith.Constant(value=1))]) if depth:
            return _positive(whole, depth - 1)
        case arith.Elementwise(fn="maximum", args=args) if depth:
            return any(nonnegative(arg, depth - 1) for arg in args)
        case arith.Elementwise(fn="sub", args=[whole, Value(owner=Block()) as counter]):
            loop = counter.block.parent_op if counter.block is not None else None
            return isinstance(loop, scf.For) and counter.index == 0 and loop.upper is whole
        case arith.Elementwise(fn="select", args=args) if depth:
            return all(nonnegative(arg, depth - 1) for arg in args[1:])
        case arith.Elementwise(fn=fn, args=args) if fn in _GROWING and depth:
            return all(nonnegative(arg, depth - 1) for arg in args)
        case _:
            return False


def _divides(op: arith.Elementwise) -> bool:
    """Whether the divisor cannot be zero: it is no size, or a loop up to that size is around the division.

    Divisors that the lowering makes of sizes are positive wherever there is work.
    """
    divisor, region = op.args[1], op.parent
    while region is not None and region.parent_op is not None:
        loop = region.parent_op
        if isinstance(loop, scf.For) and loop.upper is divisor and nonnegative(loop.lower):
            return True
        region = loop.parent
    return nonnegative(divisor) and not _of_sizes(divisor)


def _of_sizes(value: Value, depth: int = 12) -> bool:
    """Whether a value is a size, or a sum or product of sizes, as a kernel spells it."""
    match value.owner:
        case func.Size():
            return True
        case arith.Elementwise(fn="add" | "mul", args=args) if depth:
            return any(_of_sizes(arg, depth - 1) for arg in args)
        case _:
            return False


def _positive(value: Value, depth: int) -> bool:
    """Whether an i64 is told to be no less than one by how it is computed."""
    match value.owner:
        case arith.Constant(value=number):
            return number >= 1
        case arith.Elementwise(fn="maximum", args=args) if depth:
            return any(_positive(arg, depth - 1) for arg in args)
        case arith.Elementwise(fn="minimum", args=args) if depth:
            return all(_positive(arg, depth - 1) for arg in args)
        case arith.Elementwise(fn="add", args=args) if depth:
            signs = [_positive(arg, depth - 1) for arg in args]
            return any(signs) and all(
                s or nonnegative(a, depth - 1) for s, a in zip(signs, args, strict=True)
            )
        case _:
            return False
