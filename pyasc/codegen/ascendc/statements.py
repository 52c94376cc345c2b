# SPDX-License-Identifier: Apache-2.0
"""The statements of one block, in order, and how values are written in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.expressions import scalar
from pyasc.codegen.ascendc.inlining import READINGS, hint_of, lowered, may_inline
from pyasc.codegen.ascendc.narrowing import fits, narrow_type
from pyasc.codegen.ascendc.spelling import CTYPE_BYTES, element
from pyasc.codegen.cpp.nodes import SUM, Expr
from pyasc.codegen.names import VendorNames
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, asc, func
from pyasc.ir.types import dtype_of

if TYPE_CHECKING:
    from pyasc.codegen.ascendc.kernel import KernelLowering

Handlers = Mapping[type[Operation], Callable[["Statements", Any], None]]
"""What is done with an operation of each class."""


def _word(value: Value) -> str:
    """What tells a number from another one of the same name: its type, or that it was read."""
    match value.op:
        case arith.Cast():
            return READINGS.get(element(value), "")
        case asc.GetValue():
            return "Value"
        case _:
            return ""


class Statements:
    """Statements of one block of a method. `names` are those of its scope; inner blocks have scopes of their own."""

    def __init__(self, kernel: KernelLowering, handlers: Handlers, in_init: bool, names: VendorNames) -> None:
        self.kernel = kernel
        self.handlers = handlers
        self.in_init = in_init
        self.names = names
        self.nodes: list[nodes.Node] = []
        self.line = ""
        self.shared: dict[Hashable, str] = {}

    def inner(self) -> Statements:
        """The statements of a block inside of this one, which sees what has been declared so far."""
        made = Statements(self.kernel, self.handlers, self.in_init, self.names.inner())
        made.shared.update(self.shared)
        return made

    def block(self, ops: Sequence[Operation] | Block) -> None:
        """Lower operations one after the other. Raises TypeError for one that has no handler."""
        for op in ops:
            self.line = self._line(op)
            handler = self.handlers.get(type(op))
            if handler is None:
                raise TypeError(f"{op.name} at {op.loc} has no Ascend C; it should have been lowered before")
            handler(self, op)

    def _line(self, op: Operation) -> str:
        if not self.kernel.options.line_comments or not op.loc.known:
            return ""
        return f"{Path(op.loc.file).name}:{op.loc.line}"

    def say(self, text: str) -> None:
        """Append a statement, under the Python line it came from where that changes."""
        shown = next((node.comment for node in reversed(self.nodes) if node.comment), "")
        comment = self.line if self.line != shown else ""
        self.nodes.append(nodes.Statement(text, comment=comment))

    def text(self, value: Value) -> Expr:
        """The expression of a value."""
        known = self.kernel.texts.get(value)
        if known is not None:
            return known
        op = value.op
        assert op is not None
        match op:
            case arith.Constant():
                return self.kernel.constant(op)
            case func.Size():
                return Expr(self.kernel.sizes[op.symbol])
            case asc.GetValue():
                return Expr(f"{self.text(op.tensor)}.GetValue({self.text(op.index)})")
            case asc.Offset():
                offset = self._place(op)
                return Expr(f"{self.text(op.tensor)}{f'[{offset}]' if offset != '0' else ''}")
            case asc.ReinterpretCast():
                return Expr(f"{self.text(op.tensor)}.ReinterpretCast<{element(value)}>()")
            case _:
                return scalar(op, self.text)

    def _place(self, op: asc.Offset) -> str:
        """An offset, in tiles where it is whole ones."""
        number = op.offset.op
        if not isinstance(number, arith.Constant) or op.offset.name or element(op.tensor) != "uint8_t":
            return self.count(op.offset)
        user = next(iter(op.rest.uses), None)
        if number.value == 0 or not isinstance(user, asc.ReinterpretCast):
            return str(number.value)
        type_ = element(user.same)
        return f"{self.kernel.count_name(int(number.value) // CTYPE_BYTES[type_])} * sizeof({type_})"

    def count(self, value: Value) -> str:
        """A number of elements, in tiles where it is whole ones."""
        number = value.op
        if value in self.kernel.texts or not isinstance(number, arith.Constant) or value.name:
            return str(self.text(value))
        return self.kernel.count_name(int(number.value))

    def narrowed(self, value: Value, type_: str) -> str:
        """A value of a narrower type; a number converts by itself, and some variables have the type already."""
        shown = str(self.text(value))
        if fits(value, type_) or self.kernel.narrow.get(value) == type_:
            return shown
        return f"static_cast<{type_}>({shown})"

    def join(self, values: Sequence[Value]) -> str:
        """Expressions, separated by commas."""
        return ", ".join(str(self.text(value)) for value in values)

    def is_member(self, value: Value) -> bool:
        """Whether a value that is made here is a member of the class, since other methods use it."""
        return self.in_init and value in self.kernel.member_values

    def declare(self, value: Value, expr: Expr) -> None:
        """A constant for a scalar, or the value of a member."""
        type_, hint = element(value), value.name or hint_of(value)
        hint = self.free_name(hint, f"{lowered(hint)}{_word(value)}")
        if self.is_member(value):
            self.say(f"{self.kernel.member(value, dtype_of(value.type), hint)} = {expr}")
            return
        narrow = narrow_type(value)
        if narrow:
            self.kernel.narrow[value] = narrow
            type_, expr = narrow, Expr(f"static_cast<{narrow}>({expr})")
        name = self.names.fresh(hint)
        self.kernel.texts[value] = Expr(name)
        self.say(f"const {type_} {name} = {expr}")

    def tensor(self, value: Value, made: str, hint: str = "") -> None:
        """A LocalTensor by name."""
        type_, hint = f"LocalTensor<{element(value)}>", hint or value.name or "tensor"
        if self.is_member(value):
            self.say(f"{self.kernel.tensor_member(value, type_, hint)} = {made}")
            return
        name = self.names.fresh(hint)
        self.kernel.texts[value] = Expr(name)
        self.say(f"{type_} {name} = {made}")

    def free_name(self, usual: str, otherwise: str) -> str:
        """The usual name, or another one where that is taken."""
        return otherwise if self.names.taken(usual) else usual

    def pure(self, op: Operation) -> None:
        """A scalar: written where it is used, or declared."""
        (value,) = op.results
        if self.is_member(value) or not may_inline(value):
            self.declare(value, self.text(value))

    def once(self, key: Hashable, hint: str, declaration: str) -> str:
        """The name of a local that is declared once for equal keys; `declaration` has `{name}` in its place."""
        if key not in self.shared:
            name = self.shared[key] = self.names.fresh(hint)
            self.say(declaration.replace("{name}", name))
        return self.shared[key]

    def start(self, base: str, offset: Value) -> str:
        """An address behind a base."""
        shown = self.text(offset)
        return base if str(shown) == "0" else f"{base} + {shown.inside(SUM)}"
