# SPDX-License-Identifier: Apache-2.0
"""Brings operations into one form by local rewrites, until none applies.

Constants are folded and moved to the right; identities that hold for every bit are used; casts that lose nothing
are merged; branches and loops whose course is known are replaced by what they do; accesses through views go to
the memory itself. The rewrites stand in `pyasc.passes.patterns`.

Before:

    %0 = arith.constant {value = 2} : i64
    %1 = arith.add %0, %n
    %2 = arith.sub %1, %0
    %3 = arith.constant {value = true} : i1
    %4 = scf.if %3 : f32 {
      %5 = arith.constant {value = 1.0} : f32
      %6 = arith.mul %x, %5
      scf.yield %6
    } {
      scf.yield %y
    }
    mem.store %4, %z, [%2]

After:

    mem.store %x, %z, [%n]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyasc.ir.core import Operation
from pyasc.ir.dialects import arith, mem, py, scf, tensor
from pyasc.ir.dialects.func import Func, Module
from pyasc.passes.base import Context, FunctionPass
from pyasc.passes.patterns import arith as on_arith
from pyasc.passes.patterns import control, memory
from pyasc.passes.rewriter import Pattern, Rewriter

PATTERNS: Mapping[type[Operation], Sequence[Pattern]] = {
    arith.Constant: (on_arith.share_constant,),
    arith.Elementwise: (on_arith.simplify_elementwise,),
    arith.Cast: (on_arith.simplify_cast,),
    scf.If: (
        control.take_known_branch,
        control.swap_negated_branch,
        control.drop_same_results,
        control.choose_without_branch,
        control.assume_condition_inside,
    ),
    scf.For: (control.run_known_iterations, control.drop_constant_carried),
    scf.While: (control.never_loop, control.drop_constant_while_carried),
    mem.Dim: (memory.resolve_extent,),
    tensor.Dim: (memory.resolve_extent,),
    mem.View: (memory.drop_whole_view,),
    mem.Load: (memory.look_through_view,),
    mem.Store: (memory.look_through_view,),
    mem.Atomic: (memory.look_through_view,),
    py.Check: (memory.drop_held_check,),
}


class Canonicalize(FunctionPass):
    """The greedy application of all local rewrites."""

    name = "canonicalize"
    cleans = True
    keeps = frozenset(("canonicalize",))

    def apply(self, module: Module, context: Context) -> bool:
        """Rewrite each function."""
        changed = super().apply(module, context)
        context.touched = []
        return changed

    def run(self, func: Func, context: Context) -> bool:
        """Rewrite one function."""
        return canonicalize(func, context)


def canonicalize(func: Func, context: Context) -> bool:
    """Apply all local rewrites to the function until none applies."""
    rewriter = Rewriter(func)
    seeds = context.touched
    if seeds is not None:
        present = set(func.nested())
        seeds = [op for op in dict.fromkeys(seeds) if op in present]
    changed = rewriter.run(PATTERNS, seeds)
    for event, times in rewriter.counts.items():
        context.count(event, times)
    return changed
