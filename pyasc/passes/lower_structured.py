# SPDX-License-Identifier: Apache-2.0
"""Structured ops become loop nests, in the order of their iterators.

A reduction whose reduction iterators are innermost is carried in scalars; one that has a parallel iterator
inside accumulates in its output. A scan is carried along its iterator, which comes last.

    st.apply [%n], [%x], [%zero], [%y] {iterators = ["reduction"], lower = [0], upper = [s0], ...}

becomes

    %sum = scf.for %0, %n, %1, [%zero] {kind = "reduction"} : f32 {
    ^(%i: i64, %acc: f32):
      %e = mem.load %x, [%i]
      %next = arith.add %acc, %e
      scf.yield %next
    }
    mem.store %sum, %y, []
"""

from __future__ import annotations

from pyasc.ir.dialects import st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.apply_loops import lower_apply
from pyasc.passes.base import Context, FunctionPass


class LowerStructured(FunctionPass):
    """Lowers every structured op of a function."""

    name = "lower-structured"

    def run(self, func: Func, context: Context) -> bool:
        """Lower innermost ops first, since a body may hold loops that hold others."""
        found = [op for op in func.nests_inner_first() if isinstance(op, st.Apply)]
        for op in found:
            lower_apply(op)
            context.count("structured ops")
        return bool(found)
