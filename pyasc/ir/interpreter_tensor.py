# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Interpretation of tensor values with NumPy's meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.interpreter_memory import view
from pyasc.ir.interpreter_state import Frame, Handler, InterpreterError, element
from pyasc.ir.numbers_eval import carried, convert, evaluate
from pyasc.ir.numbers_half import Array, carrier, to_float
from pyasc.ir.types import TensorType, dtype_of


def _read(frame: Frame, op: tensor.Read) -> Sequence[Any]:
    return (frame[op.ref].copy(),)


def _write(frame: Frame, op: tensor.Write) -> Sequence[Any]:
    value, target = frame[op.value], frame[op.ref]
    if value.shape != target.shape:
        raise InterpreterError(f"tensor.write of shape {value.shape} into a buffer of shape {target.shape}")
    target[...] = value
    return ()


def _shape(frame: Frame, value: Value, sizes: Sequence[Value]) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return frame.result_shape(value.type.shape, sizes)


def _splat(frame: Frame, op: tensor.Splat) -> Sequence[Any]:
    value = carried(frame[op.value], dtype_of(op.result.type))
    return (np.full(_shape(frame, op.result, op.sizes), value),)


def _generate(frame: Frame, op: tensor.Generate) -> Sequence[Any]:
    dtype = dtype_of(op.result.type)
    result = np.empty(_shape(frame, op.result, op.sizes), carrier(dtype))
    for index in np.ndindex(result.shape):
        (value,) = frame.run(op.body.block, index)
        result[index] = carried(value, dtype)
    return (result,)


def _extract(frame: Frame, op: tensor.Extract) -> Sequence[Any]:
    return (element(frame[op.tensor], dtype_of(op.tensor.type), frame.all(op.indices)),)


def _dim(frame: Frame, op: tensor.Dim) -> Sequence[Any]:
    return (frame[op.tensor].shape[op.axis],)


def _broadcast(frame: Frame, op: tensor.Broadcast) -> Sequence[Any]:
    return (np.broadcast_to(frame[op.value], _shape(frame, op.result, op.sizes)).copy(),)


def _view(frame: Frame, op: tensor.View) -> Sequence[Any]:
    offsets, sizes, steps = (frame.all(values) for values in (op.offsets, op.sizes, op.steps))
    return (view(frame[op.value], offsets, sizes, steps, op.axes).copy(),)


def _reshape(frame: Frame, op: tensor.Reshape) -> Sequence[Any]:
    return (frame[op.value].reshape(_shape(frame, op.result, op.sizes)).copy(),)


def _carrying(fn: str, dtype: DType) -> DType:
    """The dtype in which running values are kept: sums of 16-bit floats in f32."""
    return dtypes.f32 if fn in ("add", "mul") and dtype in (dtypes.f16, dtypes.bf16) else dtype


def _reduce(frame: Frame, op: tensor.Reduce) -> Sequence[Any]:
    value, dtype = frame[op.value], dtype_of(op.value.type)
    kept = tuple(axis for axis in range(value.ndim) if axis not in op.axes)
    shape = tuple(value.shape[axis] for axis in kept)
    count = int(np.prod([value.shape[axis] for axis in op.axes], dtype=np.int64))
    rows = value.transpose(*op.axes, *kept).reshape(count, *shape)
    total = _fold_rows(op.fn, rows, dtype, shape)
    if op.keepdims:
        total = total.reshape([1 if axis in op.axes else value.shape[axis] for axis in range(value.ndim)])
    return (total,)


def _fold_rows(fn: str, rows: Array, dtype: DType, shape: tuple[int, ...]) -> Array:
    if not len(rows):
        return _of_nothing(fn, dtype, shape)
    wide = _carrying(fn, dtype)
    running = convert(rows[0], dtype, wide)
    for row in rows[1:]:
        running = evaluate(fn, running, convert(row, dtype, wide), dtype=wide)
    return convert(running, wide, dtype)


def _of_nothing(fn: str, dtype: DType, shape: tuple[int, ...]) -> Array:
    """What combined with any value gives that value."""
    zeros = np.zeros(shape, carrier(dtype))
    match fn:
        case "add" | "or":
            return zeros
        case "mul":
            return np.full(shape, carried(1, dtype))
        case "and":
            return evaluate("not", zeros, dtype=dtype)
        case _:
            raise InterpreterError(f"the {fn} of nothing")


def _argreduce(frame: Frame, op: tensor.ArgReduce) -> Sequence[Any]:
    value, dtype = frame[op.value], dtype_of(op.value.type)
    wide = to_float(value, dtype) if dtype is dtypes.bf16 else value
    if value.shape[op.axis] == 0:
        raise InterpreterError(f"the {op.fn} of nothing")
    find = np.argmax if op.fn == "maximum" else np.argmin
    return (np.asarray(find(wide, axis=op.axis, keepdims=op.keepdims), np.int64),)


def _scan(frame: Frame, op: tensor.Scan) -> Sequence[Any]:
    value, dtype = frame[op.value], dtype_of(op.value.type)
    wide = _carrying(op.fn, dtype)
    result = value.copy()
    rows, out = (np.moveaxis(array, op.axis, 0) for array in (value, result))
    running: Array | None = None
    for i, row in enumerate(rows):
        item = convert(row, dtype, wide)
        running = item if running is None else evaluate(op.fn, running, item, dtype=wide)
        out[i] = convert(running, wide, dtype)
    return (result,)


def _contract(frame: Frame, op: tensor.Contract) -> Sequence[Any]:
    """Sums in float64, or in integers that wrap, then rounds to `accumulate` and to the result's dtype."""
    accumulate, target = dtype_of(op.accumulate), dtype_of(op.result.type)
    widest = dtypes.f64 if accumulate.is_float else accumulate
    sides = [convert(frame[side], dtype_of(side.type), widest) for side in (op.lhs, op.rhs)]
    with np.errstate(all="ignore"):
        total = np.asarray(np.einsum(op.equation, *sides))
    return (convert(convert(total, widest, accumulate), accumulate, target),)


def _concat(frame: Frame, op: tensor.Concat) -> Sequence[Any]:
    return (np.concatenate(frame.all(op.values), axis=op.axis),)


HANDLERS: dict[type[Operation], Handler] = {
    tensor.Read: _read,
    tensor.Write: _write,
    tensor.Splat: _splat,
    tensor.Generate: _generate,
    tensor.Extract: _extract,
    tensor.Dim: _dim,
    tensor.Broadcast: _broadcast,
    tensor.View: _view,
    tensor.Reshape: _reshape,
    tensor.Reduce: _reduce,
    tensor.ArgReduce: _argreduce,
    tensor.Scan: _scan,
    tensor.Contract: _contract,
    tensor.Concat: _concat,
}
