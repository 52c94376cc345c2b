# SPDX-License-Identifier: Apache-2.0
"""Checks out of a loop nest: which may stand before it, the question for all, the loop that tells which failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, func, mem, py, scf, st
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import Polynomials, constant_of, index
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.phases import written_operands
from pyasc.passes.analysis.range_tests import range_test, tested_index
from pyasc.passes.analysis.structure import is_inside
from pyasc.passes.analysis.structured import Output, apply_over, simple_combiner
from pyasc.passes.analysis.tile_emit import binary

_KNOWN = (
    *(scf.For, scf.If, scf.Yield, mem.Load, mem.Store, mem.Atomic, mem.Alloc, mem.View, mem.Dim, mem.Copy),
    *(st.Apply, st.Yield, py.Check, func.Size),
)


@dataclass
class _Checks:
    """The checks of a nest, the loops around each, and the operations that they need."""

    loop: scf.For
    checks: list[py.Check]
    slice: dict[Operation, None] = field(default_factory=lambda: dict[Operation, None]())

    def loops_around(self, check: py.Check) -> list[scf.For]:
        """The loops from the outermost one in."""
        around = [self.loop]
        around += [op for op in reversed(list(check.ancestors())) if _inside(op, self.loop)]
        return [op for op in around if isinstance(op, scf.For)]


def _inside(op: Operation, loop: scf.For) -> bool:
    return op is not loop and loop in op.ancestors()


def split_off(loop: scf.For) -> bool:
    """Take all checks out of a nest, if iterations differ in them and every one of them may be asked before it."""
    found = [op for op in loop.walk() if isinstance(op, py.Check)]
    if not found or not _is_plain(loop):
        return False
    checks = _Checks(loop, found)
    if not all(_needs(checks, check) for check in found):
        return False
    # What no iteration changes the host checks before the launch.
    if not any(_differs(checks, check) for check in found):
        return False
    at = Builder.before(loop)
    at.loc = found[0].loc
    answers = [_ask(checks, around, group, at) for around, group in _groups(checks)]
    if any(answer is None for answer in answers):
        return False
    everything = [answer for answer in answers if answer is not None]
    holds = everything[0]
    for answer in everything[1:]:
        holds = at.value(arith.Elementwise(fn="and", args=[holds, answer]))
    branch = at.insert(scf.If(condition=holds, types=[], then=block_of(), otherwise=block_of()))
    Builder(branch.then.block, loc=at.loc).insert(scf.Yield())
    inner = Builder(branch.otherwise.block, loc=at.loc)
    _tell_which(checks, loop, inner, {})
    inner.insert(scf.Yield())
    for check in found:
        check.erase()
    return True


def _differs(checks: _Checks, check: py.Check) -> bool:
    """Whether a check may hold in one iteration and not in another."""
    needed = [*check.operands, *(value for op in checks.slice for value in op.operands)]
    return any(_is_counter(value) and is_inside(value, checks.loop) for value in needed)


def _is_plain(loop: scf.For) -> bool:
    """Whether a nest has nothing but loops, branches, arithmetic and accesses of memory."""
    return all(isinstance(op, _KNOWN) or op.has(PURE) for op in loop.walk())


def _needs(checks: _Checks, check: py.Check) -> bool:
    """Note what a check needs; whether all of it is there before the nest has run."""
    if any(isinstance(op, (scf.If, scf.While, st.Apply)) for op in _up_to(check, checks.loop)):
        return False
    written = [ref for op in checks.loop.walk() for ref in written_operands(op)]
    bounds = [value for each in checks.loops_around(check)[1:] for value in (each.lower, each.upper)]
    pending = [*check.operands]
    if any(is_inside(value, checks.loop) for value in bounds):
        return False
    while pending:
        value = pending.pop()
        if not is_inside(value, checks.loop):
            continue
        op = value.op
        if op is None:
            if not _is_counter(value):
                return False
            continue
        if isinstance(op, mem.Load):
            if any(may_alias(op.ref, ref) for ref in written) or is_inside(op.ref, checks.loop):
                return False
            if any(isinstance(each, mem.Load) for index in op.indices for each in _behind(index)):
                return False
            if _is_guarded(op, checks):
                return False
        elif not op.has(PURE) or op.regions:
            return False
        checks.slice[op] = None
        pending += op.operands
    return True


def _is_guarded(load: mem.Load, checks: _Checks) -> bool:
    """Whether a check of the nest is what keeps a load in range, so that it may not stand before all of them."""
    polynomials = Polynomials()
    for axis, place in enumerate(load.indices):
        computed = {place, *(value for op in _behind(place) for value in op.operands)}
        for check in checks.checks:
            if not computed.isdisjoint(check.values[:1]) and _ends_at(check, load.ref, axis, polynomials):
                return True
    return False


def _ends_at(check: py.Check, ref: Value, axis: int, polynomials: Polynomials) -> bool:
    return polynomials.of(check.values[-1]) == polynomials.extent(ref, axis)


def _up_to(op: Operation, stop: Operation) -> Iterable[Operation]:
    for each in op.ancestors():
        if each is stop:
            return
        yield each


def _is_counter(value: Value) -> bool:
    owner = value.owner
    return isinstance(owner, Block) and value.index == 0 and isinstance(owner.parent_op, scf.For)


def _behind(value: Value) -> Iterable[Operation]:
    pending = [value]
    while pending:
        op = pending.pop().op
        if op is not None:
            yield op
            pending += op.operands


def _groups(checks: _Checks) -> list[tuple[list[scf.For], list[py.Check]]]:
    """Checks by the loops around them and by those of these whose counters they depend on."""
    made: list[tuple[list[scf.For], list[py.Check]]] = []
    for check in checks.checks:
        nest = checks.loops_around(check)
        around = list(nest)
        used = {value for op in _slice_of(checks, check) for value in op.operands} | set(check.operands)
        while len(around) > 1 and around[-1].counter not in used:
            around.pop()
        known = next(
            (group for loops, group in made if loops == around and checks.loops_around(group[0]) == nest),
            None,
        )
        if known is None:
            made.append((around, [check]))
        else:
            known.append(check)
    return made


def _slice_of(checks: _Checks, check: py.Check) -> list[Operation]:
    wanted = {value.op for value in check.operands}
    found: list[Operation] = []
    for op in reversed(list(checks.loop.walk())):
        if op in wanted and op in checks.slice:
            found.append(op)
            wanted.update(value.op for value in op.operands)
    return found[::-1]


def _ask(checks: _Checks, around: Sequence[scf.For], group: Sequence[py.Check], at: Builder) -> Value | None:
    """Whether all checks of a group hold, for all iterations of the loops around them."""
    if any(constant_of(each.step) != 1 for each in checks.loops_around(group[0])):
        return None
    extents = [binary(at, "maximum", binary(at, "sub", each.upper, each.lower), 0) for each in around]
    # Loops inside that the checks do not depend on may have no iteration; then nothing that they need is there.
    for loop in checks.loops_around(group[0])[len(around) :]:
        runs = at.value(arith.Elementwise(fn="gt", args=[loop.upper, loop.lower]))
        extents[0] = at.value(arith.Elementwise(fn="select", args=[runs, extents[0], index(at, 0)]))
    alloc = mem.Alloc(types=[RefType((), dtypes.i1, "local")])
    flag = at.value(alloc, "inRange")
    true = at.value(arith.Constant.of(True, dtypes.i1))

    def body(inner: Builder, point: list[Value]) -> list[Value]:
        mapping: dict[Value, Value] = {}
        for loop, place in zip(around, point, strict=True):
            mapping[loop.counter] = binary(inner, "add", place, loop.lower)
        return [_conditions(checks, group, mapping, inner)]

    output = Output(ref=flag, role="reduce", axes=(), init=true)
    combine = simple_combiner("and", ScalarType(dtypes.i1))
    apply_over(at, extents, ["reduction"] * len(around), [output], body, combine)
    return at.value(mem.Load(ref=flag, indices=[]))


def _conditions(
    checks: _Checks, group: Sequence[py.Check], mapping: dict[Value, Value], at: Builder
) -> Value:
    """All conditions of a group at one point, in the simplest form."""
    holds: Value | None = None
    for check in group:
        for op in _slice_of(checks, check):
            if op.results[0] not in mapping:
                at.insert(op.clone(mapping))
        condition = mapping.get(check.condition, check.condition)
        tested = tested_index(condition.op)
        made = condition if tested is None else range_test(at, tested)
        holds = made if holds is None else at.value(arith.Elementwise(fn="and", args=[holds, made]))
    assert holds is not None
    return holds


def _tell_which(checks: _Checks, loop: scf.For, at: Builder, mapping: dict[Value, Value]) -> None:
    """The nest with nothing but its checks, one iteration after the other."""
    bounds = [mapping.get(value, value) for value in (loop.lower, loop.upper, loop.step)]
    body = block_of([loop.counter.type], [loop.counter.name])
    made = at.insert(scf.For(lower=bounds[0], upper=bounds[1], step=bounds[2], types=[], body=body))
    mapping[loop.counter] = made.counter
    inner = Builder(made.body.block, loc=loop.loc)
    for op in loop.body.block:
        inner.loc = op.loc
        if op in checks.slice or isinstance(op, py.Check):
            inner.insert(op.clone(mapping))
        elif isinstance(op, scf.For) and any(each in checks.checks for each in op.walk()):
            _tell_which(checks, op, inner, mapping)
    inner.insert(scf.Yield())


def number_bools(op: st.Apply) -> bool:
    """Let a reduction of bools by `and` or `or` into a buffer of the function give the least or greatest of numbers."""
    fn = _bool_reduction(op)
    if fn is None:
        return False
    (flag,) = op.outputs
    alloc, flag_uses = flag.op, list(flag.uses)
    assert isinstance(alloc, mem.Alloc) and isinstance(flag.type, RefType)
    made = mem.Alloc(sizes=alloc.sizes, types=[RefType(flag.type.shape, dtypes.f32, "local")])
    number = Builder.before(alloc).value(made, flag.name)
    for load in [user for user in flag_uses if isinstance(user, mem.Load)]:
        at = Builder.before(load)
        at.loc = load.loc
        value = at.value(mem.Load(ref=number, indices=load.indices), load.value.name)
        zero = at.value(arith.Constant.of(0.0, dtypes.f32))
        load.replace_with([at.value(arith.Elementwise(fn="ne", args=[value, zero]))])
    _reduce_numbers(op, fn, number)
    alloc.erase()
    return True


def _bool_reduction(op: st.Apply) -> str | None:
    """How an op combines bools into one buffer that it alone writes; None for another op."""
    if len(op.outputs) != 1 or op.roles != ("reduce",) or len(op.inits) != 1 or op.guarded:
        return None
    (flag,) = op.outputs
    combined = op.combine.block.terminator.operands[0].op
    if dtype_of(flag.type) is not dtypes.i1 or not isinstance(combined, arith.Elementwise):
        return None
    if set(combined.args) != set(op.combine.block.args) or not isinstance(flag.op, mem.Alloc):
        return None
    if not all(user is op or isinstance(user, mem.Load) for user in flag.uses):
        return None
    return {"and": "minimum", "or": "maximum"}.get(combined.fn)


def _reduce_numbers(op: st.Apply, fn: str, number: Value) -> None:
    """The op with what it combines as numbers."""
    at = Builder.before(op)
    at.loc = op.loc
    body = Region()
    op.body.clone_into(body, {})
    end = body.block.terminator
    end.operands = [_as_number(Builder.before(end), end.operands[0])]
    at.insert(
        st.Apply(
            symbols=op.symbols,
            inputs=op.inputs,
            inits=[_as_number(at, op.inits[0])],
            outputs=[number],
            iterators=op.iterators,
            lower=op.lower,
            upper=op.upper,
            input_maps=op.input_maps,
            output_maps=op.output_maps,
            roles=op.roles,
            body=body,
            combine=simple_combiner(fn, ScalarType(dtypes.f32)),
        )
    )
    op.erase()


def _as_number(at: Builder, bit: Value) -> Value:
    one, zero = (at.value(arith.Constant.of(number, dtypes.f32)) for number in (1.0, 0.0))
    return at.value(arith.Elementwise(fn="select", args=[bit, one, zero]))


def only_tells_which(work: Operation) -> bool:
    """Whether work does nothing but report a check that has failed."""
    if isinstance(work, py.Check):
        return True
    if not isinstance(work, scf.If) or work.results or len(list(work.then.block)) != 1:
        return False
    return all(
        isinstance(op, (scf.If, scf.For, scf.Yield, mem.Load, py.Check)) or op.has(PURE) for op in work.walk()
    )
