# SPDX-License-Identifier: Apache-2.0
"""In debug builds, finds iterations of a parallel loop that touch one element, for accesses that no proof settles.

An array that the iterations write gets two shadow arrays of its shape: who wrote an element, and who read it. Each
access looks there first, and a second iteration that meets the first is an error. Iterations then run in order, so
that the same one is found each time, and so that what a debug build prints comes in loop order.

Before:

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %at = mem.load %index, [%i]
      %j = arith.cast %at : i64
      mem.store %v, %y, [%j]
      scf.yield
    }

After, with the shadow of the readers left out:

    %writers = mem.alloc : ref<N x i64, local>
    ...
    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      ...
      %other = mem.load %writers, [%j]
      %none = arith.eq %other, %0
      %same = arith.eq %other, %iteration
      %fine = arith.or %none, %same
      py.check %fine, [%other, %iteration] {error = "RuntimeError",
        message = "iterations {} and {} of the parallel loop write the same element of y"}
      mem.store %iteration, %writers, [%j]
      mem.store %v, %y, [%j]
      scf.yield
    }

Slices and whole arrays are written out as loops over elements first. Atomic updates may meet each other, nothing else.
Accesses that are the same in every index, with the counters of the loop among the indices, are left alone, and so are
running updates, which are reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import mem, py, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis import meetings
from pyasc.passes.analysis.affine import Polynomials
from pyasc.passes.analysis.apply_loops import lower_apply
from pyasc.passes.analysis.effects import root_of, written_refs
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.races import is_private
from pyasc.passes.analysis.shadows import SHADOW, over_elements, shadow_of, view_of
from pyasc.passes.base import Context, FunctionPass

Access = mem.Load | mem.Store | mem.Atomic
_SEVERAL = -1
"""In the shadows of readers and updaters: more than one iteration has been at the element."""

_ELEMENTS = (mem.Load, mem.Store, mem.Atomic)
_DOES: dict[type[Access], str] = {mem.Load: "reads", mem.Store: "writes", mem.Atomic: "updates"}


class WatchRaces(FunctionPass):
    """Checks at run time what `check-parallel` could not settle. With `prints`, prints say which iteration prints."""

    name = "watch-races"
    prints: bool = True

    def run(self, func: Func, context: Context) -> bool:
        """Look at each parallel loop that does not stand in another one's nest."""
        polynomials = Polynomials()
        loops = [op for op in func.walk() if isinstance(op, scf.For) and op.kind == "parallel"]
        nests = [_nest(loop) for loop in loops if not _is_inside_nest(loop)]
        watched = [(nest, _doubtful(nest, polynomials)) for nest in nests]
        for nest, accesses in watched:
            if accesses:
                _Watch(nest).instrument(accesses)
            prints = [op for op in nest[0].nested() if self.prints and isinstance(op, py.Print)]
            for each in prints:
                _locate(each, nest)
            if accesses or prints:
                for loop in nest:
                    loop.kind = "sequential"
        found = sum(bool(accesses) for _, accesses in watched)
        context.count("parallel loops watched", found)
        return bool(found)


def _locate(op: py.Print, nest: Sequence[scf.For]) -> None:
    """Say in front of what is printed which iteration prints it."""
    counters = [loop.counter for loop in nest if loop.counter.name]
    if counters:
        op.format = f"[{', '.join(f'{each.name} = {{}}' for each in counters)}] {op.format}"
        op.values = [*counters, *op.values]


def _write_out(loop: scf.For) -> None:
    """Make loops over elements of the accesses to whole arrays inside a loop."""
    there = set(loop.nests())
    for op in loop.nests_inner_first():
        if isinstance(op, st.Apply):
            lower_apply(op)
    for op in loop.nested():
        if isinstance(op, mem.Copy):
            _write_out_copy(op)
    for op in loop.nests():
        if isinstance(op, scf.For) and op not in there:
            op.kind = "sequential"


def _write_out_copy(op: mem.Copy) -> None:
    at = Emitter(Builder.before(op))

    def element(inner: Emitter, indices: Sequence[Value]) -> None:
        inner.store(inner.load(op.source, indices), op.target, indices)

    over_elements(at, op.target, element)
    op.erase()


def _is_inside_nest(loop: scf.For) -> bool:
    parent = loop.parent_op
    return isinstance(parent, scf.For) and parent.kind == "parallel" and _only_loop(parent) is loop


def _only_loop(loop: scf.For) -> scf.For | None:
    """The parallel loop that is all that the body of another does."""
    inside = [op for op in loop.body.block if op.regions]
    silent = all(op.regions or not isinstance(op, (*_ELEMENTS, mem.Copy)) for op in loop.body.block)
    only = inside[0] if len(inside) == 1 and silent else None
    return only if isinstance(only, scf.For) and only.kind == "parallel" else None


def _nest(head: scf.For) -> list[scf.For]:
    """A parallel loop and the parallel loops that it is perfectly nested around."""
    nest = [head]
    while (inner := _only_loop(nest[-1])) is not None:
        nest.append(inner)
    return nest


