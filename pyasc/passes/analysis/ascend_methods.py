# SPDX-License-Identifier: Apache-2.0
"""The methods of a kernel class: one round of a loop over tiles as CopyIn, Compute and CopyOut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, asc, asc_vector, mem, scf, tile, tile_lanes
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_barriers import insert_barriers, join_relu, root
from pyasc.passes.analysis.ascend_gathered_rows import copy_rows
from pyasc.passes.analysis.ascend_lane_calls import lane_call
from pyasc.passes.analysis.ascend_lanes import gather_blocks
from pyasc.passes.analysis.ascend_lines import fold, line_binary, reduce_lanes
from pyasc.passes.analysis.ascend_rows import RowCalls, Rows, add_rows, comparable, pack, spread_over
from pyasc.passes.analysis.ascend_tensors import (
    Holder,
    Resource,
    TensorMap,
    buffer_of,
    cover_of,
    elements_of,
    pitch_of,
    space_of,
    strides_of,
    taken,
    touched,
    usual_name,
)
from pyasc.passes.analysis.ascend_vector import ADVANCED_FACTORS, VectorCalls, local, recast
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.row_work import IDENTITIES
from pyasc.passes.analysis.tile_buffers import SCRATCH_BYTES
from pyasc.passes.analysis.tile_emit import MAX_QUEUES, REPEAT_BYTES, a_block, binary, ceil_div
from pyasc.passes.analysis.tile_legalise import SCRATCHED
from pyasc.passes.analysis.tile_program import COLUMN, FULL, SPACED
from pyasc.passes.analysis.tile_row_tiles import SPREAD_BYTES

I64 = ScalarType(dtypes.i64)

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_emit import PhaseLowering


@dataclass(frozen=True)
class Box:
    """A part of global memory: `rows` rows of `count` elements, `pitch` elements apart (None: side by side)."""

    tensor: Value
    offset: Value
    rows: Value
    count: Value
    pitch: Value | None


Vector = tile.Elementwise | tile.Cast | tile.Fill | tile.Iota | tile.Broadcast | tile.Reduce | tile.Fold
Incoming = tile.Copy | tile_lanes.CopyRows
_METHODS = ("CopyIn", "Compute", "CopyOut")
_THROUGH = "VECIN VECOUT"
ROUNDS = 8
"""After how many rounds of a loop with a mask its lanes are looked at: that stalls, and more rounds do no harm."""


class Methods:
    """The tiles of one round of a loop: copied in, computed with, copied out."""

    def __init__(self, phase: PhaseLowering, at: Builder, names: tuple[str, str, str] = _METHODS) -> None:
        assert phase.front is not None
        self.names = names
        self.borrowed: list[tuple[Resource, Value]] = []
        self.phase = phase
        self.init = phase.front
        self.at = at
        self.scratch: Value | None = None
        self.totals: dict[Value, Value] = {}
        self.places: dict[Value, Value] = {}
        self.spreads: dict[Value, Value] = {}
        self.spread_buffers: dict[Value, Value] = {}

    def run(self, given: Sequence[Operation]) -> None:
        """Sort the operations of a round into the three methods."""
        ops = [op for op in given if not isinstance(op, (tile.Yield, scf.Yield))]
        copies = [op for op in ops if isinstance(op, (tile.Copy, tile_lanes.CopyRows))]
        incoming = [op for op in copies if space_of(op.source) == "gm"]
        outgoing = [op for op in copies if isinstance(op, tile.Copy) and space_of(op.target) == "gm"]
        vector = [op for op in ops if op.name.startswith("tile.") and op not in copies and not op.results]
        self.declare(ops, incoming, outgoing, vector)
        for op in ops:
            if not op.results or isinstance(op, (tile.Buffer, tile.Recast, tile_lanes.Part, mem.View)):
                continue
            self.at.insert(op.clone(self.phase.mapping))
        if incoming:
            self._copy_in(incoming)
        passing = {buffer_of(op.target) for op in incoming} & {buffer_of(op.source) for op in outgoing}
        self._compute(
            [op for op in incoming if buffer_of(op.target) not in passing],
            [op for op in outgoing if buffer_of(op.source) not in passing],
            vector,
        )
        if outgoing:
            self.copy_out(outgoing)
        self.give_back()

    def give_back(self) -> None:
        """Let the rounds that follow have the queues and buffers of this one."""
        for resource, value in self.borrowed:
            self.phase.pool.setdefault(resource, []).append(value)
        self.borrowed.clear()

    def declare(
        self,
        ops: Sequence[Operation],
        incoming: Sequence[Incoming],
        outgoing: Sequence[tile.Copy],
        vector: Sequence[Operation],
    ) -> None:
        """Queues for what is copied, buffers for the rest."""
        positions = {buffer_of(op.target): "VECIN" for op in incoming}
        for op in outgoing:
            passes = buffer_of(op.source) in positions
            positions[buffer_of(op.source)] = _THROUGH if passes else "VECOUT"
        buffers = [op for op in ops if isinstance(op, tile.Buffer)]
        incoming_buffers = [op for op in buffers if positions.get(op.tile) == "VECIN"]
        packed = sum(op.depth for op in incoming_buffers) > MAX_QUEUES
        if packed:
            self._declare_packed(incoming_buffers)
        for op in buffers:
            if not packed or op not in incoming_buffers:
                self._declare_buffer(op, positions.get(op.tile, "VECCALC"))
        inside = [each for op in vector for each in op.walk()]
        if any(isinstance(op, tile.Elementwise) and op.fn in SCRATCHED for op in inside):
            self.scratch = self.buffer_of("scratch", SCRATCH_BYTES)

    def _declare_buffer(self, op: tile.Buffer, position: str) -> None:
        extent = elements_of(op)
        dtype = dtype_of(op.tile.type)
        size = extent // 8 if dtype is dtypes.i1 else extent * dtype.bytes
        if position == "VECCALC":
            lasting = self.names is not _METHODS
            buffer = self.buffer_of(usual_name(op.tile), size, lasting)
            self.phase.holders[op.tile] = Holder(op.tile, None, buffer, position, extent)
            return
        position, _, bound = position.partition(" ")
        queue = self._queue_of(Resource(position, size, op.depth, bound), f"{op.tile.name}Queue")
        self.phase.holders[op.tile] = Holder(op.tile, queue, None, position, extent)

    def _declare_packed(self, buffers: Sequence[tile.Buffer]) -> None:
        """One queue for tiles that are copied in together."""
        sizes = [elements_of(op) * dtype_of(op.tile.type).bytes for op in buffers]
        queue = self._queue_of(Resource("VECIN", sum(sizes), min(op.depth for op in buffers)), "inQueue")
        start = 0
        for op, size in zip(buffers, sizes, strict=True):
            holder = Holder(op.tile, queue, None, "VECIN", elements_of(op), start, sum(sizes))
            self.phase.holders[op.tile] = holder
            start += size

    def _queue_of(self, resource: Resource, name: str) -> Value:
        queue = self._borrow(resource)
        if queue is None:
            made = asc.Queue(position=resource.position, depth=resource.number, bound=resource.bound)
            queue = self.init.value(made, name)
            amount = index(self.init, resource.bytes)
            self.init.insert(
                asc.InitQueue(pipe=self.phase.pipe, queue=queue, bytes=amount, number=resource.number)
            )
        self.borrowed.append((resource, queue))
        return queue

    def buffer_of(self, name: str, size: int, lasting: bool = False) -> Value:
        """A buffer; one that does not last is given back behind the round."""
        resource = Resource("VECCALC", size, 1)
        buffer = None if lasting else self._borrow(resource)
        if buffer is None:
            buffer = self.init.value(asc.Buf(position="VECCALC"), f"{name}Buf")
            self.init.insert(asc.InitBuf(pipe=self.phase.pipe, buffer=buffer, bytes=index(self.init, size)))
        if not lasting:
            self.borrowed.append((resource, buffer))
        return buffer

    def _borrow(self, resource: Resource) -> Value | None:
        free = self.phase.pool.get(resource)
        return free.pop(0) if free else None

    def _method(self, name: str) -> Builder:
        made = self.at.insert(asc.Method(method=name, body=block_of()))
        return Builder(made.body.block, loc=self.at.loc)

    def _copy_in(self, copies: Sequence[Incoming]) -> None:
        at = self._method(self.names[0])
        filled: dict[Value, Value] = {}
        for op in copies:
            at.loc = op.loc
            holder = self.phase.holders[buffer_of(op.target)]
            tensor = taken(at, holder, dtype_of(op.target.type), asc.AllocTensor, filled)
            if isinstance(op, tile_lanes.CopyRows):
                copy_rows(self, at, op, tensor)
            else:
                self._transfer(at, op, tensor, inwards=True)
        for queue, tensor in filled.items():
            at.insert(asc.EnQue(queue=queue, tensor=tensor))
        at.insert(asc.End())

    def copy_out(self, copies: Sequence[tile.Copy]) -> None:
        """The method that copies finished tensors to global memory."""
        at = self._method(self.names[2])
        for op in copies:
            at.loc = op.loc
            holder = self.phase.holders[buffer_of(op.source)]
            assert holder.queue is not None
            type_ = local(holder.elements, dtype_of(op.source.type))
            tensor = at.value(asc.DeQue(queue=holder.queue, types=[type_]), holder.tile.name)
            if op.accumulate is not None:
                call = {"add": "SetAtomicAdd", "maximum": "SetAtomicMax", "minimum": "SetAtomicMin"}[
                    op.accumulate
                ]
                at.insert(asc.SetAtomic(call=call, dtype=dtype_of(op.source.type).name))
            self._transfer(at, op, tensor, inwards=False)
            if op.accumulate is not None:
                at.insert(asc.SetAtomicNone())
            at.insert(asc.FreeTensor(queue=holder.queue, tensor=tensor))
        at.insert(asc.End())

    def _transfer(self, at: Builder, op: tile.Copy, tensor: Value, inwards: bool) -> None:
        """DataCopyPad with the exact number of bytes of each row."""
        view = op.source if inwards else op.target
        owner = view.owner
        assert isinstance(owner, mem.View)
        box = self._beside(at, owner, op) if len(owner.axes) == 1 else self._box(at, owner, op)
        width = dtype_of(tensor.type).bytes
        tile_ = op.target if inwards else op.source
        gap = index(at, 0)
        if cover_of(tile_) == FULL and box.pitch is not None:
            gap = self._gap(at, tile_, box.count, width)
        rows = index(at, 0)
        if box.pitch is not None:
            rows = binary(at, "mul", binary(at, "sub", box.pitch, box.count), width)
        place = at.value(asc.Offset(tensor=box.tensor, offset=box.offset, types=[box.tensor.type]))
        at.insert(
            asc.DataCopyPad(
                dst=tensor if inwards else place,
                src=place if inwards else tensor,
                block_count=box.rows,
                block_len=binary(at, "mul", box.count, width),
                src_stride=rows if inwards else gap,
                dst_stride=gap if inwards else rows,
            )
        )

    def _gap(self, at: Builder, tile_: Value, count: Value, width: int) -> Value:
        """Blocks of 32 bytes between the end of one row on chip and the start of the next."""
        per_block = a_block(at, width)
        pitch = self.phase.value(pitch_of(tile_))
        filled = ceil_div(at, count, per_block)
        return binary(at, "sub", binary(at, "floordiv", pitch, per_block), filled)

    def _beside(self, at: Builder, view: mem.View, op: tile.Copy) -> Box:
        """Elements side by side."""
        tensor = self.phase.value(view.ref)
        return Box(
            tensor, self.phase.value(view.offsets[0]), index(at, 1), self.phase.value(op.sizes[0]), None
        )

    def _box(self, at: Builder, view: mem.View, op: tile.Copy) -> Box:
        """Rows of global memory, or one value a row side by side."""
        tensor = self.phase.global_of(view.ref)
        strides = strides_of(at, view.ref)
        offset = index(at, 0)
        for where, stride in zip(view.offsets, strides, strict=True):
            offset = binary(at, "add", offset, binary(at, "mul", self.phase.value(where), stride))
        count, width = (self.phase.value(size) for size in op.sizes)
        tile_ = op.target if op.target.type != view.view.type and space_of(op.target) != "gm" else op.source
        if cover_of(tile_) == COLUMN:
            return Box(tensor, offset, index(at, 1), count, None)
        if cover_of(tile_) == SPACED:
            step = self.phase.value(view.steps[view.axes[0]])
            return Box(tensor, offset, count, index(at, 1), binary(at, "mul", strides[view.axes[0]], step))
        if view.axes[0] < 0:
            return Box(tensor, offset, index(at, 1), width, None)
        pitch = binary(at, "mul", strides[view.axes[0]], self.phase.value(view.steps[view.axes[0]]))
        return Box(tensor, offset, count, width, pitch)

    def _compute(
        self, incoming: Sequence[Incoming], outgoing: Sequence[tile.Copy], vector: Sequence[Operation]
    ) -> None:
        if not (incoming or outgoing or vector):
            return
        at = self._method(self.names[1])
        tensors = TensorMap(self.phase, at, dict(self.phase.running))
        received: dict[Value, Value] = {}
        made: dict[Value, Value] = {}
        for op in incoming:
            tensors.receive(buffer_of(op.target), received)
        for op in outgoing:
            tensors.receive(buffer_of(op.source), made)
        for op in vector:
            at.loc = op.loc
            self._vector(tensors, op)
        join_relu(at.block)
        insert_barriers(at.block, self.phase.sealed, self.phase.parts)
        for queue, tensor in made.items():
            at.insert(asc.EnQue(queue=queue, tensor=tensor))
        for queue, tensor in received.items():
            at.insert(asc.FreeTensor(queue=queue, tensor=tensor))
        at.insert(asc.End())

    def _repeat(self, tensors: TensorMap, op: tile.Repeat) -> None:
        """Rounds of vector calls; with a mask, the lanes that are left are asked for once in some rounds."""
        outer = tensors.at
        for value in touched(op):
            tensors.of(value)
        rounds = self.phase.value(op.rounds)
        if not op.mask:
            self._rounds(tensors, op, outer, rounds)
        else:
            loop = outer.insert(scf.While(inits=[], types=[], before=block_of(), after=block_of()))
            inner = Builder(loop.before.block, loc=op.loc)
            self._rounds(tensors, op, inner, index(inner, ROUNDS))
            inner.insert(scf.Condition(condition=self._any(tensors, op, inner), forwarded=[]))
            Builder(loop.after.block, loc=op.loc).insert(scf.Yield())
        tensors.at = outer
        outer.insert(asc.PipeBarrier(pipe="PIPE_V"))

    def _rounds(self, tensors: TensorMap, op: tile.Repeat, at: Builder, rounds: Value) -> None:
        body = block_of([I64], ["round"])
        loop = at.insert(scf.For(lower=index(at, 0), upper=rounds, step=index(at, 1), types=[], body=body))
        tensors.at = Builder(loop.body.block, loc=op.loc)
        tensors.at.insert(asc.PipeBarrier(pipe="PIPE_V"))
        for each in op.body.block:
            if isinstance(each, tile.Yield):
                continue
            tensors.at.loc = each.loc
            self._vector(tensors, each)
        insert_barriers(loop.body.block, False, self.phase.parts)
        tensors.at.insert(scf.Yield())

    def _any(self, tensors: TensorMap, op: tile.Repeat, at: Builder) -> Value:
        """Whether a lane of the mask has a bit, as the scalar unit sees it."""
        mask, ones, work = (tensors.known_as(value, at) for value in op.mask)
        count = self.phase.value(op.sizes[-1])
        buffer = self.buffer_of("any", 32)
        found = at.value(asc.Get(buffer=buffer, types=[local(8, dtypes.f32)]), "any")
        zero = at.value(arith.Constant.of(0.0, dtypes.f32))
        at.insert(asc.PipeBarrier(pipe="PIPE_V"))
        mode = "VSEL_TENSOR_SCALAR_MODE"
        at.insert(asc_vector.Select(dst=work, mask=mask, a=ones, b=zero, amount=[count], mode=mode))
        at.insert(asc_vector.Reduce(call="ReduceMax", dst=found, src=work, scratch=work, count=count))
        self._flag(at, "V_S")
        some = at.value(asc.GetValue(tensor=found, index=index(at, 0)), "some")
        self._flag(at, "S_V")
        return at.value(arith.Elementwise(fn="gt", args=[some, zero]))

    def _flag(self, at: Builder, event: str) -> None:
        """One pipe waits for another."""
        id_ = self.event(event)
        for call in ("SetFlag", "WaitFlag"):
            at.insert(asc.Flag(call=call, id=id_))

    def event(self, event: str) -> Value:
        """The number of a flag."""
        return self.init.value(asc.FetchEventID(pipe=self.phase.pipe, event=event), f"event{event}")

    def _vector(self, tensors: TensorMap, op: Operation) -> None:
        if isinstance(op, tile.Repeat):
            self._repeat(tensors, op)
        elif not lane_call(self, tensors, op):
            assert isinstance(op, Vector)
            self._elements(tensors, op)

    def _elements(self, tensors: TensorMap, op: Vector) -> None:
        """What is one call for all elements, or one for each 256 bytes of the rows."""
        at = tensors.at
        if _by_row(op):
            self._rows(tensors, op)
            self.spreads.pop(buffer_of(op.target), None)
            return
        self.spreads.pop(buffer_of(op.target), None)
        scratch = None
        if isinstance(op, tile.Elementwise) and op.fn in ADVANCED_FACTORS:
            assert self.scratch is not None
            type_ = local(SCRATCH_BYTES, dtypes.u8)
            scratch = at.value(asc.Get(buffer=self.scratch, types=[type_]), "scratch")
        calls = VectorCalls(at, self.count_of(at, op), scratch)
        target = tensors.of(op.target)
        match op:
            case tile.Elementwise():
                calls.elementwise(op.fn, target, [tensors.of(arg) for arg in op.args])
            case tile.Cast():
                calls.cast(target, tensors.of(op.source), op.rounding)
            case tile.Fill():
                calls.fill(target, self.phase.value(op.value))
            case tile.Iota():
                calls.iota(target, self.phase.value(op.start))
            case tile.Broadcast():
                calls.move(target, tensors.of(op.source))
            case tile.Reduce() | tile.Fold():
                raise AssertionError(op.name)

    def count_of(self, at: Builder, op: Vector | tile_lanes.Pick | tile.Gather | tile.Transpose) -> Value:
        """How many elements a call covers: with rows, all of them up to where the next row would start."""
        sizes = [self.phase.value(size) for size in op.sizes]
        if len(sizes) == 1:
            return sizes[0]
        cover = cover_of(op.target)
        if cover == FULL:
            pitch = self.phase.value(pitch_of(op.target))
            if pitch not in self.totals:
                self.totals[pitch] = binary(at, "mul", sizes[0], pitch, "total")
            return self.totals[pitch]
        return sizes[0] if cover == COLUMN else sizes[1]

    def _rows(self, tensors: TensorMap, op: Vector) -> None:
        """A call for each 256 bytes of a row, over all rows."""
        at = tensors.at
        if isinstance(op, tile.Reduce) and op.axis == 0:
            count, width = (self.phase.value(size) for size in op.sizes)
            pitch = self.phase.value(pitch_of(op.source))
            add_rows(at, op.fn, tensors.of(op.target), tensors.of(op.source), (count, width, pitch))
            return
        if isinstance(op, tile.Reduce) and cover_of(op.source) == SPACED:
            column, blocks, rows = tensors.of(op.target), tensors.of(op.source), self.phase.value(op.sizes[0])
            if op.scratch:
                gather_blocks(at, column, blocks, tensors.of(op.scratch[0]), rows)
            else:
                pack(at, column, blocks, rows)
            return
        if isinstance(op, tile.Broadcast) and cover_of(op.target) == SPACED:
            spread_over(at, tensors.of(op.source), tensors.of(op.target), self.phase.value(op.sizes[0]))
            return
        if not any(cover_of(value) == FULL for value in _tiles(op)):
            self._line(tensors, op)
            return
        full = next(value for value in _tiles(op) if cover_of(value) == FULL)
        pitch = self.phase.value(pitch_of(full))
        count, width = (self.phase.value(size) for size in op.sizes)
        calls = RowCalls(
            at, count, width, pitch, lambda tensor: self._spread(tensors, tensor, count, SPREAD_BYTES)
        )
        target = tensors.of(op.target)
        match op:
            case tile.Elementwise():
                calls.binary(op.fn, target, [Rows(tensors.of(arg), cover_of(arg)) for arg in op.args])
            case tile.Broadcast():
                calls.repeat(target, Rows(tensors.of(op.source), cover_of(op.source)))
            case tile.Reduce():
                start = at.value(arith.Constant.of(IDENTITIES[op.fn], dtype_of(op.target.type)))
                calls.reduce(op.fn, target, tensors.of(op.source), tensors.of(op.scratch[0]), start)
            case _:
                raise refuse(f"{op.name} of rows", op.loc)

    def _line(self, tensors: TensorMap, op: Vector) -> None:
        """A call for all of a line, and numbers that go with it."""
        at = tensors.at
        target = tensors.of(op.target)
        count = self.phase.value(op.sizes[1])
        match op:
            case tile.Fold():
                fold(at, op.fn, target, tensors.of(op.source), count)
            case tile.Reduce():
                reduce_lanes(at, op.fn, target, tensors.of(op.source), count)
            case tile.Elementwise() | tile.Broadcast():
                args = op.args if isinstance(op, tile.Elementwise) else [op.source] * 2
                fn = op.fn if isinstance(op, tile.Elementwise) else "maximum"
                sources = [
                    (self._spread(tensors, tensors.of(arg), index(at, 1), REPEAT_BYTES), 0)
                    if cover_of(arg) == COLUMN
                    else (tensors.of(arg), 1)
                    for arg in args
                ]
                if isinstance(op, tile.Broadcast):
                    target = comparable(at, target)
                    sources = [(comparable(at, tensor), stride) for tensor, stride in sources]
                line_binary(at, fn, target, sources, count)
            case _:
                raise refuse(f"{op.name} of a line", op.loc)

    def _spread(self, tensors: TensorMap, tensor: Value, count: Value, size: int) -> Value:
        """One value a row over a block of 32 bytes a row, made once until the value changes."""
        base = root(tensor, self.phase.parts)
        tile_ = next(key for key, value in tensors.known.items() if value is base)
        if tile_ not in self.spreads:
            if tile_ not in self.spread_buffers:
                self.spread_buffers[tile_] = self.buffer_of(f"{tile_.name or 'row'}Spread", size)
            dtype = dtype_of(tensor.type)
            type_ = local(size // dtype.bytes, dtype)
            made = tensors.at.value(asc.Get(buffer=self.spread_buffers[tile_], types=[type_]), "spread")
            spread_over(tensors.at, tensor, made, count)
            self.spreads[tile_] = made
        return recast(tensors.at, self.spreads[tile_], dtype_of(tensor.type))


def _tiles(op: Vector) -> list[Value]:
    values = [op.target, *op.operands]
    return [value for value in values if isinstance(value.type, RefType)]


def _by_row(op: Vector) -> bool:
    """Whether an operation treats rows one by one."""
    return isinstance(op, (tile.Reduce, tile.Fold)) or len({cover_of(value) for value in _tiles(op)}) > 1
