# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Interpretation of the tile level. Layouts are a matter of storage: here a tile is what its indices say."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import tile, tile_lanes
from pyasc.ir.dtypes import DType
from pyasc.ir.interpreter_state import Frame, Handler, InterpreterError, undefined
from pyasc.ir.numbers_eval import carried, convert, evaluate
from pyasc.ir.numbers_half import Array, carrier, to_float
from pyasc.ir.types import RefType, ScalarType, dtype_of


def _cores(frame: Frame, op: tile.Cores) -> Sequence[Any]:
    pieces = range(frame[op.count])
    for piece in reversed(pieces) if frame.runtime.reverse_parallel else pieces:
        frame.run(op.body.block, [piece])
    return ()


def _loop(frame: Frame, op: tile.Loop) -> Sequence[Any]:
    extents = frame.all(op.extents)
    order = op.order or tuple(range(len(extents)))
    for outer_first in itertools.product(*(range(0, extents[axis], op.tile[axis]) for axis in order)):
        offsets = [offset for _, offset in sorted(zip(order, outer_first, strict=True))]
        sizes = [min(t, n - o) for t, n, o in zip(op.tile, extents, offsets, strict=True)]
        frame.run(op.body.block, [*offsets, *sizes])
    return ()


def _repeat(frame: Frame, op: tile.Repeat) -> Sequence[Any]:
    for _ in range(frame[op.rounds]):
        if op.mask and not corner(frame[op.mask[0]], frame.all(op.sizes)).any():
            break
        frame.run(op.body.block, [])
    return ()


def _buffer(frame: Frame, op: tile.Buffer) -> Sequence[Any]:
    assert isinstance(op.tile.type, RefType)
    shape = frame.result_shape(op.tile.type.shape, op.extents)
    if op.extents and np.prod(shape) > op.capacity:
        raise InterpreterError(f"a tile of shape {shape} exceeds its capacity of {op.capacity}")
    return (undefined(shape, op.tile.type.dtype),)


def _flatten(frame: Frame, op: tile.Flatten) -> Sequence[Any]:
    return (frame[op.ref].reshape(-1),)


def _merge(frame: Frame, op: tile.Merge) -> Sequence[Any]:
    array = frame[op.ref]
    return (array.reshape(*array.shape[: op.axis], int(np.prod(array.shape[op.axis :]))),)


def _recast(frame: Frame, op: tile.Recast) -> Sequence[Any]:
    return (frame[op.tile].view(carrier(dtype_of(op.same.type))),)


def corner(array: Array, sizes: Sequence[int]) -> Array:
    """The leading corner of a tile; an axis of extent 1 stays whole. Raises InterpreterError when it does not fit."""
    for size, extent in zip(sizes, array.shape, strict=True):
        if not 0 <= size <= extent and extent != 1:
            raise InterpreterError(f"sizes {tuple(sizes)} leave a tile of shape {array.shape}")
    return array[tuple(slice(0, min(size, extent)) for size, extent in zip(sizes, array.shape, strict=True))]


def _target(frame: Frame, value: Value, sizes: Sequence[int]) -> Array:
    """The corner of a tile that is written, which no axis of extent 1 may shorten."""
    array = frame[value]
    if any(size > extent for size, extent in zip(sizes, array.shape, strict=True)):
        raise InterpreterError(f"sizes {tuple(sizes)} leave a tile of shape {array.shape}")
    return corner(array, sizes)


def _copy(frame: Frame, op: tile.Copy) -> Sequence[Any]:
    sizes = frame.all(op.sizes)
    source, target = dtype_of(op.source.type), dtype_of(op.target.type)
    moved = corner(frame[op.source], sizes).copy()
    if op.relu:
        moved = evaluate("maximum", moved, carried(0, source), dtype=source)
    moved = convert(moved, source, target)
    box = _target(frame, op.target, sizes)
    if op.accumulate is not None:
        moved = evaluate(op.accumulate, box, moved, dtype=target)
    if op.pad is not None:
        rows = frame[op.target][tuple(slice(0, size) for size in sizes[:-1])]
        rows[...] = carried(op.pad, target)
    box[...] = moved
    return ()


def _elementwise(frame: Frame, op: tile.Elementwise) -> Sequence[Any]:
    sizes = frame.all(op.sizes)
    dtype = dtype_of(op.args[-1].type)
    args: list[Array] = []
    for arg in op.args:
        value = frame[arg]
        args.append(
            carried(value, dtype_of(arg.type)) if isinstance(arg.type, ScalarType) else corner(value, sizes)
        )
    _target(frame, op.target, sizes)[...] = evaluate(op.fn, *args, dtype=dtype)
    return ()


_ROUND: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "none": np.rint,
    "round": lambda a: np.copysign(np.floor(np.abs(a) + 0.5), a),
}


