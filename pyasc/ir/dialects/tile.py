# SPDX-License-Identifier: Apache-2.0
"""The tile level: what an Ascend core does with whole tiles, before single instructions are chosen.

A tile is a ref with constant extents in a memory of the core, made by `tile.buffer`. A box of global memory is a
`mem.view`. Every operation takes `sizes`, one extent an axis: it works on that leading corner of its tiles, so one
piece of code serves full tiles and tails. What lies outside the corner is undefined and left alone.

What a tuner may set are attributes: tile extents and their order (`tile.loop`), depth (`tile.buffer`), the number of
cores and how pieces are dealt to them (`tile.cores`), the form of a reduction (`tile.reduce`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import BOOL, I64, ON_CHIP, REF, REF_OR_SCALAR, SCALAR
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operand, operands, region, result
from pyasc.ir.dialects.mem import axis_exists, open_extents, same_dtype, same_rank, shape_of
from pyasc.ir.numbers_table import TABLE
from pyasc.ir.traits import ALLOCATES, EFFECT, LOOP, PURE, READS, SINGLE_BLOCK, TERMINATOR, VIEW, WRITES
from pyasc.ir.types import RefType, dtype_of

UNITS = ("vector", "cube", "mix", "scalar")
ROUNDINGS = ("none", "rint", "floor", "ceil", "round", "trunc", "odd")
COMBINERS = ("add", "mul", "maximum", "minimum")


class Cores(Operation, name="tile.cores", traits=[LOOP, SINGLE_BLOCK]):
    """Runs its block once for each of `count` pieces of work, each on one core; complete before what follows.

    `cores` is how many take part (0: all of the SoC). With `"blocked"` order a core takes consecutive pieces, with
    `"cyclic"` every `cores`-th one. `"mix"` pieces use a cube core and its vector cores together, `"scalar"` ones the
    scalar unit of a vector core: they hold loops over single elements.
    """

    count: Value = operand(I64)
    unit: str = attribute(default="vector", choices=UNITS)
    cores: int = attribute(default=0)
    order: str = attribute(default="blocked", choices=("blocked", "cyclic"))
    body: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """The block takes the number of the piece."""
        yield from _block_takes(self.body, 1)


class Loop(Operation, name="tile.loop", traits=[LOOP, SINGLE_BLOCK]):
    """Walks a box of `extents` in tiles, one after the other.

    The block takes the offsets of the tile, one an axis, then its sizes, which are `tile` or less at the end.
    `order` lists the axes from the outermost loop inwards; empty means as they stand.
    """

    extents: Sequence[Value] = operands(I64)
    tile: tuple[int, ...] = attribute()
    order: tuple[int, ...] = attribute(default=())
    body: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """One tile extent an axis, and an order of all axes."""
        rank = len(self.extents)
        if len(self.tile) != rank or any(extent < 1 for extent in self.tile):
            yield f"tile {list(self.tile)} does not fit {rank} extents"
        if self.order and sorted(self.order) != list(range(rank)):
            yield f"order {list(self.order)} does not list {rank} axes"
        yield from _block_takes(self.body, 2 * rank)


class Repeat(Operation, name="tile.repeat", traits=[LOOP, SINGLE_BLOCK]):
    """Runs its block `rounds` times, or until no lane of a mask has a bit, whichever is first.

    `mask` is empty, or the mask, a tile of ones, and a tile whose contents are lost. The block changes the mask. Once
    no lane has a bit, some more rounds may follow.
    """

    rounds: Value = operand(I64)
    mask: Sequence[Value] = operands(ON_CHIP, default=())
    sizes: Sequence[Value] = operands(I64)
    body: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """The block takes nothing; a mask comes with its helpers."""
        yield from _block_takes(self.body, 0)
        if len(self.mask) not in (0, 3):
            yield f"mask is empty or has three tiles, got {len(self.mask)}"


class Yield(Operation, name="tile.yield", traits=[TERMINATOR]):
    """Ends the block of `tile.cores`, `tile.loop` and `tile.repeat`."""


class Buffer(Operation, name="tile.buffer", traits=[ALLOCATES]):
    """A tile with undefined contents, alive until the end of the enclosing region.

    With `depth` 2 or more, that many are held in turn, so that a copy into the next one overlaps with work on this.
    `extents` gives those that the type leaves open, whose product never exceeds `capacity` elements. A `lasting` one is
    filled by one copy in front of a loop over tiles, all of which read it.
    """

    extents: Sequence[Value] = operands(I64, default=())
    depth: int = attribute(default=1)
    capacity: int = attribute(default=0)
    lasting: bool = attribute(default=False)
    tile: Value = result(constraint=ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """Open extents are given and bounded by a capacity, and there is at least one buffer."""
        yield from open_extents(self.tile, self.extents)
        if not all(isinstance(extent, int) or extent is None for extent in shape_of(self.tile)):
            yield f"a tile has constant or open extents, got {self.tile.type}"
        if self.extents and self.capacity < 1:
            yield "a tile with open extents has a capacity"
        if self.depth < 1:
            yield f"depth is at least 1, got {self.depth}"


class Flatten(Operation, name="tile.flatten", traits=[PURE, VIEW]):
    """All elements of a dense buffer as one axis."""

    ref: Value = operand(REF)
    flat: Value = result(constraint=REF)

    def verify_op(self) -> Iterable[str]:
        """One axis, of the same elements."""
        yield from same_dtype(self.ref, self.flat)
        if len(shape_of(self.flat)) != 1:
            yield f"the result has one axis, got {self.flat.type}"


class Merge(Operation, name="tile.merge", traits=[PURE, VIEW]):
    """The axes of a dense array from `axis` on as one."""

    ref: Value = operand(REF)
    axis: int = attribute()
    merged: Value = result(constraint=REF)

    def verify_op(self) -> Iterable[str]:
        """Elements and leading axes stay, one axis follows."""
        yield from same_dtype(self.ref, self.merged)
        yield from axis_exists(self.ref, self.axis)
        if shape_of(self.merged)[:-1] != shape_of(self.ref)[: self.axis]:
            yield f"axes before {self.axis} stay: {self.ref.type} and {self.merged.type}"


class Recast(Operation, name="tile.recast", traits=[PURE, VIEW]):
    """The bytes of a tile as elements of another dtype of the same width, without converting what they hold."""

    tile: Value = operand(ON_CHIP)
    same: Value = result(constraint=ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """Elements keep their width and the tile its shape."""
        if dtype_of(self.tile.type).bits != dtype_of(self.same.type).bits:
            yield f"element widths differ: {self.tile.type} and {self.same.type}"
        if shape_of(self.tile) != shape_of(self.same):
            yield f"shapes differ: {self.tile.type} and {self.same.type}"


class Copy(Operation, name="tile.copy", traits=[READS, WRITES]):
    """Moves a box between memories, changing the layout where the types differ in it.

    `pad` fills the rest of the target tile's rows. `accumulate` combines into global memory in one indivisible step
    an element. Out of L0C the elements may change their dtype, and `relu` clamps them at zero first.
    """

    source: Value = operand(REF)
    target: Value = operand(REF, written=True)
    sizes: Sequence[Value] = operands(I64)
    pad: int | float | None = attribute(default=None)
    accumulate: str | None = attribute(default=None)
    relu: bool = attribute(default=False)

    def verify_op(self) -> Iterable[str]:
        """Ranks agree; only the way out of L0C converts; only global memory is accumulated into."""
        yield from same_rank(self.source, self.target)
        yield from _sizes_fit(self.sizes, self.source)
        out_of_cube = isinstance(self.source.type, RefType) and self.source.type.space == "l0c"
        if not out_of_cube:
            yield from same_dtype(self.source, self.target)
        if self.relu and not out_of_cube:
            yield "relu is applied on the way out of l0c alone"
        if self.accumulate is not None:
            if self.accumulate not in ("add", "maximum", "minimum"):
                yield f"accumulate is add, maximum or minimum, got {self.accumulate}"
            if isinstance(self.target.type, RefType) and self.target.type.space != "gm":
                yield f"accumulating needs a target in gm, got {self.target.type}"


class Elementwise(Operation, name="tile.elementwise", traits=[READS, WRITES]):
    """A function of the number table on tiles, or on tiles and scalars; printed as `tile.<fn>`.

    Axes on which an argument has extent 1 are repeated. The target may be an argument, not overlap one otherwise.
    """

    fn: str = attribute(choices=tuple(TABLE), in_name=True)
    args: Sequence[Value] = operands(REF_OR_SCALAR)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """Arity, ranks and dtypes, from the number table."""
        row = TABLE[self.fn]
        if len(self.args) != row.arity:
            yield f"{self.fn} takes {row.arity} operands, got {len(self.args)}"
            return
        data = self.args[1:] if self.fn == "select" else self.args
        dtypes = {dtype_of(value.type) for value in data}
        if len(dtypes) != 1 or not dtypes <= {d for d in dtypes if d.kind in row.kinds}:
            yield f"{self.fn} is not defined on {', '.join(str(value.type) for value in data)}"
        result_name = "i1" if row.result == "bool" else dtype_of(data[0].type).name
        if dtype_of(self.target.type).name != result_name:
            yield f"{self.fn} gives {result_name}, not {dtype_of(self.target.type)}"
        yield from _sizes_fit(self.sizes, self.target)
        for value in self.args:
            if isinstance(value.type, RefType):
                yield from same_rank(value, self.target)


class Cast(Operation, name="tile.cast", traits=[READS, WRITES]):
    """Converts a tile's elements to the target's dtype; `"none"` rounds as `"rint"` where something is lost."""

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    rounding: str = attribute(default="none", choices=ROUNDINGS)

    def verify_op(self) -> Iterable[str]:
        """Ranks agree."""
        yield from same_rank(self.source, self.target)
        yield from _sizes_fit(self.sizes, self.target)


class Fill(Operation, name="tile.fill", traits=[WRITES]):
    """One scalar in every element."""

    value: Value = operand(SCALAR)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """The scalar has the tile's dtype."""
        yield from same_dtype(self.value, self.target)
        yield from _sizes_fit(self.sizes, self.target)


