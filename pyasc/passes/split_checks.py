# SPDX-License-Identifier: Apache-2.0
"""Checks of indices that depend on data, taken out of loops: one question for all of them, asked before the loop.

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %k = mem.load %index, [%i]
      %wide = arith.cast %k : i64
      ...
      py.check %inside, [%wide, %m] {error = "IndexError", ...}
      %e = mem.load %table, [%wrapped]
      mem.store %e, %y, [%i]
      scf.yield
    }

becomes

    %inRange = mem.alloc : ref<f32, local>
    st.apply [%n], [%index], [%one], [%inRange] {iterators = ["reduction"], ...}  // the least of 1.0 or 0.0 an element
    %least = mem.load %inRange, []
    %all = arith.ne %least, %zero
    scf.if %all {
      scf.yield
    } {
      scf.for %0, %n, %1, [] {  // the checks alone, in order, so that the first one that fails is the one reported
        ...
      }
      scf.yield
    }
    scf.for %0, %n, %1, [] {kind = "parallel"} {  // the rest, which has no check any more
      ...
    }

What reduces bools by `and` or `or` computes the least or greatest of numbers from here on, since the vector unit
reduces those.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.core import Operation
from pyasc.ir.dialects import scf, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.range_tests import simplify_tests
from pyasc.passes.analysis.split_checks import number_bools, split_off
from pyasc.passes.base import Context, FunctionPass


@dataclass(frozen=True)
class SplitChecks(FunctionPass):
    """Splits every outermost loop whose checks can all be asked before it."""

    name = "split-checks"

    def run(self, func: Func, context: Context) -> bool:
        """Loops first, then the reductions of bools that there are."""
        split = sum(split_off(loop) for loop in _outermost(func))
        numbered = 0
        for op in [op for op in func.nests() if isinstance(op, st.Apply)]:
            simplify_tests(op.body.block)
            numbered += number_bools(op)
        context.count("loops without checks", split)
        context.count("bools as numbers", numbered)
        return split + numbered > 0


def _outermost(func: Func) -> list[scf.For]:
    """The outermost loops with checks; of loops that run one after the other for time steps, those inside."""
    found: list[scf.For] = []
    pending: list[Operation] = list(func.body.block)
    while pending:
        op = pending.pop(0)
        if isinstance(op, scf.For):
            found.append(op)
    return found
