# SPDX-License-Identifier: Apache-2.0
"""Python objects that a kernel mentions, as values; names and attributes."""

from __future__ import annotations

import ast
import enum
import types
from typing import Any

from pyasc.frontend import numeric
from pyasc.frontend.frames import RESULT_PARTS, Frame
from pyasc.frontend.signature import did_you_mean
from pyasc.frontend.text_globals import UNTOLD
from pyasc.frontend.values import (
    Array,
    Conflict,
    Const,
    Deferred,
    Method,
    Parts,
    Poison,
    Row,
    Scalar,
    SizeVal,
    Tensor,
    Tuple,
    Unset,
    Val,
    is_array,
)
from pyasc.frontend.visitor import Refused, Visitor
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import Related
from pyasc.ir.sizes import SizeExpr, size
from pyasc.language.dtypes import BY_IR, SizeSymbol

_MISSING = object()
_ATTRIBUTES = {False: ("shape", "dtype", "ndim"), True: ("shape", "dtype", "ndim", "size", "T")}
"""What numbers (False) and arrays (True) have besides methods."""


def constant(v: Visitor, node: ast.Constant) -> Val:
    """A literal."""
    if isinstance(node.value, (complex, bytes)):
        kind = type(node.value).__name__
        hint = "compute with the two parts" if kind == "complex" else "pass the bytes as an asc.uint8 array"
        raise v.error(node, "PA0402", f"a kernel has no {kind} values", hint=hint)
    return Const(node.value)


def name(v: Visitor, node: ast.Name) -> Val:
    """A name, looked up as Python does: locals, enclosing functions, globals, builtins."""
    frame: Frame | None = v.frame
    while frame is not None:
        value = frame.env.get(node.id)
        if value is not None:
            return _local(v, node, frame, value)
        if node.id in frame.scan.locals:
            raise v.error(node, "PA0302", f"`{node.id}` is read before it is set")
        if frame.parent is None:
            return _global(v, node, frame)
        frame = frame.parent
    raise AssertionError


def _local(v: Visitor, node: ast.Name, frame: Frame, value: Val) -> Val:
    match value:
        case Unset(path=path, loc=loc):
            related = (
                (Related(loc, f"`{node.id}` is set only on some paths through here"),) if loc.known else ()
            )
            raise v.error(
                node,
                "PA0302",
                f"`{node.id}` may have no value here",
                path,
                hint="set it before, so that every path gives it a value",
                related=related,
            )
        case Conflict(reason=reason, loc=loc, hint=hint):
            related = (Related(loc, "the paths meet here"),) if loc.known else ()
            message = f"`{node.id}` has no single value here"
            raise v.error(node, "PA0305", message, reason, hint, related)
        case Poison():
            raise Refused(None)
        case Deferred(compute=compute):
            found = compute()
            frame.env.set(node.id, found)
            return found
        case _:
            return value


def _global(v: Visitor, node: ast.Name, frame: Frame) -> Val:
    try:
        return object_value(v, v.dependencies.read_name(frame.source, node.id), node)
    except KeyError:
        pass
    if node.id in v.sizes or node.id in v.known_sizes:
        return size_of(v, size(node.id))
    known = [*frame.env.values, *frame.source.globals, *frame.source.closure, *v.sizes]
    hint = did_you_mean(node.id, [n for n in known if n[:1] != "%"])
    if node.id in frame.source.globals.get(UNTOLD, ()):
        hint = "give it a constant, or make it a parameter: this text is parsed and never run"
    raise v.error(node, "PA0301", f"`{node.id}` is not defined", hint=hint)


def size_of(v: Visitor, expr: SizeExpr) -> Val:
    """A polynomial in the sizes, with those that are known as numbers."""
    found = expr.substitute(v.known_sizes) if v.known_sizes else expr
    known = found.as_constant
    return SizeVal(found) if known is None else Const(known)


def object_value(v: Visitor, found: Any, node: ast.AST | None) -> Val:
    """A Python object read at compile time. Refuses arrays and containers that could change behind the kernel."""
    match found:
        case float() if type(found).__module__ == "numpy":
            # A float64 of NumPy's is a Python float to Python, but no weak number.
            return _other_object(v, found, node)
        case bool() | float() | str() | None:
            return Const(found)
        case int():
            return Const(int(found), found if isinstance(found, enum.Enum) else None)
        case tuple() | list():
            items = tuple(object_value(v, each, node) for each in found)
            return Tuple(items, isinstance(found, list), names=_names_of_items(found))
        case SizeSymbol(expr=expr):
            return size_of(v, expr)
        case dict() | set() | bytearray():
            raise v.error(
                node,
                "PA0310",
                f"a {type(found).__name__} read by a kernel",
                hint="use a tuple or plain constants",
            )
        case types.FunctionType() | types.BuiltinFunctionType() | types.ModuleType() | type():
            return Const(found)
        case _:
            return _other_object(v, found, node)


