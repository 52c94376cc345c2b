# SPDX-License-Identifier: Apache-2.0
"""Elementwise arithmetic on scalars, tensors and vectors, and constants and conversions.

Operands of one operation have one dtype and one shape: promotion and broadcasting are written out.
The functions and what they mean on each dtype stand in `pyasc.ir.numbers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import ELEMENTWISE
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands, result
from pyasc.ir.dtypes import DType, i1
from pyasc.ir.numbers_table import TABLE
from pyasc.ir.traits import CONSTANT, PURE
from pyasc.ir.types import ScalarType, Type, dtype_of, with_dtype


class Constant(Operation, name="arith.constant", traits=[PURE, CONSTANT]):
    """A compile-time number; a tensor or vector type means that value in every element."""

    value: bool | int | float = attribute()
    result: Value = result(constraint=ELEMENTWISE)

    @staticmethod
    def of(value: bool | int | float, dtype: DType) -> Constant:
        """A scalar constant."""
        return Constant(value=value, types=[ScalarType(dtype)])


def _elementwise_type(op: Elementwise) -> Type:
    row = TABLE.get(op.fn)
    kind = "same" if row is None else row.result
    if kind == "bool":
        return with_dtype(op.operands[0].type, i1)
    return op.operands[1 if kind == "second" else 0].type


class Elementwise(Operation, name="arith.elementwise", traits=[PURE]):
    """A function of the number table applied elementwise; printed as `arith.<fn>`."""

    fn: str = attribute(choices=tuple(TABLE), in_name=True)
    args: Sequence[Value] = operands(ELEMENTWISE)
    result: Value = result(_elementwise_type)

    def verify_op(self) -> Iterable[str]:
        """Checks arity, dtype and that operands agree, from the number table."""
        row = TABLE.get(self.fn)
        if row is None:
            yield f"no elementwise function is named {self.fn!r}"
            return
        if len(self.args) != row.arity:
            yield f"{self.fn} takes {row.arity} operands, got {len(self.args)}"
            return
        data = self.args[1:] if self.fn == "select" else self.args
        if any(value.type != data[0].type for value in data):
            yield f"operands differ in type: {', '.join(str(value.type) for value in data)}"
        if self.fn == "select" and self.args[0].type not in (with_dtype(data[0].type, i1), ScalarType(i1)):
            yield f"the condition must be i1 of the same shape, got {self.args[0].type}"
        if dtype_of(data[0].type).kind not in row.kinds:
            yield f"{self.fn} is not defined on {dtype_of(data[0].type)}"


class Cast(Operation, name="arith.cast", traits=[PURE]):
    """Converts between dtypes: float to integer truncates and saturates (NaN gives 0), integers wrap, floats
    round to nearest even, and anything to i1 tests for nonzero."""

    value: Value = operand(ELEMENTWISE)
    result: Value = result(constraint=ELEMENTWISE)

    @staticmethod
    def to(value: Value, dtype: DType) -> Cast:
        """Convert `value`, keeping its kind and shape."""
        return Cast(value=value, types=[with_dtype(value.type, dtype)])

    def verify_op(self) -> Iterable[str]:
        """Only the dtype may change."""
        if with_dtype(self.value.type, dtype_of(self.result.type)) != self.result.type:
            yield f"a cast keeps the shape, got {self.value.type} to {self.result.type}"
