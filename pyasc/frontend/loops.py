# SPDX-License-Identifier: Apache-2.0
"""`for` and `while`: counted loops, loops with `break` or `return` as `scf.while`, and loops written out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from pyasc.frontend import control, numeric, swaps
from pyasc.frontend.carried import Carried, Loop, end_iteration, scope, type_at_breaks
from pyasc.frontend.emit import drop_block
from pyasc.frontend.frames import RETURN
from pyasc.frontend.iteration import Counted, Items, plan
from pyasc.frontend.liveness import find_break
from pyasc.frontend.values import FALSE, TRUE, Const, Range, Scalar, Unset, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Block, Region, Value
from pyasc.ir.dialects import scf
from pyasc.ir.types import ScalarType

_I64 = ScalarType(dtypes.i64)


def for_statement(v: Visitor, node: ast.For) -> None:
    """`for` over anything that `iteration.plan` knows."""
    found = plan(v, v.expr(node.iter), node.iter)
    if isinstance(found, Items):
        _written_out(v, node, found.items)
        return
    leaves = find_break(node.body) is not None or v.facts(node).returns
    if found.parallel:
        _refuse_jumps(v, node)
        _parallel(v, node, found)
    elif leaves:
        _leaving(v, node, found)
    else:
        count = swaps.period(v, node)
        if swaps.is_written_out(count) and len(found.ranges) == 1:
            swaps.written_out(
                v, node, found, count, lambda c, body: _counted(v, node, c, body), iterate(v, node)
            )
        else:
            _counted(v, node, found, iterate(v, node))
        v.body(node.orelse)


def _refuse_jumps(v: Visitor, node: ast.For) -> None:
    for child in ast.walk(node) if v.facts(node).returns else ():
        if isinstance(child, ast.Return):
            raise v.error(
                child, "PA0602", "`return` in a parallel loop", hint="use range for a sequential loop"
            )
    place = find_break(node.body)
    if place is not None:
        raise v.error(
            place, "PA0602", "`break` in a parallel loop", "the other iterations may have run already",
            hint="use range for a sequential loop",
        )  # fmt: skip
    if node.orelse:
        raise v.error(
            node.orelse[0], "PA0602", "`else` on a parallel loop", hint="put the statements behind the loop"
        )


def _bounds(v: Visitor, value: Range, node: ast.For) -> tuple[Value, Value, Value]:
    lower, upper, step = (numeric.index(v, part, node.iter) for part in (value.start, value.stop, value.step))
    if isinstance(value.step, Const):
        if value.step.value == 0:
            raise v.error(node.iter, "PA0503", "the step of a range must not be 0")
    else:
        numeric.check(
            v, v.emit.fn("ne", step, v.emit.index(0)), "ValueError", "range() arg 3 must not be zero"
        )
    return lower, upper, step


def _note_counter(v: Visitor, counter: Scalar, value: Range) -> None:
    """Remember where a counter that starts at 0 or above stops, so that no test of its sign is emitted."""
    upward = isinstance(value.step, Const) and value.step.value > 0
    if upward and isinstance(value.start, Const) and value.start.value >= 0:
        v.counters[counter.value] = value.stop


def _parallel(v: Visitor, node: ast.For, found: Counted) -> None:
    bounds = [_bounds(v, each, node) for each in found.ranges]
    loc = v.emit.builder.loc
    carried = Carried(v, node, found.runs, parallel=True)
    if carried.reductions:
        if len(bounds) > 1:
            raise carried.refuse_parallel(carried.reductions[0])
        _counted(v, node, found, iterate(v, node))
        return
    blocks = [Block([_I64]) for _ in bounds]
    counters = [Scalar(block.args[0], weak=True) for block in blocks]
    for counter, value in zip(counters, found.ranges, strict=True):
        _note_counter(v, counter, value)
    carried.visit(blocks[-1], [], lambda: _iteration(v, node, found.element(counters)))
    for block, (lower, upper, step) in reversed(list(zip(blocks, bounds, strict=True))):
        block_of_loop = blocks[blocks.index(block) - 1] if block is not blocks[0] else v.emit.builder.block
        v.emit.builder.loc = loc
        with v.block(block):
            v.emit.insert(scf.Yield(values=[]))
        op = scf.For(
            lower=lower,
            upper=upper,
            step=step,
            inits=[],
            kind="parallel",
            types=[],
            body=Region([block]),
            loc=loc,
        )
        with v.block(block_of_loop):
            v.emit.insert(op)
    carried.bind_results([])


def _iteration(v: Visitor, node: ast.For, element: Val) -> None:
    """One iteration: the target is set, then the body runs."""
    _run(v, iterate(v, node), element)


def _run(v: Visitor, body: Callable[[Val], None], element: Val) -> None:
    v.frame.env.set(v.frame.loops[-1].continue_flag, FALSE)
    body(element)


def iterate(v: Visitor, node: ast.For) -> Callable[[Val], None]:
    """Sets the target to an element, and visits the body."""
    from pyasc.frontend.statements import assign

    def visit(element: Val) -> None:
        assign(v, node.target, element)
        v.body(node.body)

    return visit


def _counted(v: Visitor, node: ast.For, found: Counted, body: Callable[[Val], None]) -> None:
    """A loop that runs to its end: `scf.for`."""
    (bounds,) = [_bounds(v, each, node) for each in found.ranges]
    loc = v.emit.builder.loc
    carried = Carried(v, node, found.runs)
    block = Block()
    while True:
        block = Block([_I64, *carried.types])
        counter = Scalar(block.args[0], weak=True)
        _note_counter(v, counter, found.ranges[0])
        carried.visit(block, block.args[1:], lambda c=counter: _run(v, body, found.element([c])))
        if carried.stable(block):
            break
    v.emit.builder.loc = loc
    inits = carried.inits()
    with v.block(block):
        v.emit.insert(scf.Yield(values=carried.yields(block)))
    lower, upper, step = bounds
    op = scf.For(
        lower=lower,
        upper=upper,
        step=step,
        inits=inits,
        types=carried.all_types,
        body=Region([block]),
        loc=loc,
    )
    v.emit.insert(op)
    carried.bind_results(op.results)


def _leaving(v: Visitor, node: ast.For, found: Counted) -> None:
    """A counted loop with `break` or `return`: `scf.while` with a counter."""
    (value,) = found.ranges
    lower, upper, step = _bounds(v, value, node)
    # A step that is no constant is a size, and so positive.
    down = isinstance(value.step, Const) and value.step.value < 0
    below = "gt" if down else "lt"

    def test(counter: Value | None) -> Val:
        assert counter is not None
        return Scalar(v.emit.fn(below, counter, upper), weak=True)

    def run(counter: Value | None) -> None:
        assert counter is not None
        _iteration(v, node, found.element([Scalar(counter, weak=True)]))

    def advance(counter: Value) -> Value:
        return v.emit.fn("add", counter, step)

    _while_loop(v, node, found.runs, test, run, counter=lower, advance=advance)


def while_statement(v: Visitor, node: ast.While) -> None:
    """`while`."""
    if isinstance(node.test, ast.Constant) and not node.test.value:
        v.body(node.orelse)
        return
    endless = isinstance(node.test, ast.Constant)
    leaves = find_break(node.body) is not None or v.facts(node).returns
    if endless and not leaves:
        raise v.error(node.test, "PA0309", "this loop never ends", hint="leave it with `break` or `return`")

    def run(_: Value | None) -> None:
        v.frame.env.set(v.frame.loops[-1].continue_flag, FALSE)
        v.body(node.body)

    _while_loop(v, node, endless, lambda _: v.expr(node.test), run)
    if endless and find_break(node.body) is None:
        # The only way out.
        v.frame.env.set(RETURN, TRUE)


def _while_loop(
    v: Visitor,
    node: Loop,
    runs: bool,
    test: Callable[[Value | None], Val],
    run: Callable[[Value | None], None],
    counter: Value | None = None,
    advance: Callable[[Value], Value] | None = None,
) -> None:
    """`scf.while` with the flags of jumps among the carried values, and an optional counter before them."""
    loc = v.emit.builder.loc
    # What is behind an `else` that ends elsewhere has left the loop by `break`, and so has been in it.
    certain = runs or (bool(node.orelse) and find_break(node.body) is not None)
    carried = Carried(v, node, certain, flags=True)
    lead = [] if counter is None else [_I64]
    before = after = Block()
    while True:
        before, after = Block([*lead, *carried.types]), Block([*lead, *carried.types])
        if not carried.visit_test(
            before, before.args[len(lead) :], lambda b=before: test(b.args[0] if lead else None)
        ):
            continue
        carried.visit(after, after.args[len(lead) :], lambda a=after: run(a.args[0] if lead else None))
        if carried.stable(before, after):
            break
    v.emit.builder.loc = loc
    inits = ([] if counter is None else [counter]) + carried.inits()
    with v.block(after):
        values = carried.yields(after)
        lead_values = [advance(after.args[0])] if advance is not None else []
        v.emit.insert(scf.Yield(values=[*lead_values, *values]))
    with v.block(before):
        forwarded = [*before.args[: len(lead)], *carried.forwarded(before)]
        v.emit.insert(scf.Condition(condition=carried.condition, forwarded=forwarded))
    op = scf.While(
        inits=inits,
        types=[*lead, *carried.all_types],
        before=Region([before]),
        after=Region([after]),
        loc=loc,
    )
    v.emit.insert(op)
    carried.bind_results(op.results[len(lead) :])
    by_breaks = {name: Unset("when this loop ends without `break`", loc) for name in carried.set_by_breaks}
    inside = {name: Unset("when this loop does not run", loc) for name in carried.set_inside if not runs}
    if not node.orelse and not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant)):
        _set_all(v, by_breaks)
    _else(v, node, carried.break_value, by_breaks | inside)


def _set_all(v: Visitor, values: Mapping[str, Val]) -> None:
    for name, value in values.items():
        v.frame.env.set(name, value)


def _else(v: Visitor, node: Loop, broken: Val, unset: Mapping[str, Val] | None = None) -> None:
    """The `else` of a loop that may be left; `unset` are names that have no value there."""
    if not node.orelse:
        return

    def visit() -> None:
        _set_all(v, unset or {})
        v.body(node.orelse)

    flag = numeric.truth(v, broken)
    if isinstance(flag, bool):
        if not flag:
            visit()
        return
    control.branch(v, v.emit.fn("not", flag), visit, lambda: None)


def _written_out(v: Visitor, node: ast.For, items: Sequence[Val]) -> None:
    """The body once for each item; a jump known only at run time guards what follows."""
    by_breaks = _fill_names_of_breaks(v, node, items)
    broken, _ = _write_all(v, node, items)
    if not node.orelse:
        _set_all(v, by_breaks)
    if not v.frame.jumped():
        _else(v, node, broken, by_breaks)


def _fill_names_of_breaks(v: Visitor, node: ast.For, items: Sequence[Val]) -> dict[str, Val]:
    """Give names that only the ways to `break` set a number to start from; what they are for whoever comes otherwise.

    Which numbers they get shows in a visit whose operations are dropped.
    """
    watched = _names_of_breaks(v, node)
    if not watched:
        return {}
    block, mark = Block(), len(v.diagnostics)
    v.frame.env.begin()
    try:
        with v.block(block):
            _, at_breaks = _write_all(v, node, items, watched)
    finally:
        v.frame.env.end()
        drop_block(block)
        del v.diagnostics[mark:]
    found: dict[str, Val] = {}
    for name in watched:
        type_ = type_at_breaks(v, name, at_breaks)
        if type_ is not None:
            v.frame.env.set(name, type_.scalar(v.emit.constant(0, type_.carried)))
            found[name] = Unset("when this loop ends without `break`", v.location(node))
    return found


def _names_of_breaks(v: Visitor, node: ast.For) -> list[str]:
    """Names that have no value before a loop with `break`, are set in it and read behind it."""
    if find_break(node.body) is None:
        return []
    facts, behind = v.frame.liveness.iteration(node), v.frame.liveness.body(node.orelse).reads
    return [
        name
        for name in sorted(facts.may_set - facts.reads - v.frame.scan.captured)
        if isinstance(v.frame.env.get(name) or Unset(""), Unset) and (name in behind or v.frame.live(name))
    ]


def _write_all(
    v: Visitor, node: ast.For, items: Sequence[Val], watched: Sequence[str] = ()
) -> tuple[Val, list[dict[str, Val | None]]]:
    """Whether the loop is left by `break`, and the values of `watched` names at each."""
    outer_key = v.frame.key
    try:
        v.serial += 1
        with scope(v, node, v.serial, watched) as loop:
            v.frame.env.set(loop.break_flag, FALSE)
            _write_from(v, node, items, 0, outer_key)
            broken = v.frame.env.values[loop.break_flag]
            v.frame.env.set(loop.continue_flag, FALSE)
    finally:
        v.frame.key = outer_key
    return broken, loop.at_breaks


def _write_from(v: Visitor, node: ast.For, items: Sequence[Val], start: int, key: tuple[object, ...]) -> None:
    loop = v.frame.loops[-1]
    for k in range(start, len(items)):
        v.frame.key = (*key, node, k)
        _iteration(v, node, items[k])
        end_iteration(v)
        v.frame.env.set(loop.continue_flag, FALSE)
        flags = v.frame.pending_flags()
        if v.frame.jumped():
            return
        if flags and k + 1 < len(items):
            control.guarded(v, flags, lambda k=k: _write_from(v, node, items, k + 1, key))
            return
