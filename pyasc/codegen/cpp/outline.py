# SPDX-License-Identifier: Apache-2.0
"""Which names a piece of C++ mentions, to know what the body of a threaded loop must capture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from pyasc.codegen.cpp.nodes import Declare, For, HeapArray, Node, StackArray, Variable

# Not the suffix of a number: 0.0f mentions no f.
_IDENTIFIER = re.compile(r"(?<![\w.])(?<!::)(?<!->)[A-Za-z_][A-Za-z_0-9]*")


@cache
def _parts(kind: type[Node]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a kind of node that hold text, types apart, and those that hold lists of nodes."""
    names = kind.__match_args__
    children = tuple(name for name in names if str(kind.__annotations__[name]).startswith("list["))
    return tuple(name for name in names if name not in (*children, "type")), children


def walk(body: Iterable[Node]) -> Iterator[Node]:
    """All nodes, parents before children."""
    for node in body:
        yield node
        for name in _parts(type(node))[1]:
            yield from walk(getattr(node, name))


def referenced_names(body: Iterable[Node]) -> dict[str, None]:
    """Every identifier that occurs in the text of `body`, in order of first appearance."""
    texts: list[str] = []
    for node in walk(body):
        for name in _parts(type(node))[0]:
            texts += _texts(getattr(node, name))
    return dict.fromkeys(_IDENTIFIER.findall("\n".join(texts)))


def identifiers(text: str) -> set[str]:
    """The identifiers of one piece of text."""
    return set(_IDENTIFIER.findall(text))


def declared_names(body: Iterable[Node]) -> set[str]:
    """Names that `body` itself declares."""
    names: set[str] = set()
    for node in walk(body):
        if isinstance(node, For):
            names.add(node.counter)
        elif isinstance(node, (Declare, StackArray, HeapArray)):
            names.add(node.name)
    return names


def captures(
    body: list[Node], mentioned: Iterable[str], variables: dict[str, Variable], own: set[str]
) -> list[Variable]:
    """The variables from outside among the names that `body` mentions."""
    inner = declared_names(body) | own
    return [variables[name] for name in mentioned if name in variables and name not in inner]


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, tuple) else []
