# SPDX-License-Identifier: Apache-2.0
"""`if`, conditional expressions, `and`/`or`, and the jumps: `break`, `continue` and `return` as flags.

A flag is a hidden name. Where its value is known nothing is emitted: a side of an `if` that certainly jumps leaves
the rest of the list to the other side.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pyasc.frontend import joins, numeric
from pyasc.frontend.frames import RESULT, RESULT_PARTS, RETURN
from pyasc.frontend.joins import Branches, Side, meeting_type
from pyasc.frontend.values import (
    FALSE,
    NONE,
    TRUE,
    Conflict,
    Parts,
    Scalar,
    Tuple,
    Unset,
    Val,
    is_number,
    same,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir.core import Block, Value


def if_statement(v: Visitor, node: ast.If) -> None:
    """`if`/`elif`/`else`."""
    condition = numeric.truth(v, v.expr(node.test), node.test)
    if isinstance(condition, bool):
        v.body(node.body if condition else node.orelse)
        return
    branch(v, condition, lambda: v.body(node.body), lambda: v.body(node.orelse), take_rest=True)


def branch(
    v: Visitor,
    condition: Value,
    then: Callable[[], None],
    otherwise: Callable[[], None],
    take_rest: bool = False,
    jumping: Sequence[str] = (),
) -> None:
    """Visit both sides, each with its own changes of names, and join them.

    With `take_rest`, the statements behind go into the side that falls through when the other certainly jumps.
    `jumping` are flags of which one holds on the second side, so that its end is never reached.
    """
    place = v.emit.builder.loc
    sides = (Side(Block()), Side(Block()))
    for side, visit in zip(sides, (then, otherwise), strict=True):
        _visit_side(v, side, visit)
    if take_rest and sides[0].jumped != sides[1].jumped:
        _visit_side(v, sides[0] if sides[1].jumped else sides[1], v.rest)
    if jumping:
        sides[1].jumped, sides[1].returned = True, list(jumping) == [RETURN]
    joins.close(v, Branches(condition, *sides, place))
    v.emit.builder.loc = place


def _visit_side(v: Visitor, side: Side, visit: Callable[[], None]) -> None:
    env = v.frame.env
    env.begin()
    try:
        for name, value in side.changes.items():
            env.set(name, value)
        with v.block(side.block):
            visit()
        side.jumped = v.frame.jumped()
        side.returned = env.values[RETURN] == TRUE
    finally:
        side.changes = env.end()


def guarded(v: Visitor, flags: Sequence[str], visit: Callable[[], None]) -> None:
    """Visit only where no jump is under way, which is known inside."""
    env = v.frame.env
    pending = {name: env.values[name] for name in flags}
    unchanged: list[str] = []

    def inside() -> None:
        for name in flags:
            env.set(name, FALSE)
        visit()
        for name, value in pending.items():
            if env.values[name] == FALSE:
                unchanged.append(name)
                env.set(name, value)

    def outside() -> None:
        # Only the flag itself can have brought us here, and what the other side makes of it matters then alone.
        if len(flags) == 1 and not unchanged:
            env.set(flags[0], TRUE)

    branch(v, v.emit.fn("not", any_flag(v, flags)), inside, outside, jumping=flags)


def any_flag(v: Visitor, flags: Sequence[str]) -> Value:
    """Whether any of the flags, which are set at run time, holds."""
    values = [numeric.truth(v, v.frame.env.values[name]) for name in flags]
    found = [value for value in values if isinstance(value, Value)]
    result = found[0]
    for value in found[1:]:
        result = v.emit.fn("or", result, value)
    return result


def break_statement(v: Visitor, node: ast.Break) -> None:
    """`break`."""
    loop = v.frame.loops[-1]
    loop.at_breaks.append({name: v.frame.env.get(name) for name in loop.watched})
    v.frame.env.set(loop.break_flag, TRUE)


def continue_statement(v: Visitor, node: ast.Continue) -> None:
    """`continue`."""
    v.frame.env.set(v.frame.loops[-1].continue_flag, TRUE)


def return_statement(v: Visitor, node: ast.Return) -> None:
    """`return`, which ends the function wherever it stands."""
    value = NONE if node.value is None else v.expr(node.value)
    if isinstance(value, Tuple) and len(value.items) <= len(RESULT_PARTS):
        for name, item in zip(RESULT_PARTS, value.items, strict=False):
            v.frame.env.set(name, item)
        value = Parts(len(value.items), value.is_list)
    v.frame.env.set(RESULT, value)
    v.frame.env.set(RETURN, TRUE)


def lazily(
    v: Visitor, condition: Value, then: Callable[[], Val], otherwise: Callable[[], Val], node: ast.expr
) -> Val:
    """A value of which only one side is evaluated, with the names that `:=` sets in it."""
    sides = (Side(Block()), Side(Block()))
    values: list[Val] = []
    for side, evaluate in zip(sides, (then, otherwise), strict=True):
        v.frame.env.begin()
        try:
            with v.block(side.block):
                values.append(numeric.read_rounded(v, evaluate()))
        finally:
            side.changes = v.frame.env.end()
    a, b = values
    branches = Branches(condition, *sides, v.emit.builder.loc)
    named = _named_in_sides(v, branches)
    results = [(meeting_type(v, x, y), x, y) for _, x, y in named]
    if not same(a, b):
        if not (is_number(a) and is_number(b)):
            raise v.error(
                node,
                "PA0305",
                f"a choice at run time between {numeric.describe(a)} and {numeric.describe(b)}",
                hint="both sides must be numbers; use asc.where to choose between arrays",
            )
        results.append((meeting_type(v, a, b), a, b))
    found = [
        type_.scalar(value)
        for (type_, _, _), value in zip(results, joins.emit_if(v, branches, results), strict=True)
    ]
    for (name, _, _), value in zip(named, found, strict=False):
        v.frame.env.set(name, value)
    return a if same(a, b) else found[-1]


def _named_in_sides(v: Visitor, branches: Branches) -> list[tuple[str, Val, Val]]:
    """Names that are numbers on both sides but not the same; any other name that a side sets is set here."""
    env = v.frame.env
    found: list[tuple[str, Val, Val]] = []
    for name in dict.fromkeys([*branches.then.changes, *branches.otherwise.changes]):
        before = env.get(name) or Unset("before this expression", branches.loc)
        a, b = (side.changes.get(name, before) for side in (branches.then, branches.otherwise))
        if same(a, b):
            env.set(name, a)
        elif is_number(a) and is_number(b):
            found.append((name, a, b))
        elif isinstance(a, Unset) or isinstance(b, Unset):
            env.set(name, Unset("when this part of the expression is not evaluated", branches.loc))
        else:
            env.set(name, Conflict("something else on each side of this choice", branches.loc))
    return found


def conditional(v: Visitor, node: ast.IfExp) -> Val:
    """`a if c else b`."""
    condition = numeric.truth(v, v.expr(node.test), node.test)
    if isinstance(condition, bool):
        return v.expr(node.body if condition else node.orelse)
    return lazily(v, condition, lambda: v.expr(node.body), lambda: v.expr(node.orelse), node)


def boolean(v: Visitor, node: ast.BoolOp) -> Val:
    """`and` and `or`: the value of the operand that decides, the rest unevaluated."""
    return _boolean(v, node, v.expr(node.values[0]), node.values[1:])


def _boolean(v: Visitor, node: ast.BoolOp, first: Val, rest: Sequence[ast.expr]) -> Val:
    if not rest:
        return first
    is_and = isinstance(node.op, ast.And)
    condition = numeric.truth(v, first, node.values[-len(rest) - 1])
    if isinstance(condition, bool):
        return _boolean(v, node, v.expr(rest[0]), rest[1:]) if condition == is_and else first

    def others() -> Val:
        return _boolean(v, node, v.expr(rest[0]), rest[1:])

    short = _short(first, is_and)
    if is_and:
        return lazily(v, condition, others, lambda: short, node)
    return lazily(v, condition, lambda: short, others, node)


def _short(first: Val, is_and: bool) -> Val:
    """The deciding operand; a bool that decides is known."""
    if isinstance(first, Scalar) and first.weak and first.dtype.is_bool:
        return FALSE if is_and else TRUE
    return first
