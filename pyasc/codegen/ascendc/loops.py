# SPDX-License-Identifier: Apache-2.0
"""Loops at the ascend level that C++ has a shorter form for."""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, scf


@dataclass(frozen=True)
class Doubling:
    """A counter that starts at `start` and doubles while it is less than `bound`; `body` has the loop's work."""

    start: Value
    bound: Value
    counter: Value
    body: Block


def doubling(op: scf.While) -> Doubling | None:
    """The loop as a counter that doubles, if it is one whose last value nobody uses."""
    before, after = op.before.block, op.after.block
    single = len(op.inits) == len(after.args) == len(after.terminator.operands) == 1
    if not single or any(value.uses for value in op.values) or len(list(before)) != 2:
        return None
    less, condition = before
    (counter,), (doubled,) = after.args, after.terminator.operands
    match less, doubled.op:
        case (
            arith.Elementwise(fn="lt", args=[tested, bound]),
            arith.Elementwise(fn="mul", args=[old, Value(op=arith.Constant(value=2))]),
        ) if tested is before.args[0] and old is counter and len(doubled.uses) == 1:
            forwards = isinstance(condition, scf.Condition) and condition.operands[1:] == [tested]
            return Doubling(op.inits[0], bound, counter, after) if forwards else None
        case _:
            return None
