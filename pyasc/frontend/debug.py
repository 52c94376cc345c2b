# SPDX-License-Identifier: Apache-2.0
"""Statements of debug builds: printing and assertions. Without `debug` they are not even looked at."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from pyasc.frontend import numeric
from pyasc.frontend.promotion import NumberType
from pyasc.frontend.values import NONE, Const, Row, Scalar, Tuple, Val, is_array, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dialects import py
from pyasc.language import debug


def text_of(v: Visitor, node: ast.expr) -> tuple[str, list[Value]]:
    """A format string and its values, from an f-string, a string or any value."""
    if isinstance(node, ast.JoinedStr):
        parts = [_part(v, each, node) for each in node.values]
    else:
        parts = [_shown(v, v.expr(node), node)]
    return "".join(text for text, _ in parts), [value for _, values in parts for value in values]


def _part(v: Visitor, node: ast.expr, whole: ast.JoinedStr) -> tuple[str, list[Value]]:
    if isinstance(node, ast.Constant):
        return escaped(str(node.value)), []
    assert isinstance(node, ast.FormattedValue)
    text, values = _shown(v, v.expr(node.value), node)
    if node.format_spec is None or not values:
        return text, values
    spec, inner = text_of(v, node.format_spec)
    if inner:
        # Before Python 3.12 the parts of an f-string have no place of their own.
        raise v.error(
            whole,
            "PA0202",
            "a format that is computed at run time is not supported in a kernel",
            hint="write the format out, such as {x:.3f}",
        )
    return "{:" + spec + "}", values


def _shown(v: Visitor, value: Val, node: ast.AST) -> tuple[str, list[Value]]:
    if isinstance(value, Const):
        return escaped(str(value.value)), []
    if isinstance(value, Tuple):
        inner = [_shown(v, each, node) for each in value.items]
        text = ", ".join(part for part, _ in inner)
        text = f"[{text}]" if value.is_list else f"({text}{',' * (len(inner) == 1)})"
        return text, [each for _, values in inner for each in values]
    if is_number(value):
        found = numeric.operand(v, value)
        return "{}", [numeric.scalar(v, found, numeric.number_type(v, found).dtype)]
    if is_array(value):
        return _shown(v, _elements(v, value, node), node)
    hint = "print numbers, arrays, text and tuples of these"
    raise v.error(node, "PA0402", f"{numeric.describe(value)} cannot be printed", hint=hint)


_MOST_PRINTED = 64


def _elements(v: Visitor, value: Val, node: ast.AST) -> Val:
    """A small array of known shape as nested lists of its elements, to print."""
    from pyasc.frontend.subscripts import item, row_view

    base = row_view(v, value) if isinstance(value, Row) else value
    shape = [extent for extent in numeric.shape_of(base) if isinstance(extent, int)]
    if len(shape) < len(numeric.shape_of(base)) or math.prod(shape) > _MOST_PRINTED:
        raise v.error(
            node,
            "PA0402",
            f"{numeric.describe(value)} cannot be printed: only arrays of a known and small shape can",
            hint="print elements in a loop, or a part such as x[0:4]",
        )
    rows = [item(v, base, (Const(k),)) for k in range(shape[0])] if shape else []
    if not shape:
        return numeric.operand(v, base)
    return Tuple(tuple(_elements(v, row, node) if is_array(row) else row for row in rows), is_list=True)


def value_of(v: Visitor, node: ast.Name | ast.Subscript) -> Value | None:
    """A run-time number that a name or an element is; None for anything else."""
    value = v.expr(node)
    if isinstance(value, Const) or not is_number(value):
        return None
    found = numeric.operand(v, value)
    return numeric.scalar(v, found, numeric.number_type(v, found).dtype)


def escaped(text: str) -> str:
    """Text that stands in a format as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def check_integers(v: Visitor, fn: str, a: Val, b: Val, number: NumberType) -> None:
    """What Python refuses of `a fn b` on integers: a divisor of 0, and a result that 64 bits do not hold."""
    if numeric.shape_of(a) or numeric.shape_of(b):
        return
    if fn in ("floordiv", "mod"):
        divisor = numeric.scalar(v, b, number.dtype)
        nonzero = v.emit.fn("ne", divisor, v.emit.constant(0, number.dtype))
        numeric.check(v, nonzero, "ZeroDivisionError", "integer division or modulo by zero")
        if fn == "floordiv" and number.weak:
            ends = v.emit.fn("eq", numeric.scalar(v, a, number.dtype), v.emit.index(_LOWEST))
            wraps = v.emit.fn("and", ends, v.emit.fn("eq", divisor, v.emit.index(-1)))
            message = f"{_LOWEST} // -1 does not fit into 64 bits"
            numeric.check(v, v.emit.fn("not", wraps), "OverflowError", message)
    elif fn in ("shl", "shr") and number.weak:
        _check_shift(v, fn, *(numeric.scalar(v, each, number.dtype) for each in (a, b)))
    elif fn == "pow" and number.weak and not (isinstance(b, Const) and b.value < 0):
        _check_power(v, *(numeric.scalar(v, each, number.dtype) for each in (a, b)))
    elif fn in ("add", "sub", "mul") and number.weak and not _is_small_step(v, a, b):
        left, right = (numeric.scalar(v, each, number.dtype) for each in (a, b))
        fine = _fits_64_bits(v, fn, left, right)
        sign = {"add": "+", "sub": "-", "mul": "*"}[fn]
        message = f"{{}} {sign} {{}} does not fit into 64 bits"
        numeric.check(v, fine, "OverflowError", message, [left, right])


