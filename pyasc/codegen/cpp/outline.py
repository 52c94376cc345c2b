# SPDX-License-Identifier: Apache-2.0
"""Which names a piece of C++ mentions, to know what the body of a threaded loop must capture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields

from pyasc.codegen.cpp.nodes import Declare, For, HeapArray, Node, StackArray, Variable

# Not the suffix of a number: 0.0f mentions no f.
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_][A-Za-z_0-9]*")


def walk(body: Iterable[Node]) -> Iterator[Node]:
    """All nodes, parents before children."""
    for node in body:
        yield node
        for part in fields(node):
            value = getattr(node, part.name)
            if isinstance(value, list):
                yield from walk(child for child in value if isinstance(child, Node))


def referenced_names(body: Iterable[Node]) -> dict[str, None]:
    """Every identifier that occurs in the text of `body`, in order of first appearance."""
    found: dict[str, None] = {}
    for node in walk(body):
        for part in fields(node):
            if part.name != "comment":
                for text in _texts(getattr(node, part.name)):
                    found.update(dict.fromkeys(_IDENTIFIER.findall(text)))
    return found


def identifiers(text: str) -> set[str]:
    """The identifiers of one piece of text."""
    return set(_IDENTIFIER.findall(text))


def declared_names(body: Iterable[Node]) -> set[str]:
    """Names that `body` itself declares."""
    names = {node.counter for node in walk(body) if isinstance(node, For)}
    return names | {node.name for node in walk(body) if isinstance(node, (Declare, StackArray, HeapArray))}


def captures(body: list[Node], variables: dict[str, Variable], own: set[str]) -> list[Variable]:
    """The variables from outside that `body` mentions."""
    inner = declared_names(body) | own
    return [variables[name] for name in referenced_names(body) if name in variables and name not in inner]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        yield from (item for item in value if isinstance(item, str))
