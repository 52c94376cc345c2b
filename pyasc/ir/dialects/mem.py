# SPDX-License-Identifier: Apache-2.0
"""Buffers: allocation, element access with proved indices, views and copies.

Indices here are in range by construction; Python's index rules are those of `py.load` and `py.store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir import dtypes
from pyasc.ir.constraints import I64, REF, SCALAR
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands, result
from pyasc.ir.sizes import Dim as Extent
from pyasc.ir.traits import ALLOCATES, EFFECT, PURE, READS, VIEW, WRITES
from pyasc.ir.types import RefType, ScalarType, TensorType, dtype_of


class Alloc(Operation, name="mem.alloc", traits=[ALLOCATES]):
    """A fresh buffer with undefined contents, alive until the end of the enclosing region.

    `sizes` gives the extents that the type leaves open (`?`), in order. `purpose` is `"shared"` for what the
    user asked to hold on chip.
    """

    sizes: Sequence[Value] = operands(I64, default=())
    alignment: int = attribute(default=64, doc="bytes")
    purpose: str = attribute(default="temporary", choices=("temporary", "shared"))
    ref: Value = result(constraint=REF)

    def verify_op(self) -> Iterable[str]:
        """One size for each open extent."""
        yield from open_extents(self.ref, self.sizes)


class Load(Operation, name="mem.load", traits=[READS]):
    """Reads one element."""

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    value: Value = result(lambda op: ScalarType(dtype_of(op.ref.type)))

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.ref, self.indices)


class Store(Operation, name="mem.store", traits=[WRITES]):
    """Writes one element."""

    value: Value = operand(SCALAR)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)


class Atomic(Operation, name="mem.atomic", traits=[READS, WRITES]):
    """Combines one element with `value` by `fn` in one indivisible step. The order among iterations is open."""

    value: Value = operand(SCALAR)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)
    fn: str = attribute(choices=("add", "maximum", "minimum"))

    def verify_op(self) -> Iterable[str]:
        """One index a dimension and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)


class Signal(Operation, name="mem.signal", traits=[EFFECT]):
    """Sets an element to one for iterations of an ordered loop that wait for it, who see what was written before."""

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.ref, self.indices)


class Await(Operation, name="mem.await", traits=[EFFECT]):
    """Waits until an earlier iteration of an ordered loop has set an element, and sees what it wrote before."""

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.ref, self.indices)


class Dim(Operation, name="mem.dim", traits=[PURE]):
    """The extent of one axis."""

    ref: Value = operand(REF)
    axis: int = attribute()
    value: Value = result(lambda _: ScalarType(dtypes.i64))

    def verify_op(self) -> Iterable[str]:
        """The axis exists."""
        yield from axis_exists(self.ref, self.axis)


class View(Operation, name="mem.view", traits=[PURE, VIEW]):
    """Another ref onto part of the same memory.

    `offsets`, `sizes` and `steps` have one value a source axis and are in range. `axes` lists, for each axis of
    the result, the source axis it walks, or -1 for a new axis of size 1; a source axis that is not listed has
    size 1 and is dropped. So one operation slices, drops, transposes and adds axes.
    """

    ref: Value = operand(REF)
    offsets: Sequence[Value] = operands(I64)
    sizes: Sequence[Value] = operands(I64, default=())
    steps: Sequence[Value] = operands(I64)
    axes: tuple[int, ...] = attribute()
    view: Value = result(constraint=REF)

    def verify_op(self) -> Iterable[str]:
        """One offset, size and step a source axis; the axes of the result exist."""
        yield from view_fits(self.ref, (self.offsets, self.sizes, self.steps), self.axes, self.view)


class Copy(Operation, name="mem.copy", traits=[READS, WRITES]):
    """Copies all elements between buffers of one shape that do not overlap."""

    source: Value = operand(REF)
    target: Value = operand(REF, written=True)

    def verify_op(self) -> Iterable[str]:
        """Both sides have one dtype and rank."""
        yield from same_dtype(self.source, self.target)
        yield from same_rank(self.source, self.target)


def index_count(ref: Value, indices: Sequence[Value]) -> Iterable[str]:
    """A message unless there is one index for each dimension of `ref`, which may be a tensor."""
    if len(indices) != len(shape_of(ref)):
        yield f"{len(indices)} indices for {ref.type}"


def same_dtype(value: Value, ref: Value) -> Iterable[str]:
    """A message unless both have one element type."""
    if dtype_of(value.type) != dtype_of(ref.type):
        yield f"element types differ: {value.type} and {ref.type}"


def shape_of(value: Value) -> tuple[Extent, ...]:
    """The extents of a ref or tensor; none for any other value."""
    return value.type.shape if isinstance(value.type, (RefType, TensorType)) else ()


def same_rank(left: Value, right: Value) -> Iterable[str]:
    """A message unless both have one number of dimensions."""
    if len(shape_of(left)) != len(shape_of(right)):
        yield f"ranks differ: {left.type} and {right.type}"


def open_extents(value: Value, sizes: Sequence[Value]) -> Iterable[str]:
    """A message unless there is one size for each `?` in the type."""
    count = shape_of(value).count(None)
    if len(sizes) != count:
        yield f"{len(sizes)} sizes for the {count} open extents of {value.type}"


def axis_exists(value: Value, axis: int) -> Iterable[str]:
    """A message unless `axis` counts a dimension from the front."""
    if not 0 <= axis < len(shape_of(value)):
        yield f"{value.type} has no axis {axis}"


def view_fits(
    source: Value, boxes: Sequence[Sequence[Value]], axes: tuple[int, ...], view: Value
) -> Iterable[str]:
    """Messages unless offsets, sizes and steps fit the source's rank and `axes` the view's."""
    rank = len(shape_of(source))
    for words, values in zip(("offsets", "sizes", "steps"), boxes, strict=True):
        if len(values) != rank:
            yield f"{len(values)} {words} for {source.type}"
    if len(axes) != len(shape_of(view)):
        yield f"{len(axes)} axes for {view.type}"
    walked = [axis for axis in axes if axis != -1]
    if len(set(walked)) != len(walked) or not all(0 <= axis < rank for axis in walked):
        yield f"axes {list(axes)} are not distinct axes of {source.type}"
    yield from same_dtype(source, view)
