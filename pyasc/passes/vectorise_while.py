# SPDX-License-Identifier: Apache-2.0
"""Parallel loops around a while loop run it for several iterations at once, each in a lane that stops by itself.

    scf.for %0, %w, %1, [] {kind = "parallel"} {
    ^(%j: i64):
      %n, %z = scf.while %0, %c : i64, f32 {
      ^(%m: i64, %v: f32):
        %a = arith.le %v, %four
        scf.condition %a, [%m, %v]
      } { ... }
      mem.store %n, %steps, [%i, %j]
      scf.yield
    }

becomes a loop over vectors of iterations around

    %m, %running, %v, %last = scf.while %0, %all, %cs, %zeros, %true : i64, vec<16 x i1>, vec<16 x f32>, vec<16 x i64> {
    ^(..., %left: i1):
      scf.condition %left, [%m, %running, %v, %last]
    } {
      %a = arith.le %v, %fours
      %live = arith.and %running, %a
      ...
      %any = vec.any %live
      scf.yield ..., %any
    }

Whether a lane is left is asked last, unless an iteration without lanes would cost much or the condition leaves behind
what it has computed.

Four vectors go side by side, since an iteration is most often a chain of dependent operations: those of four
iterations of the loop around where there is one, as near points tend to take alike long, else four neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import PURE, TERMINATOR
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.effects import root_of
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.vector_emit import Memory, Part, VectorBody
from pyasc.passes.analysis.vector_plan import NotVectorisable, VectorPlan, plan_vectors
from pyasc.passes.analysis.vector_while_emit import write_while
from pyasc.passes.base import Context, FunctionPass

SIDE_BY_SIDE = 4
MANY_VECTORS = 5
"""Carried vectors from which two parts fill the registers."""


class VectoriseWhile(FunctionPass):
    """Vectors of `vector_bytes` across the iterations of parallel loops that hold while loops."""

    name = "vectorise-while"
    vector_bytes: int = 64

    def run(self, func: Func, context: Context) -> bool:
        """Vectorise the loops that fit; a remark says why one does not."""
        changed = False
        for op in func.nests_inner_first():
            if isinstance(op, scf.For) and op.kind == "parallel" and _holds_whiles(op):
                try:
                    plan = plan_vectors(op, self.vector_bytes, fused=False)
                except NotVectorisable as reason:
                    context.remark(op.loc, f"its iterations do not run side by side: {reason}")
                    continue
                _Writer(plan).write()
                context.count("vectorised loops")
                changed = True
        return changed


def _holds_whiles(loop: scf.For) -> bool:
    return any(isinstance(op, scf.While) for op in loop.body.block)


class _Writer:
    def __init__(self, plan: VectorPlan) -> None:
        self.plan = plan
        self.loop = plan.loop
        self.body = VectorBody(plan, write_while)
        many = max(len(each.vectors()) for each in plan.whiles.values()) >= MANY_VECTORS
        self.count = 2 if many else SIDE_BY_SIDE
        self.outer = self._jammable()

    def write(self) -> None:
        """Replace the loop, and let a loop around it take several iterations at a time where that may be."""
        outer = self.outer
        e = Emitter(Builder.before(self.loop))
        width = self.plan.lanes * (1 if outer else self.count)
        lower, upper = self.loop.lower, self.loop.upper

        def step(inner: Emitter, first: Value, _: list[Value]) -> None:
            parts = self._rows(inner, first, upper, outer) if outer else self._neighbours(inner, first, upper)
            self.body.step(inner, parts, [], Memory())

        e.loop(lower, upper, step, step=width, kind="parallel", name=self.loop.counter.name)
        if self.loop.grain > 0:
            new = self.loop.prev
            assert isinstance(new, scf.For)
            new.grain, new.work = self.loop.grain, self.loop.work * width
        self.loop.drop()
        self.loop.unlink()
        if outer is not None:
            outer.set_operands("step", [index(Builder.before(outer), self.count)])
            outer.work = outer.work * self.count

    def _neighbours(self, e: Emitter, first: Value, upper: Value) -> list[Part]:
        starts = [e.add(first, p * self.plan.lanes) for p in range(self.count)]
        return [Part(start, self._left(e, start, upper)) for start in starts]

    def _rows(self, e: Emitter, first: Value, upper: Value, outer: scf.For) -> list[Part]:
        """The same columns of several rows; behind the last row, that row again, which writes the same."""
        count = self._left(e, first, upper)
        last = e.sub(outer.upper, 1)
        rows = [outer.counter, *(e.minimum(e.add(outer.counter, r), last) for r in range(1, self.count))]
        return [Part(first, count, outer=outer.counter, scalars={outer.counter: row}) for row in rows]

    def _left(self, e: Emitter, start: Value, upper: Value) -> Value:
        """Lanes in use from `start` on."""
        rest = e.sub(upper, start)
        return e.minimum(rest if self.outer else e.call("pymax", rest, e.index(0)), self.plan.lanes)

    def _jammable(self) -> scf.For | None:
        """The loop around, when it does nothing but this loop and no iteration reads what any writes."""
        outer = self.loop.parent_op
        if not isinstance(outer, scf.For) or outer.kind != "parallel" or integer_of(outer.step) != 1:
            return None
        others = [op for op in outer.body.block if op is not self.loop and TERMINATOR not in op.spec.traits]
        if not all(_is_plain(op) for op in others) or self._reads_back([*others, *self.loop.body.block]):
            return None
        return outer if _fixed_bounds(self.loop, outer) else None

    def _reads_back(self, ops: Sequence[Operation]) -> bool:
        written = {root_of(store.ref) for store in self.plan.stores}
        return any(isinstance(op, mem.Load) and root_of(op.ref) in written for op in ops)


def _is_plain(op: Operation) -> bool:
    return PURE in op.spec.traits and not op.regions


def _fixed_bounds(loop: scf.For, outer: scf.For) -> bool:
    """Whether all iterations of the outer loop run the inner one over the same range."""
    return all(bound.block is not outer.body.block for bound in (loop.lower, loop.upper))
