# SPDX-License-Identifier: Apache-2.0
"""Structured ops that use every second element of a line, or walk it backwards: cut into runs for the cores.

    st.apply [%n], [%x, %x], [], [%y] {iterators = ["parallel"], input_maps = [affine<2*d0>, affine<2*d0 + 1>], ...}

becomes

    tile.cores %blocks {
    ^(%core: i64):
      tile.loop [%length] {tile = [4096]} {
      ^(%offset: i64, %count: i64):
        tile.copy ..., %x, [%count * 2]
        tile.pick %x, %even, [%count] {stride = 2}
        tile.pick %x, %odd, [%count] {stride = 2, phase = 1}
        ...
      }
    }

What lies between two elements that are used is copied in with them, so that copies stay long. Results that lie in
turn are put together on chip (`tile.weave`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import func, mem, st, tile, tile_lanes
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, materialise_polynomial
from pyasc.passes.analysis.ascend_lanes import gather_bytes
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_body import (
    Access,
    BodyBuilder,
    bind_inputs,
    extent_of,
    guarded_writes,
    stored_dtype,
)
from pyasc.passes.analysis.tile_buffers import Slot, assign, scratch_bytes
from pyasc.passes.analysis.tile_emit import (
    I64,
    LINE_BYTES,
    Footprint,
    TileEmitter,
    binary,
    block_losses,
    bytes_an_element,
    cores_or_none,
    deal,
    queue_depths,
)
from pyasc.passes.analysis.tile_gathers import TABLE, Gathers, check_tables, table_bytes, table_size
from pyasc.passes.analysis.tile_names import extended
from pyasc.passes.analysis.tile_picks import Picks, wide, width_of
from pyasc.passes.analysis.tile_program import FULL, Instruction, Operand, Register
from pyasc.passes.analysis.walks import Walks, Window, walks_of


class StridedBody(BodyBuilder):
    """The program of an op whose arrays are walked with strides; what is read and written are windows."""

    def __init__(self, at: Builder, walks: Walks) -> None:
        super().__init__(at)
        self.walks = walks
        self.windows: dict[Register, Window] = {}
        self.picks = Picks(self.legaliser)
        self.gathers = Gathers(self.legaliser, self.wide)
        self.woven: dict[Window, dict[int, Register]] = {}
        self.planes: dict[Register, tuple[Register, int]] = {}

    def body(self, op: st.Apply) -> list[Operand]:
        """Translate the body, whose inputs have operands already; what it yields."""
        return self.gathers.body(op)

    def walks_along(self, ref: Value, map_: AffineMap) -> bool:
        """Whether the walk of an array has steps."""
        return self.walks.of[ref, map_].stride != 0

    def read(self, ref: Value, map_: AffineMap, name: str, cover: str = FULL) -> Register:
        """The register of one access, picked out of its window."""
        window, phase = self.walks.window(ref, map_)
        held = self._window(window, name)
        if window.stride == 1:
            return held
        return self.picks.picked(held, window.stride, phase)

    def _window(self, window: Window, name: str) -> Register:
        for register, known in self.windows.items():
            if known == window and register in self.program.inputs:
                return register
        cover = FULL if window.stride == 1 else wide(window.stride)
        register = Register(stored_dtype(dtype_of(window.ref.type)), name, cover)
        self.windows[register] = window
        self.elements.reads.append(Access(window.ref, AffineMap(()), register))
        self.program.inputs.append(register)
        return register

    def write(self, ref: Value, map_: AffineMap, value: Operand, cover: str = FULL) -> None:
        """Let an output receive a value, together with those that lie between its elements."""
        window, phase = self.walks.window(ref, map_)
        dtype = stored_dtype(dtype_of(ref.type))
        if window.stride == 1:
            super().write(ref, map_, value)
            self.windows[self.elements.writes[-1].register] = window
        elif window.stride == -1:
            self._leave(window, self._turned(value, dtype))
        else:
            parts = self.woven.setdefault(window, {})
            parts[phase] = self._part(value, dtype)
            if len(parts) == window.stride:
                self._leave(window, self._weave(window, [parts[k] for k in range(window.stride)], dtype))

    def _turned(self, value: Operand, dtype: DType) -> Register:
        through = dtypes.f16 if dtype.bits == 8 else dtype
        source = self._part(value, dtype)
        made = self.picks.pick(source, -1)
        return made if through is dtype else self.picks.cast(made, dtype)

    def _part(self, value: Operand, dtype: DType) -> Register:
        """A value in a register that nothing else takes for its own."""
        register = self.legaliser.register(self.legaliser.convert(value, dtype))
        if dtype.bits == 8:
            register = self.picks.halves.get(register) or self.picks.cast(register, dtypes.f16)
        waiting = (part for parts in self.woven.values() for part in parts.values())
        taken = (*self.program.inputs, *self.program.outputs, *self.planes, *waiting)
        return self._moved(register, register.dtype, FULL) if register in taken else register

    def _weave(self, window: Window, parts: list[Register], dtype: DType) -> Register:
        through = parts[0].dtype
        cover = wide(window.stride)
        made = Register(through, "", cover)
        for number, part in enumerate(parts):
            self.planes[part] = made, number
        woven = Instruction("weave", made, tuple(parts), str(window.stride), self.legaliser.loc)
        self.program.instructions.append(woven)
        return made if through is dtype else self.picks.cast(made, dtype)

    def _leave(self, window: Window, register: Register) -> None:
        read_too = any(access.ref is window.ref for access in self.elements.reads)
        register.name = extended(window.ref.name, "Out") if read_too else window.ref.name
        self.windows[register] = window
        self.program.outputs.append(register)
        self.elements.writes.append(Access(window.ref, AffineMap(()), register))


def lower_strided(op: st.Apply, soc: Soc) -> Value:
    """Replace the op by tile operations; the number of cores that take part. Raises NotVector."""
    at = Builder.before(op)
    at.loc = op.loc
    walks = walks_of(op)
    assert walks is not None
    builder = StridedBody(at, walks)
    bind_inputs(builder, op, at)
    guarded_writes(builder, op, builder.body(op))
    builder.program.prune()
    builder.wide.intervals.check()
    total, lower = extent_of(at, op)
    line = LINE_BYTES // min(stored_dtype(dtype_of(ref.type)).bytes for ref in (*op.inputs, *op.outputs))
    strided = Strided(op, builder, soc, line)
    check_tables(at, strided.capacity, total)
    blocks = cores_or_none(at, total, line, soc.vector_cores)
    dealt = deal(at, blocks, total, line)
    begin = binary(dealt.at, "add", lower, dealt.part.begin)
    strided.emit(dealt.at, begin, dealt.part.length)
    dealt.at.insert(tile.Yield())
    op.drop()
    op.unlink()
    return blocks


@dataclass(frozen=True)
class _Run:
    """What a core walks of an array: a view of it, and how many elements it has."""

    window: Window
    view: Value
    extent: Value


@dataclass
class _Planes:
    """The buffer of the parts that are woven into one register."""

    parts: list[Register]
    slots: list[Slot] = field(default_factory=lambda: list[Slot]())


class Strided:
    """The buffers of a program on windows, and the code of a tile; beside both, `reserved` bytes of a core and
    `beside` bytes an element are somebody else's."""

    def __init__(
        self,
        op: st.Apply,
        builder: StridedBody,
        soc: Soc,
        line: int,
        reserved: int = 0,
        beside: float = 0.0,
    ) -> None:
        self.op = op
        self.builder = builder
        self.elements = builder.elements
        self.planes = self._planes()
        self.tables = {
            register: Slot("table", register.dtype.bytes, TABLE, register.name)
            for register in builder.gathers.tables.values()
        }
        fixed = dict(self.tables)
        for planes in self.planes.values():
            fixed |= zip(planes.parts, planes.slots, strict=True)
        self.assignment = assign(builder.program, fixed)
        self.depths = queue_depths(self.assignment)
        free = soc.arch.ub - scratch_bytes(builder.program.instructions) - block_losses(self.assignment)
        free -= reserved
        each = self._bytes_an_element() + beside
        self.capacity = table_bytes(builder.gathers.tables, free)
        self.tile = int((free - sum(self.capacity.values())) / each) // line * line
        if self.tile < line:
            raise refuse("steps over more elements than a core has room for", op.loc)

    def _planes(self) -> dict[Register, _Planes]:
        made: dict[Register, _Planes] = {}
        for part, (woven, number) in self.builder.planes.items():
            planes = made.setdefault(woven, _Planes([]))
            planes.parts.append(part)
            planes.slots.append(Slot("plane", part.dtype.bytes, FULL, f"plane{number}"))
        return made

    def _bytes_an_element(self) -> float:
        """On-chip bytes of a step: windows, parts and the offsets of gathers beside the registers."""
        total = bytes_an_element(self.assignment, self.depths)
        for slot in self.assignment.slots:
            if slot.cover != FULL:
                total += slot.bytes * width_of(slot.cover) * self.depths.get(slot.kind, 1)
        total += sum(slot.width for planes in self.planes.values() for slot in planes.slots)
        return total + gather_bytes(self.builder.program.instructions)

    def emit(self, at: Builder, begin: Value, length: Value) -> None:
        """What stays on chip, and the loop over a core's tiles."""
        held = self._load_tables(at)
        runs = {
            access: self._run(at, access, begin, length)
            for access in (*self.elements.reads, *self.elements.writes)
        }
        body = block_of([ScalarType(I64)] * 2, ["offset", "count"])
        loop = at.insert(tile.Loop(extents=[length], tile=(self.tile,), body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        offset, count = loop.body.block.args
        emitter = self._emitter(inner, [binary(inner, "add", begin, offset)], count)
        emitter.buffers |= held
        for access in self.elements.reads:
            source, size = self._part(inner, runs[access], offset, count)
            inner.insert(tile.Copy(source=source, target=emitter.tile_of(access.register), sizes=[size]))
        emitter.run(self.elements.program)
        for access in self.elements.writes:
            inner.loc = self.op.loc
            target, size = self._part(inner, runs[access], offset, count)
            inner.insert(tile.Copy(source=emitter.tile_of(access.register), target=target, sizes=[size]))
        inner.insert(tile.Yield())

    def _load_tables(self, at: Builder) -> dict[tuple[Slot, DType], Value]:
        """Copies of whole arrays that elements are gathered from."""
        held: dict[tuple[Slot, DType], Value] = {}
        for ref, register in self.builder.gathers.tables.items():
            length = self.capacity[ref] // register.dtype.bytes
            buffer = tile.Buffer(types=[RefType((length,), register.dtype, "ub")])
            table = at.value(buffer, f"{ref.name}Table")
            size = table_size(at, ref)
            source = line_view(at, self._flat(at, ref), index(at, 0), size, RefType((None,), register.dtype))
            at.insert(tile.Copy(source=source, target=table, sizes=[size]))
            held[self.tables[register], register.dtype] = table
        return held

    def _flat(self, at: Builder, ref: Value) -> Value:
        assert isinstance(ref.type, RefType)
        if len(ref.type.shape) == 1:
            return ref
        type_ = RefType((None,), stored_dtype(ref.type.dtype), ref.type.space)
        return at.value(tile.Flatten(ref=ref, types=[type_]), ref.name)

    def _emitter(self, at: Builder, point: list[Value], count: Value) -> TileEmitter:
        covers = dict.fromkeys([FULL, *(slot.cover for slot in self.assignment.slots)])
        footprints = {cover: self._footprint(at, width_of(cover), count) for cover in covers}
        emitter = TileEmitter(at, self.assignment, self.depths, footprints, point)
        for planes in self.planes.values():
            self._declare_planes(at, emitter, planes)
        return emitter

    def _footprint(self, at: Builder, width: int, count: Value) -> Footprint:
        """A run of so many elements for each of `count` steps."""
        return Footprint((self.tile * width,), [binary(at, "mul", count, width)])

    def _declare_planes(self, at: Builder, emitter: TileEmitter, planes: _Planes) -> None:
        """One buffer for the parts of a register, each in its place."""
        dtype = planes.parts[0].dtype
        whole = RefType((self.tile * len(planes.parts),), dtype, "ub")
        buffer = at.value(tile.Buffer(types=[whole]), "parts")
        type_ = RefType((self.tile,), dtype, "ub")
        for number, slot in enumerate(planes.slots):
            part = tile_lanes.Part(tile=buffer, start=number * self.tile, types=[type_])
            emitter.buffers[slot, dtype] = at.value(part, "part")

    def _run(self, at: Builder, access: Access, begin: Value, length: Value) -> _Run:
        """A view of what the core walks, as one axis."""
        window = self.builder.windows[access.register]
        ref, stride = window.ref, abs(window.stride)
        assert isinstance(ref.type, RefType)
        type_ = RefType((None,), stored_dtype(ref.type.dtype), ref.type.space)
        flat = self._flat(at, ref)
        start = self._polynomial(at, window.offset)
        first = begin
        if window.stride < 0:
            first = binary(at, "sub", binary(at, "add", begin, length), 1)
            start = binary(at, "sub", start, binary(at, "mul", first, stride))
        else:
            start = binary(at, "add", start, binary(at, "mul", first, stride))
        extent = binary(at, "mul", length, stride)
        unused = stride - 1 - window.phases[-1]
        if unused:
            extent = binary(at, "maximum", binary(at, "sub", extent, unused), 0)
        return _Run(window, line_view(at, flat, start, extent, type_), extent)

    def _polynomial(self, at: Builder, expr: SizeExpr) -> Value:
        atoms = self.builder.walks.polynomials.atoms

        def value_of(name: str) -> Value:
            return atoms[name] if name.startswith("%") else at.value(func.Size(symbol=name))

        return materialise_polynomial(expr, value_of, at)

    def _part(self, at: Builder, run: _Run, offset: Value, count: Value) -> tuple[Value, Value]:
        """What a tile covers of a run, and how many elements that is."""
        stride = abs(run.window.stride)
        start, size = binary(at, "mul", offset, stride, "place"), binary(at, "mul", count, stride, "span")
        unused = stride - 1 - run.window.phases[-1]
        size = binary(at, "sub", size, unused, "used")
        if run.window.stride < 0:
            start = binary(at, "sub", binary(at, "sub", run.extent, start), size)
        assert isinstance(run.view.type, RefType)
        return line_view(at, run.view, start, size, run.view.type), size


def line_view(at: Builder, ref: Value, offset: Value, size: Value, type_: RefType) -> Value:
    steps = [index(at, 1)]
    made = mem.View(ref=ref, offsets=[offset], sizes=[size], steps=steps, axes=(0,), types=[type_])
    return at.value(made, ref.name)
