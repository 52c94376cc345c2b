# SPDX-License-Identifier: Apache-2.0
"""Running sums and extremes along another axis than the contiguous one: strips of columns, row after row.

    st.apply [%m, %n], [%x], [%zero], [%y] {iterators = ["scan", "parallel"], roles = ["scan"], ...}

becomes strips that are dealt to the cores, and for each of them

    %carry = tile.buffer [%pitch] : ref<1 x ? x f32, ub>
    tile.fill %zero, %carry, [1, %width]
    scf.for %row = 0 to %m step %tileRows {
      tile.copy ..., %x, [%n, %width]
      tile.scan %x, %carry, %y, [%n, %width] {fn = "add", axis = 0}
      tile.copy %y, ..., [%n, %width]
    }
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import scf, st, tile
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.permute import permute
from pyasc.passes.analysis.row_work import RowWork
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_row_tiles import RowTiles
from pyasc.passes.analysis.tile_rows import of_apply
from pyasc.passes.analysis.tile_scans import Running, as_written
from pyasc.passes.analysis.tile_strips import SCALAR, ColumnStrips


def scans_rows(op: st.Apply) -> bool:
    """Whether an op gives running values along one axis, and another iterator walks neighbours."""
    return op.roles == ("scan",) and op.iterators.count("scan") == 1 and _column(op) is not None


def _column(op: st.Apply) -> int | None:
    """The parallel iterator that walks neighbours of the output, and of every input that it walks at all."""
    for number, kind in enumerate(op.iterators):
        maps = [map_ for map_ in (*op.input_maps, *op.output_maps) if map_.uses(number)]
        beside = all(map_.results[-1].coefficient(number) == 1 for map_ in maps)
        if kind == "parallel" and beside and op.output_maps[0].uses(number):
            return number
    return None


def lower_scanned_columns(op: st.Apply, soc: Soc) -> Value:
    """Replace the op by tile operations; the number of cores that take part. Raises NotVector."""
    scanned, column = op.iterators.index("scan"), _column(op)
    assert column is not None
    outer = [i for i in range(op.rank) if i not in (scanned, column)]
    if any(bound.dims for bound in (*op.lower, *op.upper)):
        raise refuse("running values over rows whose bounds differ", op.loc)
    permute(op, [*outer, scanned, column])
    running = as_written(op)
    work = of_apply(op, Builder.before(op))
    start = running.start(work)
    return _Columns(op, work, soc, running, start).lower()


class _Columns(ColumnStrips):
    piece = 2048

    def __init__(self, op: st.Apply, work: RowWork, soc: Soc, running: Running, start: Value) -> None:
        self.op = op
        self.work = work
        self.soc = soc
        self.start = start
        self.output = running.run_through(work)
        work.builder.program.prune()
        work.builder.wide.intervals.check()
        self.tiles = RowTiles(op, work, soc.arch.ub - self.piece * 4)
        self.outer = len(work.rows) - 1

    def lower(self) -> Value:
        """Emit the split over cores, the strips, and the rows of each."""
        at = Builder.before(self.op)
        at.loc = self.op.loc
        return self.deal(at, self.output.dtype.bytes, self.soc.vector_cores)

    def _strip(self, at: Builder, point: list[Value], column: Value, width: Value) -> None:
        """All rows of a strip, from its start on."""
        one, type_ = index(at, 1), RefType((1, None), self.output.dtype, "ub")
        carry = at.value(tile.Buffer(extents=[self.tiles.pitch], capacity=self.piece, types=[type_]), "carry")
        at.insert(tile.Fill(value=self.start, target=carry, sizes=[one, width]))
        self.tiles.carries = {self.output: carry}
        low, high = self.work.row_bounds(at, point)
        body = block_of([SCALAR], ["row"])
        loop = at.insert(scf.For(lower=low, upper=high, step=self.tiles.rows, types=[], body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        left = binary(inner, "sub", high, loop.counter, "rowsLeft")
        count = binary(inner, "minimum", left, self.tiles.rows, "n")
        dims = [*point, loop.counter, column]
        emitter = self.tiles.filled(inner, dims, count, width)
        for access in self.work.builder.elements.writes:
            target = self.tiles.view(inner, access, dims, count, width)
            sizes = emitter.sizes_of(access.register)
            inner.insert(tile.Copy(source=emitter.tile_of(access.register), target=target, sizes=sizes))
        inner.insert(scf.Yield())