_LOWEST = -(1 << 63)


def _check_shift(v: Visitor, fn: str, value: Value, count: Value) -> None:
    fine = v.emit.fn("ge", count, v.emit.index(0))
    numeric.check(v, fine, "ValueError", "negative shift count")
    if fn == "shl":
        back = v.emit.fn("shr", v.emit.fn("shl", value, count), count)
        same = v.emit.fn("eq", back, value)
        numeric.check(v, same, "OverflowError", "{} << {} does not fit into 64 bits", [value, count])


def _largest_bases() -> list[tuple[int, int]]:
    """Exponents from 2 on at which the largest base whose power fits becomes less, with that base."""
    found: list[tuple[int, int]] = []
    base = 1 << 32
    for exponent in range(2, 64):
        limit = base
        while limit**exponent > -_LOWEST - 1:
            # The root is near, but for the first exponents.
            limit = min(limit - 1, int((-_LOWEST) ** (1 / exponent)) + 1)
        if limit < base:
            found.append((exponent, limit))
        base = limit
    return found


def _check_power(v: Visitor, base: Value, exponent: Value) -> None:
    """That a power is less than 2**63 in magnitude, by the largest base for its exponent, or is -2**63 itself."""
    emit = v.emit
    limit = emit.index(-_LOWEST - 1)
    for least, largest in _largest_bases():
        limit = emit.select(emit.fn("ge", exponent, emit.index(least)), emit.index(largest), limit)
    below = emit.fn("ge", base, emit.fn("neg", limit))
    inside = emit.fn("and", below, emit.fn("le", base, limit))
    next_one = emit.fn("eq", base, emit.fn("sub", emit.fn("neg", limit), emit.index(1)))
    lowest = emit.fn("eq", emit.fn("pow", base, exponent), emit.index(_LOWEST))
    lowest = emit.fn("or", lowest, emit.fn("lt", exponent, emit.index(1)))
    fine = emit.fn("or", inside, emit.fn("and", next_one, lowest))
    numeric.check(v, fine, "OverflowError", "{} ** {} does not fit into 64 bits", [base, exponent])


def check_sign(v: Visitor, value: Val, number: NumberType) -> None:
    """That a run-time Python int has a negative in 64 bits."""
    if number.weak and number.dtype is dtypes.i64:
        fine = v.emit.fn("ne", numeric.scalar(v, value, number.dtype), v.emit.index(_LOWEST))
        numeric.check(v, fine, "OverflowError", f"the negative of {_LOWEST} does not fit into 64 bits")


def _is_small_step(v: Visitor, a: Val, b: Val) -> bool:
    """Whether a counter of a loop and a small constant are combined, as in `i + 1`."""
    counters = [each for each in (a, b) if isinstance(each, Scalar) and each.value in v.counters]
    small = [each for each in (a, b) if isinstance(each, Const) and abs(each.value) < 1 << 31]
    return bool(counters) and bool(small)


