# SPDX-License-Identifier: Apache-2.0
"""Runs `canonicalize`, `cse` and `dce` in turn until none of them changes anything.

Before:

    %0 = arith.add %x, %zero
    %1 = arith.mul %0, %y
    %2 = arith.mul %y, %x
    mem.store %1, %z, [%i]
    mem.store %2, %z, [%j]

After:

    %1 = arith.mul %x, %y
    mem.store %1, %z, [%i]
    mem.store %1, %z, [%j]
"""

from __future__ import annotations

from pyasc.ir.dialects.func import Module
from pyasc.passes.base import Context, Pass
from pyasc.passes.registry import create

STEPS = ("canonicalize", "cse", "dce")


class Cleanup(Pass):
    """The three cleaning passes until a fixpoint, at most `rounds` times."""

    name = "cleanup"
    keeps = frozenset(STEPS)
    rounds: int = 4

    def apply(self, module: Module, context: Context) -> bool:
        """Clean the module, running only passes that may find something to do."""
        changed = False
        for each in [create(name) for name in STEPS] * self.rounds:
            if each.name not in context.settled:
                step_changed = each.apply(module, context)
                context.note(each, step_changed)
                changed |= step_changed
        return changed
