# SPDX-License-Identifier: Apache-2.0
"""Moves what does not change in a loop in front of it.

Pure operations move whenever their operands come from outside. A read moves when the loop does not write that
memory and nothing forbids reading it early: the loop has an iteration in any case, or the indices are in range
in front of it as well. Checks and writes stay.

Before:

    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %2 = arith.mul %a, %b
      %3 = mem.load %w, [%k]
      %4 = arith.add %2, %3
      mem.store %4, %y, [%i]
      scf.yield
    }

After:

    %2 = arith.mul %a, %b
    %3 = mem.load %w, [%k]
    %4 = arith.add %2, %3
    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      mem.store %4, %y, [%i]
      scf.yield
    }
"""

from __future__ import annotations

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import LOOP, PURE
from pyasc.passes.analysis.effects import EffectTable
from pyasc.passes.analysis.speculation import SafeAccesses
from pyasc.passes.base import Context, FunctionPass


class Licm(FunctionPass):
    """Loop-invariant code motion."""

    name = "licm"

    def run(self, func: Func, context: Context) -> bool:
        """Move invariant operations out of the loops of one function."""
        return hoist_invariants(func, context)


def hoist_invariants(func: Func, context: Context) -> bool:
    """Move invariant operations out of all loops, inner loops first."""
    mover = _Mover(func)
    for op in func.nests_inner_first():
        if LOOP in op.spec.traits:
            mover.visit(op)
    context.count("operations moved", mover.moved)
    return mover.moved > 0


class _Mover:
    def __init__(self, func: Func) -> None:
        self.moved = 0
        self.effects = EffectTable()
        self.accesses = SafeAccesses(func)

    def visit(self, loop: Operation) -> None:
        assert loop.parent is not None
        before = self.moved
        for region in loop.regions:
            for block in region.blocks:
                # What an operation sees inside the loop stands in its own block.
                staying = set(block.args)
                for op in block:
                    if op is not block.last and self._may_move(op, loop, staying):
                        loop.parent.insert_before(loop, op)
                        self.moved += 1
                    else:
                        staying.update(op.results)
        if self.moved > before:
            self.effects.forget(loop)

    def _may_move(self, op: Operation, loop: Operation, staying: set[Value]) -> bool:
        if not staying.isdisjoint(op.operands):
            return False
        if op.regions:
            return self.effects.of(op).pure and not _depends_on(op, staying) and not _may_hang(op)
        return PURE in op.spec.traits or (isinstance(op, mem.Load) and self._may_read_early(op, loop))

    def _may_read_early(self, op: mem.Load, loop: Operation) -> bool:
        effects = self.effects.of(loop)
        if effects.may_write(op.ref):
            return False
        assert loop.parent is not None
        # A check in the loop may be what keeps the index in range.
        return (not effects.checks and self._runs(op, loop)) or self.accesses.may_read_at(op, loop.parent)

    def _runs(self, op: Operation, loop: Operation) -> bool:
        """Whether the first iteration runs in any case, and `op` with it."""
        if isinstance(loop, scf.While):
            return op.parent is loop.before.block
        if not isinstance(loop, scf.For) or loop.parent is None:
            return False
        step = self.accesses.ranges.polynomials.of(loop.step).as_constant
        if step is None:
            return False
        distance = self.accesses.ranges.exact(loop.upper) - self.accesses.ranges.exact(loop.lower)
        return self.accesses.ranges.nonnegative((distance if step > 0 else distance * -1) - 1, loop.parent)


def _may_hang(op: Operation) -> bool:
    """A while loop might never end where it would not have run at all."""
    return any(isinstance(each, scf.While) for each in op.walk())


def _depends_on(op: Operation, values: set[Value]) -> bool:
    """Whether anything nested in the operation uses one of the values."""
    return any(not values.isdisjoint(each.operands) for each in op.nested())