def _fits_64_bits(v: Visitor, fn: str, a: Value, b: Value) -> Value:
    """Whether the wrapped result is the exact one."""
    emit = v.emit
    result, zero = emit.fn(fn, a, b), emit.index(0)
    if fn == "mul":
        divides = emit.fn("eq", emit.fn("floordiv", result, b), a)
        lowest = emit.fn("and", emit.fn("eq", b, emit.index(-1)), emit.fn("eq", a, emit.index(-(1 << 63))))
        return emit.fn("or", emit.fn("eq", b, zero), emit.fn("and", divides, emit.fn("not", lowest)))
    other = b if fn == "add" else emit.fn("not", b)
    turned = emit.fn("and", emit.fn("xor", a, result), emit.fn("xor", other, result))
    return emit.fn("ge", turned, zero)


def print_call(v: Visitor, node: ast.Call) -> Val:
    """`asc.print(...)`."""
    if v.options.debug:
        parts = [text_of(v, each) for each in node.args]
        values = [value for _, found in parts for value in found]
        v.emit.insert(py.Print(values=values, format=" ".join(text for text, _ in parts)))
    return NONE


def assert_call(v: Visitor, node: ast.Call) -> Val:
    """`asc.assert_(condition, message)`."""
    from pyasc.frontend.statements import assert_value

    if v.options.debug:
        if not 1 <= len(node.args) <= 2 or node.keywords:
            hint = 'write asc.assert_(x[i] > 0, "message")'
            raise v.error(node, "PA0408", "asc.assert_ takes a condition and a message", hint=hint)
        message, values = ("assertion failed", []) if len(node.args) == 1 else text_of(v, node.args[1])
        assert_value(v, v.expr(node.args[0]), node.args[0], message, values)
    return NONE


def assert_shape_call(v: Visitor, node: ast.Call) -> Val:
    """`asc.assert_shape(array, shape)`."""
    if not v.options.debug:
        return NONE
    if len(node.args) != 2 or node.keywords:
        hint = "write asc.assert_shape(x, (N, 4))"
        raise v.error(node, "PA0408", "asc.assert_shape takes an array and a shape", hint=hint)
    array, shape = v.expr(node.args[0]), v.expr(node.args[1])
    if not is_array(array) or not isinstance(shape, Tuple):
        hint = "write asc.assert_shape(x, (N, 4))"
        raise v.error(node, "PA0402", "asc.assert_shape takes an array and a tuple of sizes", hint=hint)
    from pyasc.frontend import subscripts
    from pyasc.frontend.values import Row

    base = subscripts.row_view(v, array) if isinstance(array, Row) else array
    _check_shape(v, node, base, shape)
    return NONE


def _check_shape(v: Visitor, node: ast.Call, base: Val, shape: Tuple) -> None:
    from pyasc.frontend import arithmetic

    axes = len(numeric.shape_of(base))
    if axes != len(shape.items):
        raise v.error(
            node.args[1],
            "PA0508",
            f"the array has {numeric.plural(axes, 'dimension')}",
            f"expected {len(shape.items)}",
        )
    for axis, size in enumerate(shape.items):
        found = numeric.length(v, base, axis)
        equal = arithmetic.compare(v, arithmetic.COMPARE[ast.Eq], found, size)
        condition = numeric.truth(v, equal)
        values = [numeric.index(v, size), numeric.index(v, found)]
        if isinstance(condition, bool):
            condition = v.emit.constant(condition, numeric.dtypes.i1)
        numeric.check(v, condition, "AssertionError", f"axis {axis}: expected size {{}}, got {{}}", values)


def breakpoint_call(v: Visitor, node: ast.Call) -> Val:
    """`breakpoint()`: stops in plain Python alone."""
    return NONE


RAW: dict[Any, Callable[[Visitor, ast.Call], Val]] = {
    debug.print: print_call,
    debug.assert_: assert_call,
    debug.assert_shape: assert_shape_call,
    debug.breakpoint: breakpoint_call,
    breakpoint: breakpoint_call,
}
