# SPDX-License-Identifier: Apache-2.0
"""Elements that change places on chip: GatherMask for every second or fourth one, Gather for the rest.

Gather takes byte offsets from UB. They are the same for every tile, so they are made once, in front of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, asc, asc_vector, tile, tile_lanes
from pyasc.ir.dtypes import DType
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_tensors import buffer_of, elements_of, pitch_of
from pyasc.passes.analysis.ascend_vector import local, recast
from pyasc.passes.analysis.tile_emit import BLOCK_BYTES, binary
from pyasc.passes.analysis.tile_program import Instruction

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_emit import PhaseLowering
    from pyasc.passes.analysis.ascend_methods import Methods
    from pyasc.passes.analysis.ascend_tensors import TensorMap

OFFSET_BYTES = 4
_PATTERNS = {2: 1, 4: 3}
"""The pattern of GatherMask that keeps the first of so many elements; those that follow keep the next ones."""


def gather_bytes(instructions: Iterable[Instruction]) -> int:
    """Bytes an element of a tile that offsets take for all instructions of a program together."""
    made: set[tuple[str, int, int]] = set()
    for each in instructions:
        if each.fn == "pick":
            stride = int(each.mode.split()[0])
            if stride not in _PATTERNS:
                made.add(("pick", stride, each.target.dtype.bytes))
        elif each.fn == "weave":
            made.add(("weave", int(each.mode), each.target.dtype.bytes))
        elif each.fn == "turn":
            made.add(("turn", 2, each.target.dtype.bytes))
        elif each.fn == "scan":
            made |= {("pick", 1, each.target.dtype.bytes), ("scan", 2, each.target.dtype.bytes)}
    # Those of woven parts are computed with a second buffer; walking backwards, they are counted in a second one from
    # the last element of a tile.
    numbers = {"weave": 2, "scan": 1, "turn": 1}
    return sum(OFFSET_BYTES * (numbers[kind] * n if kind in numbers else 1 + (n < 0)) for kind, n, _ in made)


@dataclass
class Prologue:
    """Vector calls that a phase makes once, before its loops: offsets and such, by what they are."""

    made: dict[tuple[int, ...], Value] = field(default_factory=lambda: dict[tuple[int, ...], Value]())
    fills: list[Callable[[Builder], None]] = field(default_factory=lambda: list[Callable[[Builder], None]]())

    def emit(self, at: Builder) -> None:
        """The method that makes all that was asked for."""
        if not self.fills:
            return
        method = at.insert(asc.Method(method="Prepare", body=block_of()))
        inner = Builder(method.body.block, loc=at.loc)
        for fill in self.fills:
            fill(inner)
        inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
        inner.insert(asc.End())
        self.fills.clear()
        self.made.clear()


def pick(methods: Methods, tensors: TensorMap, op: tile_lanes.Pick) -> None:
    """Elements that are some steps apart, side by side."""
    target, source = tensors.of(op.target), _halves(tensors.at, tensors.of(op.source))
    count = methods.count_of(tensors.at, op)
    if op.stride in _PATTERNS:
        tensors.at.insert(
            asc_vector.GatherMask(
                dst=target,
                src=source,
                count=binary(tensors.at, "mul", count, op.stride),
                repeat=index(tensors.at, 1),
                stride=index(tensors.at, 8),
                pattern=_PATTERNS[op.stride] + op.phase,
            )
        )
        return
    width, length = dtype_of(target.type).bytes, _length(op.target)
    buffer = ramp(methods.phase, length, op.stride * width)
    if op.stride < 0:
        if buffer not in methods.places:
            step = -op.stride * width
            methods.places[buffer] = _from_the_last(methods, tensors.at, buffer, length, count, step)
        offsets = methods.places[buffer]
    else:
        offsets = get_offsets(tensors.at, buffer, length, "offsets")
    gather_from(tensors.at, target, source, offsets, op.phase * width, count)


def _halves(at: Builder, source: Value) -> Value:
    """Integers of 64 bits as twice as many of 32."""
    if dtype_of(source.type) is not dtypes.i64:
        return source
    assert isinstance(source.type, RefType) and isinstance(source.type.shape[0], int)
    type_ = local(2 * source.type.shape[0], dtypes.i32)
    return at.value(asc.ReinterpretCast(tensor=source, types=[type_]), source.name)


def gather(tensors: TensorMap, op: tile.Gather, count: Value) -> None:
    """Elements of a table that stays on chip, by their byte offsets."""
    target, table, offsets = (tensors.of(each) for each in (op.target, op.source, op.indices))
    gather_from(tensors.at, target, table, offsets, 0, count)


def weave(methods: Methods, tensors: TensorMap, op: tile_lanes.Weave) -> None:
    """Elements of parts that lie in turn."""
    at = tensors.at
    target, source = tensors.of(op.target), tensors.of(op.source)
    length = _length(op.target)
    places = _places(methods.phase, op.count, op.width, dtype_of(target.type))
    count = binary(at, "mul", methods.phase.value(op.sizes[0]), op.count)
    gather_from(at, target, source, get_offsets(at, places, length, "offsets"), 0, count)


def turn(methods: Methods, tensors: TensorMap, op: tile.Transpose) -> None:
    """Rows and columns exchanged."""
    at, length = tensors.at, _length(op.target)
    target, source = tensors.of(op.target), tensors.of(op.source)
    pitches = [methods.phase.value(pitch_of(each)) for each in (op.target, op.source)]
    places = _turned_places(methods.phase, length, pitches, dtype_of(target.type).bytes)
    count = binary(at, "mul", methods.phase.value(op.sizes[1]), pitches[0], "total")
    gather_from(at, target, source, get_offsets(at, places, length, "offsets"), 0, count)


def _turned_places(phase: PhaseLowering, length: int, pitches: list[Value], bytes_: int) -> Value:
    """A buffer with the byte offset of each element of a tile in the one it is turned from."""
    key = (length, -bytes_, -1)
    if key not in phase.prologue.made:
        buffer, scratch = own_buffer(phase, "places", length), own_buffer(phase, "row", length)
        phase.prologue.made[key] = buffer

        def fill(at: Builder) -> None:
            places, row = get_offsets(at, buffer, length, "places"), get_offsets(at, scratch, length, "row")
            _turned_offsets(at, places, row, (pitches[0], pitches[1], bytes_, length))

        phase.prologue.fills.append(fill)
    return phase.prologue.made[key]


def _turned_offsets(at: Builder, places: Value, row: Value, shape: tuple[Value, Value, int, int]) -> None:
    """Column * turned + row, in bytes, where the row is number // pitch and the column what is left of the number."""
    pitch, turned, bytes_, length = shape
    one = at.value(arith.Constant.of(1.0, dtypes.f32))
    by = at.value(arith.Cast.to(pitch, dtypes.f32))
    _quotients(at, row, at.value(arith.Elementwise(fn="div", args=[one, by]), "reciprocal"), length)
    _count_up(at, places, length)
    step = binary(at, "mul", turned, bytes_, "step")
    less = binary(at, "sub", index(at, bytes_), binary(at, "mul", step, pitch))
    _scaled(at, places, at.value(arith.Cast.to(step, dtypes.i32)), length)
    _scaled(at, row, at.value(arith.Cast.to(less, dtypes.i32)), length)
    _barrier(at)
    amount = [index(at, length)]
    at.insert(asc_vector.Binary(call="Add", dst=places, src0=places, src1=row, amount=amount))


