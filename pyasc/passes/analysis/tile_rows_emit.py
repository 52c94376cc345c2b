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

from collections.abc import Sequence

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, py, scf, tile
from pyasc.ir.sizes import constant
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.structured import size_value
from pyasc.passes.analysis.tile_body import Access, stored_dtype
from pyasc.passes.analysis.tile_buffers import assign, scratch_bytes
from pyasc.passes.analysis.tile_emit import (
    I64,
    TileEmitter,
    binary,
    bytes_an_element,
    ceil_div,
    cores_for,
    queue_depths,
    share,
)
from pyasc.passes.analysis.tile_legalise import refuse
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW, SPACED, Instruction
from pyasc.passes.analysis.tile_rows import RowWork

BLOCK_BYTES = 32
MAX_STRIDE = 255
MAX_ROWS = 248
"""Repeats are counted in 8 bits, and Brcb takes 8 rows at a time."""
MAX_COPY_ROWS = 4095
COLUMN_ELEMENTS = 256
SPREAD_BYTES = MAX_ROWS * BLOCK_BYTES
SPACED_BYTES = COLUMN_ELEMENTS * BLOCK_BYTES
SCALAR = ScalarType(I64)


def lower_rows(root: Operation, work: RowWork, soc: Soc) -> Value:
    """Replace the op or loop by tile operations; the number of cores that take part."""
    return _Rows(root, work, soc).lower()


def by_row(instruction: Instruction) -> bool:
    """Whether an instruction treats rows one by one: it reduces, or repeats one value a row or one row for all."""
    return instruction.fn == "reduce" or any(
        source.cover != instruction.target.cover for source in instruction.sources
    )


