# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What the interpreter knows while it runs: the launch, and the values of one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects.func import Module
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers_eval import carried
from pyasc.ir.numbers_half import Array, carrier, from_float
from pyasc.ir.sizes import Dim, SizeExpr
from pyasc.ir.traits import TERMINATOR


class InterpreterError(RuntimeError):
    """The IR does what no valid IR does: a pass or the frontend is wrong."""


Handler: TypeAlias = "Callable[[Frame, Any], Sequence[Any]]"
"""Runs one operation and returns its results."""


@dataclass(frozen=True)
class Runtime:
    """One launch."""

    module: Module
    sizes: dict[str, int]
    handlers: Mapping[type[Operation], Handler]
    emit: Callable[[str], None]
    reverse_parallel: bool

    def extent(self, dim: SizeExpr | int) -> int:
        """The value of a known or symbolic extent."""
        try:
            return dim if isinstance(dim, int) else dim.evaluate(self.sizes)
        except KeyError as error:
            raise ValueError(f"size {error} is not bound") from None

    def shape(self, dims: Sequence[Dim], open_: Sequence[int]) -> tuple[int, ...]:
        """A concrete shape; `open_` has an extent for each axis, read where the type says `?`."""
        return tuple(o if d is None else self.extent(d) for d, o in zip(dims, open_, strict=False))


class Frame:
    """The values of one call of a function. Nested blocks share it: every value is assigned before it is read."""

    __slots__ = ("runtime", "values")

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.values: dict[Value, Any] = {}

    def __getitem__(self, value: Value) -> Any:
        return self.values[value]

    def all(self, values: Sequence[Value]) -> list[Any]:
        """The run-time values of several SSA values."""
        return [self.values[value] for value in values]

    def run(self, block: Block, args: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Run a block and return the operands of its terminator."""
        values = self.values
        handlers = self.runtime.handlers
        values.update(zip(block.args, args, strict=True))
        for op in block:
            if TERMINATOR in op.spec.traits:
                return tuple(self.all(op.operands))
            handler = handlers.get(type(op))
            if handler is None:
                raise InterpreterError(f"the interpreter does not know {op.name}")
            values.update(zip(op.results, handler(self, op), strict=True))
        return ()

    def result_shape(self, dims: Sequence[Dim], sizes: Sequence[Value]) -> tuple[int, ...]:
        """A concrete shape whose `?` extents stand in `sizes`, in order."""
        given = iter(self.all(sizes))
        return tuple(next(given) if dim is None else self.runtime.extent(dim) for dim in dims)


def element(array: Array, dtype: DType, index: Sequence[int]) -> bool | int | float:
    """One element as a Python number. Raises InterpreterError for an index out of range."""
    value = array[_checked(array, index)]
    if dtype.name == "bf16":
        bits = np.asarray(value, np.uint32) << np.uint32(16)
        return bits.view(np.float32).item()
    return value.item()


def set_element(array: Array, dtype: DType, index: Sequence[int], value: bool | int | float) -> None:
    """Write one element. Raises InterpreterError for an index out of range."""
    array[_checked(array, index)] = carried(value, dtype)


def _checked(array: Array, index: Sequence[int]) -> tuple[int, ...]:
    if len(index) != array.ndim or not all(0 <= i < n for i, n in zip(index, array.shape, strict=True)):
        raise InterpreterError(f"index {tuple(index)} is not in a buffer of shape {array.shape}")
    return tuple(index)


def undefined(shape: Sequence[int], dtype: DType) -> Array:
    """A fresh buffer whose contents stand out: NaN, or alternating bits."""
    if dtype.is_float:
        return from_float(np.full(shape, np.nan, np.float32), dtype)
    pattern = np.full((*shape, dtype.bytes), 0xA5, np.uint8).view(np.uint8)
    return np.ones(shape, np.bool_) if dtype.is_bool else pattern.view(carrier(dtype)).reshape(tuple(shape))
