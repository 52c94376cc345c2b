# SPDX-License-Identifier: Apache-2.0
"""Tiles of whole rows, or of pieces of rows: their buffers, what is copied in, and the program on them."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, mem, tile
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.ascend_lanes import gather_bytes
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.row_work import RowWork
from pyasc.passes.analysis.structured import extent_value
from pyasc.passes.analysis.tile_body import Access, stored_dtype
from pyasc.passes.analysis.tile_buffers import Slot, assign, scratch_bytes
from pyasc.passes.analysis.tile_emit import (
    BLOCK_BYTES,
    I64,
    Footprint,
    TileEmitter,
    a_block,
    binary,
    bytes_an_element,
    ceil_div,
    named,
    queue_depths,
)
from pyasc.passes.analysis.tile_gathered_rows import insert_rows
from pyasc.passes.analysis.tile_picks import TURNED, wide, width_of
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW, SPACED, Instruction, Register

MAX_STRIDE = 255
MAX_ROWS = 248
"""Repeats are counted in 8 bits, and Brcb takes 8 rows at a time."""
MAX_COPY_ROWS = 4095
COLUMN_ELEMENTS = 256
REPEAT_ELEMENTS = 256
"""Elements of a byte in a repeat: comparisons are of whole repeats, and masks of so many elements fill blocks."""
TURNED_COLUMNS = 128
"""Columns of a tile of which some array is read with rows and columns exchanged."""
SPREAD_BYTES = MAX_ROWS * BLOCK_BYTES
SPACED_BYTES = COLUMN_ELEMENTS * BLOCK_BYTES


def by_row(instruction: Instruction) -> bool:
    """Whether an instruction treats rows one by one: it reduces, or repeats one value a row or one row for all."""
    return instruction.fn == "reduce" or any(
        source.cover not in (instruction.target.cover, TURNED) and width_of(source.cover) == 1
        for source in instruction.sources
    )


class RowTiles:
    """Tiles of the program of a nest, in `ub` bytes. Those of `lasting` registers are filled once."""

    def __init__(self, root: Operation, work: RowWork, ub: int, lasting: Sequence[Register] = ()) -> None:
        self.root = root
        self.work = work
        self.program = work.builder.program
        self.assignment = assign(self.program)
        self.depths = queue_depths(self.assignment)
        self.lasting = [self.assignment.of[register] for register in lasting]
        self.carries: dict[Register, Value] = {}
        self.held: dict[Register, Value] = {}
        self._size(ub)

    def _size(self, ub: int) -> None:
        """Elements of a tile, columns of a piece and rows at most."""
        slots = self.assignment.slots
        widths = [slot.width for slot in slots if slot.kind != "mask"] or [1]
        self.unit = BLOCK_BYTES // min(widths)
        self.structured = any(map(by_row, self.program.instructions))
        self.wide = dict.fromkeys(s.cover for s in slots if width_of(s.cover) > 1 or s.cover == wide(1))
        self.turned = any(slot.cover == TURNED for slot in slots)
        masked = any(slot.kind == "mask" and slot.cover == ROW for slot in slots)
        step = max(self.unit, REPEAT_ELEMENTS) if masked else self.unit
        longest = MAX_STRIDE * BLOCK_BYTES // max(widths) // step * step
        a_row = self._bytes(ROW)
        free = ub - self._fixed_bytes() - a_row * longest
        self.tile = int(free / self._element_bytes()) // REPEAT_ELEMENTS * REPEAT_ELEMENTS
        if self.tile < REPEAT_ELEMENTS:
            raise refuse("a row of more arrays at once than fit on chip", self.root.loc)
        self.longest = min(longest, self.tile) if self.structured or a_row else self.tile
        if self.turned:
            self.longest = min(self.longest, TURNED_COLUMNS)
        self.most_rows = MAX_ROWS if self.structured else MAX_COPY_ROWS

    def _bytes(self, *covers: str) -> float:
        """What one element of each buffer takes that covers so much of a tile."""
        slots = [slot for slot in self.assignment.slots if slot.cover in covers]
        return sum(slot.bytes * width_of(slot.cover) * self._depth(slot) for slot in slots)

    def _depth(self, slot: Slot) -> int:
        return 1 if slot in self.lasting else self.depths.get(slot.kind, 1)

    def _fixed_bytes(self) -> float:
        """What is taken on chip however large a tile is."""
        spread = {
            source
            for each in self.program.instructions
            for source in each.sources
            if source.cover == COLUMN and each.target.cover != COLUMN
        }
        fixed = len(spread) * SPREAD_BYTES + scratch_bytes(self.program.instructions)
        for slot in self.assignment.slots:
            if slot.cover == COLUMN:
                fixed += COLUMN_ELEMENTS * max(slot.width, 4) * self.depths.get(slot.kind, 1)
            elif slot.cover == SPACED:
                fixed += SPACED_BYTES * self.depths.get(slot.kind, 1)
        # Rows of a turned tile start blocks, which the last of them may not fill.
        return fixed + self._bytes(TURNED) * TURNED_COLUMNS * self.unit

    def _element_bytes(self) -> float:
        """What each element of a tile takes on chip."""
        whole = bytes_an_element(self.assignment, self.depths) or 1
        return whole + gather_bytes(self.program.instructions) + self._bytes(*self.wide, TURNED)

    def shape(self, at: Builder, piece: Value) -> None:
        """Choose the pitch and the number of rows for pieces of so many columns."""
        block = a_block(at, BLOCK_BYTES // self.unit)
        units = binary(at, "maximum", ceil_div(at, piece, block, "parts"), 1)
        self.pitch = binary(at, "mul", units, block, "pitch")
        capacity = at.value(arith.Constant.of(self.tile, I64), "TILE")
        fitting = at.value(arith.Elementwise(fn="floordiv", args=[capacity, self.pitch]), "fitting")
        self.rows = binary(at, "minimum", fitting, named(at, self.most_rows, "MAX_ROWS"), "tileRows")
        if self.turned:
            self.turned_pitch = binary(at, "mul", ceil_div(at, self.rows, block), block, "turnedPitch")

    def filled(self, at: Builder, dims: Sequence[Value], count: Value, width: Value) -> TileEmitter:
        """Copy a tile in from the point `dims` and run the program on it."""
        footprints = self._footprints(at, count, width)
        emitter = TileEmitter(at, self.assignment, self.depths, footprints, dims, carries=self.carries)
        for register, held in self.held.items():
            emitter.buffers[self.assignment.of[register], register.dtype] = held
        for access in self.work.builder.elements.reads:
            if access.register in self.held:
                continue
            target = emitter.tile_of(access.register)
            sizes, span = emitter.sizes_of(access.register), width
            if access.register.cover in self.wide:
                span = self._span(at, access, width)
                sizes = [count, span]
            source = self.view(at, access, dims, count, span)
            at.insert(tile.Copy(source=source, target=target, sizes=sizes))
        for row in self.work.builder.elements.rows:
            insert_rows(at, row, emitter.tile_of(row.register), (count, width), dims)
        emitter.run(self.program)
        at.loc = self.root.loc
        return emitter

    def hold(self, at: Builder, access: Access, dims: Sequence[Value], width: Value) -> None:
        """Copy a row that all tiles read in once."""
        register, one = access.register, index(at, 1)
        type_ = RefType((1, None), register.dtype, "ub")
        buffer = tile.Buffer(extents=[self.pitch], capacity=self.longest, lasting=True, types=[type_])
        held = self.held[register] = at.value(buffer, register.name)
        at.insert(tile.Copy(source=self.view(at, access, dims, one, width), target=held, sizes=[one, width]))

    def _footprints(self, at: Builder, count: Value, width: Value) -> dict[str, Footprint]:
        """What each cover takes of a tile of `count` rows, of which `width` columns are worked on."""
        one = index(at, 1)
        made = {
            FULL: Footprint((None, None), [count, width], [self.rows, self.pitch], self.tile),
            ROW: Footprint((1, None), [one, width], [self.pitch], self.longest),
            COLUMN: Footprint((COLUMN_ELEMENTS, 1), [count, one]),
            SPACED: Footprint((COLUMN_ELEMENTS, self._per_block()), [count, one]),
        }
        if self.turned:
            most = self.tile + TURNED_COLUMNS * self.unit
            made[TURNED] = Footprint((None, None), [width, count], [self.pitch, self.turned_pitch], most)
        for cover in self.wide:
            factor = width_of(cover)
            extents = [self.rows, binary(at, "mul", self.pitch, factor)]
            sizes = [count, binary(at, "mul", width, factor)]
            made[cover] = Footprint((None, None), sizes, extents, self.tile * factor)
        return made

    def _span(self, at: Builder, access: Access, width: Value) -> Value:
        """Elements of a row that are copied for so many columns."""
        windows = self.work.windows
        return width if windows is None else windows.span(at, access.register, width)

    def _per_block(self) -> int:
        """Elements in a block of 32 bytes, for values that arrive one a block."""
        widths = {slot.width for slot in self.assignment.slots if slot.cover == SPACED} or {4}
        if len(widths) > 1:
            raise refuse("elements of several widths, one of each row", self.root.loc)
        return BLOCK_BYTES // widths.pop()

    def view(self, at: Builder, access: Access, dims: Sequence[Value], count: Value, width: Value) -> Value:
        """The box of an array that a tile covers, rows first."""
        column, row = self.work.column, self.work.column - 1
        if row >= 0 and sum(bool(expr.coefficient(row)) for expr in access.map.results) > 1:
            return self._diagonal(at, access, dims, count)
        if access.register.cover == TURNED:
            column, row, count, width = row, column, width, count
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

    def _diagonal(self, at: Builder, access: Access, dims: Sequence[Value], count: Value) -> Value:
        """One element of each row of a tile, where more than one index depends on the row."""
        ref, row = access.ref, self.work.column - 1
        assert isinstance(ref.type, RefType)
        dtype = stored_dtype(ref.type.dtype)
        flat = at.value(tile.Flatten(ref=ref, types=[RefType((None,), dtype, ref.type.space)]), ref.name)
        place, step = index(at, 0), index(at, 0)
        for expr, extent in zip(access.map.results, ref.type.shape, strict=True):
            size = extent_value(at, extent)
            where = materialise(expr, dims, self.work.nest.symbols, at)
            place = binary(at, "add", binary(at, "mul", place, size), where)
            step = binary(at, "add", binary(at, "mul", step, size), index(at, expr.coefficient(row)))
        type_ = RefType((None, 1), dtype, ref.type.space, "strided")
        made = mem.View(ref=flat, offsets=[place], sizes=[count], steps=[step], axes=(0, -1), types=[type_])
        return at.value(made, ref.name)
