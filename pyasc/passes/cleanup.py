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
    keeps_clean = True
    rounds: int = 4

    def apply(self, module: Module, context: Context) -> bool:
        """Clean the module, unless nothing has changed since that was done."""
        if context.clean:
            return False
        context.clean = True
        passes = [create(name) for name in STEPS]
        since_change = 0
        changed = False
        for number in range(self.rounds * len(passes)):
            # Each step leaves nothing for itself to do, so the last one that changed something need not run again.
            if number >= len(passes) and since_change >= len(passes) - 1:
                break
            step_changed = passes[number % len(passes)].apply(module, context)
            changed |= step_changed
            since_change = 0 if step_changed else since_change + 1
        return changed
