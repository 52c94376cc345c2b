# SPDX-License-Identifier: Apache-2.0
"""Register vectors of the loop level: what a tiled and vectorised nest on `cpu` is made of.

Arithmetic on vectors is that of the arith dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import I64, REF, SCALAR, VECTOR
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands, result
from pyasc.ir.dialects.mem import index_count, same_dtype
from pyasc.ir.traits import PURE, READS, WRITES
from pyasc.ir.types import ScalarType, dtype_of


class Load(Operation, name="vec.load", traits=[READS]):
    """Reads consecutive elements of the last axis, starting at `indices`; alignment is the element's own."""

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    value: Value = result(constraint=VECTOR)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)


class Store(Operation, name="vec.store", traits=[WRITES]):
    """Writes consecutive elements of the last axis."""

    value: Value = operand(VECTOR)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)


class Splat(Operation, name="vec.splat", traits=[PURE]):
    """One scalar in every lane."""

    value: Value = operand(SCALAR)
    result: Value = result(constraint=VECTOR)

    def verify_op(self) -> Iterable[str]:
        """Every lane has the scalar's dtype."""
        yield from same_dtype(self.value, self.result)


class Reduce(Operation, name="vec.reduce", traits=[PURE]):
    """Combines all lanes by `fn` in a fixed tree order."""

    value: Value = operand(VECTOR)
    fn: str = attribute(choices=("add", "mul", "maximum", "minimum", "pymax", "pymin", "and", "or"))
    result: Value = result(lambda op: ScalarType(dtype_of(op.value.type)))
