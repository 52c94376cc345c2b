# SPDX-License-Identifier: Apache-2.0
"""Prints nodes through their templates. Nothing is decided here or there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from pyasc.codegen.cpp import nodes
from pyasc.codegen.templates import macros
from pyasc.ir.record import Record

INDENT = "  "


class _Template(Record):
    """How a kind of node is printed: what reads its fields and its comment, its macro, and the positions of fields
    that hold statements or functions.
    """

    read: Callable[[nodes.Node], tuple[Any, ...]]
    macro: Callable[..., str]
    blocks: tuple[int, ...]
    functions: tuple[int, ...]


@cache
def _template(kind: type[nodes.Node]) -> _Template:
    types = [str(kind.__annotations__[name]) for name in kind.__match_args__]
    return _Template(
        attrgetter(*kind.__match_args__, "comment"),
        getattr(macros("pyasc.codegen.cpp"), kind.__name__),
        tuple(i for i, type_ in enumerate(types) if type_ == "list[Node]"),
        tuple(i for i, type_ in enumerate(types) if type_ in ("list[Function]", "list[Outlined]")),
    )


def render(node: nodes.Node) -> str:
    """The text of one node and everything in it."""
    template = _template(type(node))
    *fields, comment = template.read(node)
    for number in template.blocks:
        fields[number] = _block(fields[number])
    for number in template.functions:
        fields[number] = "".join([render(each) + "\n\n" for each in fields[number]])
    text = template.macro(*fields).strip("\n")
    return f"// {comment}\n{text}" if comment else text


def _block(body: Sequence[nodes.Node]) -> str:
    text = "\n".join([render(node) for node in body])
    # Preprocessor lines keep to the left margin of their statement, as clang-format leaves pragmas.
    if not text or "\n\n" in text:
        return "\n".join(INDENT + line if line else line for line in text.split("\n"))
    return INDENT + text.replace("\n", "\n" + INDENT)