def _length(line: Value) -> int:
    assert isinstance(line.type, RefType)
    owner = buffer_of(line).owner
    if isinstance(owner, tile.Buffer):
        return elements_of(owner)
    (length,) = line.type.shape
    assert isinstance(length, int)
    return length


def gather_from(at: Builder, target: Value, source: Value, offsets: Value, base: int, count: Value) -> None:
    unsigned = recast(at, offsets, dtypes.u32)
    at.insert(asc_vector.Gather(dst=target, src=source, offsets=unsigned, base=index(at, base), count=count))


def gather_blocks(at: Builder, column: Value, blocks: Value, offsets: Value, count: Value) -> None:
    """The first element of each block of 32 bytes, by offsets that are made for it."""
    first, step = (at.value(arith.Constant.of(number, dtypes.i32)) for number in (0, BLOCK_BYTES))
    at.insert(asc_vector.CreateVecIndex(dst=offsets, first=first, count=count))
    at.insert(asc_vector.TensorScalar(call="Muls", dst=offsets, src=offsets, scalar=step, amount=[count]))
    gather_from(at, column, blocks, offsets, 0, count)


def get_offsets(at: Builder, buffer: Value, length: int, name: str) -> Value:
    return at.value(asc.Get(buffer=buffer, types=[local(length, dtypes.i32)]), name)


