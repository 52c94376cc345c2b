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
        if dtype_of(self.value.type) != dtype_of(self.ref.type):
            yield f"element types differ: {self.value.type} and {self.ref.type}"


class Splat(Operation, name="tensor.splat", traits=[PURE]):
    """One scalar in every element."""

    value: Value = operand(SCALAR)
    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)


class Generate(Operation, name="tensor.generate", traits=[PURE, SINGLE_BLOCK]):
    """Computes each element from its index: the block takes one i64 an axis and ends in `tensor.yield`.

    The body is pure and may read other tensors by `tensor.extract`.
    """

    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)
    body: Region = region(default=None)


class Yield(Operation, name="tensor.yield", traits=[TERMINATOR]):
    """The element computed by a `tensor.generate` body."""

    value: Value = operand(SCALAR)


class Extract(Operation, name="tensor.extract", traits=[PURE]):
    """One element, at indices that are in range."""

    tensor: Value = operand(TENSOR)
    indices: Sequence[Value] = operands(I64)
    value: Value = result(lambda op: ScalarType(dtype_of(op.tensor.type)))


class Dim(Operation, name="tensor.dim", traits=[PURE]):
    """The extent of one axis."""

    tensor: Value = operand(TENSOR)
    axis: int = attribute()
    value: Value = result(lambda _: ScalarType(dtypes.i64))


class Broadcast(Operation, name="tensor.broadcast", traits=[PURE]):
    """NumPy broadcasting to the result's shape: axes align from the right and size 1 is repeated."""

    value: Value = operand(TENSOR)
    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)


class View(Operation, name="tensor.view", traits=[PURE]):
    """A slice, dropped, transposed or new axes, with the rules of `mem.view`."""

    value: Value = operand(TENSOR)
    offsets: Sequence[Value] = operands(I64)
    sizes: Sequence[Value] = operands(I64, default=())
    steps: Sequence[Value] = operands(I64)
    axes: tuple[int, ...] = attribute()
    result: Value = result(constraint=TENSOR)


class Reshape(Operation, name="tensor.reshape", traits=[PURE]):
    """The same elements in row-major order under another shape."""

    value: Value = operand(TENSOR)
    sizes: Sequence[Value] = operands(I64, default=())
    result: Value = result(constraint=TENSOR)


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


class ArgReduce(Operation, name="tensor.argreduce", traits=[PURE]):
    """The i64 index of the first extreme element along `axis`; NaN counts as the extreme, as in NumPy."""

    value: Value = operand(TENSOR)
    fn: str = attribute(choices=("maximum", "minimum"))
    axis: int = attribute()
    keepdims: bool = attribute(default=False)
    result: Value = result(constraint=TENSOR)


class Scan(Operation, name="tensor.scan", traits=[PURE]):
    """Running combination along `axis`, the element itself included."""

    value: Value = operand(TENSOR)
    fn: str = attribute(choices=("add", "mul", "maximum", "minimum"))
    axis: int = attribute()
    result: Value = result(lambda op: op.value.type)


class Contract(Operation, name="tensor.contract", traits=[PURE]):
    """A product-sum in Einstein notation over two operands: `equation` is such as `"ij,jk->ik"`.

    `accumulate` is the dtype of the running sum; the result is rounded to its own dtype once.
    """

    lhs: Value = operand(TENSOR)
    rhs: Value = operand(TENSOR)
    equation: str = attribute()
    accumulate: Type = attribute()
    result: Value = result(constraint=TENSOR)


class Concat(Operation, name="tensor.concat", traits=[PURE]):
    """Joins tensors along `axis`."""

    values: Sequence[Value] = operands(TENSOR, default=())
    axis: int = attribute()
    result: Value = result(constraint=TENSOR)
