# SPDX-License-Identifier: Apache-2.0
"""Where an op that belongs to one row lies in the nest of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyasc.ir.affine import AffineExpr, AffineMap

WholeMap = Callable[[AffineMap], "AffineMap | None"]
"""From an access of an op within a row to the access of the whole nest; None at a place that is computed."""


@dataclass(frozen=True)
class Placement:
    """An op whose one iterator walks the columns of a nest.

    `column` is the number of the columns in the nest, `symbols` are what the op's symbols are to the nest, None where
    that is not affine. An op whose columns are counted from zero starts at `first`; one that is `alone` walks no other
    column, so that what it reads and writes is a number of the row.
    """

    column: int
    symbols: Sequence[AffineExpr | None]
    first: int = 0
    alone: bool = False

    def bound(self, expr: AffineExpr) -> AffineExpr | None:
        """A bound of the op's iterator, before columns are counted from elsewhere."""
        total = AffineExpr((0,) * self.column + expr.dims, (), expr.constant)
        for known, coefficient in zip(self.symbols, expr.symbols, strict=False):
            if coefficient and known is None:
                return None
            if coefficient and known is not None:
                total = total + known * coefficient
        return total

    def access(self, map_: AffineMap) -> AffineMap | None:
        """An access of the op."""
        made: list[AffineExpr] = []
        for expr in map_.results:
            placed = self.bound(expr)
            if placed is None:
                return None
            placed = placed + placed.coefficient(self.column) * self.first
            if self.alone:
                placed = AffineExpr(placed.dims[: self.column], placed.symbols, placed.constant)
            made.append(placed)
        return AffineMap(tuple(made))
