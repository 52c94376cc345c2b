# SPDX-License-Identifier: Apache-2.0
"""What only Python means: index rules, printing and assertions. Lowered away before the loop level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import BOOL, I64, REF, SCALAR
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands, result
from pyasc.ir.dialects.mem import index_count, same_dtype
from pyasc.ir.traits import CHECKS, EFFECT, READS, WRITES
from pyasc.ir.types import ScalarType, dtype_of


class Load(Operation, name="py.load", traits=[READS, CHECKS]):
    """Reads one element; a negative index counts from the end, one out of range is an IndexError."""

    ref: Value = operand(REF)
    indices: Sequence[Value] = operands(I64)
    value: Value = result(lambda op: ScalarType(dtype_of(op.ref.type)))

    def verify_op(self) -> Iterable[str]:
        """One index a dimension."""
        yield from index_count(self.ref, self.indices)


class Store(Operation, name="py.store", traits=[WRITES, CHECKS]):
    """Writes one element under Python's index rules."""

    value: Value = operand(SCALAR)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One index a dimension and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)


class Atomic(Operation, name="py.atomic", traits=[READS, WRITES, CHECKS]):
    """`mem.atomic` under Python's index rules."""

    value: Value = operand(SCALAR)
    ref: Value = operand(REF, written=True)
    indices: Sequence[Value] = operands(I64)
    fn: str = attribute(choices=("add", "maximum", "minimum"))

    def verify_op(self) -> Iterable[str]:
        """One index a dimension and the element's dtype."""
        yield from index_count(self.ref, self.indices)
        yield from same_dtype(self.value, self.ref)


class Check(Operation, name="py.check", traits=[CHECKS]):
    """Stops the kernel with a Python exception of class `error` unless the condition holds.

    `message` is a format string over `values` in Python's `{}` syntax. `launch` marks a check that stands at
    the start of the kernel and depends on sizes and scalars alone, so that nothing has run when it fails.
    """

    condition: Value = operand(BOOL)
    values: Sequence[Value] = operands(SCALAR, default=())
    error: str = attribute()
    message: str = attribute()
    launch: bool = attribute(default=False)


class Print(Operation, name="py.print", traits=[EFFECT, READS]):
    """Prints `values` through `format`, in loop order per core. Exists in debug builds alone."""

    values: Sequence[Value] = operands(default=())
    format: str = attribute()