def _cast(frame: Frame, op: tile.Cast) -> Sequence[Any]:
    sizes = frame.all(op.sizes)
    source, target = dtype_of(op.source.type), dtype_of(op.target.type)
    value = corner(frame[op.source], sizes)
    if source.is_float and (target.is_integer or target is source):
        rounded = _rounding(op.rounding)(to_float(value, source).astype(np.float64))
        result = convert(rounded, dtypes.f64, target)
    elif op.rounding in ("none", "rint") or not target.is_float:
        result = convert(value, source, target)
    else:
        raise InterpreterError(f"rounding {op.rounding} from {source} to {target} is not interpreted")
    _target(frame, op.target, sizes)[...] = result
    return ()


def _rounding(name: str) -> Callable[[Array], Array]:
    if name not in _ROUND:
        raise InterpreterError(f"rounding {name} to integers is not interpreted")
    return _ROUND[name]


def _fill(frame: Frame, op: tile.Fill) -> Sequence[Any]:
    value = carried(frame[op.value], dtype_of(op.value.type))
    _target(frame, op.target, frame.all(op.sizes))[...] = value
    return ()


def _iota(frame: Frame, op: tile.Iota) -> Sequence[Any]:
    dtype = dtype_of(op.target.type)
    box = _target(frame, op.target, frame.all(op.sizes))
    steps = convert(np.arange(box.shape[op.axis]), dtypes.i64, dtype)
    along = np.expand_dims(steps, tuple(range(1, box.ndim - op.axis % box.ndim)))
    box[...] = evaluate("add", carried(frame[op.start], dtype), along, dtype=dtype)
    return ()


def _broadcast(frame: Frame, op: tile.Broadcast) -> Sequence[Any]:
    sizes = frame.all(op.sizes)
    _target(frame, op.target, sizes)[...] = corner(frame[op.source], sizes).copy()
    return ()


def _transpose(frame: Frame, op: tile.Transpose) -> Sequence[Any]:
    sizes = frame.all(op.sizes)
    moved = corner(frame[op.source], sizes).transpose(op.axes).copy()
    _target(frame, op.target, [sizes[axis] for axis in op.axes])[...] = moved
    return ()


def _gather(frame: Frame, op: tile.Gather) -> Sequence[Any]:
    sizes = frame.all(op.sizes)
    source, indices = frame[op.source].reshape(-1), corner(frame[op.indices], sizes)
    if op.in_bytes:
        indices = indices // dtype_of(op.source.type).bytes
    if indices.size and not (indices.min() >= 0 and indices.max() < source.size):
        raise InterpreterError(f"a gather leaves a tile of {source.size} elements")
    _target(frame, op.target, sizes)[...] = source[indices]
    return ()


def _part(frame: Frame, op: tile_lanes.Part) -> Sequence[Any]:
    return (frame[op.tile][op.start :],)


def _pick(frame: Frame, op: tile_lanes.Pick) -> Sequence[Any]:
    box = _target(frame, op.target, frame.all(op.sizes))
    size, source = box.shape[-1], frame[op.source].view(box.dtype)
    if op.stride < 0:
        box[...] = source[..., : max(1 - op.stride * (size - 1), 0)][..., :: op.stride].copy()
    elif size:
        end = op.phase + op.stride * (size - 1) + 1
        box[...] = source[..., op.phase : end : op.stride][tuple(slice(n) for n in box.shape[:-1])].copy()
    return ()


def _weave(frame: Frame, op: tile_lanes.Weave) -> Sequence[Any]:
    (size,) = frame.all(op.sizes)
    box, source = _target(frame, op.target, [size * op.count]), frame[op.source]
    for number in range(op.count):
        box[number :: op.count] = source[number * op.width :][:size]
    return ()


def _scan(frame: Frame, op: tile_lanes.Scan) -> Sequence[Any]:
    sizes, dtype = frame.all(op.sizes), dtype_of(op.source.type)
    source, box = corner(frame[op.source], sizes).copy(), _target(frame, op.target, sizes)
    if op.axis == 1:
        source, box = source.T, box.T
    carry = frame[op.carry].reshape(-1)[: source.shape[1]]
    for number, row in enumerate(source):
        carry[...] = evaluate(op.fn, carry, row, dtype=dtype)
        box[number] = carry
    return ()


def _tally(frame: Frame, op: tile_lanes.Tally) -> Sequence[Any]:
    (size,), bins = frame.all(op.sizes), frame[op.bins]
    lanes = frame[op.lanes].reshape(-1, 64)
    for number in range(size):
        place = frame[op.places][number]
        if 0 <= place < bins:
            lanes[place, number % 64] += frame[op.source][number]
    return ()


def _totals(frame: Frame, op: tile_lanes.Totals) -> Sequence[Any]:
    (bins,) = frame.all(op.sizes)
    frame[op.target][:bins] = frame[op.lanes].reshape(-1, 64)[:bins].sum(axis=1, dtype=frame[op.lanes].dtype)
    return ()


