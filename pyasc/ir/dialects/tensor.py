# SPDX-License-Identifier: Apache-2.0
"""Tensor values of the py level: immutable, with NumPy's meaning, lowered to structured ops over refs.

Where a result type has an extent that only the run time knows (`?`), `sizes` gives those extents in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir import dtypes
from pyasc.ir.constraints import I64, REF, SCALAR, TENSOR
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operand, operands, region, result
from pyasc.ir.dialects.mem import (
    axis_exists,
    index_count,
    open_extents,
    same_dtype,
    same_rank,
    shape_of,
    view_fits,
)
from pyasc.ir.traits import PURE, READS, SINGLE_BLOCK, TERMINATOR, WRITES
from pyasc.ir.types import RefType, ScalarType, TensorType, Type, dtype_of


def _read_type(op: Read) -> Type:
    type_ = op.ref.type
    assert isinstance(type_, RefType)
    return TensorType(type_.shape, type_.dtype)


class Read(Operation, name="tensor.read", traits=[READS]):
    """The contents of a buffer at this moment."""

    ref: Value = operand(REF)
    value: Value = result(_read_type)


class Write(Operation, name="tensor.write", traits=[WRITES]):
    """Fills a buffer of the same shape and dtype with a tensor."""

    value: Value = operand(TENSOR)
    ref: Value = operand(REF, written=True)

    def verify_op(self) -> Iterable[str]:
        """Dtype and rank agree."""
        yield from same_dtype(self.value, self.ref)
        yield from same_rank(self.value, self.ref)


class Splat(Operation, name="tensor.splat", traits=[PURE]):
    """One scalar in every element."""

    value: Value = operand(SCALAR)
    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """One size for each open extent, and the scalar's dtype."""
        yield from open_extents(self.result, self.sizes)
        yield from same_dtype(self.value, self.result)


class Generate(Operation, name="tensor.generate", traits=[PURE, SINGLE_BLOCK]):
    """Computes each element from its index: the block takes one i64 an axis and ends in `tensor.yield`.

    The body is pure and may read other tensors by `tensor.extract`.
    """

    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)
    body: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """One size for each open extent; the block takes one index an axis and yields the element."""
        yield from open_extents(self.result, self.sizes)
        block = self.body.block
        if [str(arg.type) for arg in block.args] != ["i64"] * len(shape_of(self.result)):
            yield f"the block takes one i64 for each axis of {self.result.type}"
        if not isinstance(block.terminator, Yield):
            yield "the block ends in tensor.yield"
        elif block.terminator.value.type != ScalarType(dtype_of(self.result.type)):
            yield f"yields {block.terminator.value.type} for {self.result.type}"


class Yield(Operation, name="tensor.yield", traits=[TERMINATOR]):
    """The element computed by a `tensor.generate` body."""

    value: Value = operand(SCALAR)


class Extract(Operation, name="tensor.extract", traits=[PURE]):
    """One element, at indices that are in range."""

    tensor: Value = operand(TENSOR)
    indices: Sequence[Value] = operands(I64)
    value: Value = result(lambda op: ScalarType(dtype_of(op.tensor.type)))

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.tensor, self.indices)


class Dim(Operation, name="tensor.dim", traits=[PURE]):
    """The extent of one axis."""

    tensor: Value = operand(TENSOR)
    axis: int = attribute()
    value: Value = result(lambda _: ScalarType(dtypes.i64))

    def verify_op(self) -> Iterable[str]:
        """The axis exists."""
        yield from axis_exists(self.tensor, self.axis)


class Broadcast(Operation, name="tensor.broadcast", traits=[PURE]):
    """NumPy broadcasting to the result's shape: axes align from the right and size 1 is repeated."""

    value: Value = operand(TENSOR)
    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """One size for each open extent of the result; the dtype stays."""
        yield from open_extents(self.result, self.sizes)
        yield from same_dtype(self.value, self.result)


class View(Operation, name="tensor.view", traits=[PURE]):
    """A slice, dropped, transposed or new axes, with the rules of `mem.view`."""

    value: Value = operand(TENSOR)
    offsets: Sequence[Value] = operands(I64)
    sizes: Sequence[Value] = operands(I64, default=())
    steps: Sequence[Value] = operands(I64)
    axes: tuple[int, ...] = attribute()
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """One offset, size and step a source axis; the axes of the result exist."""
        yield from view_fits(self.value, (self.offsets, self.sizes, self.steps), self.axes, self.result)


