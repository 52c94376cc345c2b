# SPDX-License-Identifier: Apache-2.0
"""Reads the text form of operations (see `printer.py`). It keeps its own stack, so any nesting depth is read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn, TypeVar

from pyasc.ir.affine import AffineExpr
from pyasc.ir.construct import MISSING
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.declare import Attr, OpSpec
from pyasc.ir.dialects import operations
from pyasc.ir.dialects.func import Module
from pyasc.ir.dtypes import BY_NAME
from pyasc.ir.lexer import ParseError, SourceText, Token, tokenize
from pyasc.ir.location import UNKNOWN, Location
from pyasc.ir.parse_types import parse_affine, parse_affine_map, parse_type
from pyasc.ir.sizes import parse_size
from pyasc.ir.traits import ISOLATED, SINGLE_BLOCK
from pyasc.ir.types import Type

__all__ = ["ParseError", "parse", "parse_op"]

T = TypeVar("T")
_WORDS: dict[str, Attr] = {
    "true": True,
    "false": False,
    "none": None,
    "inf": float("inf"),
    "nan": float("nan"),
}


def parse(text: str, file: str = "<ir>") -> Module:
    """The module that the text holds. Raises ParseError (a ValueError) with line, column and expectation."""
    source = SourceText(text, file)
    op = _Parser(source).whole()
    if not isinstance(op, Module):
        raise ParseError(source, 0, f"expected func.module, found {op.name}; use parse_op to read it alone")
    return op


def parse_op(text: str, file: str = "<ir>") -> Operation:
    """The one operation that the text holds, of any kind. Raises ParseError."""
    return _Parser(SourceText(text, file)).whole()


@cache
def _by_printed_name() -> dict[str, tuple[type[Operation], dict[str, Any]]]:
    """Operation classes by printed name, with the attributes which that name stands for."""
    table: dict[str, tuple[type[Operation], dict[str, Any]]] = {}
    for name, cls in operations().items():
        named = next((part for part in cls.spec.attributes if part.in_name), None)
        if named is None:
            table[name] = (cls, {})
            continue
        dialect = name.partition(".")[0]
        table.update({f"{dialect}.{choice}": (cls, {named.name: choice}) for choice in named.choices})
    return table


@dataclass
class _Open:
    """An operation whose regions are being read."""

    op: Operation
    results: list[Token]
    region: int = 0
    inside: bool = False
    block: Block | None = None
    defined: list[str] = field(default_factory=list[str])
    outer: dict[str, Value] | None = None


class _Parser:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.at = 0
        self.scope: dict[str, Value] = {}

    def whole(self) -> Operation:
        """The only operation of the text."""
        root = self._nested()
        if self.peek().kind != "end":
            self.expected("the end of the text")
        return root

    def peek(self) -> Token:
        """The token at the current place."""
        return self.tokens[self.at]

    def advance(self) -> Token:
        """Step over a token and return it."""
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, sign: str) -> bool:
        """Step over the sign if it stands here."""
        if self.tokens[self.at].text == sign:
            self.at += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        """Step over the sign that must stand here."""
        if not self.accept(sign):
            self.expected(f"'{sign}'")

    def take(self, kind: str, words: str) -> Token:
        """Step over a token that must be of the kind."""
        if self.tokens[self.at].kind != kind:
            self.expected(words)
        return self.advance()

    def expected(self, words: str) -> NoReturn:
        """Report the current token."""
        token = self.peek()
        shown = token.text if token.kind == "end" else repr(token.text)
        self.fail(token, f"expected {words}, found {shown}")

    def fail(self, token: Token, message: str) -> NoReturn:
        """Report a token."""
        raise ParseError(self.source, token.offset, message)

    def listed(self, close: str, item: Callable[[], T]) -> list[T]:
        """Items between commas up to and including the closing sign."""
        items: list[T] = []
        if self.accept(close):
            return items
        items.append(item())
        while self.accept(","):
            items.append(item())
        if not self.accept(close):
            self.expected(f"',' or '{close}'")
        return items

    def _nested(self) -> Operation:
        root = self._header(None)
        stack = [root]
        while stack:
            frame = stack[-1]
            if frame.inside:
                self._inside(frame, stack)
            elif self.peek().text == "{":
                self._open_region(frame)
            else:
                stack.pop()
                self._define_results(frame, stack[-1] if stack else None)
        return root.op

    def _inside(self, frame: _Open, stack: list[_Open]) -> None:
        if self.accept("}"):
            self._close_region(frame)
        elif self.accept("^"):
            self._open_block(frame)
        else:
            if frame.block is None:
                frame.block = frame.op.regions[frame.region].add(Block())
            child = self._header(frame.block)
            if child.op.regions or self.peek().text == "{":
                stack.append(child)
            else:
                self._define_results(child, frame)

    def _open_region(self, frame: _Open) -> None:
        if frame.region >= len(frame.op.regions):
            self.fail(self.peek(), f"{frame.op.name} has {len(frame.op.regions)} regions")
        self.advance()
        frame.inside = True
        if ISOLATED in frame.op.spec.traits:
            frame.outer, self.scope = self.scope, {}

    def _close_region(self, frame: _Open) -> None:
        region = frame.op.regions[frame.region]
        if not region.blocks and SINGLE_BLOCK in frame.op.spec.traits:
            region.add(Block())
        for name in frame.defined:
            del self.scope[name]
        frame.defined.clear()
        frame.inside = False
        frame.block = None
        frame.region += 1
        if frame.outer is not None:
            self.scope, frame.outer = frame.outer, None

    def _open_block(self, frame: _Open) -> None:
        self.expect("(")
        args = self.listed(")", self._block_arg)
        self.expect(":")
        frame.block = frame.op.regions[frame.region].add(Block([type_ for _, type_ in args]))
        for (token, _), value in zip(args, frame.block.args, strict=True):
            self._define(token, value, frame)

    def _block_arg(self) -> tuple[Token, Type]:
        name = self.take("value", "an argument such as %x")
        self.expect(":")
        return name, self.type_()

    def _define_results(self, frame: _Open, outer: _Open | None) -> None:
        # An operation may leave its results unnamed, so the two lists can differ in length.
        for token, value in zip(frame.results, frame.op.results, strict=False):
            self._define(token, value, outer)

    def _define(self, token: Token, value: Value, frame: _Open | None) -> None:
        name = token.text
        if name in self.scope:
            self.fail(token, f"{name} is already defined")
        self.scope[name] = value
        if frame is not None:
            frame.defined.append(name)
        if not name[1].isdigit():
            value.name = name[1:]

    def _header(self, block: Block | None) -> _Open:
        names: list[Token] = []
        if self.peek().kind == "value":
            names.append(self.advance())
            while self.accept(","):
                names.append(self.take("value", "a result such as %x"))
            self.expect("=")
        token = self.take("op", "an operation such as arith.add")
        cls, attributes = self._class_of(token)
        fields = self._operands(cls.spec)
        fields.update(attributes, **self._attributes(cls.spec))
        types = self._result_types()
        op = self._build(token, cls, fields, types)
        if names and len(names) != len(op.results):
            self.fail(names[0], f"{len(names)} names for the {len(op.results)} results of {token.text}")
        if block is not None:
            op.attach(block)
        return _Open(op, names)

    def _class_of(self, token: Token) -> tuple[type[Operation], dict[str, Any]]:
        table = _by_printed_name()
        if token.text not in table:
            self.fail(token, f"no operation is named {token.text}{_did_you_mean(token.text, table)}")
        return table[token.text]

    def _build(
        self, token: Token, cls: type[Operation], fields: dict[str, Any], types: list[Type] | None
    ) -> Operation:
        loc = self._location()
        if types is None and not cls.spec.infers_all and not all(part.variadic for part in cls.spec.results):
            self.expected("':' and the result types")
        for part in cls.spec.attributes:
            if part.default is MISSING and part.name not in fields:
                self.fail(token, f"{token.text} needs attribute {part.name!r}")
        try:
            return cls(loc=loc, types=types, **fields)
        except (TypeError, ValueError, AttributeError, IndexError, AssertionError) as error:
            self.fail(token, f"{token.text}: {error or 'the operands do not fit'}")

    def _operands(self, spec: OpSpec) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if len(spec.operands) == 1 and spec.operands[0].variadic:
            values = [self._operand()] if self.peek().kind == "value" and not self._starts_next() else []
            while values and self.accept(","):
                values.append(self._operand())
            return {spec.operands[0].name: values}
        for position, part in enumerate(spec.operands):
            if position:
                self.expect(",")
            if part.variadic:
                self.expect("[")
                fields[part.name] = self.listed("]", self._operand)
            else:
                fields[part.name] = self._operand()
        return fields

    def _starts_next(self) -> bool:
        """Whether the value here is a result of the following operation rather than an operand."""
        at = self.at
        while self.tokens[at].kind == "value" and self.tokens[at + 1].text == ",":
            at += 2
        return self.tokens[at].kind == "value" and self.tokens[at + 1].text == "="

    def _operand(self) -> Value:
        token = self.take("value", "an operand such as %x")
        value = self.scope.get(token.text)
        if value is None:
            self.fail(token, f"{token.text} is not defined here{_did_you_mean(token.text, self.scope)}")
        return value

    def _result_types(self) -> list[Type] | None:
        if not self.accept(":"):
            return None
        types = [self.type_()]
        while self.accept(","):
            types.append(self.type_())
        return types

    def _location(self) -> Location:
        if not self.accept("@"):
            return UNKNOWN
        file = json.loads(self.take("string", "a file name in quotes").text)
        self.expect(":")
        line, column = self._line_and_column()
        self.expect("-")
        end_line, end_column = self._line_and_column()
        return Location(file, line, column, end_line, end_column)

    def _line_and_column(self) -> tuple[int, int]:
        line = self.take("number", "a line number")
        self.expect(":")
        return int(line.text), int(self.take("number", "a column number").text) - 1

    def _attributes(self, spec: OpSpec) -> dict[str, Any]:
        following = self.tokens[self.at + 1 : self.at + 3]
        if self.peek().text != "{" or [t.kind for t in following] != ["word", "sign"]:
            return {}
        if following[1].text != "=":
            return {}
        self.advance()
        known = {part.name for part in spec.attributes if not part.in_name}
        return dict(self.listed("}", lambda: self._attribute(spec, known)))

    def _attribute(self, spec: OpSpec, known: set[str]) -> tuple[str, Attr]:
        token = self.take("word", "the name of an attribute")
        if token.text not in known:
            self.fail(token, f"{spec.name} has no attribute {token.text!r}{_did_you_mean(token.text, known)}")
        self.expect("=")
        return token.text, self.value()

    def value(self) -> Attr:
        """An attribute's value."""
        token = self.peek()
        negative = self.accept("-")
        token = self.peek()
        if token.kind == "number" or (negative and token.text in ("inf", "nan")):
            self.advance()
            number = int(token.text) if token.text.isdigit() else float(token.text)
            return -number if negative else number
        if negative:
            self.expected("a number")
        if self.accept("["):
            return tuple(self.listed("]", self.value))
        if self.accept("("):
            return self._affine()
        if token.kind == "string":
            return json.loads(self.advance().text)
        if token.kind == "map":
            return self._read(parse_affine_map if token.text[0] == "a" else _parse_size_attribute)
        if token.kind == "word" and token.text in _WORDS:
            return _WORDS[self.advance().text]
        return self.type_("a value")

    def _affine(self) -> AffineExpr:
        start = self.peek()
        while self.peek().text != ")":
            if self.advance().kind not in ("word", "number", "sign"):
                self.fail(start, "expected an affine expression such as (2*d0 + s0 - 1)")
        text = self.source.text[start.offset : self.advance().offset]
        try:
            return parse_affine(text)
        except ValueError as error:
            self.fail(start, str(error))

    def type_(self, words: str = "a type") -> Type:
        """A type."""
        token = self.peek()
        if token.kind != "type" and token.text not in BY_NAME:
            self.expected(f"{words} such as f32 or ref<N x f32>" if words == "a type" else words)
        return self._read(parse_type)

    def _read(self, convert: Callable[[str], T]) -> T:
        token = self.advance()
        try:
            return convert(token.text)
        except ValueError as error:
            self.fail(token, str(error))


def _parse_size_attribute(text: str) -> Attr:
    return parse_size(text.removeprefix("size<").removesuffix(">"))


def _did_you_mean(name: str, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
