# SPDX-License-Identifier: Apache-2.0
"""One element of a tensor as scalar code: how elementwise producers are merged into what consumes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, mem, tensor
from pyasc.ir.types import RefType, ScalarType, TensorType, Type, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.structured import extent_value

INLINE = (
    arith.Elementwise,
    arith.Cast,
    arith.Constant,
    tensor.Splat,
    tensor.Broadcast,
    tensor.View,
    tensor.Generate,
    tensor.Reshape,
)
"""Operations whose elements depend on few elements of their operands and can be computed where they are used."""

CHEAP = frozenset(
    """add sub mul neg abs sign minimum maximum pymin pymax and or xor not lt le gt ge eq ne select isnan isinf
    isfinite signbit""".split()
)
"""Functions that cost less than writing a result to memory and reading it back."""


@dataclass
class Elements:
    """Where the elements of each tensor of a function come from: a buffer, or code at the place of use."""

    buffers: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())

    def at(self, value: Value, indices: Sequence[Value], builder: Builder) -> Value:
        """Emit the element of `value` at `indices`."""
        ref = self.buffers.get(value)
        if ref is not None:
            return builder.value(mem.Load(ref=ref, indices=list(indices)), value.name)
        op = value.op
        match op:
            case arith.Elementwise():
                args = [self._argument(arg, indices, builder) for arg in op.args]
                return builder.value(arith.Elementwise(fn=op.fn, args=args, loc=op.loc), value.name)
            case arith.Cast():
                inner = self.at(op.value, indices, builder)
                return builder.value(arith.Cast.to(inner, dtype_of(value.type)))
            case arith.Constant():
                return builder.value(arith.Constant.of(op.value, dtype_of(value.type)))
            case tensor.Splat():
                return op.value
            case tensor.Broadcast():
                return self.at(op.value, self._broadcast(op, indices, builder), builder)
            case tensor.View():
                return self.at(op.value, self._viewed(op, indices, builder), builder)
            case tensor.Generate():
                return self._generated(op, indices, builder)
            case tensor.Reshape():
                return self.at(op.value, self._reshaped(op, indices, builder), builder)
            case _:
                raise TypeError(f"{value.owner} has no buffer")

    def _argument(self, value: Value, indices: Sequence[Value], builder: Builder) -> Value:
        return value if isinstance(value.type, ScalarType) else self.at(value, indices, builder)

    def _broadcast(self, op: tensor.Broadcast, indices: Sequence[Value], builder: Builder) -> list[Value]:
        """An axis of one element is repeated; any other has as many as the result, which stands checked in front."""
        source, target = op.value.type, op.result.type
        assert isinstance(source, TensorType) and isinstance(target, TensorType)
        walked = indices[len(target.shape) - len(source.shape) :]
        return [
            index(builder, 0) if extent == 1 else place
            for extent, place in zip(source.shape, walked, strict=True)
        ]

    def _viewed(self, op: tensor.View, indices: Sequence[Value], builder: Builder) -> list[Value]:
        source = op.value.type
        assert isinstance(source, TensorType)
        walked = {axis: indices[i] for i, axis in enumerate(op.axes) if axis >= 0}
        picked: list[Value] = []
        for axis in range(len(source.shape)):
            offset, step = op.offsets[axis], op.steps[axis]
            if axis not in walked:
                picked.append(offset)
                continue
            position = walked[axis]
            if not _is_constant(step, 1):
                position = builder.value(arith.Elementwise(fn="mul", args=[position, step]))
            if not _is_constant(offset, 0):
                position = builder.value(arith.Elementwise(fn="add", args=[position, offset]))
            picked.append(position)
        return picked

    def _reshaped(self, op: tensor.Reshape, indices: Sequence[Value], builder: Builder) -> list[Value]:
        source = op.value.type
        assert isinstance(source, TensorType)
        linear = index(builder, 0)
        for axis, position in enumerate(indices):
            linear = _binary(builder, "mul", linear, self.extent(op.result, axis, builder))
            linear = _binary(builder, "add", linear, position)
        picked: list[Value] = []
        for axis in reversed(range(1, len(source.shape))):
            extent = self.extent(op.value, axis, builder)
            picked.insert(0, _binary(builder, "mod", linear, extent))
            linear = _binary(builder, "floordiv", linear, extent)
        return [linear, *picked] if source.shape else []

    def _generated(self, op: tensor.Generate, indices: Sequence[Value], builder: Builder) -> Value:
        block = op.body.block
        mapping = dict(zip(block.args, indices, strict=True))
        return self.copy(block.first, mapping, builder)

    def copy(self, first: Operation | None, mapping: dict[Value, Value], builder: Builder) -> Value:
        """Copy a generate body, reading tensors through this table; returns the yielded element."""
        op = first
        while op is not None and op.next is not None:
            if isinstance(op, tensor.Extract):
                indices = [mapping.get(v, v) for v in op.indices]
                mapping[op.value] = self.at(op.tensor, indices, builder)
            else:
                builder.insert(op.clone(mapping))
            op = op.next
        assert isinstance(op, tensor.Yield)
        return mapping.get(op.value, op.value)

    def extent(self, value: Value, axis: int, builder: Builder) -> Value:
        """The extent of one axis of a tensor, as an i64 value."""
        type_ = value.type
        assert isinstance(type_, TensorType)
        dim = type_.shape[axis]
        if dim is not None:
            return extent_value(builder, dim)
        ref = self.buffers.get(value)
        if ref is not None:
            return builder.value(mem.Dim(ref=ref, axis=axis))
        return self._open_extent(value, axis, builder)

    def _open_extent(self, value: Value, axis: int, builder: Builder) -> Value:
        op = value.op
        match op:
            case tensor.Splat() | tensor.Broadcast() | tensor.Generate() | tensor.Reshape():
                type_ = value.type
                assert isinstance(type_, TensorType)
                return op.sizes[sum(dim is None for dim in type_.shape[:axis])]
            case tensor.View():
                return index(builder, 1) if op.axes[axis] < 0 else op.sizes[op.axes[axis]]
            case arith.Elementwise():
                # All tensors have one shape (what chooses may be a number), and a constant cannot tell its own.
                told = (arg for arg in op.args if not isinstance(arg.op, arith.Constant))
                return self.extent(
                    next(arg for arg in told if isinstance(arg.type, TensorType)), axis, builder
                )
            case arith.Cast():
                return self.extent(op.value, axis, builder)
            case tensor.Scan():
                return self.extent(op.value, axis, builder)
            case tensor.Reduce() | tensor.ArgReduce():
                axes = op.axes if isinstance(op, tensor.Reduce) else (op.axis,)
                return self.extent(op.value, _kept_axis(axis, axes, op.keepdims), builder)
            case tensor.Contract():
                return self._contracted(op, axis, builder)
            case tensor.Concat():
                if axis != op.axis:
                    return self.extent(op.values[0], axis, builder)
                total = self.extent(op.values[0], axis, builder)
                for part in op.values[1:]:
                    size = self.extent(part, axis, builder)
                    total = builder.value(arith.Elementwise(fn="add", args=[total, size]))
                return total
            case _:
                raise TypeError(f"the extent of {value.type} is not known")

    def _contracted(self, op: tensor.Contract, axis: int, builder: Builder) -> Value:
        inputs, _, output = op.equation.partition("->")
        left, _, right = inputs.partition(",")
        label = output[axis]
        if label in left:
            return self.extent(op.lhs, left.index(label), builder)
        return self.extent(op.rhs, right.index(label), builder)


def _kept_axis(axis: int, reduced: Sequence[int], keepdims: bool) -> int:
    """The source axis that a result axis of a reduction comes from."""
    if keepdims:
        return axis
    kept = 0
    source = 0
    while True:
        if source not in reduced:
            if kept == axis:
                return source
            kept += 1
        source += 1


def _binary(builder: Builder, fn: str, left: Value, right: Value) -> Value:
    return builder.value(arith.Elementwise(fn=fn, args=[left, right]))


def _is_constant(value: Value, number: int) -> bool:
    return isinstance(value.op, arith.Constant) and value.op.value == number


def is_cheap(op: Operation) -> bool:
    """Whether computing an element again costs no more than loading it."""
    if isinstance(op, arith.Elementwise):
        return op.fn in CHEAP
    return not isinstance(op, tensor.Generate)


def ref_type(type_: Type) -> RefType:
    """The type of a fresh buffer for a tensor. Symbolic extents stay in the type."""
    assert isinstance(type_, TensorType)
    return RefType(type_.shape, type_.dtype, "local")
