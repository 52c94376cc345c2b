# SPDX-License-Identifier: Apache-2.0
"""Writes the vector form of a loop body: several vectors a step, each whole or its first lanes only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Value
from pyasc.ir.dialects import arith, mem, scf, vec
from pyasc.ir.dtypes import i1
from pyasc.ir.record import Record
from pyasc.ir.types import VectorType, dtype_of, with_dtype
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.vector_plan import Accumulator, VectorPlan


@dataclass
class Part:
    """One vector of a step: its first iteration, how many lanes are in use (None: all), and what is computed.

    `later` says that the loop has an iteration before the first one; `behind` is the part of a scan's step that comes
    before this one. `outer` is the counter of an enclosing loop that
    `scalars` has another value for. With `apart`, every value has
    a name, so that the operations of several parts stay side by side, within reach of the processor's schedulers.
    """

    first: Value
    count: Value | None = None
    outer: Value | None = None
    apart: bool = False
    later: bool = False
    behind: Part | None = None
    scanned: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    scalars: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    vectors: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())


class Memory(Record):
    """How a step treats memory: `streamed` says at run time whether stores go past the caches, `ahead` maps the
    counter of an outer loop to the iteration whose elements are asked for in advance. `on_store` takes what would be
    stored instead."""

    streamed: Value | None = None
    ahead: tuple[Value, Value] | None = None
    on_store: Callable[[Value], None] | None = None


class VectorBody:
    """The body of a planned loop, to be written at several places. `on_while` writes the while loops in it."""

    def __init__(self, plan: VectorPlan, on_while: OnWhile | None = None) -> None:
        self.plan = plan
        self.on_while = on_while
        self.block = plan.loop.body.block

    def step(
        self, e: Emitter, parts: Sequence[Part], carried: Sequence[Sequence[Value]], memory: Memory
    ) -> list[list[Value]]:
        """Write one step; `carried` has a vector for each accumulator and part, one for all parts in a scan. Returns
        the next ones."""
        for running, arg in zip(carried, self.plan.loop.carried, strict=True):
            each = list(running) * len(parts) if self.plan.loop.kind == "scan" else running
            for part, value in zip(parts, each, strict=True):
                part.vectors[arg] = value
        for part in parts:
            part.scalars[self.plan.loop.counter] = part.first
        for op in self.block:
            if isinstance(op, scf.While):
                assert self.on_while is not None
                self.on_while(self, e, op, parts)
                continue
            for part in parts:
                self._write(e, part, op, memory)
        return [self._following(e, parts, a) for a in self.plan.accumulators]

    def _write(self, e: Emitter, part: Part, op: object, memory: Memory) -> None:
        match op:
            case mem.Store():
                self._store(e, part, op, memory)
            case mem.Load() if op.value in self.plan.wanted:
                indices = [self.scalar(e, part, index) for index in op.indices]
                part.vectors[op.value] = e.value(
                    vec.Load(
                        ref=op.ref, indices=indices, count=_given(part.count), types=[self._type(op.value)]
                    )
                )
                self._prefetch(e, part, op, memory)
            case arith.Elementwise() | arith.Cast() if op.result in self.plan.wanted and not self._is_fused(
                op
            ):
                value = part.vectors[op.result] = self.arithmetic(e, part, op)
                if part.apart:
                    value.name = value.name or op.result.name or "v"
            case _:
                pass

    def arithmetic(self, e: Emitter, part: Part, op: arith.Elementwise | arith.Cast) -> Value:
        """The vector that an operation gives."""
        if isinstance(op, arith.Elementwise):
            return self._elementwise(e, part, op)
        value, dtype = self.vector(e, part, op.value), dtype_of(op.result.type)
        # The last values of a count may have been kept in the dtype that they are needed in.
        return value if dtype_of(value.type) is dtype else e.value(arith.Cast.to(value, dtype))

    def _store(self, e: Emitter, part: Part, op: mem.Store, memory: Memory) -> None:
        streamed = memory.streamed if part.count is None else None
        value = self.vector(e, part, op.value)
        if memory.on_store is not None:
            memory.on_store(value)
            return
        indices = [self.scalar(e, part, index) for index in op.indices]
        e.insert(
            vec.Store(
                value=value, ref=op.ref, indices=indices, count=_given(part.count), streamed=_given(streamed)
            )
        )
        self._prefetch(e, part, op, memory)

    def _prefetch(self, e: Emitter, part: Part, op: mem.Load | mem.Store, memory: Memory) -> None:
        if memory.ahead is None or part.count is not None:
            return
        outer, following = memory.ahead
        there = Part(part.first, outer=outer, scalars={self.plan.loop.counter: part.first, outer: following})
        if any(_depends_on(index, outer) for index in op.indices):
            indices = [self.scalar(e, there, index) for index in op.indices]
            e.insert(vec.Prefetch(ref=op.ref, indices=indices))

    def _is_fused(self, op: arith.Elementwise | arith.Cast) -> bool:
        return any(a.product is op for a in self.plan.accumulators)

    def _elementwise(self, e: Emitter, part: Part, op: arith.Elementwise) -> Value:
        accumulator = next((a for a in self.plan.accumulators if a.op is op), None)
        if accumulator is None:
            return e.value(arith.Elementwise(fn=op.fn, args=[self.vector(e, part, x) for x in op.args]))
        carried = next(arg for arg in op.args if arg in self.plan.loop.carried)
        if self.plan.loop.kind == "scan":
            return self._scan(e, part, op, carried)
        if accumulator.product is not None:
            factors = [self.vector(e, part, x) for x in accumulator.product.args]
            return e.call("fma", *factors, part.vectors[carried])
        return e.call(op.fn, *(self.vector(e, part, x) for x in op.args))

    def _scan(self, e: Emitter, part: Part, op: arith.Elementwise, carried: Value) -> Value:
        """The running values of a part; only the first part of a step waits for the step before."""
        (new,) = [self.vector(e, part, x) for x in op.args if x is not carried]
        new = self._kept(e, part, new, e.constant(1 if op.fn == "mul" else 0, new.type))
        scanned = e.value(vec.Scan(value=new, fn=op.fn, preceded=part.later))
        if part.behind is not None:
            scanned = e.call(op.fn, e.value(vec.Last(value=part.behind.scanned[carried])), scanned)
        part.scanned[carried] = scanned
        return e.call(op.fn, part.vectors[carried], scanned)

    def _following(self, e: Emitter, parts: Sequence[Part], accumulator: Accumulator) -> list[Value]:
        op = accumulator.op
        carried = next(arg for arg in op.args if arg in self.plan.loop.carried)
        if self.plan.loop.kind == "scan":
            part = parts[-1]
            if part.behind is not None:
                # One operation less, of which the next step waits for one more: worth it with several parts a step.
                return [e.value(vec.Last(value=part.vectors[op.result]))]
            last = e.value(vec.Last(value=part.scanned[carried]))
            return [e.call(op.fn, part.vectors[carried], last)]
        return [self._kept(e, part, part.vectors[op.result], part.vectors[carried]) for part in parts]

    def _kept(self, e: Emitter, part: Part, following: Value, before: Value) -> Value:
        """The next running value; lanes that are not in use keep the one before."""
        if part.count is None:
            return following
        type_ = with_dtype(following.type, i1)
        mask = e.value(vec.First(count=part.count, types=[type_]))
        return e.call("select", mask, following, before)

    def _type(self, value: Value) -> VectorType:
        return VectorType(self.plan.lanes, dtype_of(value.type))

    def vector(self, e: Emitter, part: Part, value: Value) -> Value:
        """A value with one lane an iteration."""
        if value not in part.vectors:
            part.vectors[value] = self._made_vector(e, part, value)
        return part.vectors[value]

    def _made_vector(self, e: Emitter, part: Part, value: Value) -> Value:
        type_ = self._type(value)
        if value is self.plan.loop.counter:
            return e.value(vec.Lanes(start=part.first, types=[type_]))
        if isinstance(value.op, arith.Constant):
            return e.constant(value.op.value, type_)
        if not self.plan.is_scalar(value):
            raise AssertionError(
                f"a value at {value.op.loc if value.op else self.plan.loop.loc} was not planned for"
            )
        return e.value(vec.Splat(value=self.scalar(e, part, value), types=[type_]))

    def scalar(self, e: Emitter, part: Part, value: Value) -> Value:
        """A value at the first iteration of the part."""
        found = part.scalars.get(value)
        if found is not None:
            return found
        op = value.op
        inside = value.block is self.block or (part.outer is not None and _depends_on(value, part.outer))
        if op is None or not inside:
            return value
        part.scalars[value] = e.value(op.clone({each: self.scalar(e, part, each) for each in op.operands}))
        return part.scalars[value]


OnWhile = Callable[[VectorBody, Emitter, scf.While, Sequence[Part]], None]
"""Writes a while loop of the body for all parts of a step."""


def _depends_on(value: Value, counter: Value) -> bool:
    """Whether index arithmetic leads from a counter to the value."""
    if value is counter:
        return True
    op = value.op
    arithmetic = isinstance(op, (arith.Elementwise, arith.Cast))
    return arithmetic and any(_depends_on(each, counter) for each in op.operands)


def _given(value: Value | None) -> list[Value]:
    return [] if value is None else [value]