class Iota(Operation, name="tile.iota", traits=[WRITES]):
    """`start`, `start + 1`, ... along an axis, by default the last one."""

    start: Value = operand(SCALAR)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    axis: int = attribute(default=-1)

    def verify_op(self) -> Iterable[str]:
        """The first value has the tile's dtype."""
        yield from same_dtype(self.start, self.target)
        yield from _sizes_fit(self.sizes, self.target)


class Broadcast(Operation, name="tile.broadcast", traits=[READS, WRITES]):
    """Repeats a tile along the axes on which it has extent 1."""

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """Ranks and dtypes agree."""
        yield from same_rank(self.source, self.target)
        yield from same_dtype(self.source, self.target)
        yield from _sizes_fit(self.sizes, self.target)


class Transpose(Operation, name="tile.transpose", traits=[READS, WRITES]):
    """`target` axis i is `source` axis `axes[i]`; `sizes` are the source's."""

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    axes: tuple[int, ...] = attribute()

    def verify_op(self) -> Iterable[str]:
        """The axes are a permutation."""
        yield from same_dtype(self.source, self.target)
        yield from _sizes_fit(self.sizes, self.source)
        if sorted(self.axes) != list(range(len(shape_of(self.source)))):
            yield f"axes {list(self.axes)} do not permute those of {self.source.type}"


