# SPDX-License-Identifier: Apache-2.0
"""Assignments of every form, expression statements, nested functions, assertions."""

from __future__ import annotations

import ast

from pyasc.frontend import arithmetic, numeric, sharing
from pyasc.frontend.arithmetic import BINARY
from pyasc.frontend.joins import name_value
from pyasc.frontend.numeric import describe
from pyasc.frontend.signature import ScalarKind, WeakKind, kind_of, unquote
from pyasc.frontend.subscripts import item, store, update
from pyasc.frontend.values import (
    Array,
    Const,
    Function,
    Row,
    Scalar,
    Tensor,
    Tuple,
    Val,
    is_array,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dialects import py


def assign_statement(v: Visitor, node: ast.Assign) -> None:
    """`a = b = value`."""
    total = _accumulation(v, node)
    value = v.expr(node.value) if total is None else total
    v.emit.builder.loc = v.location(node.value)
    if v.mutates and len(node.targets) > 1:
        value = sharing.in_buffers(v, value)
    for target in node.targets:
        assign(v, target, value)


def _accumulation(v: Visitor, node: ast.Assign) -> Val | None:
    """`acc = acc + term`, which is carried like `acc += term`."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=ast.Name(id=other), op=ast.Add() | ast.Sub() as op, right=term),
        ) if name == other:
            total = v.frame.env.get(name)
            if isinstance(total, Scalar) and (total.rounds_to or total.dtype.bits == 16):
                return add_to(v, BINARY[type(op)], total, _term(v, term))
        case _:
            pass
    return None


def _term(v: Visitor, node: ast.expr) -> Val:
    """What is added to a sum; a product of float16 or bfloat16 numbers is left exact, as it is in float32."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return v.expr(node)
    left, right = v.expr(node.left), v.expr(node.right)
    outer, v.emit.builder.loc = v.emit.builder.loc, v.location(node)
    product = arithmetic.wide_product(v, left, right)
    if product is None:
        product = arithmetic.binary(v, BINARY[ast.Mult], left, right)
    v.emit.builder.loc = outer
    return product


def add_to(v: Visitor, op: arithmetic.Operator, total: Val, term: Val) -> Val:
    """`total op term`, carried in float32 when it is a sum of float16 or bfloat16 numbers."""
    if op.fn in ("add", "sub"):
        wide = arithmetic.accumulate(v, op.sign, total, term)
        if wide is not None:
            return wide
    return arithmetic.binary(v, op, total, term)


def assign(v: Visitor, target: ast.expr, value: Val) -> None:
    """Bind a target: a name, a tuple of targets, an element or a slice."""
    match target:
        case ast.Name(id=name):
            sharing.refuse_iterator(v, value, target)
            value = sharing.bound(v, name, value)
            name_value(value, name)
            v.frame.env.set(name, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(v, target, parts, value)
        case ast.Subscript():
            store(v, target, value)
        case ast.Attribute(attr=attr):
            raise v.error(
                target,
                "PA0203",
                f"the attribute `{attr}` cannot be set",
                hint="assign to elements: x[...] = value",
            )
        case _:
            v.refuse_node(target)


def _unpack(v: Visitor, target: ast.expr, parts: list[ast.expr], value: Val) -> None:
    starred = [k for k, part in enumerate(parts) if isinstance(part, ast.Starred)]
    items = _items(v, target, value, len(parts))
    if len(items) < len(parts) - len(starred) or (not starred and len(items) != len(parts)):
        raise v.error(
            target,
            "PA0408",
            f"{len(parts)} names for {len(items)} values",
            hint="write one name for each value",
        )
    if starred:
        # Python's compiler allows one.
        items = _gathered(items, starred[0], len(parts) - starred[0] - 1)
    for part, each in zip(parts, items, strict=True):
        assign(v, part.value if isinstance(part, ast.Starred) else part, each)


def _gathered(items: tuple[Val, ...], before: int, after: int) -> tuple[Val, ...]:
    """The items with all but the first and last ones as one list."""
    end = len(items) - after
    return (*items[:before], Tuple(items[before:end], is_list=True), *items[end:])


def _items(v: Visitor, target: ast.expr, value: Val, count: int) -> tuple[Val, ...]:
    if isinstance(value, Tuple):
        return value.items
    if is_array(value):
        base = numeric.operand(v, value) if isinstance(value, Row) else value
        known = numeric.shape_of(base)[:1]
        if known and isinstance(known[0], int):
            return tuple(item(v, base, (Const(i),)) for i in range(known[0]))
    raise v.error(
        target,
        "PA0408",
        f"cannot unpack {describe(value)} into {count} names",
        hint="unpack a tuple, or an array whose first size is a number",
    )


def augmented(v: Visitor, node: ast.AugAssign) -> None:
    """`target op= value`."""
    op = BINARY.get(type(node.op))
    if op is None:
        raise v.error(node, "PA0202", "`@=` is not supported in a kernel", hint="write x[...] = x @ y")
    match node.target:
        case ast.Name(id=name):
            _augment_name(v, node, name, op)
        case ast.Subscript():
            update(v, node.target, op, node.value)
        case _:
            raise v.error(node.target, "PA0203", "an attribute cannot be set")


def _augment_name(v: Visitor, node: ast.AugAssign, name: str, op: arithmetic.Operator) -> None:
    load = ast.copy_location(ast.Name(name, ast.Load()), node.target)
    total = v.frame.env.get(name)
    if not isinstance(total, Scalar):
        total = v.expr(load)
    term = _term(v, node.value) if op.fn in ("add", "sub") else v.expr(node.value)
    if isinstance(total, (Array, Row)):
        from pyasc.frontend.subscripts import update_whole

        update_whole(v, total, op, term, node)
        return
    if isinstance(total, Tensor):
        sharing.note_update(v, name)
    if isinstance(total, Tuple) and total.is_list:
        message, hint = "a list is changed in place", f"make a new one: {name} = {name} {op.sign} other"
        raise v.error(node, "PA0202", message, hint=hint)
    result = add_to(v, op, total, term)
    if isinstance(total, Tensor) and isinstance(result, Tensor) and result.dtype is not total.dtype:
        numeric.refuse_other_kind(v, node, result.dtype, total.dtype)
        result = Tensor(v.emit.cast(result.value, total.dtype))
    name_value(result, name)
    v.frame.env.set(name, result)


def annotated(v: Visitor, node: ast.AnnAssign) -> None:
    """`name: asc.float32 = value`: the value in that type, quoted or not; an array has to be of it."""
    if node.value is None:
        return
    value = v.expr(node.value)
    declared = unquote(node.annotation)
    if isinstance(declared, ast.Subscript):
        _check_array(v, node, declared, value)
    kind = annotation(v, declared or node.annotation)
    if isinstance(kind, ScalarKind):
        value = numeric.cast_to(v, value, kind.dtype)
    elif isinstance(kind, WeakKind):
        value = _weak(v, value, kind)
    assign(v, node.target, value)


def _weak(v: Visitor, value: Val, kind: WeakKind) -> Val:
    if isinstance(value, Const) and isinstance(value.value, (bool, int, float)):
        return Const(float(value.value)) if kind.name == "float" else value
    if kind.name == "float":
        return numeric.cast_to(v, value, numeric.weak_float(v).dtype, weak=True)
    return value


def _check_array(v: Visitor, node: ast.AnnAssign, declared: ast.Subscript, value: Val) -> None:
    """Refuse what is no array of the declared type and number of axes; `list[int]` and its like say nothing."""
    from pyasc.language.dtypes import ElementType

    found = v.expr(declared.value)
    element = found.value if isinstance(found, Const) else None
    if not isinstance(element, ElementType):
        return
    entries = declared.slice.elts if isinstance(declared.slice, ast.Tuple) else [declared.slice]
    leading = any(isinstance(each, ast.Constant) and each.value is ... for each in entries)
    array = value.array if isinstance(value, Row) else value
    if isinstance(array, (Array, Tensor)) and array.dtype is element.ir:
        axes = len(array.shape) - (len(value.indices) if isinstance(value, Row) else 0)
        if axes == len(entries) or (leading and axes >= len(entries) - 1):
            return
    message = f"`{ast.unparse(node.target)}` is {ast.unparse(declared)}, got {describe(value)}"
    raise v.error(node.value, "PA0412", message)


def annotation(v: Visitor, node: ast.expr) -> ScalarKind | WeakKind | None:
    """What an annotation inside a kernel asks for; None when it is not one that changes a value."""
    if isinstance(node, (ast.Subscript, ast.Constant)):
        return None
    found = v.expr(node)
    kind = kind_of(found.value) if isinstance(found, Const) else None
    return kind if isinstance(kind, (ScalarKind, WeakKind)) else None


def expression_statement(v: Visitor, node: ast.Expr) -> None:
    """An expression for its effect; a string is a docstring."""
    if not isinstance(node.value, ast.Constant):
        v.expr(node.value)


def pass_statement(v: Visitor, node: ast.Pass) -> None:
    """`pass`."""


def function_definition(v: Visitor, node: ast.FunctionDef) -> None:
    """A nested function, inlined where it is called."""
    if node.decorator_list:
        raise v.error(node.decorator_list[0], "PA0204", "a nested function cannot have decorators")
    v.frame.env.set(node.name, closure(v, node))


def lambda_expression(v: Visitor, node: ast.Lambda) -> Val:
    """`lambda`."""
    return closure(v, node)


def closure(v: Visitor, node: ast.FunctionDef | ast.Lambda) -> Function:
    """A function made in the current frame, with its defaults evaluated now."""
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    positional = list(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    keyword = [(a.arg, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    defaults = tuple((name, v.expr(d)) for name, d in positional + keyword)
    return Function(node, v.frame, defaults, tuple(v.comprehensions))


def assert_statement(v: Visitor, node: ast.Assert) -> None:
    """`assert condition, message`: exists in debug builds alone."""
    if not v.options.debug:
        return
    message, values = "assertion failed", []
    if node.msg is not None:
        from pyasc.frontend.debug import text_of

        message, values = text_of(v, node.msg)
    else:
        message, values = _shown_parts(v, node.test)
    assert_value(v, v.expr(node.test), node.test, message, values)


_PARTS = 3
"""How many parts of a condition a failed assertion shows; a record of a failure has little room."""


def _shown_parts(v: Visitor, test: ast.expr) -> tuple[str, list[Value]]:
    """What a failed assertion says: its text, and what the names and elements in it were."""
    from pyasc.frontend.debug import escaped, value_of

    parts = dict[str, Value]()
    for node in ast.walk(test):
        if isinstance(node, (ast.Name, ast.Subscript)) and len(parts) < _PARTS:
            value = value_of(v, node)
            if value is not None:
                parts.setdefault(ast.unparse(node), value)
    text = escaped(f"assertion failed: {ast.unparse(test)}")
    shown = ", ".join(f"{escaped(name)} = {{}}" for name in parts)
    return f"{text} ({shown})" if parts else text, list(parts.values())


def assert_value(v: Visitor, value: Val, node: ast.AST, message: str, values: list) -> None:
    """Stop with AssertionError unless the value is true."""
    condition = numeric.truth(v, value, node)
    if isinstance(condition, bool):
        condition = v.emit.constant(condition, dtypes.i1)
    v.emit.insert(py.Check(condition=condition, values=values, error="AssertionError", message=message))