def own_buffer(phase: PhaseLowering, name: str, length: int) -> Value:
    assert phase.front is not None
    buffer = phase.front.value(asc.Buf(position="VECCALC"), f"{name}Buf")
    amount = index(phase.front, length * OFFSET_BYTES)
    phase.front.insert(asc.InitBuf(pipe=phase.pipe, buffer=buffer, bytes=amount))
    return buffer


def _from_the_last(
    methods: Methods, at: Builder, ramp_: Value, length: int, count: Value, step: int
) -> Value:
    """Offsets that start from the last element of a tile that may be short."""
    offsets = get_offsets(at, ramp_, length, "offsets")
    buffer = methods.buffer_of("places", length * OFFSET_BYTES)
    places = get_offsets(at, buffer, length, "places")
    last = at.value(arith.Cast.to(binary(at, "mul", binary(at, "sub", count, 1), step), dtypes.i32), "last")
    at.insert(asc_vector.TensorScalar(call="Adds", dst=places, src=offsets, scalar=last, amount=[count]))
    return places


def ramp(phase: PhaseLowering, length: int, step: int) -> Value:
    """A buffer with 0, step, 2 * step, ..."""
    key = (length, step)
    if key not in phase.prologue.made:
        buffer = own_buffer(phase, "offsets", length)
        phase.prologue.made[key] = buffer

        def fill(at: Builder) -> None:
            offsets = get_offsets(at, buffer, length, "offsets")
            _count_up(at, offsets, length)
            _times(at, offsets, step, length)

        phase.prologue.fills.append(fill)
    return phase.prologue.made[key]


def _places(phase: PhaseLowering, count: int, width: int, dtype: DType) -> Value:
    """A buffer with the byte offset of each element of woven parts: part p % count, element p // count."""
    length = count * width
    key = (length, count, width, dtype.bytes)
    if key not in phase.prologue.made:
        buffer = own_buffer(phase, "places", length)
        scratch = own_buffer(phase, "number", length)
        phase.prologue.made[key] = buffer

        def fill(at: Builder) -> None:
            places = get_offsets(at, buffer, length, "places")
            _weave_offsets(
                at, places, get_offsets(at, scratch, length, "number"), (count, width, dtype.bytes)
            )

        phase.prologue.fills.append(fill)
    return phase.prologue.made[key]


def _weave_offsets(at: Builder, places: Value, number: Value, shape: tuple[int, int, int]) -> None:
    """The number of each element, bytes * (number % count * width + number // count), by quotients of float32."""
    count, width, bytes_ = shape
    length = count * width
    amount = [index(at, length)]
    _quotients(at, number, at.value(arith.Constant.of(1.0 / count, dtypes.f32)), length)
    _count_up(at, places, length)
    # number * width + quotient * (1 - count * width), in bytes.
    _times(at, places, bytes_ * width, length)
    _times(at, number, bytes_ * (1 - count * width), length)
    _barrier(at)
    at.insert(asc_vector.Binary(call="Add", dst=places, src0=places, src1=number, amount=amount))


def _quotients(at: Builder, number: Value, reciprocal: Value, length: int) -> None:
    """Counters divided by a number and rounded down, by float32 that is exact enough below 2^22."""
    half = at.value(arith.Constant.of(0.5, dtypes.f32))
    quotient, amount = recast(at, number, dtypes.f32), [index(at, length)]
    at.insert(asc_vector.CreateVecIndex(dst=quotient, first=half, count=index(at, length)))
    _barrier(at)
    by = asc_vector.TensorScalar(call="Muls", dst=quotient, src=quotient, scalar=reciprocal, amount=amount)
    at.insert(by)
    _barrier(at)
    at.insert(asc_vector.Cast(dst=number, src=quotient, amount=amount, mode="CAST_FLOOR"))


def _count_up(at: Builder, offsets: Value, length: int) -> None:
    first = at.value(arith.Constant.of(0, dtypes.i32))
    at.insert(asc_vector.CreateVecIndex(dst=offsets, first=first, count=index(at, length)))
    _barrier(at)


def _times(at: Builder, offsets: Value, factor: int, length: int) -> None:
    _scaled(at, offsets, at.value(arith.Constant.of(factor, dtypes.i32)), length)


def _scaled(at: Builder, offsets: Value, by: Value, length: int) -> None:
    amount = [index(at, length)]
    at.insert(asc_vector.TensorScalar(call="Muls", dst=offsets, src=offsets, scalar=by, amount=amount))


def _barrier(at: Builder) -> None:
    at.insert(asc.PipeBarrier(pipe="PIPE_V"))
