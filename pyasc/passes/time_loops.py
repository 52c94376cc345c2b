# SPDX-License-Identifier: Apache-2.0
"""Nests whose loops follow each other become loops over time around work that runs side by side.

    scf.for %0, %N, %1, [] {
    ^(%i: i64):
      scf.for %0, %i, %1, [] {
      ^(%j: i64):
        %2 = mem.load %x, [%i]
        %3 = mem.load %L, [%i, %j]
        %4 = mem.load %x, [%j]
        %5 = arith.mul %3, %4
        %6 = arith.sub %2, %5
        mem.store %6, %x, [%i]
        scf.yield
      }
      ...
      mem.store %9, %x, [%i]                           x[i] = x[i] / L[i, i]
      scf.yield
    }

becomes

    scf.for %0, %N, %1, [] {
    ^(%j: i64):
      st.apply ..., [%x] {lower = [(0)], upper = [(1)], ...}                         x[j] = x[j] / L[j, j]
      st.apply ..., [%x] {iterators = ["parallel"], lower = [(s0 + 1)], upper = [(s1)], ...}
      scf.yield                                        for i > j at once: x[i] = x[i] - L[i, j] * x[j]
    }

Every element gets the same operations in the same order as before, so that results are equal to the bit. An order is
only changed where all dependences are proved to be kept (see `analysis/statement_order`). The elimination of `lu`,
written row by row, becomes a division of a column and one update of all that is left; the nine cases of
`floyd_warshall`, before, at and behind row and column k, become nine ops for each k.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.core import Operation
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.product import is_product
from pyasc.passes.analysis.time_loops import rewrite
from pyasc.passes.base import Context, FunctionPass

_OUT_OF_DATE = ("raise-loops", "serialise-updates")
"""Passes whose remarks about a nest no longer hold when it has been rewritten."""


@dataclass(frozen=True)
class TimeLoops(FunctionPass):
    """Rewrites loop nests that run in order. With `sums` it leaves sums to `raise-loops`."""

    name = "time-loops"
    sums: bool = False

    def run(self, func: Func, context: Context) -> bool:
        """Look at the outermost loops."""
        changed = False
        for loop in [op for op in func.body.block if isinstance(op, scf.For)]:
            lines = _lines(loop)
            if _runs_in_order(loop) and rewrite(loop, self.sums):
                _forget(lines, context)
                context.count("nests rewritten")
                changed = True
            elif not any(isinstance(op, mem.Store) for op in loop.walk()):
                _forget(lines, context)
        return changed


def _lines(loop: scf.For) -> set[tuple[str, int]]:
    return {(op.loc.file, op.loc.line) for op in loop.walk()}


def _forget(lines: set[tuple[str, int]], context: Context) -> None:
    """Take back that a loop stays one, where what it does has become structured ops."""
    context.remarks[:] = [
        remark
        for remark in context.remarks
        if (remark.loc.file, remark.loc.line) not in lines or remark.pass_name not in _OUT_OF_DATE
    ]


def _runs_in_order(root: scf.For) -> bool:
    """Whether an inner loop stores elements, and one around the store is no parallel one; products stay together."""
    if any(isinstance(op, st.Apply) and is_product(op) for op in root.walk()):
        return False
    return any(
        isinstance(op, mem.Store) and op.parent_op is not root and not _is_parallel(op) for op in root.walk()
    )


def _is_parallel(op: Operation) -> bool:
    return all(each.kind == "parallel" for each in op.ancestors() if isinstance(each, scf.For))
