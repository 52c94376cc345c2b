# SPDX-License-Identifier: Apache-2.0
"""Operators, comparisons, tuples, comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pyasc.frontend import arithmetic, control, iteration, numeric
from pyasc.frontend.arithmetic import BINARY, COMPARE
from pyasc.frontend.values import FALSE, NONE, Comprehension, Const, Range, Scalar, Tuple, Val, is_number
from pyasc.frontend.visitor import Visitor


def binary_operation(v: Visitor, node: ast.BinOp) -> Val:
    """`left op right`."""
    left, right = v.expr(node.left), v.expr(node.right)
    if isinstance(node.op, ast.MatMult):
        from pyasc.frontend.contractions import matmul

        return matmul(v, left, right)
    return arithmetic.binary(v, BINARY[type(node.op)], left, right)


def unary_operation(v: Visitor, node: ast.UnaryOp) -> Val:
    """`-x`, `+x`, `~x`, `not x`."""
    value = v.expr(node.operand)
    match node.op:
        case ast.USub():
            return arithmetic.negate(v, value)
        case ast.UAdd():
            return arithmetic.positive(v, value)
        case ast.Invert():
            return arithmetic.invert(v, value)
        case _:
            return arithmetic.logical_not(v, value)


def comparison(v: Visitor, node: ast.Compare) -> Val:
    """`a < b <= c`: each operand evaluated once, and only as far as needed."""
    left = v.expr(node.left)
    right = v.expr(node.comparators[0])
    first = _compare(v, node, node.ops[0], left, right)
    return _chain(v, node, first, right, 1)


def _chain(v: Visitor, node: ast.Compare, result: Val, left: Val, position: int) -> Val:
    if position == len(node.ops):
        return result
    condition = numeric.truth(v, result, node)
    if condition is False:
        return FALSE

    def others() -> Val:
        right = v.expr(node.comparators[position])
        found = _compare(v, node, node.ops[position], left, right)
        return _chain(v, node, found, right, position + 1)

    if condition is True:
        return others()
    return control.lazily(v, condition, others, lambda: FALSE, node)


def _compare(v: Visitor, node: ast.Compare, op: ast.cmpop, left: Val, right: Val) -> Val:
    match op:
        case ast.Is() | ast.IsNot():
            return Const(_identical(v, node, left, right) == isinstance(op, ast.Is))
        case ast.In() | ast.NotIn():
            found = _contains(v, node, left, right)
            return found if isinstance(op, ast.In) else arithmetic.logical_not(v, found)
        case _:
            return arithmetic.compare(v, COMPARE[type(op)], left, right)


def _identical(v: Visitor, node: ast.Compare, left: Val, right: Val) -> bool:
    if isinstance(left, Const) and isinstance(right, Const):
        if not (_is_interned(left.itself) and _is_interned(right.itself)):
            return left.itself is right.itself
    elif NONE in (left, right):
        return False
    raise v.error(node, "PA0207", "`is` compares objects, which a kernel does not have", hint="use `==`")


def _is_interned(value: Any) -> bool:
    """Whether Python may or may not make one object of two equal ones."""
    return type(value) in (int, float, str)


def _contains(v: Visitor, node: ast.Compare, left: Val, right: Val) -> Val:
    if isinstance(right, Range) and not right.parallel and _is_integer(v, left):
        return _in_range(v, node, left, right)
    if not isinstance(right, Tuple):
        message = "`in` looks into tuples, and for integers into ranges, alone"
        raise v.error(node, "PA0207", message, hint="write the comparisons out")
    result: Val = FALSE
    for each in right.items:
        equal = arithmetic.compare(v, COMPARE[ast.Eq], left, each)
        result = _either(v, result, equal)
    return result


def _is_integer(v: Visitor, value: Val) -> bool:
    if not is_number(value):
        return False
    dtype = numeric.number_type(v, value).dtype
    return dtype.is_integer or dtype.is_bool


def _in_range(v: Visitor, node: ast.Compare, value: Val, found: Range) -> Val:
    """Whether an integer is one of a range, which starts inside its bounds and goes in steps."""
    if not isinstance(found.step, Const) or found.step.value == 0:
        raise v.error(node, "PA0207", "`in` needs the step of a range", hint="write the comparisons out")
    up = found.step.value > 0
    first = arithmetic.compare(v, COMPARE[ast.GtE if up else ast.LtE], value, found.start)
    last = arithmetic.compare(v, COMPARE[ast.Lt if up else ast.Gt], value, found.stop)
    inside = arithmetic.logical_and(v, first, last)
    if abs(found.step.value) == 1:
        return inside
    # What narrow types do not hold is no distance of theirs: counted in 64 bits.
    whole = (
        Scalar(numeric.scalar(v, value, numeric.dtypes.i64), weak=True)
        if isinstance(value, Scalar)
        else value
    )
    distance = arithmetic.binary(v, BINARY[ast.Sub], whole, found.start)
    rest = arithmetic.binary(v, BINARY[ast.Mod], distance, Const(abs(found.step.value)))
    return arithmetic.logical_and(v, inside, arithmetic.compare(v, COMPARE[ast.Eq], rest, Const(0)))


def _either(v: Visitor, a: Val, b: Val) -> Val:
    return arithmetic.logical_not(
        v, arithmetic.logical_and(v, arithmetic.logical_not(v, a), arithmetic.logical_not(v, b))
    )


def tuple_expression(v: Visitor, node: ast.Tuple | ast.List) -> Val:
    """A tuple or list display; `*` splices a tuple of known length."""
    items: list[Val] = []
    for part in node.elts:
        if isinstance(part, ast.Starred):
            inner = v.expr(part.value)
            if not isinstance(inner, Tuple):
                v.refuse_node(part)
            else:
                items += inner.items
        else:
            items.append(v.expr(part))
    return Tuple(tuple(items), isinstance(node, ast.List))


def named_expression(v: Visitor, node: ast.NamedExpr) -> Val:
    """`name := value`."""
    from pyasc.frontend.statements import assign

    value = v.expr(node.value)
    assign(v, node.target, value)
    return v.frame.env.values[node.target.id]


def generator_expression(v: Visitor, node: ast.GeneratorExp) -> Val:
    """A generator expression, evaluated at once; refused where that could be told from one item after the other."""
    writes = v.writes
    items = list_comprehension(v, node)
    named = next((each for each in ast.walk(node) if isinstance(each, ast.NamedExpr)), None)
    if named is not None or v.writes != writes:
        what = "that sets a name" if named is not None else "that writes to an array"
        hint = "write a list: [... for ... in ...]"
        raise v.error(named or node, "PA0202", f"a generator expression {what}", hint=hint)
    assert isinstance(items, Tuple)
    return Tuple(items.items, once=True)


def list_comprehension(v: Visitor, node: ast.ListComp | ast.GeneratorExp) -> Val:
    """A list whose length is known when the kernel is compiled."""
    items: list[Val] = []
    v.comprehensions.append(Comprehension())
    env = v.frame.env
    names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    saved = {name: env.get(name) for name in names}
    try:
        _comprehend(v, node, node.generators, items)
    finally:
        v.comprehensions.pop()
        for name, value in saved.items():
            if value is not None:
                env.set(name, value)
            elif env.get(name) is not None:
                env.forget(name)
    return Tuple(tuple(items), is_list=True)


def _comprehend(
    v: Visitor,
    node: ast.ListComp | ast.GeneratorExp,
    generators: Sequence[ast.comprehension],
    items: list[Val],
) -> None:
    from pyasc.frontend.statements import assign

    if not generators:
        items.append(v.expr(node.elt))
        return
    first = generators[0]
    for element in iteration.known_items(v, v.expr(first.iter), first.iter):
        assign(v, first.target, element)
        if all(_known_true(v, test) for test in first.ifs):
            _comprehend(v, node, generators[1:], items)


def _known_true(v: Visitor, test: ast.expr) -> bool:
    condition = numeric.truth(v, v.expr(test), test)
    if not isinstance(condition, bool):
        raise v.error(test, "PA0307", "the length of a list must be known when the kernel is compiled")
    return condition
