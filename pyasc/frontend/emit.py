# SPDX-License-Identifier: Apache-2.0
"""Emits operations: constants and sizes once per function, casts only where a type changes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, func
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers import round_constant
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import ScalarType, Type, dtype_of, with_dtype


class Emitter:
    """A builder with a cache of constants and sizes that stand at the top of the function."""

    def __init__(self, entry: Block) -> None:
        self.builder = Builder(entry)
        self.entry = entry
        self._last_head: Operation | None = None
        self._constants: dict[tuple[str, Type], Value] = {}
        self._sizes: dict[SizeExpr, Value] = {}

    @contextmanager
    def into(self, block: Block) -> Iterator[Block]:
        """Emit at the end of `block` for a while."""
        saved, self.builder.block = self.builder.block, block
        try:
            yield block
        finally:
            self.builder.block = saved

    def insert(self, op: Operation) -> Operation:
        """Append an operation at the current location."""
        return self.builder.insert(op)

    def value(self, op: Operation) -> Value:
        """Append an operation with one result and give that."""
        return self.builder.value(op)

    def constant(self, value: bool | int | float, type_: DType | Type) -> Value:
        """A constant, rounded to its type, at the top of the function."""
        full = ScalarType(type_) if isinstance(type_, DType) else type_
        rounded = _rounded(value, dtype_of(full))
        key = (repr(rounded), full)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._head(arith.Constant(value=rounded, types=[full]))
        return found

    def index(self, value: int) -> Value:
        """An i64 constant."""
        return self.constant(value, dtypes.i64)

    def size(self, expr: SizeExpr) -> Value:
        """The run-time value of a polynomial in the sizes, computed at the top of the function."""
        known = expr.as_constant
        if known is not None:
            return self.index(known)
        found = self._sizes.get(expr)
        if found is None:
            found = self._sizes[expr] = self._polynomial(expr)
        return found

    def _polynomial(self, expr: SizeExpr) -> Value:
        if expr.as_name is not None:
            value = self._head(func.Size(symbol=expr.as_name))
            value.name = expr.as_name
            return value
        total: Value | None = None
        for monomial, coefficient in expr.terms:
            term = self._monomial(monomial, abs(coefficient))
            if total is None:
                total = term if coefficient > 0 else self._head_fn("neg", term)
            else:
                total = self._head_fn("add" if coefficient > 0 else "sub", total, term)
        assert total is not None
        return total

    def _monomial(self, names: tuple[str, ...], coefficient: int) -> Value:
        product = self.index(coefficient) if coefficient != 1 or not names else None
        for name in names:
            factor = self.size(SizeExpr((((name,), 1),)))
            product = factor if product is None else self._head_fn("mul", product, factor)
        assert product is not None
        return product

    def _head_fn(self, fn: str, *args: Value) -> Value:
        return self._head(arith.Elementwise(fn=fn, args=args))

    def _head(self, op: Operation) -> Value:
        op.loc = self.builder.loc
        anchor = self.entry.first if self._last_head is None else self._last_head.next
        self.entry.insert_before(anchor, op)
        self._last_head = op
        return op.results[0]

    def drop_unused_head(self) -> None:
        """Erase constants and sizes that nothing used in the end."""
        op = self._last_head
        while op is not None:
            before = op.prev
            if not any(value.uses for value in op.results):
                op.erase()
            op = before

    def fn(self, fn: str, *args: Value) -> Value:
        """An elementwise function on operands of one type."""
        return self.builder.value(arith.Elementwise(fn=fn, args=args))

    def cast(self, value: Value, dtype: DType) -> Value:
        """`value` in another element type; itself when it has it, a constant when it is one."""
        if dtype_of(value.type) is dtype:
            return value
        op = value.op
        if isinstance(op, arith.Constant):
            return self.constant(convert_number(op.value, dtype), with_dtype(value.type, dtype))
        return self.builder.value(arith.Cast.to(value, dtype))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """`yes` where the condition holds; written with and, or, not where these say the same."""
        if yes is no:
            return yes
        if dtype_of(yes.type) is dtypes.i1 and condition.type == yes.type:
            first, second = _known(yes), _known(no)
            if first is True and second is False:
                return condition
            if first is False and second is True:
                return self.fn("not", condition)
            if first is True:
                return self.fn("or", condition, no)
            if second is False:
                return self.fn("and", condition, yes)
        return self.fn("select", condition, yes, no)

    def nonzero(self, value: Value) -> Value:
        """Python's truth value of a number, elementwise."""
        if dtype_of(value.type) is dtypes.i1:
            return value
        return self.fn("ne", value, self.constant(0, value.type))


def _known(value: Value) -> bool | int | float | None:
    return value.op.value if isinstance(value.op, arith.Constant) else None


def drop_block(block: Block) -> None:
    """Forget the operations of a block that was built in vain."""
    for op in reversed(block):
        op.drop()


def _rounded(value: bool | int | float, dtype: DType) -> bool | int | float:
    whole = int(value) if isinstance(value, bool) and dtype.is_integer else value
    return round_constant(whole, dtype)


def convert_number(value: bool | int | float, dtype: DType) -> bool | int | float:
    """A Python number after an explicit conversion: floats truncate and saturate, integers wrap."""
    if not dtype.is_integer:
        return round_constant(value, dtype)
    low, high = bounds(dtype)
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)
    return (int(value) - low) % (1 << dtype.bits) + low


def bounds(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if dtype.is_signed:
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def fits(value: int, dtype: DType) -> bool:
    """Whether an integer type can hold the value."""
    low, high = bounds(dtype)
    return low <= value <= high
