# SPDX-License-Identifier: Apache-2.0
"""The value of an arithmetic operation on constants: the one place where passes meet the number table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from pyasc.ir import dtypes, numbers
from pyasc.ir.core import Operation
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import DType
from pyasc.ir.types import dtype_of

Number = bool | int | float

_INDEX_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "minimum": min,
    "maximum": max,
    "pymin": min,
    "pymax": max,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
"""What Python integers do as i64 does, wrapping apart: most folding is on indices, and this is much faster."""


def fold_function(fn: str, dtype: DType, values: Sequence[Number]) -> Number | None:
    """`fn` on numbers of `dtype` (`select`: of the last two), or None when the number table does not have it."""
    if dtype is dtypes.i64 and fn in _INDEX_ARITHMETIC:
        result = _INDEX_ARITHMETIC[fn](*values)
        return result if isinstance(result, bool) else wrap(result, dtype)
    row = numbers.TABLE.get(fn)
    if row is None or dtype.kind not in row.kinds:
        return None
    return numbers.evaluate_constants(fn, dtype, *values)


def fold_cast(value: Number, source: DType, target: DType) -> Number:
    """A number of one dtype converted to another."""
    import numpy as np

    from pyasc.ir.numbers_eval import carried, plain

    with np.errstate(all="ignore"):
        return plain(numbers.convert(carried(value, source), source, target), target)


def fold_operation(op: Operation, values: Sequence[Number]) -> Number | None:
    """The number that an operation gives for operands of these values, or None when that is not known here."""
    match op:
        case arith.Elementwise():
            return fold_function(op.fn, dtype_of(op.operands[-1].type), values)
        case arith.Cast():
            return fold_cast(values[0], dtype_of(op.value.type), dtype_of(op.result.type))
        case _:
            return None


def wrap(value: int, dtype: DType) -> int:
    """An integer modulo the width of an integer dtype."""
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.is_signed and value >> (dtype.bits - 1) else value
