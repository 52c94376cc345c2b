# SPDX-License-Identifier: Apache-2.0
"""Counts every iterator of a structured op from zero.

    st.apply [%n], [%a], [], [%b] {iterators = ["parallel"], lower = [(1)], upper = [(s0 - 1)],
      input_maps = [affine<d0 - 1>], output_maps = [affine<d0>], ...}

becomes

    st.apply [%n], [%a], [], [%b] {iterators = ["parallel"], lower = [(0)], upper = [(s0 - 2)],
      input_maps = [affine<d0>], output_maps = [affine<d0 + 1>], ...}

so that a tile of the interior of an array is like any other. A bound that depends on an outer iterator stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.affine import AffineExpr, AffineMap, const
from pyasc.ir.core import Builder
from pyasc.ir.dialects import arith, st
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import materialise
from pyasc.passes.base import Context, FunctionPass


class Rebase(FunctionPass):
    """Moves lower bounds of structured ops into their access maps."""

    name = "rebase"

    def run(self, func: Func, context: Context) -> bool:
        """Rebase every structured op."""
        changed = False
        for op in func.walk():
            if isinstance(op, st.Apply):
                changed |= _rebase(op, context)
        return changed


def _rebase(op: st.Apply, context: Context) -> bool:
    zero = const(0)
    moves = [zero if low.dims else low for low in op.lower]
    if all(move == zero for move in moves):
        return False
    for iterator, move in enumerate(moves):
        if move != zero:
            _move_counter(op, iterator, move)
            context.count("iterators rebased")

    def moved(expr: AffineExpr) -> AffineExpr:
        return _shifted(expr, moves)

    op.lower = tuple(moved(low) - move for low, move in zip(op.lower, moves, strict=True))
    op.upper = tuple(moved(high) - move for high, move in zip(op.upper, moves, strict=True))
    op.input_maps = tuple(AffineMap(tuple(map(moved, each.results))) for each in op.input_maps)
    op.output_maps = tuple(AffineMap(tuple(map(moved, each.results))) for each in op.output_maps)
    return True


def _shifted(expr: AffineExpr, moves: Sequence[AffineExpr]) -> AffineExpr:
    """The expression with each iterator replaced by its new value plus where it began."""
    for iterator, move in enumerate(moves):
        expr = expr + move * expr.coefficient(iterator)
    return expr


def _move_counter(op: st.Apply, iterator: int, move: AffineExpr) -> None:
    """Add where an iterator began to its uses in the body."""
    block = op.body.block
    counter = block.args[iterator]
    if not counter.uses:
        return
    at = Builder.before(next(iter(block)))
    total = arith.Elementwise(fn="add", args=[counter, materialise(move, [], op.symbols, at)])
    moved = at.value(total, counter.name)
    counter.replace_uses(moved, lambda user: user is not total)