def _copy_rows(frame: Frame, op: tile_lanes.CopyRows) -> Sequence[Any]:
    rows, width = frame.all(op.sizes)
    box, source = _target(frame, op.target, [rows, width]), frame[op.source].reshape(-1)
    for row in range(rows):
        (start,) = frame.run(op.body.block, [row])
        if width and not 0 <= start <= source.size - width:
            raise InterpreterError(f"a row from element {start} on leaves an array of {source.size} elements")
        box[row] = source[start : start + width]
    return ()


def _reduce(frame: Frame, op: tile.Reduce) -> Sequence[Any]:
    sizes, dtype = frame.all(op.sizes), dtype_of(op.source.type)
    rows = (
        list(np.split(corner(frame[op.source], sizes).copy(), sizes[op.axis], axis=op.axis))
        if sizes[op.axis]
        else []
    )
    kept = [1 if axis == op.axis else size for axis, size in enumerate(sizes)]
    box = _target(frame, op.target, kept)
    parts = [box.copy(), *rows] if op.continued else rows
    if not parts:
        raise InterpreterError(f"the {op.fn} of nothing")
    wide = _sum_dtype(op.fn, dtype)
    running = convert(parts[0], dtype, wide)
    for part in parts[1:]:
        running = evaluate(op.fn, running, convert(part, dtype, wide), dtype=wide)
    box[...] = convert(running, wide, dtype)
    return ()


def _sum_dtype(fn: str, dtype: DType) -> DType:
    return dtypes.f32 if fn in ("add", "mul") and dtype in (dtypes.f16, dtypes.bf16) else dtype


def _fold(frame: Frame, op: tile.Fold) -> Sequence[Any]:
    dtype = dtype_of(op.source.type)
    line = corner(frame[op.source], frame.all(op.sizes)).reshape(-1)
    target = frame[op.target].reshape(-1)
    for start in range(0, line.size, target.size):
        part = line[start : start + target.size]
        lanes = target[: part.size]
        lanes[...] = evaluate(op.fn, lanes, part, dtype=dtype)
    return ()


def _argreduce(frame: Frame, op: tile.ArgReduce) -> Sequence[Any]:
    sizes, dtype = frame.all(op.sizes), dtype_of(op.source.type)
    source = corner(frame[op.source], sizes)
    numbers = to_float(source, dtype) if dtype is dtypes.bf16 else source
    find = np.argmax if op.fn == "maximum" else np.argmin
    found = find(numbers, axis=op.axis, keepdims=True)
    kept = [1 if axis == op.axis else size for axis, size in enumerate(sizes)]
    _target(frame, op.target, kept)[...] = np.take_along_axis(source, found, axis=op.axis)
    _target(frame, op.indices, kept)[...] = found.astype(carrier(dtype_of(op.indices.type)))
    return ()


def _matmul(frame: Frame, op: tile.Matmul) -> Sequence[Any]:
    """Sums in float64, or in integers that wrap, rounded once a call to the accumulator's dtype."""
    m, n, k = frame.all(op.sizes)
    source, dtype = dtype_of(op.lhs.type), dtype_of(op.acc.type)
    widest = dtypes.f64 if dtype.is_float else dtype
    lhs = convert(corner(frame[op.lhs], (m, k)), source, widest)
    rhs = convert(corner(frame[op.rhs], (k, n)), source, widest)
    box = _target(frame, op.acc, (m, n))
    with np.errstate(all="ignore"):
        product = lhs @ rhs
        total = product if frame[op.fresh] else convert(box, dtype, widest) + product
    box[...] = convert(total, widest, dtype)
    return ()


def _barrier(_: Frame, __: tile.Barrier) -> Sequence[Any]:
    return ()


HANDLERS: dict[type[Operation], Handler] = {
    tile.Cores: _cores,
    tile.Loop: _loop,
    tile.Repeat: _repeat,
    tile.Buffer: _buffer,
    tile.Flatten: _flatten,
    tile.Merge: _merge,
    tile.Recast: _recast,
    tile.Copy: _copy,
    tile.Elementwise: _elementwise,
    tile.Cast: _cast,
    tile.Fill: _fill,
    tile.Iota: _iota,
    tile.Broadcast: _broadcast,
    tile.Transpose: _transpose,
    tile.Gather: _gather,
    tile_lanes.Part: _part,
    tile_lanes.Pick: _pick,
    tile_lanes.Weave: _weave,
    tile_lanes.CopyRows: _copy_rows,
    tile_lanes.Scan: _scan,
    tile_lanes.Tally: _tally,
    tile_lanes.Totals: _totals,
    tile.Reduce: _reduce,
    tile.Fold: _fold,
    tile.ArgReduce: _argreduce,
    tile.Matmul: _matmul,
    tile.Barrier: _barrier,
}