class Reshape(Operation, name="tensor.reshape", traits=[PURE]):
    """The same elements in row-major order under another shape."""

    value: Value = operand(TENSOR)
    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """One size for each open extent of the result; the dtype stays."""
        yield from open_extents(self.result, self.sizes)
        yield from same_dtype(self.value, self.result)


class Reduce(Operation, name="tensor.reduce", traits=[PURE]):
    """Combines elements along `axes`, which are kept with size 1 when `keepdims`.

    `fn` is one of add, mul, maximum, minimum, and, or. The result has the operand's dtype; float16 and bfloat16
    sums are carried in f32 and rounded once. An empty sum is 0 and an empty product 1; the extremes of nothing
    are refused by the frontend or a check.
    """

    value: Value = operand(TENSOR)
    fn: str = attribute(choices=("add", "mul", "maximum", "minimum", "and", "or"))
    axes: tuple[int, ...] = attribute()
    keepdims: bool = attribute(default=False)
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """The axes exist, and the result has the operand's dtype and the rest of its axes."""
        yield from reduced_shape(self.value, self.axes, self.keepdims, self.result)
        yield from same_dtype(self.value, self.result)


class ArgReduce(Operation, name="tensor.argreduce", traits=[PURE]):
    """The i64 index of the first extreme element along `axis`; NaN counts as the extreme, as in NumPy."""

    value: Value = operand(TENSOR)
    fn: str = attribute(choices=("maximum", "minimum"))
    axis: int = attribute()
    keepdims: bool = attribute(default=False)
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """The axis exists, and the result is i64 with the rest of the axes."""
        yield from reduced_shape(self.value, (self.axis,), self.keepdims, self.result)
        if dtype_of(self.result.type) is not dtypes.i64:
            yield f"indices are i64, not {dtype_of(self.result.type)}"


class Scan(Operation, name="tensor.scan", traits=[PURE]):
    """Running combination along `axis`, the element itself included."""

    value: Value = operand(TENSOR)
    fn: str = attribute(choices=("add", "mul", "maximum", "minimum"))
    axis: int = attribute()
    result: Value = result(lambda op: op.value.type)

    def verify_op(self) -> Iterable[str]:
        """The axis exists."""
        yield from axis_exists(self.value, self.axis)


class Contract(Operation, name="tensor.contract", traits=[PURE]):
    """A product-sum in Einstein notation over two operands: `equation` is such as `"ij,jk->ik"`.

    `accumulate` is the dtype of the running sum; the result is rounded to its own dtype once.
    """

    lhs: Value = operand(TENSOR)
    rhs: Value = operand(TENSOR)
    equation: str = attribute()
    accumulate: Type = attribute()
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """The equation names each axis of both operands and of the result."""
        inputs, arrow, output = self.equation.partition("->")
        terms = [*inputs.split(","), output]
        if not arrow or len(terms) != 3 or not all(term.isalpha() or not term for term in terms):
            yield f"{self.equation!r} is not an equation such as 'ij,jk->ik'"
            return
        for term, value in zip(terms, (self.lhs, self.rhs, self.result), strict=True):
            if len(term) != len(shape_of(value)) or len(set(term)) != len(term):
                yield f"{term!r} does not name the axes of {value.type}"
        if not set(output) <= set(terms[0] + terms[1]):
            yield f"{self.equation!r} has an axis that only the result names"


class Concat(Operation, name="tensor.concat", traits=[PURE]):
    """Joins tensors along `axis`."""

    values: Sequence[Value] = operands(TENSOR, default=())
    axis: int = attribute()
    result: Value = result(constraint=TENSOR)

    def verify_op(self) -> Iterable[str]:
        """The axis exists, and all parts have the result's dtype and rank."""
        yield from axis_exists(self.result, self.axis)
        for value in self.values:
            yield from same_dtype(value, self.result)
            yield from same_rank(value, self.result)


def reduced_shape(value: Value, axes: tuple[int, ...], keepdims: bool, result: Value) -> Iterable[str]:
    """Messages unless `axes` are distinct axes of `value` and `result` has as many as remain."""
    for axis in axes:
        yield from axis_exists(value, axis)
    if len(set(axes)) != len(axes):
        yield f"axes {list(axes)} are not distinct"
    if len(shape_of(result)) != len(shape_of(value)) - (0 if keepdims else len(axes)):
        yield f"reducing axes {list(axes)} of {value.type} does not give {result.type}"
