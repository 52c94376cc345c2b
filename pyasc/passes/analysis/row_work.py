# SPDX-License-Identifier: Apache-2.0
"""Work on rows, as it has been read: the nest around it, its columns, its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.affine import AffineExpr, AffineMap, const
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, func
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.passes.analysis.affine import Nest, Polynomials, materialise, materialise_polynomial
from pyasc.passes.analysis.tile_body import BodyBuilder
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_program import Operand
from pyasc.passes.analysis.tile_row_windows import RowWindows

IDENTITIES = {"add": 0.0, "maximum": float("-inf"), "minimum": float("inf")}
"""What leaves any other number as it is, by the function that combines."""


@dataclass(frozen=True)
class Columns:
    """The first column of a row, and how many follow: polynomials of sizes, counters and other values."""

    first: SizeExpr
    extent: SizeExpr
    bounds: tuple[AffineExpr, AffineExpr] = field(compare=False)


@dataclass
class RowWork:
    """What is done to every row: the nest around it, its columns, and the program.

    `rows` are the bounds of each iterator before the columns, over the iterators before it.
    """

    nest: Nest
    rows: list[tuple[AffineExpr, AffineExpr]]
    builder: BodyBuilder
    polynomials: Polynomials
    columns: Columns | None = None
    reduces: bool = False
    windows: RowWindows | None = None
    locals: dict[Value, Operand] = field(default_factory=lambda: dict[Value, Operand]())
    written: dict[Value, tuple[AffineMap, Operand]] = field(
        default_factory=lambda: dict[Value, tuple[AffineMap, Operand]]()
    )

    @property
    def column(self) -> int:
        """The number of the column iterator in maps."""
        return len(self.rows)

    @property
    def even(self) -> bool:
        """Whether all rows have the same columns."""
        return self.columns is None or not any(
            self.polynomials.atoms.get(name) in self.nest.counters
            for expr in (self.columns.first, self.columns.extent)
            for name in expr.names
        )

    @property
    def sized(self) -> bool:
        """Whether the number of columns follows from sizes alone, so that the host knows it."""
        return self.columns is None or not any(name.startswith("%") for name in self.columns.extent.names)

    def column_values(self, at: Builder, point: Sequence[Value]) -> tuple[Value, Value]:
        """The first column of the row at a point and how many there are, which for a reduction is never negative."""
        columns = self.columns or Columns(constant(0), constant(1), (const(0), const(1)))
        counters = dict(zip(self.nest.counters, point, strict=False))

        def value_of(name: str) -> Value:
            if name.startswith("%"):
                atom = self.polynomials.atoms[name]
                return counters.get(atom, atom)
            return at.value(func.Size(symbol=name))

        first, extent = (
            materialise_polynomial(each, value_of, at) for each in (columns.first, columns.extent)
        )
        if self.reduces and any(coefficient < 0 for _, coefficient in columns.extent.terms):
            extent = binary(at, "maximum", extent, 0)
        if isinstance(extent.op, arith.Elementwise) and not extent.name:
            extent.name = "columns"
        return first, extent

    def row_bounds(self, at: Builder, point: Sequence[Value]) -> tuple[Value, Value]:
        """The bounds of the iterator that follows those at a point."""
        low, high = (materialise(e, point, self.nest.symbols, at) for e in self.rows[len(point)])
        return low, high
