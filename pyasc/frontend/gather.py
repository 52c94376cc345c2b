# SPDX-License-Identifier: Apache-2.0
"""Elements and rows at computed indices: `x[indices]` read and assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pyasc.frontend import numeric
from pyasc.frontend.values import Array, Slice, Tensor, Tuple, Val, is_array, is_number
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
            node, "PA0205", "index arrays beside slices", hint="index arrays must stand for the leading axes"
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
    """`x[i, j] = value` with integer arrays for all axes: element by element, the last of equal indices wins."""
    from pyasc.frontend.subscripts import element_value, mark_written
    from pyasc.ir.dialects import mem

    found = _index_tensors(v, array, indices, target)
    if len(found) != len(array.shape):
        raise v.error(
            target, "PA0205", "an assignment through index arrays for some axes", hint="write the loop out"
        )
    data = numeric.operand(v, value)
    operands: list[Val] = [*found, data]
    shape = numeric.common_shape(v, found)
    places = [numeric.elements(v, each, dtypes.i64, shape, operands) for each in found]
    tensors = None if is_number(data) else numeric.elements(v, data, array.dtype, shape, operands)
    fixed = element_value(v, data, array.dtype) if is_number(data) else None
    mark_written(v, array.ref)
    extents = [numeric.extent(v, Tensor(places[0]), axis) for axis in range(len(shape))]

    def write(counters: list[Value]) -> None:
        at = [v.emit.value(tensor.Extract(tensor=each, indices=counters)) for each in places]
        element = fixed
        if tensors is not None:
            element = v.emit.value(tensor.Extract(tensor=tensors, indices=counters))
        assert element is not None
        v.emit.insert(mem.Store(value=element, ref=array.ref, indices=at))

    _nest(v, extents, [], write)


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
