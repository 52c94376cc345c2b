# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Interpretation of buffers: elements, views, copies, register vectors and tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import mem, py, vec
from pyasc.ir.interpreter_arith import convert_scalar
from pyasc.ir.interpreter_state import Frame, Handler, InterpreterError, element, set_element, undefined
from pyasc.ir.numbers_eval import carried, evaluate, evaluate_constants, plain
from pyasc.ir.numbers_half import Array
from pyasc.ir.types import RefType, TileType, VectorType, dtype_of


def _alloc(frame: Frame, op: mem.Alloc) -> Sequence[Any]:
    assert isinstance(op.ref.type, RefType)
    return (undefined(frame.result_shape(op.ref.type.shape, op.sizes), op.ref.type.dtype),)


def _load(frame: Frame, op: mem.Load) -> Sequence[Any]:
    return (element(frame[op.ref], dtype_of(op.ref.type), frame.all(op.indices)),)


def _store(frame: Frame, op: mem.Store) -> Sequence[Any]:
    set_element(frame[op.ref], dtype_of(op.ref.type), frame.all(op.indices), frame[op.value])
    return ()


def _atomic(frame: Frame, op: mem.Atomic) -> Sequence[Any]:
    _combine(frame[op.ref], op.ref, frame.all(op.indices), op.fn, frame[op.value])
    return ()


def _combine(array: Array, ref: Value, index: Sequence[int], fn: str, value: Any) -> None:
    dtype = dtype_of(ref.type)
    combined = evaluate_constants(fn, dtype, element(array, dtype, index), value)
    set_element(array, dtype, index, combined)


def _signal(frame: Frame, op: mem.Signal) -> Sequence[Any]:
    set_element(frame[op.ref], dtype_of(op.ref.type), frame.all(op.indices), 1)
    return ()


def _await(frame: Frame, op: mem.Await) -> Sequence[Any]:
    index = frame.all(op.indices)
    if element(frame[op.ref], dtype_of(op.ref.type), index) != 1:
        raise InterpreterError(f"element {index} is awaited, but no earlier iteration has set it")
    return ()


def _dim(frame: Frame, op: mem.Dim) -> Sequence[Any]:
    return (frame[op.ref].shape[op.axis],)


def _view(frame: Frame, op: mem.View) -> Sequence[Any]:
    return (view(frame[op.ref], frame.all(op.offsets), frame.all(op.sizes), frame.all(op.steps), op.axes),)


def view(
    array: Array, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int], axes: Sequence[int]
) -> Array:
    """Another array onto the same memory, by the rules of `mem.view`. Raises InterpreterError outside of it."""
    boxes = list(zip(offsets, sizes, steps, array.shape, strict=True))
    shape = tuple(1 if axis < 0 else sizes[axis] for axis in axes)
    if any(size < 0 for size in sizes):
        raise InterpreterError(f"a view has sizes {list(sizes)}")
    if 0 in sizes:
        return np.empty(shape, array.dtype)
    for offset, size, step, extent in boxes:
        if not (0 <= offset < extent and 0 <= offset + (size - 1) * step < extent):
            raise InterpreterError(
                f"a view of {size} elements from {offset} by {step} leaves extent {extent}"
            )
    strides = tuple(0 if axis < 0 else array.strides[axis] * steps[axis] for axis in axes)
    start = array[tuple(slice(offset, None) for offset in offsets)]
    return np.lib.stride_tricks.as_strided(start, shape, strides)


def _copy(frame: Frame, op: mem.Copy) -> Sequence[Any]:
    source, target = frame[op.source], frame[op.target]
    if source.shape != target.shape:
        raise InterpreterError(f"mem.copy between shapes {source.shape} and {target.shape}")
    target[...] = source.copy()
    return ()


def python_index(array: Array, index: Sequence[int]) -> list[int]:
    """Indices under Python's rules: negative ones count from the end. Raises IndexError as NumPy words it."""
    found: list[int] = []
    for axis, (i, extent) in enumerate(zip(index, array.shape, strict=True)):
        if not -extent <= i < extent:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {extent}")
        found.append(i + extent if i < 0 else i)
    return found


