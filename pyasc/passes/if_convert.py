# SPDX-License-Identifier: Apache-2.0
"""Computes both sides of a branch and chooses, where both are short and pure.

A side may hold at most `limit` operations without regions, none of them slow (division of integers, powers and
transcendental functions), and the results must be scalars or vectors. Loads count as pure where their indices are in
range whatever the condition says. A branch costs more than the few operations saved, and stops vectorisation.

Before:

    %r = scf.if %c : f32 {
      %0 = arith.mul %x, %x
      scf.yield %0
    } {
      scf.yield %y
    }

After:

    %0 = arith.mul %x, %x
    %r = arith.select %c, %0, %y
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Operation
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.numbers import TABLE
from pyasc.ir.traits import PURE
from pyasc.ir.types import ScalarType, VectorType, dtype_of
from pyasc.passes.analysis.speculation import SafeAccesses
from pyasc.passes.base import Context, FunctionPass

_SLOW_ON_INTEGERS = frozenset(("floordiv", "mod", "fmod", "pow"))


class IfConvert(FunctionPass):
    """If-conversion of branches with at most `limit` operations a side."""

    name = "if-convert"
    limit: int = 6

    def run(self, func: Func, context: Context) -> bool:
        """Convert branches of one function, inner ones first."""
        return convert_branches(func, context, self.limit)


def convert_branches(func: Func, context: Context, limit: int) -> bool:
    """Replace short pure branches by choices."""
    converted = 0
    accesses = SafeAccesses(func)
    for op in func.nests_inner_first():
        if isinstance(op, scf.If) and op.results and _is_cheap(op, limit, accesses):
            _convert(op)
            converted += 1
    context.count("branches converted", converted)
    return converted > 0


def _is_cheap(op: scf.If, limit: int, accesses: SafeAccesses) -> bool:
    if not all(isinstance(value.type, (ScalarType, VectorType)) for value in op.results):
        return False
    return all(_is_short(region.block.first, limit) for region in op.regions) and all(
        accesses.may_read_at(inner, op.parent)
        for region in op.regions
        for inner in region.block
        if isinstance(inner, mem.Load)
    )


def _is_short(first: Operation | None, limit: int) -> bool:
    count, op = 0, first
    while op is not None and op.next is not None:
        count += 1
        if count > limit or op.regions or _is_slow(op):
            return False
        if PURE not in op.spec.traits and not isinstance(op, mem.Load):
            return False
        op = op.next
    return True


def _is_slow(op: Operation) -> bool:
    if not isinstance(op, arith.Elementwise):
        return False
    if dtype_of(op.operands[-1].type).is_float:
        return op.fn in ("floordiv", "mod") or TABLE[op.fn].ulps > 0
    return op.fn in _SLOW_ON_INTEGERS


def _convert(op: scf.If) -> None:
    at = Builder.before(op)
    sides: list[list[Operation]] = [list(region.block) for region in op.regions]
    for *body, _ in sides:
        for inner in body:
            at.block.insert_before(op, inner)
    chosen = [
        at.value(arith.Elementwise(fn="select", args=[op.condition, first, second]))
        for first, second in zip(sides[0][-1].operands, sides[1][-1].operands, strict=True)
    ]
    op.replace_with(chosen)
