# SPDX-License-Identifier: Apache-2.0
"""The loops that a structured op stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.dtypes import i64
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.structured import combine, instantiate

I64 = ScalarType(i64)
Point = list[Value]
"""The value of each iterator; the ones that no loop binds yet are absent from the end."""


def lower_apply(op: st.Apply) -> None:
    """Replace one structured op by loops."""
    order = _order(op)
    first_inner = _first_combining(op, order)
    at = Builder.before(op)
    lowering = _Lowering(op, order)
    if not op.combined:
        lowering.nest(at, 0, len(order), lowering.write_point)
    elif first_inner is not None:
        lowering.nest(at, 0, first_inner, lambda inner, _: lowering.carried(inner, first_inner))
    else:
        lowering.accumulate(at)
    op.drop()
    op.unlink()


def _order(op: st.Apply) -> list[int]:
    """Loop order: as declared, with a scan moved innermost, since its running values are carried."""
    order = list(range(op.rank))
    return [i for i in order if op.iterators[i] != "scan"] + [i for i in order if op.iterators[i] == "scan"]


def _first_combining(op: st.Apply, order: Sequence[int]) -> int | None:
    """Where in the order the loops start that carry the running values, or None when they cannot be carried."""
    position = next((p for p, i in enumerate(order) if op.iterators[i] in ("reduction", "scan")), len(order))
    for i in order[position:]:
        if op.iterators[i] == "scan":
            continue
        if any(op.output_maps[k].uses(i) for k in op.combined):
            return None
    return position


class _Lowering:
    """The parts of one structured op, copied to where its loops put them."""

    def __init__(self, op: st.Apply, order: list[int]) -> None:
        self.op = op
        self.order = order
        self.point: dict[int, Value] = {}

    def nest(
        self, at: Builder, start: int, stop: int, innermost: Callable[[Builder, Sequence[int]], None]
    ) -> None:
        """Loops without carried values for `order[start:stop]` around what `innermost` emits."""
        if start == stop:
            innermost(at, self.order)
            return
        iterator = self.order[start]
        loop = self.loop(at, iterator, ())
        inner = Builder(loop.body.block, loc=self.op.loc)
        self.point[iterator] = loop.counter
        self.nest(inner, start + 1, stop, innermost)
        inner.insert(scf.Yield())
        del self.point[iterator]

    def loop(self, at: Builder, iterator: int, inits: Sequence[Value]) -> scf.For:
        """An empty loop over one iterator."""
        lower = self.affine(at, self.op.lower[iterator])
        upper = self.affine(at, self.op.upper[iterator])
        kind = self.op.iterators[iterator]
        if kind != "parallel" and self._keeps_order():
            kind = "sequential"
        types = [value.type for value in inits]
        # Running values keep the names that the combiner gives them.
        running = self.op.combine.block.args[: len(inits)] if inits else ()
        names = [self.op.body.block.args[iterator].name, *(value.name for value in running)]
        return at.insert(
            scf.For(
                lower=lower,
                upper=upper,
                step=index(at, 1),
                inits=inits,
                kind=kind,
                types=types,
                body=block_of([I64, *types], names),
            )
        )

    def _keeps_order(self) -> bool:
        """Whether combining in another order would be seen: integers wrap to the same sum in any."""
        return self.op.strict and any(dtype_of(self.op.outputs[k].type).is_float for k in self.op.combined)

    def indices(self, at: Builder, map_: AffineMap) -> list[Value]:
        """The indices of an access at the current point."""
        return [self.affine(at, expr) for expr in map_.results]

    def affine(self, at: Builder, expr: AffineExpr) -> Value:
        """An affine expression at the current point; it may use the iterators bound so far."""
        width = len(expr.dims)
        # An iterator that is not bound yet has coefficient zero here, so its place is never read.
        filler = self.op.symbols[0] if self.op.symbols else next(iter(self.point.values()), None)
        dims = [self.point.get(i, filler) for i in range(width)]
        return materialise(expr, [value for value in dims if value is not None], self.op.symbols, at)

    def body(self, at: Builder) -> list[Value]:
        """A copy of the body at the current point; returns what it yields."""
        return instantiate(self.op, [self.point[i] for i in range(self.op.rank)], at)

    def combine(self, at: Builder, running: Sequence[Value], new: Sequence[Value]) -> list[Value]:
        """A copy of the combiner; returns the next running values."""
        return combine(self.op, running, new, at)

    def guarded(self, at: Builder, values: list[Value], emit: Callable[[Builder], None]) -> None:
        """What `emit` does, under the guard when there is one (the last of `values`)."""
        if not self.op.guarded:
            emit(at)
            return
        branch = at.insert(scf.If(condition=values[-1], types=[], then=block_of(), otherwise=block_of()))
        then = Builder(branch.then.block, loc=self.op.loc)
        emit(then)
        then.insert(scf.Yield())
        Builder(branch.otherwise.block, loc=self.op.loc).insert(scf.Yield())

    def store(self, at: Builder, output: int, value: Value) -> None:
        """Write one output at the current point."""
        indices = self.indices(at, self.op.output_maps[output])
        at.insert(mem.Store(value=value, ref=self.op.outputs[output], indices=indices))

    def load(self, at: Builder, output: int) -> Value:
        """What an output holds at the current point."""
        return at.value(
            mem.Load(ref=self.op.outputs[output], indices=self.indices(at, self.op.output_maps[output]))
        )

    def writes(self, at: Builder, values: Sequence[Value]) -> None:
        """Write the outputs that are not combined."""
        for k, role in enumerate(self.op.roles):
            if role == "write":
                self.store(at, k, values[k])

    def write_point(self, at: Builder, _: Sequence[int]) -> None:
        """One point of an op that only writes."""
        values = self.body(at)
        self.guarded(at, values, lambda inner: self.writes(inner, values))

    def carried(self, at: Builder, position: int) -> None:
        """The combining loops with running values in scalars, then the stores of what they end with."""
        combined = self.op.combined
        inits = list(self.op.inits) or [self.load(at, k) for k in combined]
        finals = self._carry(at, position, inits)
        for k, value in zip(combined, finals, strict=True):
            if self.op.roles[k] == "reduce":
                self.store(at, k, value)

    def _carry(self, at: Builder, position: int, running: Sequence[Value]) -> list[Value]:
        if position == len(self.order):
            return self._carried_point(at, running)
        iterator = self.order[position]
        loop = self.loop(at, iterator, running)
        inner = Builder(loop.body.block, loc=self.op.loc)
        self.point[iterator] = loop.counter
        inner.insert(scf.Yield(values=self._carry(inner, position + 1, loop.carried)))
        del self.point[iterator]
        return list(loop.values)

    def _carried_point(self, at: Builder, running: Sequence[Value]) -> list[Value]:
        values = self.body(at)
        new = [values[k] for k in self.op.combined]
        if not self.op.guarded:
            following = self.combine(at, running, new)
            self._scan_stores(at, following)
            self.writes(at, values)
            return following
        types = [value.type for value in running]
        branch = at.insert(scf.If(condition=values[-1], types=types, then=block_of(), otherwise=block_of()))
        then = Builder(branch.then.block, loc=self.op.loc)
        following = self.combine(then, running, new)
        self._scan_stores(then, following)
        self.writes(then, values)
        then.insert(scf.Yield(values=following))
        Builder(branch.otherwise.block, loc=self.op.loc).insert(scf.Yield(values=running))
        return list(branch.values)

    def _scan_stores(self, at: Builder, running: Sequence[Value]) -> None:
        for k, value in zip(self.op.combined, running, strict=True):
            if self.op.roles[k] == "scan":
                self.store(at, k, value)

    def accumulate(self, at: Builder) -> None:
        """Running values in the outputs: first the inits, then every point combines into them."""
        if self.op.inits:
            kept = [i for i in self.order if self.op.iterators[i] == "parallel"]
            starter = _Lowering(self.op, kept)
            starter.nest(at, 0, len(kept), lambda inner, _: starter.start(inner))
        self.nest(at, 0, len(self.order), self._accumulate_point)

    def start(self, at: Builder) -> None:
        """Store the inits at the current point of the parallel iterators."""
        for k, init in zip(self.op.combined, self.op.inits, strict=True):
            self.store(at, k, init)

    def _accumulate_point(self, at: Builder, _: Sequence[int]) -> None:
        values = self.body(at)

        def emit(inner: Builder) -> None:
            running = [self.load(inner, k) for k in self.op.combined]
            following = self.combine(inner, running, [values[k] for k in self.op.combined])
            for k, value in zip(self.op.combined, following, strict=True):
                self.store(inner, k, value)
            self.writes(inner, values)

        self.guarded(at, values, emit)