def _py_load(frame: Frame, op: py.Load) -> Sequence[Any]:
    array = frame[op.ref]
    return (element(array, dtype_of(op.ref.type), python_index(array, frame.all(op.indices))),)


def _py_store(frame: Frame, op: py.Store) -> Sequence[Any]:
    array = frame[op.ref]
    set_element(array, dtype_of(op.ref.type), python_index(array, frame.all(op.indices)), frame[op.value])
    return ()


def _py_atomic(frame: Frame, op: py.Atomic) -> Sequence[Any]:
    array = frame[op.ref]
    _combine(array, op.ref, python_index(array, frame.all(op.indices)), op.fn, frame[op.value])
    return ()


def _lanes(array: Array, index: Sequence[int], lanes: int) -> Array:
    """The consecutive elements of the last axis that a vector access touches, as a view; none may lie anywhere."""
    *outer, last = index
    if not lanes and len(index) == array.ndim:
        return np.empty(0, array.dtype)
    fits = len(index) == array.ndim and all(0 <= i < n for i, n in zip(outer, array.shape, strict=False))
    if not fits or not 0 <= last <= array.shape[-1] - lanes:
        raise InterpreterError(f"{lanes} lanes at {tuple(index)} leave a buffer of shape {array.shape}")
    return array[tuple(outer)][last : last + lanes]


def _vec_load(frame: Frame, op: vec.Load) -> Sequence[Any]:
    assert isinstance(op.value.type, VectorType)
    lanes = op.value.type.lanes
    count = _count(frame, op.count, lanes)
    found = _lanes(frame[op.ref], frame.all(op.indices), count)
    return (np.concatenate([found, np.zeros(lanes - count, found.dtype)]),)


def _vec_store(frame: Frame, op: vec.Store) -> Sequence[Any]:
    value = frame[op.value]
    count = _count(frame, op.count, len(value))
    _lanes(frame[op.ref], frame.all(op.indices), count)[...] = value[:count]
    return ()


def _count(frame: Frame, count: Sequence[Value], lanes: int) -> int:
    """How many lanes of an access are in use."""
    return min(max(frame[count[0]], 0), lanes) if count else lanes


