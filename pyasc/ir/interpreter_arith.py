# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Interpretation of constants, conversions and the functions of the number table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyasc.ir.core import Operation
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import DType
from pyasc.ir.interpreter_state import Frame, Handler
from pyasc.ir.numbers_eval import carried, convert, evaluate, evaluate_constants, plain
from pyasc.ir.types import ScalarType, TensorType, VectorType, dtype_of


def _constant(frame: Frame, op: arith.Constant) -> Sequence[Any]:
    type_ = op.result.type
    value = carried(op.value, dtype_of(type_))
    if isinstance(type_, TensorType):
        return (np.full(frame.result_shape(type_.shape, ()), value),)
    if isinstance(type_, VectorType):
        return (np.full(type_.lanes, value),)
    return (plain(value, dtype_of(type_)),)


def _elementwise(frame: Frame, op: arith.Elementwise) -> Sequence[Any]:
    operands = op.args
    type_ = operands[-1].type
    args = frame.all(operands)
    if isinstance(type_, ScalarType):
        return (evaluate_constants(op.fn, type_.dtype, *args),)
    return (evaluate(op.fn, *args, dtype=dtype_of(type_)),)


def _cast(frame: Frame, op: arith.Cast) -> Sequence[Any]:
    source, target = dtype_of(op.value.type), dtype_of(op.result.type)
    value = frame[op.value]
    if isinstance(op.value.type, ScalarType):
        return (convert_scalar(value, source, target),)
    return (convert(value, source, target),)


def convert_scalar(value: Any, source: DType, target: DType) -> bool | int | float:
    """One number converted between dtypes."""
    return value if source is target else plain(convert(carried(value, source), source, target), target)


HANDLERS: dict[type[Operation], Handler] = {
    arith.Constant: _constant,
    arith.Elementwise: _elementwise,
    arith.Cast: _cast,
}
