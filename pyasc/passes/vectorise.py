# SPDX-License-Identifier: Apache-2.0
"""Loops marked `simd` become loops over explicit vectors, where their accesses walk neighbouring elements.

    scf.for %0, %n, %1, [] {kind = "parallel", simd = true} {
    ^(%i: i64):
      %a = mem.load %x, [%i]
      %b = arith.exp %a
      mem.store %b, %y, [%i]
      scf.yield
    }

becomes

    scf.for %0, %whole, %16, [] {kind = "parallel"} {
    ^(%i: i64):
      %a = vec.load %x, [%i], [] : vec<16 x f32>
      %b = arith.exp %a
      vec.store %b, %y, [%i], [], []
      scf.yield
    }

and a second loop for what is left, whose accesses count their lanes. Reductions run in several vectors, which
are combined in a fixed order. Before an elementwise loop, a first step of few lanes brings the stores to a multiple
of the vector's size; results that are only written and too large for the caches are streamed past them, and loops
that go over a row several times ask for the next row meanwhile. A threaded loop is first cut into one iteration a
task. Loops that do not fit stay marked, for the compiler to try.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import scf, vec
from pyasc.ir.dialects.func import Func
from pyasc.ir.record import Record
from pyasc.passes.analysis.tasks import split_tasks
from pyasc.passes.analysis.vector_loops import LoopWriter, Schedule, idle_time, may_stream, streamed_flag
from pyasc.passes.analysis.vector_plan import NotVectorisable, VectorPlan, plan_vectors
from pyasc.passes.base import Context, FunctionPass

SHORTEST_TASK = 8192
"""Iterations of a vector loop below which handing a task to a thread would show, however much one computes."""


class Vectorise(FunctionPass):
    """Explicit vectors of `vector_bytes`.

    `fused` says that the processor multiplies and adds in one instruction, `stream` from how many bytes a result
    goes past the caches (0: never), `prefetch` up to how many bytes a row is asked for in advance (0: never),
    `align` whether stores are brought to multiples of the vector's size.
    """

    name = "vectorise"
    keeps = frozenset(("canonicalize",))
    vector_bytes: int = 64
    fused: bool = True
    stream: int = 1 << 22
    prefetch: int = 1 << 14
    align: bool = True

    def run(self, func: Func, context: Context) -> bool:
        """Vectorise every loop that fits."""
        plans: dict[scf.For, VectorPlan] = {}
        for op in func.nests():
            if isinstance(op, scf.For) and op.simd:
                try:
                    plans[op] = plan_vectors(op, self.vector_bytes, self.fused)
                except NotVectorisable:
                    context.count("loops left to the compiler")
        before = set(func.nested()) if plans else set[Operation]()
        for nest in list(_nests(plans)):
            self._vectorise(nest, context)
            context.touch((nest.root, *nest.inner))
        if plans:
            context.touch(_new_and_users(func, before))
        return bool(plans)

    def _vectorise(self, nest: Nest, context: Context) -> None:
        streamed = self._streamed(nest)
        if nest.root.grain > 0 and (nest.root in nest.inner or streamed is not None):
            nest = split_nest(nest, self.vector_bytes)
            if streamed is not None:
                Builder(nest.root.body.block, nest.root.body.block.last).insert(vec.Drain())
        ahead = self._prefetching(nest)
        for loop, plan in nest.inner.items():
            schedule = Schedule(
                vector_bytes=self.vector_bytes,
                align=self.align,
                streamed=streamed,
                ahead=nest.root if loop is ahead else None,
                row_bytes=self.prefetch,
            )
            LoopWriter(plan, schedule).write()
            context.count("vectorised loops")

    def _streamed(self, nest: Nest) -> Value | None:
        """Whether the nest's results go past the caches, decided at run time before it; None where never."""
        if not self.stream or len(nest.inner) != 1 or len(nest.innermost()) != 1:
            return None
        (plan,) = nest.inner.values()
        if not self.align or not may_stream(plan):
            return None
        return streamed_flag(nest.root, plan.stores[0].ref, self.stream)

    def _prefetching(self, nest: Nest) -> scf.For | None:
        """The loop with the most time to ask for the next row, among several over one row."""
        if not self.prefetch or len(nest.inner) < 2 or nest.root.kind != "parallel":
            return None
        direct = [loop for loop in nest.inner if loop.parent_op is nest.root]
        if len(direct) != len(nest.inner):
            return None
        return max(direct, key=lambda loop: idle_time(nest.inner[loop]))


class Nest(Record):
    """An outermost loop and the planned loops in it (perhaps itself)."""

    root: scf.For
    inner: dict[scf.For, VectorPlan]

    def innermost(self) -> list[scf.For]:
        """All loops in it that hold no loop."""
        loops = [op for op in self.root.nests() if isinstance(op, (scf.For, scf.While))]
        return [op for op in loops if isinstance(op, scf.For) and not any(map(_is_loop, _inside(op)))]


def _nests(plans: dict[scf.For, VectorPlan]) -> Iterator[Nest]:
    groups: dict[scf.For, dict[scf.For, VectorPlan]] = {}
    for loop, plan in plans.items():
        outer = [op for op in loop.ancestors() if isinstance(op, scf.For)]
        root = next((op for op in outer if op.grain > 0), outer[-1] if outer else loop)
        groups.setdefault(root, {})[loop] = plan
    yield from (Nest(root, inner) for root, inner in groups.items())


def split_nest(nest: Nest, vector_bytes: int) -> Nest:
    """The nest under a loop over tasks. Its root is cut in place, so that plans of inner loops stay valid."""
    alone = nest.root in nest.inner
    outer = split_tasks(nest.root, 4 * vector_bytes if alone else 1, SHORTEST_TASK if alone else 1)
    return Nest(outer, nest.inner)


def _new_and_users(func: Func, before: set[Operation]) -> list[Operation]:
    """What was not there before, and what uses it."""
    new = [op for op in func.nested() if op not in before]
    return [*new, *(user for op in new for value in op.results for user in value.uses)]


def _inside(op: Operation) -> Iterator[Operation]:
    return (each for each in op.nests() if each is not op)


def _is_loop(op: Operation) -> bool:
    return isinstance(op, (scf.For, scf.While))
