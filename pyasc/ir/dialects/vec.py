# SPDX-License-Identifier: Apache-2.0
"""Register vectors of the loop level: what a tiled and vectorised nest on `cpu` is made of.

Arithmetic on vectors is that of the arith dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import BOOL, I64, REF, SCALAR, TILE, VECTOR
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands, result
from pyasc.ir.dialects.mem import index_count, same_dtype
from pyasc.ir.dtypes import i1, i64
from pyasc.ir.traits import EFFECT, PURE, READS, WRITES
from pyasc.ir.types import ScalarType, TileType, dtype_of


class Load(Operation, name="vec.load", traits=[READS]):
    """Reads consecutive elements of the last axis, starting at `indices`; alignment is the element's own.

    With a `count`, the first `count` elements alone are read, and the other lanes are zero.
    """

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    count: Sequence[Value] = operands(I64, default=(), doc="none, or the number of lanes in use")
    value: Value = result(constraint=VECTOR)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension, at most one count and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)
        yield from _at_most_one("count", self.count)


class Store(Operation, name="vec.store", traits=[WRITES]):
    """Writes consecutive elements of the last axis; with a `count`, the first `count` of them alone.

    Where `streamed` is given and true, the elements go past the caches: they start on a multiple of the vector's
    size (see `vec.misaligned`), and `vec.drain` comes before the end of the task.
    """

    value: Value = operand(VECTOR)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)
    count: Sequence[Value] = operands(I64, default=(), doc="none, or the number of lanes in use")
    streamed: Sequence[Value] = operands(BOOL, default=(), doc="none, or whether to go past the caches")

    def verify_op(self) -> Iterable[str]:
        """One index a dimension, at most one count and flag, and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)
        yield from _at_most_one("count", self.count)
        yield from _at_most_one("flag", self.streamed)


class Misaligned(Operation, name="vec.misaligned", traits=[READS]):
    """How many elements from `indices` on come before the next multiple of `bytes` in memory.

    It depends on where the run time put the buffer, so no result may depend on it.
    """

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    bytes: int = attribute()
    value: Value = result(lambda op: ScalarType(i64))

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.ref, self.indices)


class Drain(Operation, name="vec.drain", traits=[EFFECT]):
    """Waits until the streamed stores of this thread can be seen by the others."""


class Prefetch(Operation, name="vec.prefetch", traits=[EFFECT]):
    """Asks for the cache line of an element, which may lie outside of the buffer."""

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.ref, self.indices)


class Splat(Operation, name="vec.splat", traits=[PURE]):
    """One scalar in every lane."""

    value: Value = operand(SCALAR)
    result: Value = result(constraint=VECTOR)

    def verify_op(self) -> Iterable[str]:
        """Every lane has the scalar's dtype."""
        yield from same_dtype(self.value, self.result)


class First(Operation, name="vec.first", traits=[PURE]):
    """True in the first `count` lanes."""

    count: Value = operand(I64)
    mask: Value = result(constraint=VECTOR)


class Lanes(Operation, name="vec.lanes", traits=[PURE]):
    """The scalar plus the number of the lane, in every lane; integers wrap."""

    start: Value = operand(SCALAR)
    result: Value = result(constraint=VECTOR)

    def verify_op(self) -> Iterable[str]:
        """Every lane has the scalar's dtype."""
        yield from same_dtype(self.start, self.result)


class AnyLane(Operation, name="vec.any", traits=[PURE]):
    """Whether the mask is true in any lane."""

    mask: Value = operand(VECTOR)
    result: Value = result(lambda op: ScalarType(i1))


class Scan(Operation, name="vec.scan", traits=[PURE]):
    """Lane i becomes the combination of lanes 0 to i by `fn`, in a fixed order.

    `preceded` says that all of a loaded value is in use, and memory has an element in front of it.
    """

    value: Value = operand(VECTOR)
    fn: str = attribute(choices=("add", "mul"))
    preceded: bool = attribute(default=False)
    result: Value = result(lambda op: op.value.type)


class Last(Operation, name="vec.last", traits=[PURE]):
    """The last lane in every lane."""

    value: Value = operand(VECTOR)
    result: Value = result(lambda op: op.value.type)


