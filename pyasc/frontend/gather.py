# SPDX-License-Identifier: Apache-2.0
"""Elements and rows at computed indices: `x[indices]` read and assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pyasc.frontend import numeric, views
from pyasc.frontend.advanced import Mixed, is_plain, mixed
from pyasc.frontend.values import (
    Array,
    Const,
    Scalar,
    SizeVal,
    Slice,
    Tensor,
    Tuple,
    Val,
    is_array,
    is_number,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Block, Region, Value
from pyasc.ir.dialects import scf, tensor
from pyasc.ir.sizes import Dim
from pyasc.ir.types import ScalarType, TensorType

_I64 = ScalarType(dtypes.i64)


def gather(v: Visitor, base: Tensor, indices: Sequence[Val], node: ast.AST | None) -> Val:
    """`x[i, j, ...]` with integer arrays for leading axes: the broadcast index shape, then the axes left."""
    arrays = _index_tensors(v, base, indices, node)
    count = len(arrays)
    shape = numeric.common_shape(v, arrays)
    flat = [numeric.elements(v, each, dtypes.i64, shape, arrays) for each in arrays]
    result: tuple[Dim, ...] = (*shape, *base.shape[count:])
    opened = numeric.shape_values(v, shape, arrays)
    opened += [
        numeric.extent(v, base, axis) for axis in range(count, len(base.shape)) if base.shape[axis] is None
    ]
    block = Block([_I64] * len(result))
    with v.block(block):
        lead = block.args[: len(shape)]
        places = [v.emit.value(tensor.Extract(tensor=each, indices=lead)) for each in flat]
        found = v.emit.value(tensor.Extract(tensor=base.value, indices=[*places, *block.args[len(shape) :]]))
        v.emit.insert(tensor.Yield(value=found))
    op = tensor.Generate(sizes=opened, types=[TensorType(result, base.dtype)], body=Region([block]))
    return Tensor(v.emit.value(op))


def gather_mixed(v: Visitor, base: Tensor, indices: Sequence[Val], node: ast.AST | None) -> Val:
    """`x[...]` with integer arrays beside anything else that an index may have."""
    if is_plain(indices):
        return gather(v, base, indices, node)
    found = mixed(v, base, indices)
    assert isinstance(found.base, Tensor)
    result = gather(v, found.base, found.indices, node)
    assert isinstance(result, Tensor)
    rank = len(result.shape)
    count = rank - len(found.base.shape) + len(found.indices)
    return views.permuted(v, result, found.order(count, rank))


def _index_tensors(
    v: Visitor, base: Array | Tensor, indices: Sequence[Val], node: ast.AST | None
) -> list[Tensor]:
    """Index arrays counted from the front, checked to be in range before anything is read."""
    while indices and isinstance(indices[-1], Slice) and indices[-1] == Slice(None, None, None):
        indices = indices[:-1]
    found: list[Tensor] = []
    for axis, index in enumerate(indices):
        value = _as_index(v, index, node)
        found.append(Tensor(_in_range(v, value, numeric.extent(v, base, axis))))
    return found


def _as_index(v: Visitor, index: Val, node: ast.AST | None) -> Tensor:
    if isinstance(index, Tuple):
        raise v.error(node, "PA0205", "a list of indices", hint="use an integer array")
    if not (is_array(index) or is_number(index)):
        raise v.error(
            node, "PA0205", f"{numeric.describe(index)} beside index arrays", hint="use integers and slices"
        )
    value = numeric.operand(v, index)
    dtype = numeric.number_type(v, value).dtype
    if dtype.is_bool:
        raise v.error(
            node,
            "PA0205",
            "a mask selects a number of elements that only the run time knows",
            hint="use asc.where(mask, x, other)",
        )
    if dtype.is_float:
        raise v.error(node, "PA0404", f"indices must be integers, found {dtype.numpy}")
    if isinstance(value, Tensor):
        return Tensor(v.emit.cast(value.value, dtypes.i64))
    element = numeric.scalar(v, value, dtypes.i64)
    return Tensor(v.emit.value(tensor.Splat(value=element, types=[TensorType((1,), dtypes.i64)])))


def _in_range(v: Visitor, index: Tensor, size: Value) -> Value:
    type_ = index.value.type
    sizes = [numeric.extent(v, index, axis) for axis, dim in enumerate(index.shape) if dim is None]
    extent = v.emit.value(tensor.Splat(value=size, sizes=sizes, types=[type_]))
    zero = v.emit.value(tensor.Splat(value=v.emit.index(0), sizes=sizes, types=[type_]))
    wrapped = v.emit.fn(
        "select", v.emit.fn("lt", index.value, zero), v.emit.fn("add", index.value, extent), index.value
    )
    fine = v.emit.fn("and", v.emit.fn("ge", wrapped, zero), v.emit.fn("lt", wrapped, extent))
    axes = tuple(range(len(index.shape)))
    all_fine = v.emit.value(tensor.Reduce(value=fine, fn="and", axes=axes, types=[TensorType((), dtypes.i1)]))
    condition = v.emit.value(tensor.Extract(tensor=all_fine, indices=[]))
    numeric.check(v, condition, "IndexError", "an index is out of range for an axis of size {}", [size])
    return wrapped


def scatter(v: Visitor, array: Array, indices: Sequence[Val], value: Val, target: ast.Subscript) -> None:
    """`x[...] = value` with integer arrays among the indices: in order, so that the last of equal indices wins."""
    from pyasc.frontend.subscripts import element_value, mark_written
    from pyasc.ir.dialects import mem

    how = Mixed(array, tuple(indices), 0) if is_plain(indices) else mixed(v, array, indices)
    assert isinstance(how.base, Array)
    moved = how.base
    found = _index_tensors(v, moved, how.indices, target)
    data = numeric.operand(v, value)
    shape = numeric.common_shape(v, found)
    places = [numeric.elements(v, each, dtypes.i64, shape, found) for each in found]
    rest = range(len(found), len(moved.shape))
    extents = [numeric.extent(v, Tensor(places[0]), axis) for axis in range(len(shape))]
    extents += [numeric.extent(v, moved, axis) for axis in rest]
    fixed = element_value(v, data, array.dtype) if is_number(data) else None
    order = how.order(len(shape), len(extents))
    full = [*shape, *(moved.shape[axis] for axis in rest)]
    tensors = (
        None
        if fixed is not None
        else _fitted(v, data, array, [full[k] for k in order], [extents[k] for k in order])
    )
    mark_written(v, array.ref)

    def write(counters: list[Value]) -> None:
        at = [v.emit.value(tensor.Extract(tensor=each, indices=counters[: len(shape)])) for each in places]
        element = fixed
        if tensors is not None:
            element = v.emit.value(tensor.Extract(tensor=tensors, indices=[counters[k] for k in order]))
        assert element is not None
        v.emit.insert(mem.Store(value=element, ref=moved.ref, indices=[*at, *counters[len(shape) :]]))

    _nest(v, extents, [], write)


def _fitted(v: Visitor, data: Val, array: Array, shape: Sequence[Dim], extents: Sequence[Value]) -> Value:
    """What is assigned, in the array's type and broadcast to the shape that is assigned to."""
    from pyasc.frontend import shapes

    if len(numeric.shape_of(data)) > len(shape):
        raise v.error(
            None,
            "PA0502",
            "the array has more dimensions than what it is assigned to",
            hint="assign an array of that shape",
        )
    sizes = [
        Const(dim) if isinstance(dim, int) else SizeVal(dim) if dim is not None else Scalar(extent, weak=True)
        for dim, extent in zip(shape, extents, strict=True)
    ]
    return numeric.as_tensor(
        v, shapes.broadcast_to(v, numeric.cast_to(v, data, array.dtype), Tuple(tuple(sizes)))
    ).value


def _nest(
    v: Visitor, extents: Sequence[Value], counters: list[Value], write: Callable[[list[Value]], None]
) -> None:
    if not extents:
        write(counters)
        return
    block = Block([_I64])
    with v.block(block):
        _nest(v, extents[1:], [*counters, block.args[0]], write)
        v.emit.insert(scf.Yield(values=[]))
    zero, one = v.emit.index(0), v.emit.index(1)
    v.emit.insert(scf.For(lower=zero, upper=extents[0], step=one, inits=[], types=[], body=Region([block])))
