# SPDX-License-Identifier: Apache-2.0
"""Strips of columns: what is done to many rows at a time, for some columns, so that it fits on chip.

tile.cores %blocks {
  scf.for %column = 0 to %length step %piece {
    ...
  }
}

Strips are dealt to the cores by lines; where other iterators walk outside, the first of them is dealt instead, in loops
around the strips.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import scf, st, tile
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.row_work import RowWork
from pyasc.passes.analysis.tile_emit import I64, LINE_BYTES, binary, cores_for, deal, named
from pyasc.passes.analysis.tile_row_tiles import RowTiles

SCALAR = ScalarType(I64)


class ColumnStrips(ABC):
    """The strips of one op. Subclasses size `tiles` and say what is done to a strip."""

    piece: ClassVar[int]
    """Columns of a strip at most."""
    op: st.Apply
    work: RowWork
    outer: int
    tiles: RowTiles

    def deal(self, at: Builder, narrowest: int, cores: int) -> Value:
        """Emit the split over cores and the strips, in place of the op; how many cores take part.

        `narrowest` is the size of the smallest element, in bytes.
        """
        op, even = self.op, self.work.even
        self.columns = self.work.column_values(at, ()) if even else None
        first, extent = self.columns or (index(at, 0), index(at, 1))
        line = LINE_BYTES // narrowest
        low, high = index(at, 0), extent
        if self.outer:
            (low, high), line = self.work.row_bounds(at, ()), 1
        total = binary(at, "maximum", binary(at, "sub", high, low), 0)
        blocks = cores_for(at, total, line, cores)
        dealt = deal(at, blocks, total, line)
        inner, length = dealt.at, dealt.part.length
        begin = binary(inner, "add", dealt.part.begin, low if self.outer else first)
        if self.outer:
            self._leading(inner, [], begin, binary(inner, "add", begin, length, "end"))
        else:
            self._strips(inner, [], begin, length)
        inner.insert(tile.Yield())
        op.drop()
        op.unlink()
        return blocks

    def _leading(self, at: Builder, point: list[Value], low: Value, high: Value) -> None:
        name = self.work.nest.counters[len(point)].name or "outer"
        body = block_of([SCALAR], [name])
        loop = at.insert(scf.For(lower=low, upper=high, step=index(at, 1), types=[], body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        here = [*point, loop.counter]
        if len(here) < self.outer:
            self._leading(inner, here, *self.work.row_bounds(inner, here))
        else:
            self._strips(inner, here, *(self.columns or self.work.column_values(inner, here)))
        inner.insert(scf.Yield())

    def _strips(self, at: Builder, point: list[Value], begin: Value, length: Value) -> None:
        most = min(self.piece, self.tiles.longest)
        strip_ = binary(at, "minimum", length, named(at, most, "STRIP"), "strip")
        piece = binary(at, "maximum", strip_, 1, "piece")
        self.tiles.shape(at, piece)
        body = block_of([SCALAR], ["column"])
        loop = at.insert(scf.For(lower=index(at, 0), upper=length, step=piece, types=[], body=body))
        strip = Builder(loop.body.block, loc=self.op.loc)
        left = binary(strip, "sub", length, loop.counter, "left")
        width = binary(strip, "minimum", left, piece, "width")
        self._strip(strip, point, binary(strip, "add", begin, loop.counter, "firstColumn"), width)
        strip.insert(scf.Yield())

    @abstractmethod
    def _strip(self, at: Builder, point: list[Value], column: Value, width: Value) -> None:
        """What is done to `width` columns from `column` on, at a point of the loops outside."""