def _names_of_items(found: Any) -> tuple[str, ...]:
    """The names of the items of a named tuple, unless its class makes something else of them."""
    names: tuple[str, ...] = getattr(found, "_fields", ()) if isinstance(found, tuple) else ()
    plain = len(names) == len(found) and all(
        getattr(found, n) is item for n, item in zip(names, found, strict=True)
    )
    return names if plain else ()


def _other_object(v: Visitor, found: Any, node: ast.AST | None) -> Val:
    if type(found).__module__ == "numpy" and hasattr(found, "dtype") and hasattr(found, "ndim"):
        if found.ndim:
            raise v.error(
                node,
                "PA0310",
                "an array that is a global or closure value",
                "its elements are not compile-time values",
                "pass it to the kernel as a parameter",
            )
        dtype = dtypes.BY_NUMPY.get(str(found.dtype))
        if dtype is not None:
            return Scalar(v.emit.constant(found.item(), dtype))
    elif hasattr(found, "__array_interface__") or hasattr(found, "__dlpack__"):
        raise v.error(
            node,
            "PA0310",
            "an array that is a global or closure value",
            hint="pass it to the kernel as a parameter",
        )
    return Const(found)


def attribute(v: Visitor, node: ast.Attribute) -> Val:
    """`owner.name`."""
    owner = v.expr(node.value)
    if is_array(owner):
        return _array_attribute(v, node, owner)
    if isinstance(owner, Const):
        return _object_attribute(v, node, owner.itself)
    if node.attr in ("dtype", "shape", "ndim") and isinstance(owner, Scalar):
        return {"shape": Tuple(()), "ndim": Const(0)}.get(node.attr) or Const(BY_IR[owner.dtype])
    if isinstance(owner, (Scalar, SizeVal)):
        return _method(v, node, owner)
    if isinstance(owner, Tuple) and node.attr in owner.names:
        return owner.items[owner.names.index(node.attr)]
    hint = "parts of a tuple are t[0], t[1]" if isinstance(owner, Tuple) else ""
    if isinstance(owner, Tuple) and owner.is_list:
        hint = "a list in a kernel does not change: make a new one, [*items, another], or fill an array"
    raise v.error(node, "PA0311", f"{numeric.describe(owner)} has no attribute `{node.attr}`", hint=hint)


def _object_attribute(v: Visitor, node: ast.Attribute, owner: Any) -> Val:
    try:
        value = v.dependencies.read_attribute(owner, node.attr)
    except AttributeError:
        where = getattr(owner, "__name__", type(owner).__name__)
        hint = did_you_mean(node.attr, dir(owner))
        raise v.error(node, "PA0311", f"`{where}` has no attribute `{node.attr}`", hint=hint) from None
    if not v.dependencies.is_steady(owner, node.attr):
        what = f"`{ast.unparse(node)}` is another object each time it is read"
        raise v.error(node, "PA0310", what, hint="read it once, before the kernel, and use what it gave")
    return object_value(v, value, node)


def _array_attribute(v: Visitor, node: ast.Attribute, owner: Val) -> Val:
    from pyasc.frontend import subscripts, views

    base = subscripts.row_view(v, owner) if isinstance(owner, Row) else owner
    assert isinstance(base, (Array, Tensor))
    match node.attr:
        case "shape":
            return Tuple(tuple(numeric.length(v, base, axis) for axis in range(len(base.shape))))
        case "ndim":
            return Const(len(base.shape))
        case "dtype":
            return Const(BY_IR[base.dtype])
        case "size":
            return count_elements(v, base)
        case "T":
            return views.permuted(v, base, range(len(base.shape))[::-1])
        case _:
            return _method(v, node, base)


def _method(v: Visitor, node: ast.Attribute, owner: Val) -> Method:
    """A method of arrays or numbers. Refuses a name that is none."""
    from pyasc.frontend.library import METHODS

    if node.attr not in METHODS:
        hint = did_you_mean(node.attr, [*METHODS, *_ATTRIBUTES[is_array(owner)]])
        what = f"{numeric.describe(owner)} has no attribute `{node.attr}`"
        raise v.error(node, "PA0311", what, hint=hint)
    return Method(owner, node.attr)


def count_elements(v: Visitor, base: Array | Tensor) -> Val:
    """The number of elements."""
    from pyasc.frontend import arithmetic

    total: Val = Const(1)
    for axis in range(len(base.shape)):
        total = arithmetic.binary(v, arithmetic.BINARY[ast.Mult], total, numeric.length(v, base, axis))
    return total


def checked_result(v: Visitor, frame: Frame, result: Val) -> Val:
    """What a function returns, when it has one value."""
    match result:
        case Conflict(reason=reason, loc=loc):
            related = (Related(loc, "the paths meet here"),) if loc.known else ()
            raise v.error(
                frame.node,
                "PA0305",
                f"`{frame.name}` returns different kinds of values",
                reason,
                related=related,
            )
        case Poison():
            raise Refused(None)
        case Parts(count=count, is_list=is_list):
            items = [frame.env.values[name] for name in RESULT_PARTS[:count]]
            return Tuple(tuple(checked_result(v, frame, item) for item in items), is_list)
        case Deferred(compute=compute):
            return compute()
        case _:
            return numeric.read_rounded(v, result)
