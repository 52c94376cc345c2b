# SPDX-License-Identifier: Apache-2.0
"""A parallel loop with running updates that did not become a reduction runs in order instead of racing.

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      ...
      %old = mem.load %s, [%0]
      %new = arith.add %old, %v
      mem.store %new, %s, [%0]
      scf.yield
    }

becomes `kind = "sequential"`, with a remark that says so.
"""

from __future__ import annotations

from pyasc.ir.dialects import scf, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.location import Location
from pyasc.passes.analysis.affine import Polynomials
from pyasc.passes.analysis.dependence import find_conflict
from pyasc.passes.analysis.races import updates
from pyasc.passes.analysis.ranges import Ranges
from pyasc.passes.base import Context, FunctionPass


class SerialiseUpdates(FunctionPass):
    """Takes the parallel mark off loops whose updates may meet."""

    name = "serialise-updates"

    def run(self, func: Func, context: Context) -> bool:
        """Look at the parallel loops that raising has left as loops."""
        polynomials = Polynomials()
        changed = False
        for loop in [op for op in func.nests() if isinstance(op, scf.For) and op.kind == "parallel"]:
            place = _shared_update(loop, polynomials, func)
            if place is not None:
                loop.kind = "sequential"
                context.count("loops run in order")
                context.remark(
                    place,
                    f"the loop at line {loop.loc.line} runs in order: its iterations update one element",
                    "keep the sum in a variable of the loop, or use asc.atomic_add",
                )
                changed = True
        return changed


def _shared_update(loop: scf.For, polynomials: Polynomials, func: Func) -> Location | None:
    """Where the loop updates elements that other iterations may update too."""
    update = next(updates(loop, polynomials), None)
    if update is not None and find_conflict(loop, Ranges(func)) is not None:
        return update.store.loc
    if not any(isinstance(op, st.Apply) for op in loop.nests()):
        return None
    from pyasc.passes.analysis.meetings import shared_update

    whole = shared_update(loop)
    return None if whole is None else whole.loc
