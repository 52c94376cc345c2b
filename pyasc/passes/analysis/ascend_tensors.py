# SPDX-License-Identifier: Apache-2.0
"""Where the tensors of tiles come from: queues, buffers, and parts of what a queue gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import asc, tile, tile_lanes
from pyasc.ir.dtypes import DType
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_vector import local, recast
from pyasc.passes.analysis.integer_lanes import NUMBER_ELEMENTS
from pyasc.passes.analysis.structured import extent_value
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW, SPACED

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_emit import PhaseLowering


@dataclass(frozen=True)
class Holder:
    """Where the tensors of one tile come from: a queue at a position, or a buffer (no queue).

    Tiles that share a queue lie side by side in its buffers, of `whole` elements: each from `start` on.
    """

    tile: Value
    queue: Value | None
    buffer: Value | None
    position: str
    elements: int
    start: int = 0
    whole: int = 0


@dataclass(frozen=True)
class Resource:
    """What rounds that follow each other take turns with: `number` buffers of some bytes at a position.

    A queue that is `bound` to another position lets what it gets pass through.
    """

    position: str
    bytes: int
    number: int
    bound: str = ""


@dataclass
class TensorMap:
    """The LocalTensors of one method by the tiles they are."""

    phase: PhaseLowering
    at: Builder
    known: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())

    def receive(self, tile_: Value, whole: dict[Value, Value]) -> None:
        """Take a tensor from its queue, once a queue: a filled one on the way in, a free one on the way out."""
        holder = self.phase.holders[tile_]
        take = asc.DeQue if holder.position == "VECIN" else asc.AllocTensor
        made = taken(self.at, holder, dtype_of(tile_.type), take, whole)
        self.known[tile_] = made
        if holder.whole:
            self.phase.parts.add(made)

    def known_as(self, tile_: Value, at: Builder) -> Value:
        """The tensor of a tile, reinterpreted at another place."""
        outer, self.at = self.at, at
        made = self.of(tile_)
        self.at = outer
        return made

    def of(self, value: Value) -> Value:
        """The tensor of a tile, or a scalar as it is."""
        if not isinstance(value.type, RefType):
            return self.phase.value(value)
        owner = value.owner
        if isinstance(owner, tile.Recast):
            return recast(self.at, self.of(owner.tile), dtype_of(value.type))
        if value not in self.known:
            self.known[value] = self._part(owner) if isinstance(owner, tile_lanes.Part) else self._get(value)
        return self.known[value]

    def _part(self, op: tile_lanes.Part) -> Value:
        """A part of a buffer, ordered by itself."""
        whole = self.of(op.tile)
        assert isinstance(whole.type, RefType) and isinstance(whole.type.shape[0], int)
        type_ = local(whole.type.shape[0] - op.start, dtype_of(whole.type))
        made = self.at.value(asc.Offset(tensor=whole, offset=index(self.at, op.start), types=[type_]))
        self.phase.parts.add(made)
        return made

    def _get(self, tile_: Value) -> Value:
        holder = self.phase.holders[tile_]
        assert holder.buffer is not None
        is_mask = dtype_of(tile_.type) is dtypes.i1
        type_ = (
            local(holder.elements // 8, dtypes.u8)
            if is_mask
            else local(holder.elements, dtype_of(tile_.type))
        )
        return self.at.value(asc.Get(buffer=holder.buffer, types=[type_]), usual_name(tile_))


def taken(
    at: Builder,
    holder: Holder,
    dtype: DType,
    take: type[asc.DeQue] | type[asc.AllocTensor],
    whole: dict[Value, Value],
) -> Value:
    """The tensor of a tile in what its queue gives, which `whole` has where another tile took it."""
    queue = holder.queue
    assert queue is not None
    if not holder.whole:
        whole[queue] = at.value(take(queue=queue, types=[local(holder.elements, dtype)]), holder.tile.name)
        return whole[queue]
    if queue not in whole:
        whole[queue] = at.value(take(queue=queue, types=[local(holder.whole, dtypes.u8)]), "in")
    bytes_ = local(holder.whole - holder.start, dtypes.u8)
    part = at.value(asc.Offset(tensor=whole[queue], offset=index(at, holder.start), types=[bytes_]))
    made = asc.ReinterpretCast(tensor=part, types=[local(holder.elements, dtype)])
    return at.value(made, holder.tile.name)


def touched(op: tile.Repeat) -> list[Value]:
    """The buffers that the rounds of a loop work with."""
    values = (value for each in op.walk() for value in each.operands if isinstance(value.type, RefType))
    return list(dict.fromkeys(buffer_of(value) for value in values))


def usual_name(tile_: Value) -> str:
    """What a tile without a name of its own is called, by what it holds."""
    if tile_.name or dtype_of(tile_.type) is dtypes.i1:
        return tile_.name or "mask"
    assert isinstance(tile_.type, RefType)
    if cover_of(tile_) == COLUMN:
        return "number" if tile_.type.shape[0] == NUMBER_ELEMENTS else "perRow"
    return "tmp"


def space_of(value: Value) -> str:
    assert isinstance(value.type, RefType)
    return value.type.space


def buffer_of(tile_: Value) -> Value:
    """The buffer below recasts."""
    owner = tile_.owner
    while isinstance(owner, tile.Recast):
        tile_ = owner.tile
        owner = tile_.owner
    return tile_


def cover_of(tile_: Value) -> str:
    """What a tile covers: a line or all of its rows, one row for all, or one value a row."""
    assert isinstance(tile_.type, RefType)
    shape = tile_.type.shape
    if len(shape) == 1:
        return FULL
    if None not in shape[1:]:
        return COLUMN if shape[1] == 1 else SPACED
    return ROW if shape[0] == 1 else FULL


def pitch_of(tile_: Value) -> Value:
    """From one row of a tile to the next, in elements."""
    owner = buffer_of(tile_).owner
    assert isinstance(owner, tile.Buffer)
    return owner.extents[-1]


def elements_of(op: tile.Buffer) -> int:
    """The most elements that a buffer holds."""
    if op.extents:
        return op.capacity
    assert isinstance(op.tile.type, RefType)
    total = 1
    for extent in op.tile.type.shape:
        assert isinstance(extent, int)
        total *= extent
    return total


def strides_of(at: Builder, ref: Value) -> list[Value]:
    """The distance between neighbours along each axis of a dense array, in elements."""
    assert isinstance(ref.type, RefType)
    made = [index(at, 1)]
    for extent in reversed(ref.type.shape[1:]):
        made.insert(0, binary(at, "mul", made[0], extent_value(at, extent)))
    return made[: len(ref.type.shape)]
