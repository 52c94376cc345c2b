# SPDX-License-Identifier: Apache-2.0
"""The text form of operations: one grammar for all of them, derived from their declarations.

    %r = dialect.op %a, [%b, %c] {attribute = value} : result-type @"file":line:column-line:column {
    ^(%i: i64):
      ...
    }

Operand fields stand in declaration order, a variadic one in brackets unless it is the only one. Attributes equal
to their default, result types that the declaration infers and trailing empty regions are left out. `parser.py`
reads it back. Printing keeps its own stack, so that nesting is bounded by memory alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.declare import MISSING, Attr, OpSpec
from pyasc.ir.location import Location
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.traits import ISOLATED
from pyasc.ir.types import Type

_INDENT = "  "
_UNPRINTABLE = re.compile(r"[^\w$.]")

Notes = Mapping[Operation, Sequence[str]]
_NO_NOTES: Notes = MappingProxyType({})

_Steps = Iterator["str | _Steps"]
"""Lines, and nested sequences of steps to be run in their place."""


def print_op(op: Operation, locations: bool = False, notes: Notes = _NO_NOTES) -> str:
    """The text of an operation and all it contains, without a final newline.

    `locations` adds the source location of each operation. `notes` are printed as comments below the operations
    that they belong to. Raises TypeError for an attribute whose value has no text form.
    """
    lines: list[str] = []
    stack: list[_Steps] = [_Printer(locations, notes).operation(op, "")]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        elif isinstance(step, str):
            lines.append(step)
        else:
            stack.append(step)
    return "\n".join(lines)


def print_attribute(value: Attr) -> str:
    """The text of an attribute's value."""
    match value:
        case bool() | None:
            return str(value).lower()
        case int():
            return int.__repr__(value)
        case float():
            return _print_float(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case tuple():
            return f"[{', '.join(map(print_attribute, value))}]"
        case AffineExpr():
            return f"({value})"
        case SizeExpr():
            return f"size<{value}>"
        case AffineMap() | Type():
            return str(value)
        case _:
            raise TypeError(f"an attribute cannot hold {value!r}")


def print_location(loc: Location) -> str:
    """The text of a known location; columns count from 1 as editors show them."""
    file = json.dumps(loc.file, ensure_ascii=False)
    return f"@{file}:{loc.line}:{loc.column + 1}-{loc.end_line}:{loc.end_column + 1}"


def _print_float(value: float) -> str:
    if math.isnan(value) and math.copysign(1.0, value) < 0:
        return "-nan"
    return float.__repr__(value)


@cache
def _printed_defaults(spec: OpSpec) -> tuple[tuple[str, object, str], ...]:
    """Name, default and the default's text of each attribute that is printed in braces."""
    return tuple(
        (part.name, part.default, "" if part.default is MISSING else print_attribute(part.default))
        for part in spec.attributes
        if not part.in_name
    )


class _Names:
    """Unique names of the values of one isolated operation: the hint, the hint with a number, or a number."""

    __slots__ = ("_next", "_number", "_of")

    def __init__(self) -> None:
        self._of: dict[Value, str] = {}
        self._next: dict[str, int] = {}
        self._number = 0

    def __getitem__(self, value: Value) -> str:
        name = self._of.get(value)
        if name is None:
            name = self._of[value] = self._fresh(value.name)
        return name

    def _fresh(self, hint: str) -> str:
        if not hint:
            self._number += 1
            return f"%{self._number - 1}"
        base = _UNPRINTABLE.sub("_", hint)
        base = f"_{base}" if base[0].isdigit() else base
        name = base
        while name in self._next:
            name = f"{base}_{self._next[base]}"
            self._next[base] += 1
        self._next[name] = 1
        return f"%{name}"


class _Printer:
    def __init__(self, locations: bool, notes: Notes) -> None:
        self._locations = locations
        self._notes = notes
        self._names = _Names()

    def operation(self, op: Operation, indent: str) -> _Steps:
        """The lines of one operation."""
        head = indent + self._header(op)
        regions = list(op.regions)
        while regions and not regions[-1].blocks:
            regions.pop()
        outer = self._names
        if ISOLATED in op.spec.traits:
            self._names = _Names()
        for region in regions:
            yield f"{head} {{"
            if region is op.regions[0]:
                yield from self._comments(op, indent)
            for block in region.blocks:
                yield self._block(block, indent, explicit=len(region.blocks) > 1)
            head = f"{indent}}}"
        yield head
        if not regions:
            yield from self._comments(op, indent)
        self._names = outer

    def _comments(self, op: Operation, indent: str) -> Iterator[str]:
        for note in self._notes.get(op, ()):
            yield f"{indent}// ^ {note}"

    def _block(self, block: Block, indent: str, explicit: bool) -> _Steps:
        if block.args or explicit or block.first is None:
            args = ", ".join(f"{self._names[arg]}: {arg.type}" for arg in block.args)
            yield f"{indent}^({args}):"
        inner = indent + _INDENT
        for op in block:
            if op.regions or self._notes:
                yield self.operation(op, inner)
            else:
                yield inner + self._header(op)

    def _header(self, op: Operation) -> str:
        spec = op.spec
        text = op.name
        if op.results:
            text = f"{', '.join([self._names[value] for value in op.results])} = {text}"
        if spec.operands and (operands := self._operands(op)):
            text += f" {operands}"
        if spec.attributes and (attributes := _attributes(op)):
            text += f" {{{attributes}}}"
        if op.results and not spec.infers_all:
            text += f" : {', '.join([str(value.type) for value in op.results])}"
        if self._locations and op.loc.known:
            text += f" {print_location(op.loc)}"
        return text

    def _operands(self, op: Operation) -> str:
        names = [self._names[value] for value in op.operands]
        fields = op.spec.operands
        if not any(part.variadic for part in fields) or len(fields) == 1:
            return ", ".join(names)
        parts: list[str] = []
        start = 0
        for part, count in zip(fields, op.segments, strict=True):
            joined = ", ".join(names[start : start + count])
            parts.append(f"[{joined}]" if part.variadic else joined)
            start += count
        return ", ".join(parts)


def _attributes(op: Operation) -> str:
    parts: list[str] = []
    for name, default, default_text in _printed_defaults(op.spec):
        value = op.attrs[name]
        if value is default:
            continue
        text = print_attribute(value)
        if text != default_text:
            parts.append(f"{name} = {text}")
    return ", ".join(parts)
