# SPDX-License-Identifier: Apache-2.0
"""Checks that hold in every iteration of a loop or in none, asked once in front of it.

    scf.for %0, %m, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      py.check %some, [] {error = "ValueError", message = "zero-size array ..."}
      ...
    }

becomes

    %2 = arith.le %m, %0
    %3 = arith.or %some, %2
    py.check %3, [] {error = "ValueError", message = "zero-size array ..."}
    scf.for %0, %m, %1, [] {kind = "parallel"} {
      ...
    }

so that loops over rows have no check in them that keeps them from being raised. A check under a condition stays, and so
does one behind another check or a print, so that what is told first is still told first.
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, py, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import CHECKS, EFFECT
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.structure import is_inside
from pyasc.passes.base import Context, FunctionPass


class HoistChecks(FunctionPass):
    """Moves checks out of counted loops."""

    name = "hoist-checks"

    def run(self, func: Func, context: Context) -> bool:
        """Move each check out of as many loops as it can leave."""
        moved = 0
        for check in [op for op in func.walk() if isinstance(op, py.Check)]:
            left = _left(check)
            if left:
                _move(check, left)
                moved += 1
        context.count("checks moved", moved)
        return moved > 0


def _left(check: py.Check) -> list[scf.For]:
    """The loops that a check can leave, from the innermost one out."""
    left: list[scf.For] = []
    needed = list(check.operands)
    here: Operation = check
    loop = check.parent_op
    while isinstance(loop, scf.For) and integer_of(loop.step) is not None:
        if any(is_inside(value, loop) for value in needed) or any(map(_tells, _before(here))):
            break
        left.append(loop)
        needed += [loop.lower, loop.upper]
        here, loop = loop, loop.parent_op
    return left


def _before(op: Operation) -> list[Operation]:
    assert op.parent is not None
    ops = list(op.parent)
    return ops[: ops.index(op)]


def _tells(op: Operation) -> bool:
    return any(each.has(CHECKS) or each.has(EFFECT) for each in op.walk())


def _move(check: py.Check, left: list[scf.For]) -> None:
    """Ask in front of the loops: where one of them has no iteration, nobody does."""
    at = Builder.before(left[-1])
    at.loc = check.loc
    holds = check.condition
    for loop in left:
        holds = _or_empty(holds, loop, at)
    at.insert(py.Check(condition=holds, values=check.values, error=check.error, message=check.message))
    check.erase()


def _or_empty(holds: Value, loop: scf.For, at: Builder) -> Value:
    step, lower, upper = integer_of(loop.step), integer_of(loop.lower), integer_of(loop.upper)
    assert step is not None
    if lower is not None and upper is not None and (upper - lower) * step > 0:
        return holds
    fn = "le" if step > 0 else "ge"
    empty = at.value(arith.Elementwise(fn=fn, args=[loop.upper, loop.lower]))
    return at.value(arith.Elementwise(fn="or", args=[holds, empty]))