class Shift(Operation, name="vec.shift", traits=[PURE]):
    """The lanes of `low` from number `by` on, followed by the first `by` lanes of `high`; 0 <= by < lanes."""

    low: Value = operand(VECTOR)
    high: Value = operand(VECTOR)
    by: Value = operand(I64)
    result: Value = result(lambda op: op.low.type)

    def verify_op(self) -> Iterable[str]:
        """Both vectors have one type."""
        if self.low.type != self.high.type:
            yield f"types differ: {self.low.type} and {self.high.type}"


class Reduce(Operation, name="vec.reduce", traits=[PURE]):
    """Combines all lanes by `fn` in a fixed tree order."""

    value: Value = operand(VECTOR)
    fn: str = attribute(choices=("add", "mul", "maximum", "minimum", "pymax", "pymin", "and", "or", "xor"))
    result: Value = result(lambda op: ScalarType(dtype_of(op.value.type)))


class Fill(Operation, name="vec.fill", traits=[PURE]):
    """A tile with one scalar in every lane."""

    value: Value = operand(SCALAR)
    result: Value = result(constraint=TILE)

    def verify_op(self) -> Iterable[str]:
        """Every lane has the scalar's dtype."""
        yield from same_dtype(self.value, self.result)


class LoadTile(Operation, name="vec.load_tile", traits=[READS]):
    """Reads a tile: the vector in row r and column c starts at `indices`, plus r on `axis`, and at `starts[c]`.

    `indices` has all dimensions but the last, along which vectors lie.
    """

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    starts: Sequence[Value] = operands(I64)
    axis: int = attribute()
    value: Value = result(constraint=TILE)

    def verify_op(self) -> Iterable[str]:
        """One start a column, an axis that is not the last, and the element's dtype."""
        yield from _covers_tile(self.value, self.ref, self.indices, self.starts, self.axis)


class StoreTile(Operation, name="vec.store_tile", traits=[WRITES]):
    """Writes a tile, row by row, to where `vec.load_tile` reads one. Columns may overlap if they agree there."""

    value: Value = operand(TILE)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)
    starts: Sequence[Value] = operands(I64)
    axis: int = attribute()

    def verify_op(self) -> Iterable[str]:
        """One start a column, an axis that is not the last, and the element's dtype."""
        yield from _covers_tile(self.value, self.ref, self.indices, self.starts, self.axis)


class FmaTile(Operation, name="vec.fma_tile", traits=[READS]):
    """Adds an outer product: `sum[r][c] + factor[r] * columns[c]`, as the elementwise `fma` has it.

    The factors are elements of `ref`, converted to the dtype of the tile: that of row r is at `indices + r * steps`.
    """

    sum: Value = operand(TILE)
    columns: Sequence[Value] = operands(VECTOR)
    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    steps: tuple[int, ...] = attribute(doc="from row to row, one for each dimension of `ref`")
    result: Value = result(lambda op: op.sum.type)

    def verify_op(self) -> Iterable[str]:
        """One vector of the tile's a column, one index and one step a dimension."""
        assert isinstance(self.sum.type, TileType)
        if [each.type for each in self.columns] != [self.sum.type.vector] * self.sum.type.columns:
            yield f"vectors of {self.sum.type} are {self.sum.type.columns} of {self.sum.type.vector}"
        yield from index_count(self.ref, self.indices)
        if len(self.steps) != len(self.indices):
            yield f"{len(self.steps)} steps for {len(self.indices)} indices"


def _covers_tile(
    tile: Value, ref: Value, indices: Sequence[Value], starts: Sequence[Value], axis: int
) -> Iterable[str]:
    assert isinstance(tile.type, TileType)
    if len(starts) != tile.type.columns:
        yield f"{len(starts)} starts for {tile.type.columns} columns"
    if not 0 <= axis < len(indices):
        yield f"rows along axis {axis} of {ref.type}"
    yield from index_count(ref, (*indices, *starts[:1]))
    yield from same_dtype(tile, ref)


def _at_most_one(what: str, values: Sequence[Value]) -> Iterable[str]:
    if len(values) > 1:
        yield f"{len(values)} values for one {what}"
