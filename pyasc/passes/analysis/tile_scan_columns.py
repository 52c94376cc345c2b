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

from collections.abc import Sequence

from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import scf, st, tile
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.permute import permute
from pyasc.passes.analysis.row_work import RowWork
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_emit import LINE_BYTES, binary, cores_for, named, share
from pyasc.passes.analysis.tile_legalise import refuse
from pyasc.passes.analysis.tile_row_tiles import RowTiles
from pyasc.passes.analysis.tile_rows import of_apply
from pyasc.passes.analysis.tile_scans import SCALAR, Running, as_written

_PIECE = 2048
"""Columns of a strip at most."""


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


class _Columns:
    def __init__(self, op: st.Apply, work: RowWork, soc: Soc, running: Running, start: Value) -> None:
        self.op = op
        self.work = work
        self.soc = soc
        self.start = start
        self.output = running.run_through(work)
        work.builder.program.prune()
        work.builder.wide.intervals.check()
        self.tiles = RowTiles(op, work, soc.arch.ub - _PIECE * 4)
        self.outer = len(work.rows) - 1

    def lower(self) -> Value:
        """Emit the split over cores, the strips, and the rows of each."""
        at, op = Builder.before(self.op), self.op
        at.loc = op.loc
        first, extent = self.work.column_values(at, ())
        line = LINE_BYTES // self.output.dtype.bytes
        low, high = index(at, 0), extent
        if self.outer:
            (low, high), line = self.work.row_bounds(at, ()), 1
        total = binary(at, "maximum", binary(at, "sub", high, low), 0)
        blocks = cores_for(at, total, line, self.soc.vector_cores)
        cores = at.insert(tile.Cores(count=blocks, body=block_of([SCALAR], ["core"])))
        inner = Builder(cores.body.block, loc=op.loc)
        part = share(inner, cores.body.block.args[0], blocks, total, line)
        begin = binary(inner, "add", part.begin, low if self.outer else first)
        if self.outer:
            self._leading(inner, [], begin, binary(inner, "add", begin, part.length, "end"), (first, extent))
        else:
            self._strips(inner, [], begin, part.length)
        inner.insert(tile.Yield())
        op.drop()
        op.unlink()
        return blocks

    def _leading(
        self, at: Builder, point: list[Value], low: Value, high: Value, columns: tuple[Value, Value]
    ) -> None:
        name = self.work.nest.counters[len(point)].name or "outer"
        body = block_of([SCALAR], [name])
        loop = at.insert(scf.For(lower=low, upper=high, step=index(at, 1), types=[], body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        here = [*point, loop.counter]
        if len(here) < self.outer:
            self._leading(inner, here, *self.work.row_bounds(inner, here), columns)
        else:
            self._strips(inner, here, *columns)
        inner.insert(scf.Yield())

    def _strips(self, at: Builder, point: Sequence[Value], begin: Value, length: Value) -> None:
        most = min(_PIECE, self.tiles.longest)
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

    def _strip(self, at: Builder, point: Sequence[Value], column: Value, width: Value) -> None:
        """All rows of a strip, from its start on."""
        one, type_ = index(at, 1), RefType((1, None), self.output.dtype, "ub")
        carry = at.value(tile.Buffer(extents=[self.tiles.pitch], capacity=_PIECE, types=[type_]), "carry")
        at.insert(tile.Fill(value=self.start, target=carry, sizes=[one, width]))
        self.tiles.carries = {self.output: carry}
        low, high = self.work.row_bounds(at, point)
        body = block_of([SCALAR], ["row"])
        loop = at.insert(scf.For(lower=low, upper=high, step=self.tiles.rows, types=[], body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        left = binary(inner, "sub", high, loop.counter, "left")
        count = binary(inner, "minimum", left, self.tiles.rows, "n")
        dims = [*point, loop.counter, column]
        emitter = self.tiles.filled(inner, dims, count, width)
        for access in self.work.builder.elements.writes:
            target = self.tiles.view(inner, access, dims, count, width)
            sizes = emitter.sizes[access.register.cover]
            inner.insert(tile.Copy(source=emitter.tile_of(access.register), target=target, sizes=sizes))
        inner.insert(scf.Yield())
