# SPDX-License-Identifier: Apache-2.0
"""A new order for the iterators of a structured op."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.dialects import st


def permute(op: st.Apply, order: Sequence[int]) -> None:
    """Give the iterators a new order: place p gets what was iterator `order[p]`."""
    place = {old: new for new, old in enumerate(order)}

    def moved(expr: AffineExpr) -> AffineExpr:
        dims = [0] * op.rank
        for i in range(op.rank):
            dims[place[i]] = expr.coefficient(i)
        return AffineExpr(tuple(dims), expr.symbols, expr.constant)

    def moved_map(map_: AffineMap) -> AffineMap:
        return AffineMap(tuple(moved(e) for e in map_.results))

    op.iterators = tuple(op.iterators[i] for i in order)
    op.lower = tuple(moved(op.lower[i]) for i in order)
    op.upper = tuple(moved(op.upper[i]) for i in order)
    op.input_maps = tuple(moved_map(m) for m in op.input_maps)
    op.output_maps = tuple(moved_map(m) for m in op.output_maps)
    block = op.body.block
    block.args[: op.rank] = [block.args[i] for i in order]
    for i, arg in enumerate(block.args):
        arg.index = i
