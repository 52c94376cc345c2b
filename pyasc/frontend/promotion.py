# SPDX-License-Identifier: Apache-2.0
"""The type that numbers of different types meet in, by the rules of the number table (`pyasc.ir.numbers`).

Python numbers are weak: they take the type of what they meet, unless it cannot hold their kind of value. A run-time
Python float has a width here, since a kernel with float64 parameters computes it in float64.
"""

from __future__ import annotations

from pyasc.ir import dtypes, numbers
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers import Operand, Weak
from pyasc.ir.record import Record


class NumberType(Record):
    """The type of a number in promotion."""

    dtype: DType
    weak: bool = False

    @property
    def operand(self) -> Operand:
        """The type in the notation of the number table."""
        return _WEAK[self.dtype.kind] if self.weak else self.dtype

    def __str__(self) -> str:
        return {"f": "float", "i": "int", "b": "bool"}[self.dtype.kind] if self.weak else self.dtype.numpy


_WEAK = {weak.kind: weak for weak in Weak}
WEAK_BOOL = NumberType(dtypes.i1, True)
WEAK_INT = NumberType(dtypes.i64, True)
WEAK_FLOAT = NumberType(dtypes.f32, True)
_PLAIN = {Weak.BOOL: WEAK_BOOL, Weak.INT: WEAK_INT, Weak.FLOAT: WEAK_FLOAT}


def number_type(operand: Operand, *sources: NumberType) -> NumberType:
    """An answer of the number table; a weak float is as wide as the widest weak float it comes from."""
    if isinstance(operand, DType):
        return NumberType(operand)
    if operand is Weak.FLOAT and any(s.weak and s.dtype is dtypes.f64 for s in sources):
        return NumberType(dtypes.f64, True)
    return _PLAIN[operand]


def promote(a: NumberType, b: NumberType) -> NumberType:
    """The type in which two numbers are computed together."""
    if a == b:
        return a
    return number_type(numbers.promote(a.operand, b.operand), a, b)


def application(fn: str, *operands: NumberType) -> tuple[str, NumberType]:
    """The row of the number table that computes `fn` on these operands, and the type they are converted to.

    The row is empty when the operand itself is the result. Raises TypeError where NumPy refuses the types.
    """
    found = numbers.signature(fn, *(o.operand for o in operands))
    return found.fn, number_type(found.operand, *operands)
