# SPDX-License-Identifier: Apache-2.0
"""Which names a piece of C++ mentions, to know what the body of a threaded loop must capture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from pyasc.codegen.cpp.nodes import Declare, For, HeapArray, Node, StackArray, Variable

# Not the suffix of a number, 0.0f mentions no f; and not a member, behind `.`, `::` or `->`.
_IDENTIFIER = re.compile(r"(?<![\w.:>])[A-Za-z_][A-Za-z_0-9]*")


@cache
def _parts(kind: type[Node]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The fields of a kind of node that hold text, types apart, tuples of text, and lists of nodes."""
    types = {name: str(kind.__annotations__[name]) for name in kind.__match_args__}
    return (
        tuple(name for name, type_ in types.items() if type_ == "str" and name != "type"),
        tuple(name for name, type_ in types.items() if type_ == "tuple[str, ...]"),
        tuple(name for name, type_ in types.items() if type_.startswith("list[")),
    )


def walk(body: Iterable[Node]) -> list[Node]:
    """All nodes, parents before children."""
    found: list[Node] = []
    for node in body:
        found.append(node)
        for name in _parts(type(node))[2]:
            found += walk(getattr(node, name))
    return found


def referenced_names(body: Iterable[Node]) -> dict[str, None]:
    """Every identifier that occurs in the text of `body`, in order of first appearance."""
    texts: list[str] = []
    for node in walk(body):
        single, several, _ = _parts(type(node))
        texts += [getattr(node, name) for name in single]
        for name in several:
            texts += getattr(node, name)
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
