# SPDX-License-Identifier: Apache-2.0
"""A buffer on chip that one parallel loop alone uses is a buffer of each iteration.

    %tile = mem.alloc {purpose = "shared"} : ref<256 x f32, local>
    scf.for %0, %n, %256, [] {kind = "parallel"} {
    ^(%block: i64):
      mem.copy %part, %tile
      ...
    }

becomes

    scf.for %0, %n, %256, [] {kind = "parallel"} {
    ^(%block: i64):
      %tile = mem.alloc {purpose = "shared"} : ref<256 x f32, local>
      mem.copy %part, %tile
      ...
    }

That is what the language says of such a buffer: what an iteration writes there is seen by that iteration only. One that
is used outside of the loop as well stays, and iterations that write it conflict.
"""

from __future__ import annotations

from pyasc.ir.core import Operation
from pyasc.ir.dialects import mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.passes.base import Context, FunctionPass


class SinkBuffers(FunctionPass):
    """Moves every such buffer into the innermost parallel loop that has all of its uses."""

    name = "sink-buffers"
    keeps = frozenset(("canonicalize", "cse", "dce"))

    def run(self, func: Func, context: Context) -> bool:
        """Look at every buffer of the function."""
        found = [op for op in func.nested() if isinstance(op, mem.Alloc) and op.purpose == "shared"]
        moved = sum(_sink(alloc) for alloc in found)
        context.count("buffers of iterations", moved)
        return moved > 0


def _sink(alloc: mem.Alloc) -> bool:
    users = list(alloc.ref.uses)
    loop = (
        next((each for each in _loops_around(users[0], alloc) if _holds(each, users)), None)
        if users
        else None
    )
    if loop is None:
        return False
    block = loop.body.block
    assert block.first is not None
    alloc.unlink()
    block.insert_before(block.first, alloc)
    return True


def _loops_around(user: Operation, alloc: mem.Alloc) -> list[scf.For]:
    """The parallel loops between a buffer and its user, innermost first."""
    found: list[scf.For] = []
    for op in user.ancestors():
        if isinstance(op, scf.For) and op.kind == "parallel":
            found.append(op)
        if op.parent is alloc.parent:
            return found
    return []


def _holds(loop: scf.For, users: list[Operation]) -> bool:
    return all(loop in user.ancestors() for user in users)
