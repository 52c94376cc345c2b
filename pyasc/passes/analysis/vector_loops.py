# SPDX-License-Identifier: Apache-2.0
"""The loops around vector bodies: whole vectors, what is left of them, and what comes before the first boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, func, mem, scf, vec
from pyasc.ir.record import Record
from pyasc.ir.types import RefType, VectorType, dtype_of
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.costs import SLOW, TRANSCENDENTAL, TRANSCENDENTAL_COST
from pyasc.passes.analysis.effects import is_local, root_of
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.tensor_kernels import neutral
from pyasc.passes.analysis.vector_emit import Memory, Part, VectorBody
from pyasc.passes.analysis.vector_plan import VectorPlan

Step = Callable[[Emitter, Value, list[Value]], Sequence[Value]]

LONG_BODY = 40
"""Vector operations from which a body is not written a third time for alignment."""
SHORT_LOOP = 4
"""Vectors up to which a loop is not brought to a boundary first."""
SCAN_PARTS = 2
"""Vectors a step of a scan: the value carried from step to step then costs one operation less."""
SHORT_BODY = 8
"""Vector operations up to which a reduction needs four running vectors to hide the latency of one."""


class Schedule(Record):
    """The memory schedule of one loop; `ahead` is the loop over rows whose next row is asked for."""

    vector_bytes: int
    align: bool = False
    streamed: Value | None = None
    ahead: scf.For | None = None
    row_bytes: int = 0


def may_stream(plan: VectorPlan) -> bool:
    """Whether a loop has one result that it only writes, in memory that outlives it."""
    if plan.loop.kind != "parallel" or len(plan.stores) != 1 or plan.work > LONG_BODY:
        return False
    root = root_of(plan.stores[0].ref)
    if is_local(root) or dtype_of(root.type).bytes * plan.lanes < 32:
        return False
    reads = [op for op in plan.loop.body.block if isinstance(op, mem.Load)]
    return all(root_of(op.ref) is not root for op in reads)


def idle_time(plan: VectorPlan) -> int:
    """How much longer a step computes than it accesses memory, in operations; an access counts for two."""
    accesses = len(plan.loads) + len(plan.stores)
    slow = sum(TRANSCENDENTAL_COST for op in plan.loop.body.block if getattr(op, "fn", "") in TRANSCENDENTAL)
    return plan.work - len(plan.loads) + slow - 2 * accesses


def streamed_flag(nest: scf.For, ref: Value, limit: int) -> Value | None:
    """Before the nest: whether a buffer has at least `limit` bytes."""
    type_ = ref.type
    assert isinstance(type_, RefType)
    if None in type_.shape:
        return None
    e = Emitter(Builder.before(nest))
    count = e.index(1)
    for axis in range(len(type_.shape)):
        count = e.mul(count, e.value(mem.Dim(ref=ref, axis=axis)))
    return e.value(arith.Elementwise(fn="ge", args=[count, e.index(limit // type_.dtype.bytes)]), "streamed")


class LoopWriter:
    """Replaces one planned loop."""

    def __init__(self, plan: VectorPlan, schedule: Schedule) -> None:
        self.plan = plan
        self.loop = plan.loop
        self.schedule = schedule
        self.body = VectorBody(plan)
        self.e = Emitter(Builder.before(plan.loop))
        self.kind = "parallel" if plan.loop.kind == "parallel" else "sequential"

    def write(self) -> None:
        """Write the loops and remove the scalar one."""
        start, stop = self.loop.lower, self._upper()
        memory = self._memory()
        carried = [[self._neutral(a)] * self._running() for a in range(len(self.plan.accumulators))]
        if self._shifted():
            whole, carried = self._shifted_main(start, stop, carried)
        else:
            if self._aligned():
                start, carried = self._head(start, stop, carried)
            whole = self._whole(start, stop)
            carried = self._main(start, whole, carried, memory)
        joined = [self._join(number, running) for number, running in enumerate(carried)]
        self._finish(self._rest(whole, stop, joined))

    def _upper(self) -> Value:
        """The end, not before the start: what is left over is counted from it."""
        if integer_of(self.loop.lower) == 0 and isinstance(self.loop.upper.op, (func.Size, mem.Dim)):
            return self.loop.upper
        if self._is_task():
            return self.loop.upper
        return self.e.call("pymax", self.loop.upper, self.loop.lower)

    def _is_task(self) -> bool:
        """Whether the bounds are those of one task, which is never empty."""
        outer = self.loop.parent_op
        return isinstance(outer, scf.For) and outer.grain > 0 and outer.counter.name == "task"

    def _parts(self) -> int:
        """Vectors a step: several where an operation would wait for the one before it."""
        if self.loop.kind == "scan":
            return SCAN_PARTS
        slow = any(getattr(op, "fn", "") in TRANSCENDENTAL | SLOW for op in self.loop.body.block)
        if self.plan.accumulators:
            return 4 if self.plan.work <= SHORT_BODY and not slow else 2
        return 2 if slow else 1

    def _running(self) -> int:
        """Vectors a running value takes."""
        return 1 if self.loop.kind == "scan" else self._parts()

    def _aligned(self) -> bool:
        plan = self.plan
        return (
            self.schedule.align
            and (not plan.accumulators or self._scans_integers())
            and len(plan.stores) == 1
            and plan.work <= LONG_BODY
            and not self._is_short()
            and not is_local(root_of(plan.stores[0].ref))
        )

    def _is_short(self) -> bool:
        """Whether the loop runs over a few vectors at most, as those over a tile do."""
        bound = self.loop.upper.op
        if not isinstance(bound, arith.Elementwise) or bound.fn not in ("pymin", "minimum"):
            return False
        most = min((n for n in map(integer_of, bound.args) if n is not None), default=None)
        return integer_of(self.loop.lower) == 0 and most is not None and most <= SHORT_LOOP * self.plan.lanes

    def _memory(self) -> Memory:
        outer = self.schedule.ahead
        if outer is None:
            return Memory(self.schedule.streamed)
        return Memory(self.schedule.streamed, (outer.counter, self._next_row(outer)))

    def _next_row(self, outer: scf.For) -> Value:
        """The following iteration, or this one where a row is too long to stay in a near cache."""
        e = self.e
        size = max((dtype_of(op.ref.type).bytes for op in (*self.plan.loads, *self.plan.stores)), default=1)
        length = e.sub(self.loop.upper, self.loop.lower)
        short = e.call("le", length, e.index(self.schedule.row_bytes // size))
        short.name = "short_rows"
        row = e.call("select", short, e.add(outer.counter, 1), outer.counter)
        row.name = "next"
        return row

    def _whole(self, start: Value, stop: Value) -> Value:
        """The end of the last whole step from `start` that is not behind `stop`."""
        whole = self._rounded(start, stop, self._parts() * self.plan.lanes)
        whole.name = whole.name or "whole"
        return whole

    def _rounded(self, start: Value, stop: Value, width: int) -> Value:
        """The last multiple of `width` from `start` that is not behind `stop`."""
        e = self.e
        return e.add(start, e.call("and", e.sub(stop, start), e.index(-width)))

    def _step_parts(self, e: Emitter, i: Value, later: bool = False) -> list[Part]:
        """The parts of a whole step that begins with iteration `i`."""
        count = self._parts()
        apart = count > 1 and self.plan.work > SHORT_BODY and self.loop.kind != "scan"
        parts = [Part(e.add(i, p * self.plan.lanes), apart=apart, later=later or p > 0) for p in range(count)]
        if self.loop.kind == "scan":
            for behind, part in pairwise(parts):
                part.behind = behind
        return parts

    def _main(
        self, start: Value, stop: Value, carried: list[list[Value]], memory: Memory
    ) -> list[list[Value]]:
        def step(inner: Emitter, i: Value, running: list[Value]) -> list[Value]:
            grouped = _grouped(running, self._running())
            return _flat(self.body.step(inner, self._step_parts(inner, i), grouped, memory))

        width = self._parts() * self.plan.lanes
        return _grouped(self._loop(start, stop, width, _flat(carried), step), self._running())

    def _rest(self, start: Value, stop: Value, carried: list[Value]) -> list[Value]:
        def step(inner: Emitter, i: Value, running: list[Value]) -> list[Value]:
            part = Part(i, inner.minimum(inner.sub(stop, i), self.plan.lanes))
            if part.count is not None:
                part.count.name = "count"
            return _flat(self.body.step(inner, [part], _grouped(running, 1), Memory()))

        return self._loop(start, stop, self.plan.lanes, carried, step)

    def _scans_integers(self) -> bool:
        """Whether running values come out the same however they are grouped, which alignment decides."""
        return self.loop.kind == "scan" and all(dtype_of(v.type).is_integer for v in self.loop.inits)

    def _head(self, start: Value, stop: Value, carried: list[list[Value]]) -> tuple[Value, list[list[Value]]]:
        """A step up to the first boundary of the vectors that are stored; returns where it ends."""
        e = self.e
        head = e.minimum(self._away(start), e.sub(stop, start))
        head.name = "head"

        if carried:
            return e.add(start, head), self.body.step(e, [Part(start, head)], carried, Memory())

        def some(inner: Emitter) -> None:
            self.body.step(inner, [Part(start, head)], [], Memory())

        e.branch(e.call("gt", head, e.index(0)), some)
        return e.add(start, head), carried

    def _shifted(self) -> bool:
        """Whether whole vectors are stored on boundaries although their grouping must not depend on those."""
        plan = self.plan
        scans = self.loop.kind == "scan" and len(plan.stores) == 1 and not self._scans_integers()
        return self.schedule.align and scans and not is_local(root_of(plan.stores[0].ref))

    def _shifted_main(
        self, start: Value, stop: Value, carried: list[list[Value]]
    ) -> tuple[Value, list[list[Value]]]:
        """Whole vectors, each stored together with what the boundary cuts off the one before it; and their end."""
        e, lanes = self.e, self.plan.lanes
        away = self._away(start)
        first = e.minimum(e.add(start, lanes), self._rounded(start, stop, lanes))
        whole = self._whole(first, stop)
        type_ = VectorType(lanes, dtype_of(self.plan.stores[0].ref.type))

        def head(inner: Emitter, i: Value, running: list[Value]) -> list[Value]:
            made: list[Value] = []
            following = self.body.step(inner, [Part(i)], [[running[0]]], Memory(on_store=made.append))
            self._store_at(inner, i, made[0], away)
            return [*_flat(following), made[0]]

        def step(inner: Emitter, i: Value, running: list[Value]) -> list[Value]:
            made = [running[1]]
            parts = self._step_parts(inner, i, later=True)
            following = self.body.step(inner, parts, [[running[0]]], Memory(on_store=made.append))
            for part, (low, high) in zip(parts, pairwise(made), strict=True):
                joined = inner.value(vec.Shift(low=low, high=high, by=away))
                self._store_at(inner, inner.add(inner.sub(part.first, lanes), away), joined)
            return [*_flat(following), made[-1]]

        state = self._loop(start, first, lanes, [*_flat(carried), e.constant(0.0, type_)], head)
        state = self._loop(first, whole, self._parts() * lanes, state, step)

        def rest(inner: Emitter) -> None:
            joined = inner.value(vec.Shift(low=state[1], high=state[1], by=away))
            place = inner.add(inner.sub(whole, lanes), away)
            self._store_at(inner, place, joined, inner.sub(inner.index(lanes), away))

        e.branch(e.call("gt", whole, start), rest)
        return whole, [[state[0]]]

    def _store_at(self, e: Emitter, place: Value, value: Value, count: Value | None = None) -> None:
        store = self.plan.stores[0]
        part = Part(place, scalars={self.loop.counter: place})
        indices = [self.body.scalar(e, part, index) for index in store.indices]
        counts = [] if count is None else [count]
        e.insert(vec.Store(value=value, ref=store.ref, indices=indices, count=counts))

    def _away(self, start: Value) -> Value:
        """How far the next boundary for whole vectors of the result is from its element at `start`."""
        store = self.plan.stores[0]
        place = Part(start, scalars={self.loop.counter: start})
        indices = [self.body.scalar(self.e, place, index) for index in store.indices]
        size = self.plan.lanes * dtype_of(store.ref.type).bytes
        return self.e.value(vec.Misaligned(ref=store.ref, indices=indices, bytes=size), "away")

    def _loop(self, start: Value, stop: Value, width: int, carried: list[Value], step: Step) -> list[Value]:
        name = self.loop.counter.name
        names = [arg.name for arg in self.loop.carried]
        if self.loop.kind != "scan":
            # Each running value stands once for every part of a step.
            names = [name for name in names for _ in range(len(carried) // len(names))]
        return self.e.loop(
            start, stop, step, step=width, kind=self.kind, inits=carried, name=name, carried=names
        )

    def _neutral(self, number: int) -> Value:
        accumulator, init = self.plan.accumulators[number], self.loop.inits[number]
        type_ = VectorType(self.plan.lanes, dtype_of(init.type))
        if self.loop.kind == "scan":
            return self.e.value(vec.Splat(value=init, types=[type_]))
        return self.e.constant(neutral(accumulator.fn, type_.dtype), type_)

    def _join(self, number: int, running: Sequence[Value]) -> Value:
        """The parts of a running value as one vector: neighbours first."""
        fn, left = self.plan.accumulators[number].fn, list(running)
        while len(left) > 1:
            left = [self.e.call(fn, a, b) for a, b in zip(left[::2], left[1::2], strict=True)]
        return left[0]

    def _finish(self, carried: list[Value]) -> None:
        results: list[Value] = []
        for number, running in enumerate(carried):
            fn = self.plan.accumulators[number].fn
            if self.loop.kind == "scan":
                results.append(self.e.value(vec.Reduce(value=running, fn="maximum")))
                continue
            total = self.e.value(vec.Reduce(value=running, fn=fn))
            results.append(self.e.call(fn, self.loop.inits[number], total))
        for old, new in zip(self.loop.values, results, strict=True):
            new.name = new.name or old.name
            old.replace_uses(new)
        self.loop.drop()
        self.loop.unlink()


def _flat(groups: Sequence[Sequence[Value]]) -> list[Value]:
    return [value for group in groups for value in group]


def _grouped(values: Sequence[Value], count: int) -> list[list[Value]]:
    return [list(values[i : i + count]) for i in range(0, len(values), count)]