def _doubtful(nest: Sequence[scf.For], polynomials: Polynomials) -> dict[Value, list[Access]]:
    """The accesses to watch, by the array that they are made to; those to many elements are written out before."""
    found = _accesses(nest, polynomials)
    roots = [root for root, accesses in found.items() if _may_meet(root, accesses, nest)]
    if any(isinstance(op, (mem.Copy, st.Apply)) for root in roots for op, _ in found[root]):
        _write_out(nest[-1])
        found = _accesses(nest, polynomials)
    return {
        root: [op for op, _ in found[root] if isinstance(op, _ELEMENTS)] for root in roots if root in found
    }


def _accesses(
    nest: Sequence[scf.For], polynomials: Polynomials
) -> dict[Value, list[tuple[meetings.Access, Value]]]:
    """The accesses to each array that iterations share, running updates apart."""
    inner = nest[-1]
    exempt = meetings.exempt_updates(inner, polynomials)
    found: dict[Value, list[tuple[meetings.Access, Value]]] = {}
    for op, ref in meetings.accesses_inside(inner):
        root = root_of(ref)
        if (op, root) not in exempt and not is_private(ref, nest[0]):
            found.setdefault(root, []).append((op, ref))
    return found


def _may_meet(root: Value, accesses: list[tuple[meetings.Access, Value]], nest: Sequence[scf.For]) -> bool:
    """Whether accesses of which one writes are not at the counters of all loops along some axes."""
    writes = any(root_of(ref) is root for op, _ in accesses for ref in written_refs(op))
    alike = all(isinstance(op, mem.Atomic) for op, _ in accesses)
    return writes and not alike and not all(meetings.at_the_counter(accesses, loop) for loop in nest)


@dataclass
class _Watch:
    """The shadows of one nest of parallel loops, and the number of the iteration at hand."""

    nest: Sequence[scf.For]
    writers: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    readers: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    updaters: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())

    def instrument(self, accesses: dict[Value, list[Access]]) -> None:
        """Make the shadows, count the iterations, and put a check before each access."""
        before = Emitter(Builder.before(self.nest[0]))
        count = before.alloc((), dtypes.i64, f"{SHADOW}iterations")
        before.store(before.index(0), count, ())
        for root, found in accesses.items():
            self.writers[root] = shadow_of(before, root, "writers")
            self.readers[root] = shadow_of(before, root, "readers")
            if any(isinstance(op, mem.Atomic) for op in found):
                self.updaters[root] = shadow_of(before, root, "updaters")
        block = self.nest[-1].body.block
        start = Emitter(Builder(block, block.first, self.nest[0].loc))
        iteration = start.add(start.load(count, ()), 1)
        iteration.name = "iteration"
        start.store(iteration, count, ())
        for root, found in accesses.items():
            for op in found:
                self._check(op, root, iteration)

    def _check(self, op: Access, root: Value, iteration: Value) -> None:
        """Look who has been at the element, then note who is there now."""
        at = Emitter(Builder.before(op))
        views = {
            what: view_of(at, op.ref, root, shadows[root])
            for what, shadows in (
                ("writes", self.writers),
                ("reads", self.readers),
                ("updates", self.updaters),
            )
            if root in shadows
        }
        does = _DOES[type(op)]
        name = root.name or "an array"
        for what, shadow in views.items():
            if what == does and what != "writes":
                continue
            other = at.load(shadow, op.indices)
            if what == does:
                message = f"iterations {{}} and {{}} of the parallel loop write the same element of {name}"
                _check(at, _is_own(at, other, iteration), (other, iteration), message)
            elif what == "writes":
                message = f"iteration {{}} of the parallel loop {does} an element of {name} that iteration {{}} writes"
                _check(at, _is_own(at, other, iteration), (iteration, other), message)
            else:
                message = (
                    f"iteration {{}} of the parallel loop {does} an element of {name} that another one {what}"
                )
                _check(at, _is_own(at, other, iteration), (iteration,), message)
        self._note(at, views[does], op, iteration, alone=does == "writes")

    def _note(self, at: Emitter, shadow: Value, op: Access, iteration: Value, alone: bool) -> None:
        if alone:
            at.store(iteration, shadow, op.indices)
            return
        own = _is_own(at, at.load(shadow, op.indices), iteration)
        at.store(at.call("select", own, iteration, at.index(_SEVERAL)), shadow, op.indices)


def _is_own(at: Emitter, who: Value, iteration: Value) -> Value:
    """Whether nobody has been at the element, or this iteration alone."""
    return at.call("or", at.call("eq", who, at.index(0)), at.call("eq", who, iteration))


def _check(at: Emitter, fine: Value, iterations: Sequence[Value], message: str) -> None:
    """The iterations of the message are counted from 0, those of the shadows from 1."""
    shown = [at.sub(each, 1) for each in iterations]
    at.insert(py.Check(condition=fine, values=shown, error="RuntimeError", message=message))