class Gather(Operation, name="tile.gather", traits=[READS, WRITES]):
    """`target[p] = source[indices[p]]`, the source counted in row-major order; `in_bytes`, indices count bytes."""

    source: Value = operand(ON_CHIP)
    indices: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    in_bytes: bool = attribute(default=False)

    def verify_op(self) -> Iterable[str]:
        """Indices are integers in the target's shape."""
        yield from same_dtype(self.source, self.target)
        yield from same_rank(self.indices, self.target)
        yield from _sizes_fit(self.sizes, self.target)
        if not dtype_of(self.indices.type).is_integer:
            yield f"indices are integers, not {dtype_of(self.indices.type)}"


class Reduce(Operation, name="tile.reduce", traits=[READS, WRITES]):
    """Combines along `axis`, on which the target has extent 1; `continued` starts from what the target holds.

    `scratch` is a tile like the source, or the source itself, whose contents are lost.
    `form` chooses the instructions: `"tree"` adds halves of a row, `"repeat"` and `"block"` reduce 256 or 32 bytes at
    a time, `"auto"` leaves it open. `sizes` are the source's; sums may be reordered within the documented bound.
    """

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    scratch: Sequence[Value] = operands(ON_CHIP, written=True, default=())
    fn: str = attribute(choices=COMBINERS)
    axis: int = attribute()
    form: str = attribute(default="auto", choices=("auto", "tree", "repeat", "block"))
    continued: bool = attribute(default=False)

    def verify_op(self) -> Iterable[str]:
        """The axis exists and both sides agree but for it."""
        yield from same_dtype(self.source, self.target)
        yield from same_rank(self.source, self.target)
        yield from axis_exists(self.source, self.axis)
        yield from _sizes_fit(self.sizes, self.source)


