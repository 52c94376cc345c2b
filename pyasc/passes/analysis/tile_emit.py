# SPDX-License-Identifier: Apache-2.0
"""Emitting tile operations: index arithmetic, buffers for slots, and the instructions of a vector program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, func, tile, tile_lanes
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.tile_buffers import Assignment, Slot
from pyasc.passes.analysis.tile_program import COLUMN, FULL, Instruction, Operand, Program, Register

LINE_BYTES = 512
"""Accesses of several cores to one such window of global memory are serialised."""
REPEAT_BYTES = 256
BLOCK_BYTES = 32
MAX_QUEUES = 8
"""Buffers of one position that may be outstanding at once."""


def binary(at: Builder, fn: str, left: Value, right: Value | int, name: str = "") -> Value:
    """Index arithmetic, folded where the operands are known."""
    other = index(at, right) if isinstance(right, int) else right
    known = (integer_of(left), integer_of(other))
    if known[1] == 0 and fn in ("add", "sub"):
        return left
    if known[1] == 1 and fn in ("mul", "floordiv"):
        return left
    if known[0] == 1 and fn == "mul":
        return other
    if fn == "sub" and _same_size(left, other):
        return index(at, 0)
    if known[0] == 0 and fn == "add":
        return other
    if (0 in known and fn == "mul") or (known[0] == 0 and fn == "floordiv"):
        return index(at, 0)
    if known[1] == 0 and fn == "maximum" and isinstance(left.owner, func.Size):
        return left
    if known[1] == 1 and fn == "maximum" and _is_positive(left):
        return left
    if known[0] is not None and known[1] is not None:
        return index(at, _FOLD[fn](known[0], known[1]))
    return at.value(arith.Elementwise(fn=fn, args=[left, other]), name)


def _is_positive(value: Value) -> bool:
    """Whether a value is at least 1 by how it is made: a maximum with 1, or how many units hold such a one."""
    match value.op:
        case arith.Elementwise(fn="maximum", args=[_, least]):
            return (integer_of(least) or 0) >= 1
        case arith.Elementwise(
            fn="floordiv", args=[Value(op=arith.Elementwise(fn="add", args=[size, more])), unit]
        ):
            return _is_positive(size) and integer_of(more) == (integer_of(unit) or 0) - 1
        case _:
            return False


def _same_size(left: Value, right: Value) -> bool:
    """Whether two values are one symbolic size."""
    sizes = [each.owner.symbol for each in (left, right) if isinstance(each.owner, func.Size)]
    return left is right or (len(sizes) == 2 and sizes[0] == sizes[1])


def _quotient(a: int, b: int) -> int:
    return a // b if b else 0


def _remainder(a: int, b: int) -> int:
    return a % b if b else 0


_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": int.__add__,
    "sub": int.__sub__,
    "mul": int.__mul__,
    "floordiv": _quotient,
    "mod": _remainder,
    "minimum": min,
    "maximum": max,
}


def named(at: Builder, value: int, name: str) -> Value:
    """A number that what is emitted calls by name. One is as good without."""
    return index(at, value) if value == 1 else at.value(arith.Constant.of(value, dtypes.i64), name)


def a_line(at: Builder, elements: int) -> Value:
    """Elements in a line of global memory."""
    return named(at, elements, f"LINE_B{8 * LINE_BYTES // elements}")


def a_block(at: Builder, width: int) -> Value:
    """Elements of so many bytes in a block of 32 bytes."""
    return named(at, BLOCK_BYTES // width, f"BLOCK_B{8 * width}")


def a_repeat(at: Builder, width: int) -> Value:
    """Elements of so many bytes that one repeat of an instruction takes."""
    return named(at, REPEAT_BYTES // width, f"LANES_B{8 * width}")


def ceil_div(at: Builder, value: Value, divisor: Value | int, name: str = "") -> Value:
    """`value` divided by a constant, rounded up."""
    number = divisor if isinstance(divisor, int) else integer_of(divisor)
    assert number is not None
    return binary(at, "floordiv", binary(at, "add", value, number - 1), divisor, name)


@dataclass(frozen=True)
class Share:
    """The part of the work that one core takes: from `begin`, `length` of it."""

    begin: Value
    length: Value


def share(at: Builder, id_: Value, cores: Value, total: Value, unit: int) -> Share:
    """Whole units of `unit` elements for each core, as even as they go, the remainder to the first ones."""
    if integer_of(cores) == 1:
        return Share(index(at, 0), total)
    line = a_line(at, unit)
    units = ceil_div(at, total, line, "units")
    each = binary(at, "floordiv", units, cores, "share")
    extra = binary(at, "mod", units, cores, "extra")
    unit_before = binary(at, "mul", id_, each)
    before = binary(at, "add", unit_before, binary(at, "minimum", id_, extra), "before")
    begin = binary(at, "minimum", binary(at, "mul", before, line, "start"), total, "first")
    more = at.value(arith.Elementwise(fn="lt", args=[id_, extra]))
    one_more = at.value(arith.Elementwise(fn="select", args=[more, index(at, 1), index(at, 0)]))
    width = binary(at, "mul", binary(at, "add", each, one_more), line)
    end = binary(at, "minimum", binary(at, "add", begin, width, "stop"), total, "last")
    return Share(begin, binary(at, "sub", end, begin, "length"))


@dataclass(frozen=True)
class Dealt:
    """What every core does is inserted through `at`; `core` is its number, `part` its share."""

    at: Builder
    core: Value
    part: Share


def deal(at: Builder, blocks: Value, total: Value, unit: int, kind: str = "vector") -> Dealt:
    """Deal `total` elements out to cores, in whole units of `unit`."""
    cores = at.insert(tile.Cores(count=blocks, unit=kind, body=block_of([ScalarType(I64)], ["core"])))
    inner = Builder(cores.body.block, loc=at.loc)
    core = cores.body.block.args[0]
    return Dealt(inner, core, share(inner, core, blocks, total, unit))


def cores_for(at: Builder, total: Value, unit: int, most: int) -> Value:
    """How many cores have work, at least one."""
    return binary(at, "maximum", _working(at, total, unit, most), 1, "blocks")


def cores_or_none(at: Builder, total: Value, unit: int, most: int) -> Value:
    """How many cores have work that writes nothing where there is none.

    Such a phase is not launched then: what it reads before it asks how much there is to do need not exist.
    """
    return binary(at, "maximum", _working(at, total, unit, most), 0, "blocks")


def _working(at: Builder, total: Value, unit: int, most: int) -> Value:
    return binary(at, "minimum", ceil_div(at, total, unit), most)


def bytes_an_element(assignment: Assignment, depth: Mapping[str, int]) -> float:
    """On-chip bytes that one element of a full tile takes, all its buffers together."""
    return sum(slot.bytes * depth.get(slot.kind, 1) for slot in assignment.slots if slot.cover == "full")


def block_losses(assignment: Assignment) -> int:
    """Bytes on chip that are lost, at most, where masks of a tile end inside of a block."""
    return BLOCK_BYTES * sum(slot.kind == "mask" for slot in assignment.slots)


def queue_depths(assignment: Assignment) -> dict[str, int]:
    """Two buffers a queue, or one where there are too many queues on the way out.

    More arrays than have two buffers each come in through one queue of two, side by side. Raises NotVector for more on
    the way out than a core has buffers for.
    """
    depths: dict[str, int] = {}
    for kind in ("in", "out"):
        count = sum(slot.kind == kind for slot in assignment.slots)
        if count > MAX_QUEUES and kind == "out":
            raise refuse(f"one loop copies {count} arrays out, and a core has buffers for {MAX_QUEUES}")
        depths[kind] = 1 if kind == "out" and 2 * count > MAX_QUEUES else 2
    return depths


@dataclass(frozen=True)
class Footprint:
    """The room on chip of registers that cover the same of a tile, and how much of it one tile uses."""

    shape: tuple[Dim, ...]
    """Of a buffer, in elements; None for an axis whose extent the launch decides."""
    sizes: Sequence[Value]
    """Elements in use along each axis, from the first on."""
    extents: Sequence[Value] = ()
    """The extents of the axes that `shape` leaves open."""
    capacity: int = 0
    """The most elements that a buffer with such extents has; 0 where no axis is open."""


@dataclass
class TileEmitter:
    """Emits a program inside the loop over tiles.

    `footprints` are by what a register covers; `point` are the counters of the nest where the tile starts; `carries`
    hold what running values have come to before the tile.
    """

    at: Builder
    assignment: Assignment
    depths: Mapping[str, int]
    footprints: Mapping[str, Footprint]
    point: Sequence[Value] = ()
    buffers: dict[tuple[Slot, DType], Value] = field(
        default_factory=lambda: dict[tuple[Slot, DType], Value]()
    )
    carries: Mapping[Register, Value] = field(default_factory=lambda: dict[Register, Value]())

    def tile_of(self, register: Register) -> Value:
        """The buffer that holds a register; one buffer serves registers of several dtypes of one width."""
        slot = self.assignment.of[register]
        return self.slot_tile(slot, register.dtype)

    def sizes_of(self, register: Register) -> Sequence[Value]:
        """How much of its buffer a register uses."""
        return self.footprints[register.cover].sizes

    def slot_tile(self, slot: Slot, dtype: DType) -> Value:
        """The tile of a slot with elements of a dtype."""
        key = (slot, dtype)
        if key not in self.buffers:
            first = next((tile_ for (other, _), tile_ in self.buffers.items() if other is slot), None)
            self.buffers[key] = self._allocate(slot, dtype) if first is None else self._recast(first, dtype)
        return self.buffers[key]

    def _allocate(self, slot: Slot, dtype: DType) -> Value:
        footprint = self.footprints[slot.cover]
        op = tile.Buffer(
            extents=footprint.extents,
            depth=self.depths.get(slot.kind, 1),
            capacity=footprint.capacity,
            types=[RefType(footprint.shape, dtype, "ub")],
        )
        return self.at.value(op, slot.name)

    def _recast(self, first: Value, dtype: DType) -> Value:
        assert isinstance(first.type, RefType)
        type_ = RefType(first.type.shape, dtype, "ub")
        return self.at.value(tile.Recast(tile=first, types=[type_]), first.name)

    def run(self, program: Program) -> None:
        """Emit all instructions."""
        if program.loops:
            for each in program.instructions:
                for register in (each.target, *([each.scratch] if each.scratch else [])):
                    self.tile_of(register)
        outside: list[Builder] = []
        for number, each in enumerate(program.instructions):
            self.at.loc = each.loc
            if each.fn == "repeat":
                outside.append(self.at)
                self.at = self._repeat(each, program.instructions[number:])
            elif each.fn == "end":
                self.at.insert(tile.Yield())
                self.at = outside.pop()
            elif not self._is_there(each):
                self.instruction(each)

    def _is_there(self, each: Instruction) -> bool:
        """Whether a register already stands where it is to be copied to."""
        slots = {self.assignment.of[source] for source in each.sources}
        copies = each.fn == "move" or (each.fn == "or" and len(set(each.args)) == 1)
        return copies and slots == {self.assignment.of[each.target]}

    def _repeat(self, each: Instruction, rest: Sequence[Instruction]) -> Builder:
        """A loop of the core around what follows, up to its end."""
        end = next(other for other in rest if other.fn == "end")
        *masked, rounds = each.args
        assert end.scratch is not None and isinstance(rounds, Value)
        sizes = self.sizes_of(each.target)
        tiles = [self.argument(arg) for arg in masked] if len(masked) == 2 else []
        work = [*tiles, self.tile_of(end.scratch)] if tiles else []
        loop = self.at.insert(tile.Repeat(rounds=rounds, mask=work, sizes=sizes, body=block_of()))
        return Builder(loop.body.block, loc=each.loc)

    def argument(self, operand: Operand) -> Value:
        """A tile or a scalar."""
        return self.tile_of(operand) if isinstance(operand, Register) else operand

    def instruction(self, each: Instruction) -> None:
        """Emit one instruction."""
        args = [self.argument(arg) for arg in each.args]
        self.at.insert(self._operation(each, args, self.tile_of(each.target)))

    def _operation(self, each: Instruction, args: Sequence[Value], target: Value) -> Operation:
        sizes = self.sizes_of(each.target)
        match each.fn:
            case "cast":
                return tile.Cast(source=args[0], target=target, sizes=sizes, rounding=each.mode)
            case "fill":
                return tile.Fill(value=args[0], target=target, sizes=sizes)
            case "move":
                return tile.Broadcast(source=args[0], target=target, sizes=sizes)
            case "turn":
                return tile.Transpose(source=args[0], target=target, sizes=sizes[::-1], axes=(1, 0))
            case "gather":
                return tile.Gather(source=args[0], indices=args[1], target=target, sizes=sizes, in_bytes=True)
            case "pick":
                stride, phase = map(int, each.mode.split())
                return tile_lanes.Pick(source=args[0], target=target, sizes=sizes, stride=stride, phase=phase)
            case "index":
                return self._index(each, target, sizes)
            case "scan":
                return self._scan(each, args[0], target)
            case "weave":
                return self._weave(args[0], target, len(args))
            case "reduce":
                return self._reduce(each, args[0], target)
            case _:
                return tile.Elementwise(fn=each.fn, args=args, target=target, sizes=sizes)

    def _scan(self, each: Instruction, source: Value, target: Value) -> tile_lanes.Scan:
        """Running values along rows where a tile is one of them, else from row to row."""
        return tile_lanes.Scan(
            source=source,
            carry=self.carries[each.target],
            target=target,
            sizes=self.sizes_of(each.target),
            fn=each.mode,
            axis=1 if self.footprints[FULL].shape[0] == 1 else 0,
        )

    def _reduce(self, each: Instruction, source: Value, target: Value) -> tile.Reduce:
        """One value for each row."""
        (register,) = each.sources
        return tile.Reduce(
            source=source,
            target=target,
            sizes=self.sizes_of(register),
            scratch=[] if each.scratch is None else [self.tile_of(each.scratch)],
            fn=each.mode,
            axis=1,
        )

    def _weave(self, first: Value, target: Value, count: int) -> tile_lanes.Weave:
        """Parts of one buffer, of which the first is given."""
        part = first.owner
        assert isinstance(part, tile_lanes.Part) and isinstance(first.type, RefType)
        width = first.type.shape[0]
        assert isinstance(width, int)
        return tile_lanes.Weave(
            source=part.tile, target=target, sizes=self.footprints[FULL].sizes, count=count, width=width
        )

    def _index(self, each: Instruction, target: Value, sizes: Sequence[Value]) -> tile.Iota | tile.Fill:
        """A loop counter: growing from where the tile starts, or the same for all of it."""
        kind, number = each.mode.split()
        start = self.at.value(arith.Cast.to(self.point[int(number)], dtypes.i32))
        if kind == "fill":
            return tile.Fill(value=start, target=target, sizes=sizes)
        return tile.Iota(
            start=start, target=target, sizes=sizes, axis=0 if each.target.cover == COLUMN else -1
        )


I64 = dtypes.i64