class _Rows:
    def __init__(self, root: Operation, work: RowWork, soc: Soc) -> None:
        self.root = root
        self.work = work
        self.program = work.builder.program
        self.program.prune()
        self.assignment = assign(self.program)
        self.depths = queue_depths(self.assignment)
        self.cores = soc.vector_cores
        self._size(soc.arch.ub)

    def _size(self, ub: int) -> None:
        """Elements of a tile, columns of a piece and rows at most."""
        slots = self.assignment.slots
        widths = [slot.width for slot in slots if slot.kind != "mask"]
        self.unit = BLOCK_BYTES // min(widths)
        self.structured = any(map(by_row, self.program.instructions))
        spread = {
            source
            for each in self.program.instructions
            for source in each.sources
            if source.cover == COLUMN and each.target.cover != COLUMN
        }
        fixed = len(spread) * SPREAD_BYTES
        fixed += scratch_bytes(self.program.instructions)
        fixed += sum(COLUMN_ELEMENTS * 4 * self.depths.get(s.kind, 1) for s in slots if s.cover == COLUMN)
        fixed += sum(SPACED_BYTES * self.depths.get(s.kind, 1) for s in slots if s.cover == SPACED)
        a_row = sum(s.width * self.depths.get(s.kind, 1) for s in slots if s.cover == ROW)
        longest = MAX_STRIDE * BLOCK_BYTES // max(widths) // self.unit * self.unit
        fixed += a_row * longest
        per_element = bytes_an_element(self.assignment, self.depths) or 1
        self.tile = max(int((ub - fixed) / per_element) // 256 * 256, 256)
        self.longest = min(longest, self.tile) if self.structured or a_row else self.tile
        self.most_rows = MAX_ROWS if self.structured else MAX_COPY_ROWS

    def lower(self) -> Value:
        """Emit the split over cores and the loops over tiles."""
        at = Builder.before(self.root)
        at.loc = self.root.loc
        columns = size_value(at, self.work.columns or constant(1))
        if self.work.reduces:
            self._check_columns(at, columns)
        *self.leading, (low, high) = self.work.rows or [(index(at, 0), index(at, 1))]
        total = binary(at, "maximum", binary(at, "sub", high, low), 0)
        blocks = cores_for(at, total, 1, self.cores)
        cores = at.insert(tile.Cores(count=blocks, body=block_of([SCALAR], ["core"])))
        inner = Builder(cores.body.block, loc=self.root.loc)
        part = share(inner, cores.body.block.args[0], blocks, total, 1)
        self._shape(inner, columns)
        begin = binary(inner, "add", part.begin, low)
        self._leading(inner, [], begin, part.length)
        inner.insert(tile.Yield())
        self.root.drop()
        self.root.unlink()
        return blocks

    def _check_columns(self, at: Builder, columns: Value) -> None:
        """Rows that are reduced have to fit."""
        fits = at.value(arith.Elementwise(fn="le", args=[columns, index(at, self.longest)]))
        at.insert(
            py.Check(
                condition=fits,
                values=[columns],
                error="LaunchError",
                message=f"a row of {{}} elements is reduced, and here rows have at most {self.longest} so far",
                launch=True,
            )
        )

    def _shape(self, at: Builder, columns: Value) -> None:
        piece = columns
        if not self.work.reduces:
            piece = binary(at, "maximum", binary(at, "minimum", columns, self.longest, "piece"), 1, "piece")
        units = binary(at, "maximum", ceil_div(at, piece, self.unit, "parts"), 1)
        self.columns, self.piece = columns, piece
        self.pitch = binary(at, "mul", units, self.unit, "pitch")
        capacity = at.value(arith.Constant.of(self.tile, I64), "TILE")
        fitting = at.value(arith.Elementwise(fn="floordiv", args=[capacity, self.pitch]), "fitting")
        self.tile_rows = binary(at, "minimum", fitting, self.most_rows, "tileRows")

    def _leading(self, at: Builder, point: list[Value], begin: Value, length: Value) -> None:
        if len(point) < len(self.leading):
            low, high = self.leading[len(point)]
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
                step=self.tile_rows,
                types=[],
                body=block_of([SCALAR], ["row"]),
            )
        )
        inner = Builder(loop.body.block, loc=self.root.loc)
        left = binary(inner, "sub", length, loop.counter, "left")
        count = binary(inner, "minimum", left, self.tile_rows, "n")
        first = binary(inner, "add", begin, loop.counter, "firstRow")
        if self.work.reduces:
            self._tile(inner, [*point, first], index(inner, 0), count, self.columns)
        else:
            self._pieces(inner, [*point, first], count)
        inner.insert(scf.Yield())

    def _pieces(self, at: Builder, point: list[Value], count: Value) -> None:
        loop = at.insert(
            scf.For(
                lower=index(at, 0),
                upper=self.columns,
                step=self.piece,
                types=[],
                body=block_of([SCALAR], ["column"]),
            )
        )
        inner = Builder(loop.body.block, loc=self.root.loc)
        left = binary(inner, "sub", self.columns, loop.counter, "left")
        width = binary(inner, "minimum", left, self.piece, "width")
        self._tile(inner, point, loop.counter, count, width)
        inner.insert(scf.Yield())

    def _tile(self, at: Builder, point: list[Value], column: Value, count: Value, width: Value) -> None:
        one = index(at, 1)
        emitter = TileEmitter(
            at,
            self.assignment,
            self.depths,
            {
                FULL: (None, None),
                ROW: (1, None),
                COLUMN: (COLUMN_ELEMENTS, 1),
                SPACED: (COLUMN_ELEMENTS, self._per_block()),
            },
            {FULL: [self.tile_rows, self.pitch], ROW: [self.pitch], COLUMN: [], SPACED: []},
            {FULL: self.tile, ROW: self.longest, COLUMN: COLUMN_ELEMENTS, SPACED: SPACED_BYTES},
            {FULL: [count, width], ROW: [one, width], COLUMN: [count, one], SPACED: [count, one]},
        )
        # A phase without a row iterator has one row, which no map mentions.
        dims = [*point, column] if self.work.rows else [column]
        for access in self.work.builder.elements.reads:
            target = emitter.tile_of(access.register)
            source = self._view(at, access, dims, count, width)
            at.insert(tile.Copy(source=source, target=target, sizes=emitter.sizes[access.register.cover]))
        emitter.run(self.program)
        at.loc = self.root.loc
        for access in self.work.builder.elements.writes:
            source = emitter.tile_of(access.register)
            target = self._view(at, access, dims, count, width)
            at.insert(tile.Copy(source=source, target=target, sizes=emitter.sizes[access.register.cover]))

    def _per_block(self) -> int:
        """Elements in a block of 32 bytes, for values that arrive one a block."""
        widths = {slot.width for slot in self.assignment.slots if slot.cover == SPACED} or {4}
        if len(widths) > 1:
            raise refuse("elements of several widths, one of each row", self.root.loc)
        return BLOCK_BYTES // widths.pop()

    def _view(self, at: Builder, access: Access, dims: Sequence[Value], count: Value, width: Value) -> Value:
        """The box of an array that a tile covers, rows first."""
        column, row = self.work.column, self.work.column - 1
        one = index(at, 1)
        offsets = [materialise(e, dims, self.work.nest.symbols, at) for e in access.map.results]
        sizes, steps, axes = [one] * len(offsets), [one] * len(offsets), [-1, -1]
        for axis, expr in enumerate(access.map.results):
            if expr.coefficient(column):
                sizes[axis], axes[1] = width, axis
            elif row >= 0 and expr.coefficient(row):
                sizes[axis], axes[0] = count, axis
                steps[axis] = index(at, expr.coefficient(row))
        ref = access.ref
        assert isinstance(ref.type, RefType)
        shape = tuple(None if axis >= 0 else 1 for axis in axes)
        type_ = RefType(shape, stored_dtype(ref.type.dtype), ref.type.space, "strided")
        made = mem.View(ref=ref, offsets=offsets, sizes=sizes, steps=steps, axes=tuple(axes), types=[type_])
        return at.value(made, ref.name)
