# SPDX-License-Identifier: Apache-2.0
"""How each elementwise function and dtype is spelled in C++: operators where C++ has the meaning, else `pa_` calls."""

from __future__ import annotations

from struct import Struct

from pyasc.codegen.cpp.nodes import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
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
from pyasc.ir.dtypes import DType
from pyasc.ir.types import ScalarType, TileType, Type, VectorType

HALVES = (dtypes.f16, dtypes.bf16)
_SINGLE = Struct("f")

CPP_NAMES = {
    dtypes.f16: "pyasc_f16",
    dtypes.bf16: "pyasc_bf16",
    dtypes.f32: "float",
    dtypes.f64: "double",
    dtypes.i1: "bool",
} | {dtype: f"{dtype.numpy}_t" for dtype in dtypes.ALL if dtype.is_integer}

_INFIX = {
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
    "and": ("&", BIT_AND),
    "xor": ("^", BIT_XOR),
    "or": ("|", BIT_OR),
}
_BITWISE = frozenset(("and", "or", "xor"))
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


def memory_type(dtype: DType) -> str:
    """The C++ type of an element in memory."""
    return CPP_NAMES[dtype]


def value_type(type_: Type) -> str:
    """The C++ type of an SSA value. Halves are computed in float, rounded after each operation."""
    if isinstance(type_, VectorType) and type_.dtype.is_bool:
        return f"pa_mask<{type_.lanes}>"
    if isinstance(type_, VectorType):
        return f"pa_vec<{CPP_NAMES[type_.dtype]}, {type_.lanes}>"
    if isinstance(type_, TileType):
        return f"pa_tile<{value_type(type_.vector)}, {type_.rows}, {type_.columns}>"
    assert isinstance(type_, ScalarType)
    return "float" if type_.dtype in HALVES else CPP_NAMES[type_.dtype]


def literal(value: bool | int | float, dtype: DType) -> Expr:
    """A constant. Floats are exact: the shortest text that reads back as the same number of that type."""
    if dtype.is_bool:
        return Expr("true" if value else "false")
    if dtype.is_integer:
        return _integer(int(value), dtype)
    if dtype in HALVES:
        value = _as_half(float(value), dtype)
    return _float(float(value), "" if dtype is dtypes.f64 else "f")


def _as_half(value: float, dtype: DType) -> float:
    import numpy as np

    with np.errstate(over="ignore"):
        if dtype is dtypes.f16:
            return float(np.float16(value))
        bits = int(np.float32(value).view(np.uint32))
    if value == value:
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(np.uint32(bits).view(np.float32))


def _integer(value: int, dtype: DType) -> Expr:
    wrapped = value & ((1 << dtype.bits) - 1)
    if dtype.is_signed and wrapped >> (dtype.bits - 1):
        wrapped -= 1 << dtype.bits
    if wrapped == -(1 << 63):
        return Expr("INT64_MIN")
    suffix = {"u64": "u", "u32": "u"}.get(dtype.name, "")
    return Expr(f"{wrapped}{suffix}", UNARY if wrapped < 0 else PRIMARY)


def _float(value: float, suffix: str) -> Expr:
    if value != value:
        return Expr(f'__builtin_nan{suffix}("")')
    if value in (float("inf"), float("-inf")):
        return Expr(f"{'-' if value < 0 else ''}__builtin_inf{suffix}()", UNARY)
    text = _shortest(value, suffix)
    return Expr(text + suffix, UNARY if text.startswith("-") else PRIMARY)


def _shortest(value: float, suffix: str) -> str:
    if not suffix:
        return repr(value) if "." in repr(value) or "e" in repr(value) else repr(value) + ".0"
    rounded = _as_single(value)
    # Nine digits tell any two numbers of float32 apart; past 2**24 plain notation would show digits that are not there.
    texts = (f"{rounded:.{digits - 1}e}" for digits in range(1, 10))
    text = next(text for text in texts if _as_single(float(text)) == rounded)
    return text if abs(rounded) > 1 << 24 else repr(float(text))


def _as_single(value: float) -> float:
    return _SINGLE.unpack(_SINGLE.pack(value))[0]


