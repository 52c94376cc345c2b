# SPDX-License-Identifier: Apache-2.0
"""Tiles for work on rows: as many rows as fit, whole where a row is reduced, else in pieces that fit.

tile.cores %blocks {
  %first, %length = the core's rows
  scf.for %row = 0 to %length step %tileRows {
    %x = tile.buffer [%tileRows, %pitch] {depth = 2, capacity = 10240} : ref<? x ? x f32, ub>
    tile.copy ..., %x, [%n, %width]
    tile.reduce %x, %max, [%n, %width] {fn = "maximum", axis = 1}
    tile.sub [%x, %max], %x, [%n, %width]
  }
}
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, py, scf, tile
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.row_work import RowWork
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_body import Access
from pyasc.passes.analysis.tile_emit import I64, binary, cores_or_none, deal, named
from pyasc.passes.analysis.tile_program import COLUMN, ROW
from pyasc.passes.analysis.tile_row_tiles import RowTiles

BLOCK_BYTES = 32
MAX_STRIDE = 255
MAX_ROWS = 248
"""Repeats are counted in 8 bits, and Brcb takes 8 rows at a time."""
MAX_COPY_ROWS = 4095
COLUMN_ELEMENTS = 256
LONE_ROWS = 64
"""Rows a core at least, where rows are one element each: less than one vector instruction is not worth a core."""
SPREAD_BYTES = MAX_ROWS * BLOCK_BYTES
SPACED_BYTES = COLUMN_ELEMENTS * BLOCK_BYTES
SCALAR = ScalarType(I64)


def lower_rows(root: Operation, work: RowWork, soc: Soc) -> Value:
    """Replace the op or loop by tile operations; the number of cores that take part."""
    return _Rows(root, work, soc).lower()


def takes_rows(work: RowWork) -> bool:
    """Whether rows are alike, and the host can tell where a row that is reduced fits on chip."""
    return (
        work.even
        and (work.sized or not work.reduces)
        and not (work.rows and any(e.dims for e in work.rows[-1]))
    )


def _is_shared(access: Access, work: RowWork) -> bool:
    """Whether an access is of the same row of a vector for all rows of a nest, which do not write it."""
    (*outer, last) = access.map.results
    rows = range(work.column)
    if any(other.ref is access.ref for other in work.builder.elements.writes):
        return False
    return access.register.cover == ROW and not outer and not any(last.coefficient(row) for row in rows)


class _Rows:
    def __init__(self, root: Operation, work: RowWork, soc: Soc) -> None:
        self.root = root
        self.work = work
        work.builder.program.prune()
        work.builder.wide.intervals.check()
        self.shared = [
            each for each in work.builder.elements.reads if work.reduces and _is_shared(each, work)
        ]
        # No instruction may use their buffers for anything else.
        work.builder.program.kept += [access.register for access in self.shared]
        self.tiles = RowTiles(root, work, soc.arch.ub, [access.register for access in self.shared])
        self.cores = soc.vector_cores

    def lower(self) -> Value:
        """Emit the split over cores and the loops over tiles."""
        at = Builder.before(self.root)
        at.loc = self.root.loc
        self.first_column, columns = self.work.column_values(at, ())
        if self.work.reduces:
            self._check_columns(at, columns)
        low, high = self._dealt_rows(at)
        total = binary(at, "maximum", binary(at, "sub", high, low), 0, "rows")
        blocks = cores_or_none(at, total, 1 if self.work.columns else LONE_ROWS, self.cores)
        dealt = deal(at, blocks, total, 1)
        inner = dealt.at
        self._shape(inner, columns)
        for access in self.shared:
            dims = [index(inner, 0)] * self.work.column
            self.tiles.hold(inner, access, [*dims, self.first_column], columns)
        begin = binary(inner, "add", dealt.part.begin, low)
        self._leading(inner, [], begin, dealt.part.length)
        inner.insert(tile.Yield())
        self.root.drop()
        self.root.unlink()
        return blocks

    def _dealt_rows(self, at: Builder) -> tuple[Value, Value]:
        if not self.work.rows:
            return index(at, 0), index(at, 1)
        low, high = (materialise(e, (), self.work.nest.symbols, at) for e in self.work.rows[-1])
        return low, high

    def _check_columns(self, at: Builder, columns: Value) -> None:
        """Rows that are reduced have to fit."""
        fits = at.value(arith.Elementwise(fn="le", args=[columns, index(at, self.tiles.longest)]))
        at.insert(
            py.Check(
                condition=fits,
                values=[columns],
                error="LaunchError",
                message=f"a row of {{}} elements is reduced, and here rows have at most {self.tiles.longest} so far",
                launch=True,
            )
        )

    def _shape(self, at: Builder, columns: Value) -> None:
        piece = columns
        if not self.work.reduces:
            most = self.tiles.longest
            strip = named(at, most, "TILE" if most == self.tiles.tile else "STRIP")
            piece = binary(at, "maximum", binary(at, "minimum", columns, strip, "longest"), 1, "piece")
        self.columns, self.piece = columns, piece
        self.tiles.shape(at, piece)

    def _leading(self, at: Builder, point: list[Value], begin: Value, length: Value) -> None:
        if len(point) < len(self.work.rows) - 1:
            low, high = self.work.row_bounds(at, point)
            body = block_of([SCALAR], [self.work.nest.counters[len(point)].name or "outer"])
            loop = at.insert(scf.For(lower=low, upper=high, step=index(at, 1), types=[], body=body))
            inner = Builder(loop.body.block, loc=self.root.loc)
            self._leading(inner, [*point, loop.counter], begin, length)
            inner.insert(scf.Yield())
            return
        loop = at.insert(
            scf.For(
                lower=index(at, 0),
                upper=length,
                step=self.tiles.rows,
                types=[],
                body=block_of([SCALAR], ["row"]),
            )
        )
        inner = Builder(loop.body.block, loc=self.root.loc)
        left = binary(inner, "sub", length, loop.counter, "left")
        count = binary(inner, "minimum", left, self.tiles.rows, "n")
        first = binary(inner, "add", begin, loop.counter, "firstRow")
        if self.work.reduces:
            self._tile(inner, [*point, first], index(inner, 0), count, self.columns)
        else:
            self._pieces(inner, [*point, first], count)
        inner.insert(scf.Yield())

    def _pieces(self, at: Builder, point: list[Value], count: Value) -> None:
        upper = self.columns
        if any(access.register.cover == COLUMN for access in self.work.builder.elements.writes):
            # What is written once a row is written where there are no columns, too.
            upper = binary(at, "maximum", upper, 1)
        loop = at.insert(
            scf.For(
                lower=index(at, 0),
                upper=upper,
                step=self.piece,
                types=[],
                body=block_of([SCALAR], ["column"]),
            )
        )
        inner = Builder(loop.body.block, loc=self.root.loc)
        left = binary(inner, "sub", self.columns, loop.counter, "rest")
        width = binary(inner, "minimum", left, self.piece, "width")
        self._tile(inner, point, loop.counter, count, width)
        inner.insert(scf.Yield())

    def _tile(self, at: Builder, point: list[Value], column: Value, count: Value, width: Value) -> None:
        # A phase without a row iterator has one row, which no map mentions.
        column = binary(at, "add", self.first_column, column)
        dims = [*point, column] if self.work.rows else [column]
        emitter = self.tiles.filled(at, dims, count, width)
        for access in self.work.builder.elements.writes:
            source = emitter.tile_of(access.register)
            target = self.tiles.view(at, access, dims, count, width)
            at.insert(tile.Copy(source=source, target=target, sizes=emitter.sizes_of(access.register)))
