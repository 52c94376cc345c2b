# SPDX-License-Identifier: Apache-2.0
"""How SSA values and buffers are spelled while one function is written: names, inlined expressions, addresses."""

from __future__ import annotations

from functools import reduce

from pyasc.codegen.cpp.nodes import PRIMARY, PRODUCT, SUM, Expr
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.traits import CONSTANT, PURE, READS
from pyasc.ir.types import dtype_of

ZERO = Expr("0")


class Buffer(Record):
    """A ref as C++ sees it: a pointer expression, extents, and element strides (None: row-major)."""

    pointer: str
    extents: tuple[Expr, ...]
    strides: tuple[Expr, ...] | None

    def offset(self, indices: list[Expr]) -> Expr:
        """The element offset of `indices`."""
        if self.strides is not None:
            return add_all([multiply(i, s) for i, s in zip(indices, self.strides, strict=True)])
        if not indices:
            return ZERO
        total = indices[0]
        for index, extent in zip(indices[1:], self.extents[1:], strict=True):
            total = add(multiply(total, extent), index)
        return total

    def element(self, indices: list[Expr]) -> Expr:
        """The element at `indices` as an lvalue."""
        return Expr(f"{self.pointer}[{self.offset(indices)}]")

    def row_strides(self) -> list[Expr]:
        """Element strides of every axis, computed for a row-major buffer."""
        if self.strides is not None:
            return list(self.strides)
        strides = [Expr("1")]
        for extent in reversed(self.extents[1:]):
            strides.insert(0, multiply(strides[0], extent))
        return strides[: len(self.extents)]


def add_all(parts: list[Expr]) -> Expr:
    """A sum without its zero terms."""
    return reduce(add, parts, ZERO)


def add(left: Expr, right: Expr) -> Expr:
    """A sum, without adding zero."""
    if right.text == "0":
        return left
    if left.text == "0":
        return right
    if right.text.startswith("-") and right.text[1:].isdigit():
        return Expr(f"{left.inside(SUM)} - {right.text[1:]}", SUM)
    return Expr(f"{left.inside(SUM)} + {right.inside(SUM + 1)}", SUM)


def multiply(left: Expr, right: Expr) -> Expr:
    """A product, without multiplying by zero or one."""
    if left.text == "0" or right.text == "1":
        return left
    if right.text == "0" or left.text == "1":
        return right
    return Expr(f"{left.inside(PRODUCT)} * {right.inside(PRODUCT + 1)}", PRODUCT)


def size_expression(size: SizeExpr | int, names: dict[str, str]) -> Expr:
    """A symbolic size in C++."""
    if isinstance(size, int):
        return Expr(str(size))
    parts: list[Expr] = []
    for monomial, coefficient in size.terms:
        factors = [names[name] for name in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(coefficient))
            parts.append(Expr(" * ".join(factors), PRODUCT if len(factors) > 1 else PRIMARY))
        else:
            sign = "-" if coefficient < 0 else ""
            parts.append(Expr(sign + " * ".join(factors), PRODUCT if len(factors) > 1 else PRIMARY))
    return add_all(parts)


def may_inline(value: Value) -> bool:
    """Whether a value may be written where it is used: cheap constants always, others at one use in their block."""
    op = value.op
    if op is None:
        return False
    traits = op.spec.traits
    if CONSTANT in traits:
        return True
    if not (PURE in traits or READS in traits) or op.regions or len(op.results) != 1:
        return False
    # A name from Python is one that the reader should see again.
    if value.name or len(value.uses) != 1:
        return False
    ((user, count),) = value.uses.items()
    return count == 1 and user.parent is op.parent and not _may_lose_its_sign(value, user)


def _may_lose_its_sign(value: Value, user: Operation) -> bool:
    """Whether g++ may take the sum or difference for another one when it sees inside of `value`.

    It replaces `0.0 - x` by `-x`, and `-x + 0.0` likewise, where `x` is seen not to be -0.0: a converted integer, an
    absolute value, a choice of constants. But 0.0 - 0.0 is 0.0. That something is zero it also knows of constants
    that it has computed, `const double y = (double)q * 0.0`.
    """
    match value.op, user:
        case (
            arith.Cast() | arith.Elementwise(fn="abs" | "neg" | "select"),
            arith.Elementwise(fn="add" | "sub", args=args),
        ):
            others = (each.op for each in args if each is not value)
            return dtype_of(value.type).is_float and not all(
                op is None or isinstance(op, mem.Load) for op in others
            )
        case _:
            return False
