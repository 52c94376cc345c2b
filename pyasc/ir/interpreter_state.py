# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What the interpreter knows while it runs: the launch, and the values of one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects.func import Module
from pyasc.ir.dtypes import DType, bf16
from pyasc.ir.numbers_eval import carried
from pyasc.ir.numbers_half import Array, carrier, from_float
from pyasc.ir.sizes import Dim, SizeExpr
from pyasc.ir.traits import TERMINATOR


class InterpreterError(RuntimeError):
    """The IR does what no valid IR does: a pass or the frontend is wrong."""


Handler: TypeAlias = "Callable[[Frame, Any], Sequence[Any]]"
"""Runs one operation and returns its results."""


_Plan: TypeAlias = "tuple[list[tuple[Handler, Operation, tuple[Value, ...]]], list[Value]]"


def _plan(block: Block, handlers: Mapping[type[Operation], Handler]) -> _Plan:
    steps: list[tuple[Handler, Operation, tuple[Value, ...]]] = []
    for op in block:
        if TERMINATOR in op.spec.traits:
            return steps, op.operands
        if type(op) not in handlers:
            raise InterpreterError(f"the interpreter does not know {op.name}")
        steps.append((handlers[type(op)], op, op.results))
    return steps, []


def _observed(handler: Handler, observe: Callable[[Frame, Operation], None]) -> Handler:
    def run(frame: Frame, op: Any) -> Sequence[Any]:
        observe(frame, op)
        return handler(frame, op)

    return run


@dataclass(frozen=True)
class Runtime:
    """One launch."""

    module: Module
    sizes: dict[str, int]
    handlers: Mapping[type[Operation], Handler]
    emit: Callable[[str], None]
    reverse_parallel: bool
    launch: Callable[[str, int, list[Any]], None] | None = None
    observe: Callable[[Frame, Operation], None] | None = None
    failed: Callable[[Operation, list[Any]], None] | None = None
    plans: dict[Block, _Plan] = field(default_factory=dict["Block", "_Plan"])

    def plan(self, block: Block) -> _Plan:
        """What running a block does, looked up once: its steps, and what its terminator passes on."""
        found = self.plans.get(block)
        if found is None:
            steps, ends = _plan(block, self.handlers)
            if self.observe is not None:
                steps = [(_observed(handler, self.observe), op, results) for handler, op, results in steps]
            found = self.plans[block] = (steps, ends)
        return found

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
        known = self.values
        return [known[value] for value in values]

    def run(self, block: Block, args: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Run a block and return the operands of its terminator."""
        values = self.values
        values.update(zip(block.args, args, strict=True))
        steps, ends = self.runtime.plan(block)
        for handler, op, results in steps:
            outcome = handler(self, op)
            if len(results) == 1:
                (values[results[0]],) = outcome
            else:
                values.update(zip(results, outcome, strict=True))
        return tuple([values[value] for value in ends])

    def result_shape(self, dims: Sequence[Dim], sizes: Sequence[Value]) -> tuple[int, ...]:
        """A concrete shape whose `?` extents stand in `sizes`, in order."""
        given = iter(self.all(sizes))
        return tuple(next(given) if dim is None else self.runtime.extent(dim) for dim in dims)


def element(array: Array, dtype: DType, index: Sequence[int]) -> bool | int | float:
    """One element as a Python number. Raises InterpreterError for an index out of range."""
    value = array.item(_checked(array, index))
    return _float_of_bits(value) if dtype is bf16 else value


def set_element(array: Array, dtype: DType, index: Sequence[int], value: bool | int | float) -> None:
    """Write one element. Raises InterpreterError for an index out of range."""
    array[_checked(array, index)] = carried(value, dtype) if dtype is bf16 else value


def _float_of_bits(bits: int) -> float:
    return np.array(bits << 16, np.uint32).view(np.float32).item()


def _checked(array: Array, index: Sequence[int]) -> tuple[int, ...]:
    shape = array.shape
    if len(index) == len(shape):
        for i, extent in zip(index, shape, strict=True):
            if not 0 <= i < extent:
                break
        else:
            return tuple(index)
    raise InterpreterError(f"index {tuple(index)} is not in a buffer of shape {shape}")


def undefined(shape: Sequence[int], dtype: DType) -> Array:
    """A fresh buffer whose contents stand out: NaN, or alternating bits."""
    if dtype.is_float:
        return from_float(np.full(shape, np.nan, np.float32), dtype)
    pattern = np.full((*shape, dtype.bytes), 0xA5, np.uint8).view(np.uint8)
    return np.ones(shape, np.bool_) if dtype.is_bool else pattern.view(carrier(dtype)).reshape(tuple(shape))
