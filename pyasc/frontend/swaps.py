# SPDX-License-Identifier: Apache-2.0
"""Loops at whose end names of arrays are exchanged: `x, y = y, x`.

A name stands for one array wherever it is read, so that such a loop is written out until every name is back at its
own array: two iterations for a swap, three for a rotation of three names. Iterations that are left over follow it.
Behind these, names of temporary arrays get their own arrays back by an exchange of the elements, which nobody sees.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence

from pyasc.frontend import arithmetic, control, numeric
from pyasc.frontend.arithmetic import BINARY, COMPARE
from pyasc.frontend.iteration import Counted, sequence
from pyasc.frontend.sharing import only_named
from pyasc.frontend.values import Array, Const, Range, Tensor, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir.core import Value
from pyasc.ir.dialects import tensor

_ADD, _MUL, _DIV, _MOD = (BINARY[op] for op in (ast.Add, ast.Mult, ast.FloorDiv, ast.Mod))
_LONGEST = 6
"""A loop is written out at most this often."""


def period(v: Visitor, node: ast.For) -> int:
    """After how many iterations all names of arrays are back; 1 where a loop exchanges none, or not plainly."""
    arrays = _exchanged(v, node)
    return math.lcm(1, *(_cycle(arrays, name) for name in arrays))


def _exchanged(v: Visitor, node: ast.For) -> dict[str, str]:
    """From the names that an iteration gives another array to the names that had it."""
    if not any(_moves(statement) for statement in node.body):
        return {}
    if node.orelse or v.facts(node).returns or _has_jump(node.body):
        return {}
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
    return arrays if set(arrays) == set(arrays.values()) else {}


def _has_jump(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop is left, or goes on with the next iteration, from within its body; inner loops may be."""
    for each in body:
        inner: list[ast.stmt] = []
        match each:
            case ast.Break() | ast.Continue():
                return True
            case ast.If(body=then, orelse=otherwise):
                inner = [*then, *otherwise]
            case ast.For(orelse=otherwise) | ast.While(orelse=otherwise):
                inner = otherwise
            case ast.With(body=within):
                inner = within
            case _:
                pass
        if _has_jump(inner):
            return True
    return False


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
    homes = _homes(v, node)
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
    rest = arithmetic.binary(v, _MOD, length, Const(count))
    _left_over(
        v,
        rest,
        count - 1,
        0,
        lambda k: iterate(element(arithmetic.binary(v, _ADD, done, Const(k)))),
        {} if isinstance(rest, Const) else homes,
    )


def _left_over(
    v: Visitor, rest: Val, most: int, number: int, iterate: Callable[[int], None], homes: Mapping[str, Array]
) -> None:
    """What is left over: iteration `number` where there are more, then those behind it; then all names go home."""
    if number == most:
        _bring_home(v, homes)
        return

    def go_on() -> None:
        iterate(number)
        _left_over(v, rest, most, number + 1, iterate, homes)

    more = numeric.truth(v, arithmetic.compare(v, COMPARE[ast.Gt], rest, Const(number)))
    if isinstance(more, Value):
        control.branch(v, more, go_on, lambda: _bring_home(v, homes))
    elif more:
        go_on()


def _homes(v: Visitor, node: ast.For) -> dict[str, Array]:
    """The arrays of the names that a loop exchanges and that are read behind it, if these may change their elements."""
    exchanged = _exchanged(v, node)
    homes: dict[str, Array] = {}
    for name in exchanged:
        value = v.frame.env.get(name)
        assert isinstance(value, Array)
        homes[name] = value
    alike = len({array.ref.type for array in homes.values()}) == 1
    return homes if alike and any(map(v.frame.live, exchanged)) and only_named(v, homes) else {}


def _bring_home(v: Visitor, homes: Mapping[str, Array]) -> None:
    """Give names their own arrays, with the elements of those that they had."""
    away = {name: v.frame.env.get(name) for name, home in homes.items() if v.frame.env.get(name) != home}
    if not all(value in homes.values() for value in away.values()):
        return
    elements = {name: numeric.operand(v, value) for name, value in away.items() if value is not None}
    for name, value in elements.items():
        assert isinstance(value, Tensor)
        v.copies.add(v.emit.insert(tensor.Write(value=value.value, ref=homes[name].ref)))
        v.frame.env.set(name, homes[name])


def is_written_out(count: int) -> bool:
    """Whether a loop with this period is worth writing out."""
    return 1 < count <= _LONGEST