def elementwise(fn: str, dtype: DType, args: list[Expr]) -> Expr:
    """`fn` applied to operands of `dtype` (of the values chosen from, for a selection)."""
    if dtype in HALVES and fn not in (*_COMPARISONS, "select", "isnan", "isinf", "isfinite", "signbit"):
        return _rounded(_plain(fn, dtypes.f32, args), dtype)
    return _plain(fn, dtype, args)


def _plain(fn: str, dtype: DType, args: list[Expr]) -> Expr:
    if fn == "select":
        condition, chosen, other = args
        if dtype.is_bool:
            return Expr(f"pa_select({condition}, {chosen}, {other})")
        text = f"{condition.inside(TERNARY + 1)} ? {chosen.inside(TERNARY + 1)} : {other.inside(TERNARY)}"
        return Expr(text, TERNARY)
    if fn == "neg" and (dtype.is_float or dtype.bits >= 32):
        return Expr(f"-{args[0].inside(UNARY + 1)}", UNARY)
    if fn == "not":
        return (
            Expr(f"!{args[0].inside(UNARY)}", UNARY)
            if dtype.is_bool
            else _narrowed(f"~{args[0].inside(UNARY)}", UNARY, dtype)
        )
    if fn in _INFIX:
        sign, precedence = _INFIX[fn]
        text = f"{_operand(args[0], fn, precedence)} {sign} {_operand(args[1], fn, precedence + 1)}"
        if fn in _COMPARISONS or dtype.is_bool:
            return Expr(text, precedence)
        return _narrowed(text, precedence, dtype)
    # Integer literals have C++ types of their own, so the type is spelled where they might decide it.
    type_ = "" if dtype.is_float else f"<{CPP_NAMES[dtype]}>"
    return Expr(f"pa_{fn}{type_}({', '.join(arg.text for arg in args)})")


def _operand(arg: Expr, fn: str, precedence: int) -> str:
    """Beside `&`, `|` and `^` parentheses stand for the reader too: few know how these bind."""
    _, own = _INFIX[fn]
    return arg.inside(UNARY if fn in _BITWISE and arg.precedence != own else precedence)


def _narrowed(text: str, precedence: int, dtype: DType) -> Expr:
    """C++ computes narrow integers in int; the cast brings back the wrapped value of the type itself."""
    if dtype.is_integer and dtype.bits < 32:
        return Expr(f"({CPP_NAMES[dtype]})({text})", UNARY)
    return Expr(text, precedence)


def _rounded(value: Expr, dtype: DType) -> Expr:
    return Expr(f"pa_round_{dtype.name}({value.text})")


def cast(value: Expr, source: DType, target: DType) -> Expr:
    """Conversion of one number."""
    if source is target:
        return value
    if target in HALVES:
        if source in HALVES or source is dtypes.f32:
            return _rounded(value, target)
        name = CPP_NAMES[target]
        return Expr(f"pa_cast<float>(pa_cast<{name}>({value.text}))")
    if source in HALVES:
        source = dtypes.f32
    if source is target:
        return value
    if (
        (source.is_integer and target.is_integer)
        or (source.is_integer and target.is_float)
        or target.is_float
    ):
        return Expr(f"({CPP_NAMES[target]}){value.inside(UNARY)}", UNARY)
    return Expr(f"pa_cast<{CPP_NAMES[target]}>({value.text})")


def loaded(element: Expr, dtype: DType) -> Expr:
    """An element of memory as a value."""
    return Expr(f"pa_{dtype.name}_to_f32({element.text})") if dtype in HALVES else element


def stored(value: Expr, dtype: DType) -> str:
    """A value as an element of memory."""
    if dtype not in HALVES:
        return value.text
    # The conversion rounds, so a value that was rounded just for it need not be.
    rounded = f"pa_round_{dtype.name}("
    inner = value.text[len(rounded) : -1]
    alone = value.text.startswith(rounded) and value.text.endswith(")") and _is_balanced(inner)
    return f"pa_f32_to_{dtype.name}({inner if alone else value.text})"


def _is_balanced(text: str) -> bool:
    """Whether no parenthesis closes that was not opened in the text."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0
