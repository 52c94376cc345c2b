# SPDX-License-Identifier: Apache-2.0
"""What a `for` loop runs over: counted loops with an element for each count, or items to write out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pyasc.frontend import arithmetic, numeric
from pyasc.frontend.arithmetic import BINARY, COMPARE
from pyasc.frontend.numeric import describe
from pyasc.frontend.values import (
    Array,
    Const,
    Counter,
    Grid,
    Range,
    Reversed,
    Row,
    Scalar,
    Tensor,
    Tuple,
    Unroll,
    Val,
    Zip,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir.core import Value
from pyasc.ir.record import Record

_UNROLL_LIMIT = 4096
_ADD, _SUB, _MUL, _DIV = (BINARY[op] for op in (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv))


class Counted(Record):
    """Counters with bounds (one, or several for a grid), and the element for their values."""

    ranges: tuple[Range, ...]
    element: Callable[[Sequence[Scalar]], Val]
    parallel: bool = False

    @property
    def runs(self) -> bool:
        """Whether the body certainly runs at least once."""
        return all(known_trips(r) for r in self.ranges)


class Items(Record):
    """Known items; the body is written out for each."""

    items: tuple[Val, ...]


def plan(v: Visitor, value: Val, node: ast.AST | None) -> Counted | Items:
    """How to run over a value. Refuses what cannot be iterated."""
    match value:
        case Range(step=Scalar()):
            # A step that may be negative: loops whose counters only go up are what every device runs.
            zero = arithmetic.compare(v, COMPARE[ast.NotEq], value.step, Const(0))
            numeric.check(v, _bool(v, zero), "ValueError", "range() arg 3 must not be zero")
            counter = Range(Const(0), trips(v, value), Const(1), value.parallel)
            return Counted((counter,), lambda c: _item(v, value, c[0]), value.parallel)
        case Range():
            return Counted((value,), lambda c: c[0], value.parallel)
        case Grid(sizes=sizes):
            ranges = tuple(Range(Const(0), size, Const(1), True) for size in sizes)
            return Counted(ranges, lambda c: Tuple(tuple(c)), True)
        case Unroll(inner=inner):
            return Items(known_items(v, inner, node))
        case Tuple(items=items):
            return Items(items)
        case Zip() | Reversed() | Array() | Tensor() | Row():
            length, at, parallel = sequence(v, value, node)
            return Counted((Range(Const(0), length, Const(1), parallel),), lambda c: at(c[0]), parallel)
        case _:
            raise v.error(
                node,
                "PA0306",
                f"cannot iterate over {describe(value)}",
                hint="use range, asc.parallel_for, asc.unroll, zip, enumerate, reversed, a tuple or an array",
            )


Sequenced = tuple[Val, Callable[[Val], Val], bool]


def sequence(v: Visitor, value: Val, node: ast.AST | None) -> Sequenced:
    """The length of something iterable, its item at an index, and whether its iterations are parallel."""
    match value:
        case Range():
            return trips(v, value), lambda k: _item(v, value, k), value.parallel
        case Zip(parts=parts):
            return _zipped(
                v, [sequence(v, part, node) for part in parts if not isinstance(part, Counter)], parts
            )
        case Reversed(inner=inner):
            length, at, parallel = sequence(v, inner, node)
            last = arithmetic.binary(v, _SUB, length, Const(1))
            return length, lambda k: at(arithmetic.binary(v, _SUB, last, k)), parallel
        case Tuple(items=items):
            return Const(len(items)), lambda k: _tuple_item(v, items, k, node), False
        case Array() | Tensor() | Row():
            from pyasc.frontend.subscripts import item, rank

            if not rank(value):
                raise v.error(node, "PA0306", "cannot iterate over an array without axes")
            whole = numeric.operand(v, value) if isinstance(value, Tensor) else value
            base = whole if isinstance(whole, (Array, Tensor)) else _row_array(v, whole)
            return numeric.length(v, base, 0), lambda k: item(v, base, (k,)), False
        case Unroll(inner=inner):
            return sequence(v, inner, node)
        case _:
            raise v.error(node, "PA0306", f"cannot iterate over {describe(value)}")


def _row_array(v: Visitor, value: Val) -> Array:
    from pyasc.frontend.subscripts import row_view

    assert isinstance(value, Row)
    return row_view(v, value)


def _zipped(v: Visitor, found: list[Sequenced], parts: Sequence[Val]) -> Sequenced:
    shortest = found[0][0]
    for length, _, _ in found[1:]:
        shortest = smaller(v, shortest, length)
    accessors: list[Callable[[Val], Val]] = []
    behind = iter(found)
    for part in parts:
        if isinstance(part, Counter):
            accessors.append(_counter_item(v, part))
        else:
            accessors.append(next(behind)[1])
    return shortest, lambda k: Tuple(tuple(at(k) for at in accessors)), any(f[2] for f in found)


def _counter_item(v: Visitor, counter: Counter) -> Callable[[Val], Val]:
    return lambda k: arithmetic.binary(v, _ADD, counter.start, k)


def _tuple_item(v: Visitor, items: tuple[Val, ...], k: Val, node: ast.AST | None) -> Val:
    if isinstance(k, Const):
        return items[k.value]
    raise v.error(
        node, "PA0306", "a tuple together with a run-time range", hint="put asc.unroll(...) around the whole"
    )


def _item(v: Visitor, value: Range, k: Val) -> Val:
    return arithmetic.binary(v, _ADD, value.start, arithmetic.binary(v, _MUL, k, value.step))


def smaller(v: Visitor, a: Val, b: Val) -> Val:
    """The lesser of two ints."""
    below = arithmetic.compare(v, COMPARE[ast.LtE], a, b)
    if isinstance(below, Const):
        return a if below.value else b
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(min(a.value, b.value))
    args = [numeric.index(v, each) for each in (b, a)]
    return Scalar(v.emit.fn("minimum", args[1], args[0]), weak=True)


def known_trips(value: Range) -> int | None:
    """How often the loop runs, when that is known."""
    parts = (value.start, value.stop, value.step)
    numbers = [part.value for part in parts if isinstance(part, Const)]
    if len(numbers) == 3 and numbers[2]:
        start, stop, step = map(int, numbers)
        return max(0, -((start - stop) // step))
    return None


def trips(v: Visitor, value: Range) -> Val:
    """How often the loop runs: `max(0, ceil((stop - start) / step))`."""
    known = known_trips(value)
    if known is not None:
        return Const(known)
    span = arithmetic.binary(v, _SUB, value.stop, value.start)
    step = value.step
    if not (isinstance(step, Const) and step.value == 1):
        up = arithmetic.compare(v, COMPARE[ast.Gt], step, Const(0))
        sign = Const(1) if isinstance(up, Const) and up.value else Const(-1)
        if not isinstance(up, Const):
            sign = Scalar(v.emit.select(_bool(v, up), v.emit.index(1), v.emit.index(-1)), weak=True)
        span = arithmetic.binary(v, _SUB, arithmetic.binary(v, _ADD, span, step), sign)
        span = arithmetic.binary(v, _DIV, span, step)
    if isinstance(span, Const):
        return Const(max(0, span.value))
    count = numeric.index(v, span)
    return Scalar(v.emit.fn("maximum", count, v.emit.index(0)), weak=True)


def _bool(v: Visitor, value: Val) -> Value:
    found = numeric.truth(v, value)
    assert isinstance(found, Value)
    return found


def known_items(v: Visitor, inner: Val, node: ast.AST | None) -> tuple[Val, ...]:
    """Items that are known when the kernel is compiled, of a tuple or a range."""
    if isinstance(inner, Tuple):
        return inner.items
    length, at, _ = sequence(v, inner, node)
    if not isinstance(length, Const):
        raise v.error(
            node,
            "PA0307",
            "the number of iterations must be known when the kernel is compiled",
        )
    if length.value > _UNROLL_LIMIT:
        raise v.error(
            node,
            "PA0703",
            f"{length.value} iterations written out",
            hint=f"at most {_UNROLL_LIMIT} are: use range, or unroll an inner loop alone",
        )
    return tuple(at(Const(k)) for k in range(length.value))
