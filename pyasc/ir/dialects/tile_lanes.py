# SPDX-License-Identifier: Apache-2.0
"""The tile level: elements of a tile that change places.

Vector instructions work lane by lane, so elements that are apart in memory are brought side by side first, and back
apart before they are copied out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import I64, ON_CHIP, REF
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operand, operands, region, result
from pyasc.ir.dialects.mem import same_dtype, same_rank, shape_of
from pyasc.ir.traits import PURE, READS, SINGLE_BLOCK, VIEW, WRITES
from pyasc.ir.types import dtype_of


class Part(Operation, name="tile.part", traits=[PURE, VIEW]):
    """The elements of a tile of one axis from `start` on, as a tile of their own."""

    tile: Value = operand(ON_CHIP)
    start: int = attribute()
    part: Value = result(constraint=ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """Both have one axis, and the part ends where the tile does or before."""
        yield from same_dtype(self.tile, self.part)
        if len(shape_of(self.tile)) != 1 or len(shape_of(self.part)) != 1:
            yield f"tiles of one axis have parts: {self.tile.type} and {self.part.type}"
            return
        whole, length = shape_of(self.tile)[0], shape_of(self.part)[0]
        if isinstance(whole, int) and isinstance(length, int) and not 0 <= self.start <= whole - length:
            yield f"{self.part.type} from {self.start} on leaves {self.tile.type}"


class Pick(Operation, name="tile.pick", traits=[READS, WRITES]):
    """Every `stride`-th element: `target[p] = source[p * stride + phase]`, backwards where the stride is negative:
    `target[p] = source[(size - 1 - p) * -stride]`.

    A tile of rows is taken as one line of elements, so rows of the source are `stride` times as far apart. An
    integer of 64 bits counts as two elements of 32, the lower one first.
    """

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    stride: int = attribute()
    phase: int = attribute(default=0)

    def verify_op(self) -> Iterable[str]:
        """A stride that skips or turns around, and a phase below it."""
        halved = (dtype_of(self.source.type).name, dtype_of(self.target.type).name) == ("i64", "i32")
        if not halved:
            yield from same_dtype(self.source, self.target)
        yield from same_rank(self.source, self.target)
        if self.stride in (0, 1):
            yield f"a stride of {self.stride} picks nothing"
        if not 0 <= self.phase < abs(self.stride) or (self.stride < 0 and self.phase):
            yield f"phase {self.phase} does not go with stride {self.stride}"
        if self.stride < 0 and any(extent != 1 for extent in shape_of(self.target)[:-1]):
            yield f"one line is walked backwards, not {self.target.type}"


class Weave(Operation, name="tile.weave", traits=[READS, WRITES]):
    """Puts parts of a tile between each other: `target[p * count + k] = source[k * width + p]`.

    `sizes` are how many elements of each part there are.
    """

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    count: int = attribute()
    width: int = attribute()

    def verify_op(self) -> Iterable[str]:
        """Lines of one dtype, and two parts or more."""
        yield from same_dtype(self.source, self.target)
        if len(shape_of(self.source)) != 1 or len(shape_of(self.target)) != 1:
            yield f"lines are woven, not {self.source.type} into {self.target.type}"
        if self.count < 2 or self.width < 1:
            yield f"{self.count} parts of {self.width} elements are not woven"


class CopyRows(Operation, name="tile.copy_rows", traits=[READS, WRITES, SINGLE_BLOCK]):
    """Rows of global memory that lie anywhere, into the rows of a tile, one after the other.

    The block takes the number of a row of the tile and ends with the element of the source, counted in row-major order,
    at which it starts; `sizes` are the rows and how many elements of each.
    """

    source: Value = operand(REF)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    body: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """A tile of rows, and a block from a row to an element."""
        yield from same_dtype(self.source, self.target)
        if len(self.sizes) != 2 or len(shape_of(self.target)) != 2:
            yield f"rows are copied to a tile of two axes, not {self.target.type}"
        block = self.body.block
        if [str(arg.type) for arg in block.args] != ["i64"]:
            yield "the block takes one i64 value"
        if [str(value.type) for value in block.terminator.operands] != ["i64"]:
            yield "the block ends with one i64 value"


class Scan(Operation, name="tile.scan", traits=[READS, WRITES]):
    """What the elements of a line come to, up to each of them: `target[p]` is `carry` and `source[: p + 1]` combined.

    The last one is in `carry` afterwards. Along axis 0 that is done for each column of a tile of rows, and the carry is
    a row. Sums may be reordered within the documented bound.
    """

    source: Value = operand(ON_CHIP)
    carry: Value = operand(ON_CHIP, written=True)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    fn: str = attribute(choices=("add", "maximum", "minimum"))
    axis: int = attribute(default=1)

    def verify_op(self) -> Iterable[str]:
        """Lines and a number of one dtype."""
        yield from same_dtype(self.source, self.target)
        yield from same_dtype(self.source, self.carry)
        yield from same_rank(self.source, self.target)
        if len(self.sizes) != len(shape_of(self.target)):
            yield f"{len(self.sizes)} sizes for {self.target.type}"


class Tally(Operation, name="tile.tally", traits=[READS, WRITES]):
    """Adds elements to `bins` bins of 64 lanes: `lanes[b * 64 + p % 64] += source[p]` where `places[p] == b`."""

    source: Value = operand(ON_CHIP)
    places: Value = operand(ON_CHIP)
    lanes: Value = operand(ON_CHIP, written=True)
    bins: Value = operand(I64)
    sizes: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """Elements and lanes of one dtype of 32 bits, and places in int32."""
        yield from same_dtype(self.source, self.lanes)
        yield from same_rank(self.source, self.places)
        if dtype_of(self.places.type).name != "i32" or dtype_of(self.lanes.type).bits != 32:
            yield f"elements of 32 bits are added at places in i32, not {self.source.type} at {self.places.type}"


class Totals(Operation, name="tile.totals", traits=[READS, WRITES]):
    """The sum of each 64 lanes: `target[b] = lanes[b * 64] + ... + lanes[b * 64 + 63]`; the lanes are lost."""

    lanes: Value = operand(ON_CHIP, written=True)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """Lines of one dtype."""
        yield from same_dtype(self.lanes, self.target)
        yield from same_rank(self.lanes, self.target)
