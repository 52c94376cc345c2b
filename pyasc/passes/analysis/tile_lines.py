# SPDX-License-Identifier: Apache-2.0
"""Work on rows of any length: one row at a time, in pieces, once for each sweep that its reductions ask for.

tile.cores %blocks {
  scf.for %row = the core's rows {
    %max = tile.buffer : ref<128 x 1 x f32, ub>
    %lanes = tile.buffer [64] : ref<1 x ? x f32, ub>
    tile.fill -inf, %lanes, [1, 64]
    scf.for %column = 0 to %columns step TILE {
      tile.copy ..., %x, [1, %count]
      tile.fold %x, %lanes, [1, %count] {fn = "maximum"}
    }
    tile.reduce %lanes, %max, [1, 64] {fn = "maximum", axis = 1}
    scf.for %column = 0 to %columns step TILE {
      tile.copy ..., %x, [1, %count]
      tile.sub [%x, %max], %x, [1, %count]
      ...
    }
  }
}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, scf, tile
from pyasc.ir.dtypes import DType, i32
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.affine import index, integer_of, materialise
from pyasc.passes.analysis.ascend_lanes import gather_bytes
from pyasc.passes.analysis.integer_lanes import BYTES, NUMBER_ELEMENTS, reduce_integers
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.row_work import IDENTITIES, RowWork
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_body import Access, stored_dtype
from pyasc.passes.analysis.tile_buffers import Assignment, Slot, assign, scratch_bytes
from pyasc.passes.analysis.tile_emit import (
    I64,
    LINE_BYTES,
    MAX_QUEUES,
    REPEAT_BYTES,
    Footprint,
    TileEmitter,
    a_repeat,
    binary,
    bytes_an_element,
    cores_or_none,
    deal,
    share,
)
from pyasc.passes.analysis.tile_legalise import number_of
from pyasc.passes.analysis.tile_picks import width_of
from pyasc.passes.analysis.tile_program import COLUMN, FULL, Instruction, Register
from pyasc.passes.analysis.tile_sweeps import RowProgram, cut_in_sweeps, numbers_used, of_row

SCALAR = ScalarType(I64)


def lower_lines(root: Operation, work: RowWork, soc: Soc) -> Value:
    """Replace the op or loop by tile operations; the number of cores that take part. Raises NotVector."""
    return LineRows(root, work, soc).lower()


@dataclass(frozen=True)
class _Piece:
    """Part of a row: the counters of the nest where it starts, and how many columns it has."""

    point: Sequence[Value]
    count: Value


class Lines:
    """The buffers and the code of one row."""

    def __init__(self, root: Operation, work: RowWork, soc: Soc) -> None:
        self.root = root
        self.work = work
        elements = work.builder.elements
        elements.program.prune()
        work.builder.wide.intervals.check()
        self.program: RowProgram = cut_in_sweeps(elements)
        registers = dict.fromkeys(
            [*elements.program.inputs, *(i.target for i in elements.program.instructions)]
        )
        self.slots = {register: _number_slot(register) for register in registers if of_row(register)}
        self.assignments = [assign(sweep.program, self.slots) for sweep in self.program.sweeps]
        self.shared = _shared_slots(self.assignments)
        counts = [sum(slot.kind == kind for slot in self.shared) for kind in ("in", "out")]
        numbers = len(self.program.reads), len(self.program.writes)
        # Too many arrays come in through one queue, side by side.
        packed = counts[0] + numbers[0] > MAX_QUEUES
        incoming = 1 if packed else counts[0]
        if max(incoming + numbers[0], counts[1] + numbers[1]) > MAX_QUEUES:
            raise refuse(f"rows of too many arrays: a core has buffers for {MAX_QUEUES}", root.loc)
        double = max(2 * incoming + numbers[0], 2 * counts[1] + numbers[1])
        depth = 2 if double <= MAX_QUEUES else 1
        self.depths: dict[str, int] = {"in": depth, "out": depth}
        self.carries: dict[Register, Value] = {}
        self._size(soc.arch.ub)

    def _size(self, ub: int) -> None:
        """Elements of a piece: what is left beside numbers, lanes and scratch, for all sweeps together."""
        sweeps = self.program.sweeps
        fixed = NUMBER_ELEMENTS * 8 * (len(self.slots) + len(self.program.reads) + len(self.program.writes))
        fixed += REPEAT_BYTES * (sum(len(sweep.folds) for sweep in sweeps) + numbers_used(sweeps))
        fixed += BYTES * sum(fold.target.dtype is i32 for sweep in sweeps for fold in sweep.folds)
        for sweep in sweeps:
            fixed += scratch_bytes(sweep.program.instructions)
        self.wide = dict.fromkeys(s.cover for s in self.shared if s.cover not in (FULL, COLUMN))
        self.free = ub - fixed
        self.tile = self._fitting(self.shared)

    def _fitting(self, slots: list[Slot]) -> int:
        """Elements of a piece for which there is room in so many buffers."""
        each = bytes_an_element(Assignment(slots), self.depths) or 1
        for slot in slots:
            if slot.cover in self.wide:
                each += slot.bytes * width_of(slot.cover) * self.depths.get(slot.kind, 1)
        each += max((gather_bytes(sweep.program.instructions) for sweep in self.program.sweeps), default=0)
        fitting = int(self.free / each) // 256 * 256
        if fitting < 256:
            raise refuse("a row with more numbers than a core has room for", self.root.loc)
        return fitting

    def _fit(self, extent: Value) -> None:
        """Make room for the sweeps of a row that is one piece: no loops tell when one of them needs its buffers."""
        known = integer_of(extent)
        if known is not None and known <= self.tile:
            together = self._fitting([slot for each in self.assignments for slot in each.slots])
            self.tile = min(together, max(-(-known // 256), 1) * 256)

    @property
    def reads(self) -> list[Access]:
        """What is read in pieces."""
        return [access for sweep in self.program.sweeps for access in sweep.reads]

    @property
    def writes(self) -> list[Access]:
        """What is written in pieces."""
        return [access for sweep in self.program.sweeps for access in sweep.writes]

    def row(self, at: Builder, point: Sequence[Value], first: Value, extent: Value) -> None:
        """All of one row, from a column on."""
        self._fit(extent)
        numbers = self.begin(at, point=point)
        for access in self.program.reads:
            self.read_number(at, numbers, access, point)
        self.instructions(at, numbers, self.program.numbers[0])
        for position in range(len(self.program.sweeps)):
            self.sweep(at, numbers, position, point, (first, extent))
            self.instructions(at, numbers, self.program.numbers[position + 1])
        for access in self.program.writes:
            self.write_number(at, numbers, access.register, self.view(at, access, point))

    def begin(
        self, at: Builder, wanted: Sequence[Register] | None = None, point: Sequence[Value] = ()
    ) -> TileEmitter:
        """The buffers of the numbers of a row, or of some of them."""
        one = index(at, 1)
        numbers = TileEmitter(
            at,
            Assignment(list(self.slots.values()), dict(self.slots)),
            {},
            {COLUMN: Footprint((NUMBER_ELEMENTS, 1), [one, one])},
            point,
        )
        for register in self.slots if wanted is None else wanted:
            numbers.tile_of(register)
        return numbers

    def instructions(self, at: Builder, numbers: TileEmitter, given: Sequence[Instruction]) -> None:
        """Instructions on numbers of the row."""
        numbers.at = at
        for each in given:
            at.loc = each.loc
            numbers.instruction(each)

    def sweep(
        self,
        at: Builder,
        numbers: TileEmitter,
        position: int,
        point: Sequence[Value],
        columns: tuple[Value, Value],
    ) -> None:
        """One sweep over columns, and the numbers that it makes."""
        sweep = self.program.sweeps[position]
        first, extent = columns
        lanes = [self._lanes(at, each) for each in sweep.folds]
        step = at.value(arith.Constant.of(self.tile, I64), "TILE")
        body = block_of([SCALAR], ["column"])
        loop = at.insert(scf.For(lower=index(at, 0), upper=extent, step=step, types=[], body=body))
        inner = Builder(loop.body.block, loc=self.root.loc)
        left = binary(inner, "sub", extent, loop.counter, "left")
        count = binary(inner, "minimum", left, step, "count")
        place = binary(inner, "add", first, loop.counter, "place")
        self._sweep_piece(inner, numbers, position, _Piece([*point, place], count), lanes)
        inner.insert(scf.Yield())
        for each, line in zip(sweep.folds, lanes, strict=True):
            at.loc = each.loc
            sizes = [index(at, 1), a_repeat(at, each.target.dtype.bytes)]
            target = numbers.tile_of(each.target)
            reduce_line(at, each, line, target, sizes)

    def _lanes(self, at: Builder, each: Instruction) -> Value:
        dtype = each.target.dtype
        lanes = lanes_of(dtype)
        type_ = RefType((1, None), dtype, "ub")
        width = a_repeat(at, dtype.bytes)
        line = at.value(tile.Buffer(extents=[width], depth=1, capacity=lanes, types=[type_]), "lanes")
        start = at.value(number_of(IDENTITIES[each.mode], dtype))
        at.insert(tile.Fill(value=start, target=line, sizes=[index(at, 1), width]))
        return line

    def _sweep_piece(
        self, at: Builder, numbers: TileEmitter, position: int, piece: _Piece, lanes: Sequence[Value]
    ) -> None:
        """What a sweep does to one piece of the row."""
        one = index(at, 1)
        sweep = self.program.sweeps[position]
        emitter = self._emitter(at, numbers, position, piece)
        for access in sweep.reads:
            target = emitter.tile_of(access.register)
            window = self._window(at, access, piece)
            source = self.view(at, access, window.point, window.count)
            at.insert(tile.Copy(source=source, target=target, sizes=[one, window.count]))
        emitter.run(sweep.program)
        sizes = [one, piece.count]
        for each, line in zip(sweep.folds, lanes, strict=True):
            at.loc = each.loc
            (source,) = each.sources
            at.insert(tile.Fold(source=emitter.tile_of(source), target=line, sizes=sizes, fn=each.mode))
        at.loc = self.root.loc
        for access in sweep.writes:
            target = self.view(at, access, piece.point, piece.count)
            at.insert(tile.Copy(source=emitter.tile_of(access.register), target=target, sizes=sizes))

    def _emitter(self, at: Builder, numbers: TileEmitter, position: int, piece: _Piece) -> TileEmitter:
        """The buffers of a sweep beside those of the numbers of the row."""
        covers = (FULL, *self.wide)
        return TileEmitter(
            at,
            self.assignments[position],
            self.depths,
            {cover: self._footprint(at, width_of(cover), piece.count) for cover in covers},
            piece.point,
            dict(numbers.buffers),
            self.carries,
        )

    def _footprint(self, at: Builder, width: int, count: Value) -> Footprint:
        """A piece with so many elements for each of `count` columns."""
        most = self.tile * width
        used = binary(at, "mul", count, width)
        return Footprint((1, None), [index(at, 1), used], [index(at, most)], most)

    def _window(self, at: Builder, access: Access, piece: _Piece) -> _Piece:
        """The elements of an array that a piece is made of."""
        windows = self.work.windows
        if windows is None:
            return piece
        first = windows.first(at, access.register, piece.point, piece.count)
        return _Piece(first, windows.span(at, access.register, piece.count))

    def read_number(self, at: Builder, numbers: TileEmitter, access: Access, point: Sequence[Value]) -> None:
        """Copy a number of the row from global memory."""
        one = index(at, 1)
        queue = _number_tile(at, access.register, f"{access.register.name or 'number'}In")
        at.insert(tile.Copy(source=self.view(at, access, point), target=queue, sizes=[one, one]))
        at.insert(tile.Broadcast(source=queue, target=numbers.tile_of(access.register), sizes=[one, one]))

    def write_number(self, at: Builder, numbers: TileEmitter, register: Register, target: Value) -> None:
        """Copy a number of the row to global memory."""
        one = index(at, 1)
        queue = _number_tile(at, register, register.name or "number")
        at.insert(tile.Broadcast(source=numbers.tile_of(register), target=queue, sizes=[one, one]))
        at.insert(tile.Copy(source=queue, target=target, sizes=[one, one]))

    def view(self, at: Builder, access: Access, dims: Sequence[Value], count: Value | None = None) -> Value:
        """The piece of an array that a tile covers, or one element."""
        column = self.work.column
        one = index(at, 1)
        known = [*dims, one] if count is None else dims
        offsets = [materialise(e, known, self.work.nest.symbols, at) for e in access.map.results]
        sizes = [one] * len(offsets)
        axes = [-1, -1]
        for axis, expr in enumerate(access.map.results):
            if count is not None and expr.coefficient(column):
                sizes[axis], axes[1] = count, axis
        ref = access.ref
        assert isinstance(ref.type, RefType)
        shape = (1, 1) if count is None else (1, None)
        type_ = RefType(shape, stored_dtype(ref.type.dtype), ref.type.space, "strided")
        steps = [one] * len(offsets)
        made = mem.View(ref=ref, offsets=offsets, sizes=sizes, steps=steps, axes=tuple(axes), types=[type_])
        return at.value(made, ref.name)


class LineRows:
    """Rows dealt to cores, each as lines."""

    lines_of: type[Lines] = Lines

    def __init__(self, root: Operation, work: RowWork, soc: Soc) -> None:
        self.root = root
        self.work = work
        self.cores = soc.vector_cores
        self.lines = self.lines_of(root, work, soc)
        # Rows of the innermost iterator are neighbours; where their bounds follow outer ones, those are dealt.
        last = len(work.rows) - 1
        self.dealt = last if last >= 0 and not any(bound.dims for bound in work.rows[last]) else 0

    def lower(self) -> Value:
        """Emit the split over cores and the loops over rows."""
        at = Builder.before(self.root)
        at.loc = self.root.loc
        if not self.work.rows:
            return self._one_row(at)
        low, total = self._dealt_rows(at)
        self.columns = self.work.column_values(at, ()) if self.work.even else None
        if self.columns is not None and self._reads_for_columns_alone():
            there = at.value(arith.Elementwise(fn="gt", args=[self.columns[1], index(at, 0)]))
            total = at.value(arith.Elementwise(fn="select", args=[there, total, index(at, 0)]), "rows")
        blocks = cores_or_none(at, total, 1, self.cores)
        cores = at.insert(tile.Cores(count=blocks, body=block_of([SCALAR], ["core"])))
        inner = Builder(cores.body.block, loc=self.root.loc)
        core = cores.body.block.args[0]
        if self.work.even:
            part = share(inner, core, blocks, total, 1)
            begin = binary(inner, "add", part.begin, low)
            self.range = begin, binary(inner, "add", begin, part.length, "end"), index(inner, 1)
        else:
            # Rows that grow are dealt like cards, so that each core gets short and long ones.
            self.range = binary(inner, "add", low, core), binary(inner, "add", low, total, "end"), blocks
        self._nest(inner, [])
        inner.insert(tile.Yield())
        self.root.drop()
        self.root.unlink()
        return blocks

    def _reads_for_columns_alone(self) -> bool:
        """Whether rows read numbers that an empty array does not have, and without columns have nothing to do."""
        program = self.lines.program
        makes_numbers = program.writes or any(sweep.folds for sweep in program.sweeps)
        return not makes_numbers and any(_may_lack(access) for access in program.reads)

    def _one_row(self, at: Builder) -> Value:
        """One row, whose columns are dealt; a number of all of it is made by one core."""
        first, extent = self.work.column_values(at, ())
        total = binary(at, "maximum", extent, 0)
        widths = [a.register.dtype.bytes for a in (*self.lines.reads, *self.lines.writes)] or [4]
        line = LINE_BYTES // min(widths)
        if self.lines.program.writes:
            blocks = index(at, 1)
        else:
            blocks = cores_or_none(at, total, line, self.cores)
        dealt = deal(at, blocks, total, line)
        self.lines.row(dealt.at, (), binary(dealt.at, "add", first, dealt.part.begin), dealt.part.length)
        dealt.at.insert(tile.Yield())
        self.root.drop()
        self.root.unlink()
        return blocks

    def _dealt_rows(self, at: Builder) -> tuple[Value, Value]:
        if not self.work.rows:
            return index(at, 0), index(at, 1)
        symbols = self.work.nest.symbols
        low, high = (materialise(e, (), symbols, at) for e in self.work.rows[self.dealt])
        return low, binary(at, "maximum", binary(at, "sub", high, low), 0)

    def _nest(self, at: Builder, point: list[Value]) -> None:
        depth = len(point)
        if depth == len(self.work.rows):
            self.lines.row(at, point, *(self.columns or self.work.column_values(at, point)))
            return
        low, high, step = self.range
        if depth != self.dealt:
            (low, high), step = self.work.row_bounds(at, point), index(at, 1)
        name = self.work.nest.counters[depth].name if depth != self.dealt else "row"
        body = block_of([SCALAR], [name or "outer"])
        loop = at.insert(scf.For(lower=low, upper=high, step=step, types=[], body=body))
        inner = Builder(loop.body.block, loc=self.root.loc)
        self._nest(inner, [*point, loop.counter])
        inner.insert(scf.Yield())


def _may_lack(access: Access) -> bool:
    """Whether sizes may be so small that an array does not have the element."""
    assert isinstance(access.ref.type, RefType)
    for extent, place in zip(access.ref.type.shape, access.map.results, strict=True):
        known = isinstance(extent, int) and not place.symbols and 0 <= place.constant < extent
        if not (place.dims or known):
            return True
    return False


def reduce_line(at: Builder, each: Instruction, line: Value, target: Value, sizes: Sequence[Value]) -> None:
    """One number of at most 256 bytes, which are lost."""
    if each.target.dtype is i32:
        reduce_integers(at, each.mode, line, target, sizes)
    else:
        op = tile.Reduce(source=line, target=target, sizes=sizes, scratch=[line], fn=each.mode, axis=1)
        at.insert(op)


def lanes_of(dtype: DType) -> int:
    """Elements in 256 bytes."""
    return REPEAT_BYTES // dtype.bytes


def _number_slot(register: Register) -> Slot:
    kind = "mask" if register.is_mask else "temp"
    return Slot(kind, 0 if register.is_mask else register.dtype.bytes, COLUMN, register.name, register)


def _number_tile(at: Builder, register: Register, name: str) -> Value:
    type_ = RefType((NUMBER_ELEMENTS, 1), register.dtype, "ub")
    return at.value(tile.Buffer(depth=1, types=[type_]), name)


def _shared_slots(assignments: Sequence[Assignment]) -> list[Slot]:
    """The buffers of all sweeps, which take turns with those of one kind and width."""
    most: dict[tuple[str, int, str], list[Slot]] = {}
    for assignment in assignments:
        mine: dict[tuple[str, int, str], list[Slot]] = {}
        for slot in assignment.slots:
            mine.setdefault((slot.kind, slot.width, slot.cover), []).append(slot)
        for key, slots in mine.items():
            if len(slots) > len(most.get(key, ())):
                most[key] = slots
    return [slot for slots in most.values() for slot in slots]
