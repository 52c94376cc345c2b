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
from pyasc.ir.traits import ALLOCATES, PURE, READS, VIEW, WRITES
from pyasc.ir.types import RefType, ScalarType, dtype_of


class Alloc(Operation, name="mem.alloc", traits=[ALLOCATES]):
    """A fresh buffer with undefined contents, alive until the end of the enclosing region.

    `sizes` gives the extents that the type leaves open (`?`), in order. `purpose` is `"shared"` for what the
    user asked to hold on chip.
    """

    sizes: Sequence[Value] = operands(I64, default=())
    alignment: int = attribute(default=64, doc="bytes")
    purpose: str = attribute(default="temporary", choices=("temporary", "shared"))
    ref: Value = result(constraint=REF)


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


class Dim(Operation, name="mem.dim", traits=[PURE]):
    """The extent of one axis."""

    ref: Value = operand(REF)
    axis: int = attribute()
    value: Value = result(lambda _: ScalarType(dtypes.i64))


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


class Copy(Operation, name="mem.copy", traits=[READS, WRITES]):
    """Copies all elements between buffers of one shape that do not overlap."""

    source: Value = operand(REF)
    target: Value = operand(REF, written=True)

    def verify_op(self) -> Iterable[str]:
        """Both sides have one dtype and rank."""
        yield from same_dtype(self.source, self.target)
        assert isinstance(self.source.type, RefType)
        assert isinstance(self.target.type, RefType)
        if len(self.source.type.shape) != len(self.target.type.shape):
            yield f"ranks differ: {self.source.type} and {self.target.type}"


def index_count(ref: Value, indices: Sequence[Value]) -> Iterable[str]:
    """A message unless there is one index for each dimension of `ref`."""
    if isinstance(ref.type, RefType) and len(indices) != len(ref.type.shape):
        yield f"{len(indices)} indices for {ref.type}"


def same_dtype(value: Value, ref: Value) -> Iterable[str]:
    """A message unless both have one element type."""
    if dtype_of(value.type) != dtype_of(ref.type):
        yield f"element types differ: {value.type} and {ref.type}"
