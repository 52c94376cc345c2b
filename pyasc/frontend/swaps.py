# SPDX-License-Identifier: Apache-2.0
"""Loops at whose end names of arrays are exchanged: `x, y = y, x`.

A name stands for one array wherever it is read, so that such a loop is written out until every name is back at its
own array: two iterations for a swap, three for a rotation of three names. Iterations that are left over follow it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping

from pyasc.frontend import arithmetic, control, numeric
from pyasc.frontend.arithmetic import BINARY, COMPARE
from pyasc.frontend.iteration import Counted, sequence
from pyasc.frontend.values import Array, Const, Range, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir.core import Value

_ADD, _MUL, _DIV, _MOD = (BINARY[op] for op in (ast.Add, ast.Mult, ast.FloorDiv, ast.Mod))
_LONGEST = 6
"""A loop is written out at most this often."""


def period(v: Visitor, node: ast.For) -> int:
    """After how many iterations all names of arrays are back; 1 where a loop exchanges none, or not plainly."""
    if not any(_moves(statement) for statement in node.body):
        return 1
    if node.orelse or any(isinstance(each, (ast.Break, ast.Continue, ast.Return)) for each in ast.walk(node)):
        return 1
    mapping: dict[str, str] = {}
    for statement in node.body:
        moved = _moves(statement)
        if moved is None:
            mapping = {
                name: source for name, source in mapping.items() if name not in v.facts(statement).may_set
            }
            continue
        mapping |= {target: mapping.get(source, source) for target, source in moved.items()}
    arrays = {name: source for name, source in mapping.items() if isinstance(v.frame.env.get(name), Array)}
    if set(arrays) != set(arrays.values()):
        return 1
    return math.lcm(1, *(_cycle(arrays, name) for name in arrays))


def _moves(statement: ast.stmt) -> dict[str, str] | None:
    """From the names that a statement sets to the names that it takes their values from."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=source)):
            return {target: source}
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=sources)):
            pairs = list(zip(targets, sources, strict=False))
        case _:
            return None
    if len(targets) != len(sources):
        return None
    named = {a.id: b.id for a, b in pairs if isinstance(a, ast.Name) and isinstance(b, ast.Name)}
    return named if len(named) == len(pairs) else None


def _cycle(mapping: Mapping[str, str], name: str) -> int:
    length, at = 1, mapping[name]
    while at != name:
        length, at = length + 1, mapping[at]
    return length


def written_out(
    v: Visitor,
    node: ast.For,
    found: Counted,
    count: int,
    loop: Callable[[Counted, Callable[[Val], None]], None],
    iterate: Callable[[Val], None],
) -> None:
    """Visit a loop whose names are back after `count` iterations.

    `loop` emits a loop whose body is given an element, `iterate` visits one iteration for an element.
    """
    (whole,) = found.ranges
    length, at, _ = sequence(v, whole, node.iter)
    rounds = arithmetic.binary(v, _DIV, length, Const(count))
    done = arithmetic.binary(v, _MUL, rounds, Const(count))

    def element(k: Val) -> Val:
        return found.element([at(k)])  # pyright: ignore[reportArgumentType]

    def several(number: Val) -> None:
        first = arithmetic.binary(v, _MUL, number, Const(count))
        for k in range(count):
            iterate(element(arithmetic.binary(v, _ADD, first, Const(k))))

    loop(Counted((Range(Const(0), rounds, Const(1), False),), lambda c: c[0]), several)
    _left_over(
        v,
        arithmetic.binary(v, _MOD, length, Const(count)),
        count - 1,
        0,
        lambda k: iterate(element(arithmetic.binary(v, _ADD, done, Const(k)))),
    )


def _left_over(v: Visitor, rest: Val, most: int, number: int, iterate: Callable[[int], None]) -> None:
    """What is left over: iteration `number` where there are more, then those behind it."""
    if number == most:
        return

    def go_on() -> None:
        iterate(number)
        _left_over(v, rest, most, number + 1, iterate)

    more = numeric.truth(v, arithmetic.compare(v, COMPARE[ast.Gt], rest, Const(number)))
    if isinstance(more, Value):
        control.branch(v, more, go_on, lambda: None)
    elif more:
        go_on()


def is_written_out(count: int) -> bool:
    """Whether a loop with this period is worth writing out."""
    return 1 < count <= _LONGEST
