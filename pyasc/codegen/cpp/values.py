# SPDX-License-Identifier: Apache-2.0
"""How SSA values and buffers are spelled while one function is written: names, inlined expressions, addresses."""

from __future__ import annotations

from pyasc.codegen.cpp.nodes import PRIMARY, PRODUCT, SUM, Expr
from pyasc.ir.core import Operation, Value
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.traits import CONSTANT, PURE, READS


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
            return Expr("0")
        total = indices[0]
        for index, extent in zip(indices[1:], self.extents[1:], strict=True):
            total = add_all([multiply(total, extent), index])
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
    kept = [part for part in parts if part.text != "0"]
    if not kept:
        return Expr("0")
    if len(kept) == 1:
        return kept[0]
    text = kept[0].inside(SUM)
    for part in kept[1:]:
        negative = part.text.startswith("-") and part.text[1:].isdigit()
        text += f" - {part.text[1:]}" if negative else f" + {part.inside(SUM + 1)}"
    return Expr(text, SUM)


def multiply(left: Expr, right: Expr) -> Expr:
    """A product, without multiplying by zero or one."""
    if "0" in (left.text, right.text):
        return Expr("0")
    if left.text == "1":
        return right
    if right.text == "1":
        return left
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
    if op is None or value.owner is None:
        return False
    if op.has(CONSTANT):
        return True
    if not (op.has(PURE) or op.has(READS)) or op.regions or len(op.results) != 1:
        return False
    if len(value.uses) != 1:
        return False
    ((user, count),) = value.uses.items()
    return count == 1 and user.parent is op.parent and not value_name_matters(op, value)


def value_name_matters(op: Operation, value: Value) -> bool:
    """Whether Python gave the value a name that the reader should see again."""
    return bool(value.name) and not op.has(CONSTANT)