def _misaligned(frame: Frame, op: vec.Misaligned) -> Sequence[Any]:
    array, offsets = frame[op.ref], frame.all(op.indices)
    address = array.ctypes.data + sum(i * step for i, step in zip(offsets, array.strides, strict=True))
    return (-address % op.bytes // array.itemsize,)


def _nothing(frame: Frame, op: Operation) -> Sequence[Any]:
    """What is about caches has no meaning here."""
    return ()


def _first(frame: Frame, op: vec.First) -> Sequence[Any]:
    assert isinstance(op.mask.type, VectorType)
    return (np.arange(op.mask.type.lanes) < frame[op.count],)


def _lane_numbers(frame: Frame, op: vec.Lanes) -> Sequence[Any]:
    assert isinstance(op.result.type, VectorType)
    lanes, dtype = op.result.type.lanes, op.result.type.dtype
    start = np.full(lanes, carried(frame[op.start], dtype))
    return (evaluate("add", start, np.arange(lanes).astype(start.dtype), dtype=dtype),)


def _any_lane(frame: Frame, op: vec.AnyLane) -> Sequence[Any]:
    return (bool(np.any(frame[op.mask])),)


def _vec_scan(frame: Frame, op: vec.Scan) -> Sequence[Any]:
    values, dtype = frame[op.value].copy(), dtype_of(op.value.type)
    by = 1
    while by < len(values):
        values[by:] = evaluate(op.fn, values[:-by].copy(), values[by:].copy(), dtype=dtype)
        by *= 2
    return (values,)


def _shift(frame: Frame, op: vec.Shift) -> Sequence[Any]:
    both, by = np.concatenate([frame[op.low], frame[op.high]]), frame[op.by]
    return (both[by : by + len(both) // 2].copy(),)


def _last(frame: Frame, op: vec.Last) -> Sequence[Any]:
    values = frame[op.value]
    return (np.full_like(values, values[-1]),)


def _splat(frame: Frame, op: vec.Splat) -> Sequence[Any]:
    assert isinstance(op.result.type, VectorType)
    return (np.full(op.result.type.lanes, carried(frame[op.value], op.result.type.dtype)),)


def _reduce(frame: Frame, op: vec.Reduce) -> Sequence[Any]:
    values, dtype = frame[op.value], dtype_of(op.value.type)
    while len(values) > 1:
        half = len(values) // 2
        combined = evaluate(op.fn, values[:half], values[half : 2 * half], dtype=dtype)
        values = np.concatenate([combined, values[2 * half :]])
    return (plain(values[0], dtype),)


def _fill(frame: Frame, op: vec.Fill) -> Sequence[Any]:
    tile = op.result.type
    assert isinstance(tile, TileType)
    return (np.full((tile.rows, tile.columns, tile.lanes), carried(frame[op.value], tile.dtype)),)


def _tile_vectors(frame: Frame, op: vec.LoadTile | vec.StoreTile) -> Iterator[tuple[int, int, Array]]:
    """Row, column and memory of each vector of a tile."""
    tile = op.value.type
    assert isinstance(tile, TileType)
    array, first = frame[op.ref], frame.all(op.indices)
    for row in range(tile.rows):
        outer = [index + row * (axis == op.axis) for axis, index in enumerate(first)]
        for column, start in enumerate(frame.all(op.starts)):
            yield row, column, _lanes(array, [*outer, start], tile.lanes)


def _load_tile(frame: Frame, op: vec.LoadTile) -> Sequence[Any]:
    tile = op.value.type
    assert isinstance(tile, TileType)
    found = np.empty((tile.rows, tile.columns, tile.lanes), frame[op.ref].dtype)
    for row, column, memory in _tile_vectors(frame, op):
        found[row, column] = memory
    return (found,)


def _store_tile(frame: Frame, op: vec.StoreTile) -> Sequence[Any]:
    tile = frame[op.value]
    for row, column, memory in _tile_vectors(frame, op):
        memory[...] = tile[row, column]
    return ()


def _fma_tile(frame: Frame, op: vec.FmaTile) -> Sequence[Any]:
    dtype, source = dtype_of(op.sum.type), dtype_of(op.ref.type)
    array, first, total = frame[op.ref], frame.all(op.indices), frame[op.sum]
    factors = [
        element(array, source, [i + row * step for i, step in zip(first, op.steps, strict=True)])
        for row in range(len(total))
    ]
    factor = np.array([carried(convert_scalar(each, source, dtype), dtype) for each in factors])
    columns = np.stack(frame.all(op.columns))
    return (evaluate("fma", *np.broadcast_arrays(factor[:, None, None], columns, total), dtype=dtype),)


HANDLERS: dict[type[Operation], Handler] = {
    mem.Alloc: _alloc,
    mem.Load: _load,
    mem.Store: _store,
    mem.Atomic: _atomic,
    mem.Signal: _signal,
    mem.Await: _await,
    mem.Dim: _dim,
    mem.View: _view,
    mem.Copy: _copy,
    py.Load: _py_load,
    py.Store: _py_store,
    py.Atomic: _py_atomic,
    vec.Load: _vec_load,
    vec.Store: _vec_store,
    vec.Splat: _splat,
    vec.Reduce: _reduce,
    vec.Misaligned: _misaligned,
    vec.Drain: _nothing,
    vec.Prefetch: _nothing,
    vec.First: _first,
    vec.Lanes: _lane_numbers,
    vec.AnyLane: _any_lane,
    vec.Scan: _vec_scan,
    vec.Last: _last,
    vec.Shift: _shift,
    vec.Fill: _fill,
    vec.LoadTile: _load_tile,
    vec.StoreTile: _store_tile,
    vec.FmaTile: _fma_tile,
}
