# SPDX-License-Identifier: Apache-2.0
"""Refuses parallel loops whose iterations are certain to touch one element, and updates at computed places.

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %next = arith.add %i, %1
      %v = mem.load %y, [%next]
      mem.store %v, %y, [%i]
      scf.yield
    }

is an error that shows the load and the store: what an iteration reads, the next one writes. Running updates such
as `s[0] += x[i]` are left alone, since raising makes them reductions; an update at an index that the data decide
needs `asc.atomic_add`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir.core import Value
from pyasc.ir.diagnostics import Diagnostic, Related, compile_error
from pyasc.ir.dialects import mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import Polynomials
from pyasc.passes.analysis.effects import is_local
from pyasc.passes.analysis.races import Race, Update, certain_race, updates
from pyasc.passes.base import Context, FunctionPass

if TYPE_CHECKING:
    from pyasc.passes.analysis.meetings import Meeting


class CheckParallel(FunctionPass):
    """Raises CompileError for a parallel loop that cannot mean what it says; changes nothing."""

    name = "check-parallel"

    def run(self, func: Func, context: Context) -> bool:
        """Look at every loop that the user declared parallel."""
        polynomials = Polynomials()
        loops = [op for op in func.nests() if isinstance(op, scf.For) and op.kind == "parallel"]
        found: list[Diagnostic] = []
        for loop in loops:
            race = certain_race(loop, polynomials)
            if race is not None:
                found.append(_race(race, loop))
            else:
                found += _meetings(loop, polynomials)
            found += [_update(u, loop) for u in updates(loop, polynomials) if _depends_on_data(u, loop)]
        if found:
            raise compile_error(*_first_of_each_place(found))
        context.count("parallel loops", len(loops))
        return False


def _first_of_each_place(found: list[Diagnostic]) -> list[Diagnostic]:
    return list({diagnostic.loc: diagnostic for diagnostic in reversed(found)}.values())[::-1]


def _depends_on_data(update: Update, loop: scf.For) -> bool:
    """Whether the place that is updated is computed from memory that the loop reads."""
    return any(_loads(index, loop) for index in update.store.indices)


def _loads(index: Value, loop: scf.For) -> bool:
    op = index.op
    if op is None or loop not in op.ancestors():
        return False
    return isinstance(op, mem.Load) or any(_loads(operand, loop) for operand in op.operands)


def _name(ref: Value) -> str:
    return f"`{ref.name}`" if ref.name else "an array"


def _race(race: Race, loop: scf.For) -> Diagnostic:
    writer, other = (
        (race.first, race.second) if isinstance(race.first, mem.Store) else (race.second, race.first)
    )
    what = "read" if isinstance(other, mem.Load) else "written"
    if writer is other:
        message = f"every iteration of this parallel loop writes the same element of {_name(writer.ref)}"
        related: tuple[Related, ...] = ()
    else:
        message = f"iterations of this parallel loop touch each other's elements of {_name(writer.ref)}"
        related = (Related(other.loc, f"{what} here, {abs(race.distance)} iteration(s) apart"),)
    return Diagnostic(
        "PA0603",
        message,
        writer.loc,
        label="written here",
        notes=("iterations may run in any order and at once",),
        related=(*related, Related(loop.loc, "the parallel loop")),
        hint=_hint(writer.ref),
    )


def _meetings(loop: scf.For, polynomials: Polynomials) -> list[Diagnostic]:
    # Kernels without parallel loops do not pay for loading it.
    from pyasc.passes.analysis.meetings import certain_meeting

    meeting = certain_meeting(loop, polynomials)
    return [] if meeting is None else [_meeting(meeting, loop)]


def _meeting(meeting: Meeting, loop: scf.For) -> Diagnostic:
    first, second = meeting.first, meeting.second
    one, other = meeting.iterations
    name, here = _name(first.root), "of this parallel loop"
    if second.writes:
        low, high = sorted(meeting.iterations)
        message = f"iterations {low} and {high} {here} write the same element of {name}"
    else:
        message = f"iteration {other} {here} reads an element of {name} that iteration {one} writes"
    what = "written" if second.writes else "read"
    places = () if first.op is second.op else (Related(second.op.loc, f"{what} here"),)
    return Diagnostic(
        "PA0603",
        message,
        first.op.loc,
        label="written here",
        notes=("iterations may run in any order and at once",),
        related=(*places, Related(loop.loc, "the parallel loop")),
        hint=_hint(first.root),
    )


def _hint(root: Value) -> str:
    if is_local(root):
        return "make the buffer inside the loop, so that each iteration has one of its own, or use range"
    return "use range for a sequential loop, or write to elements that no other iteration touches"


def _update(update: Update, loop: scf.For) -> Diagnostic:
    return Diagnostic(
        "PA0604",
        f"iterations of this parallel loop may update one element of {_name(update.store.ref)} at once",
        update.store.loc,
        label="the index is computed from data",
        related=(Related(loop.loc, "the parallel loop"),),
        hint="use asc.atomic_add (atomic_max, atomic_min), or range for a sequential loop",
    )