class Fold(Operation, name="tile.fold", traits=[READS, WRITES]):
    """Combines the elements of a line into those of a short target, over and over: `target[p % lanes]` with each.

    `sizes` are the source's.
    """

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    fn: str = attribute(choices=COMBINERS)

    def verify_op(self) -> Iterable[str]:
        """Both are lines of one dtype."""
        yield from same_dtype(self.source, self.target)
        yield from same_rank(self.source, self.target)
        yield from _sizes_fit(self.sizes, self.source)


class ArgReduce(Operation, name="tile.argreduce", traits=[READS, WRITES]):
    """The extreme along `axis` and the number of its first element, NaN being the extreme."""

    source: Value = operand(ON_CHIP)
    target: Value = operand(ON_CHIP, written=True)
    indices: Value = operand(ON_CHIP, written=True)
    sizes: Sequence[Value] = operands(I64)
    fn: str = attribute(choices=("maximum", "minimum"))
    axis: int = attribute()

    def verify_op(self) -> Iterable[str]:
        """The axis exists; indices are integers."""
        yield from same_dtype(self.source, self.target)
        yield from axis_exists(self.source, self.axis)
        yield from _sizes_fit(self.sizes, self.source)
        if not dtype_of(self.indices.type).is_integer:
            yield f"indices are integers, not {dtype_of(self.indices.type)}"


class Matmul(Operation, name="tile.matmul", traits=[READS, WRITES]):
    """`acc = (0 where fresh, else acc) + lhs @ rhs` on the cube unit; `sizes` are m, n, k.

    Operands lie in L0A and L0B; `acc` in L0C is f32 for floats and i32 for integers.
    """

    lhs: Value = operand(ON_CHIP)
    rhs: Value = operand(ON_CHIP)
    acc: Value = operand(ON_CHIP, written=True)
    fresh: Value = operand(BOOL)
    sizes: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """Spaces, sizes and the accumulator's dtype."""
        yield from same_dtype(self.lhs, self.rhs)
        for value, space in ((self.lhs, "l0a"), (self.rhs, "l0b"), (self.acc, "l0c")):
            if isinstance(value.type, RefType) and value.type.space != space:
                yield f"expected a tile in {space}, got {value.type}"
        if len(self.sizes) != 3:
            yield f"sizes are m, n, k, got {len(self.sizes)}"
        wanted = "f32" if dtype_of(self.lhs.type).is_float else "i32"
        if dtype_of(self.acc.type).name != wanted:
            yield f"{dtype_of(self.lhs.type)} products are added up in {wanted}, not {dtype_of(self.acc.type)}"


class Barrier(Operation, name="tile.barrier", traits=[EFFECT]):
    """Waits until every core has come here and its writes to global memory are visible."""


def _sizes_fit(sizes: Sequence[Value], tile: Value) -> Iterable[str]:
    if len(sizes) != len(shape_of(tile)):
        yield f"{len(sizes)} sizes for {tile.type}"


def _block_takes(body: Region, count: int) -> Iterable[str]:
    block = body.block
    if [str(arg.type) for arg in block.args] != ["i64"] * count:
        yield f"the block takes {count} i64 values, got {', '.join(str(arg.type) for arg in block.args)}"
    if not isinstance(block.terminator, Yield):
        yield "the block ends in tile.yield"
