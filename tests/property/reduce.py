# SPDX-License-Identifier: Apache-2.0
"""Makes a program that shows a difference smaller, for as long as it still shows one."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Shows = Callable[[str], bool]
"""Whether a text still shows the difference."""


def reduced(text: str, shows: Shows, most_tries: int = 400) -> str:
    """A smaller text that still shows the difference: statements left out, branches opened, expressions cut down."""
    best, tries, progress = ast.parse(text), 0, True
    while progress and tries < most_tries:
        progress = False
        position = 0
        while tries < most_tries:
            candidate = _variant(best, position)
            if candidate is None:
                break
            tries += 1
            if shows(ast.unparse(candidate)):
                best, progress = candidate, True
            else:
                position += 1
    return ast.unparse(best) + "\n"


def _variant(tree: ast.Module, position: int) -> ast.Module | None:
    """The tree with its edit number `position` made; None when there are fewer."""
    fresh = copy.deepcopy(tree)
    for number, edit in enumerate(_edits(fresh)):
        if number == position:
            edit()
            return ast.fix_missing_locations(fresh)
    return None


def _edits(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """What could be made smaller, large parts first."""
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    for node in ast.walk(function):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.Lambda):
                yield from _block_edits(block, may_be_empty=field == "orelse")
    for node in ast.walk(function):
        if not isinstance(node, ast.FunctionDef | ast.arguments):
            yield from _expression_edits(node)


def _block_edits(block: list[ast.stmt], may_be_empty: bool) -> Iterator[Callable[[], None]]:
    for k, statement in enumerate(block):
        if not isinstance(statement, ast.Return) and (len(block) > 1 or may_be_empty):
            yield lambda k=k: block.__delitem__(k)
        for field in ("body", "orelse"):
            inner = getattr(statement, field, None)
            if inner and not isinstance(statement, ast.FunctionDef):
                yield lambda k=k, inner=inner: block.__setitem__(slice(k, k + 1), inner)


def _expression_edits(node: ast.AST) -> Iterator[Callable[[], None]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr) and field not in ("target", "func", "annotation", "returns"):
            for part in _parts(value):
                yield lambda field=field, part=part: setattr(node, field, part)
        elif isinstance(value, list) and field in ("args", "elts", "values", "comparators"):
            for k, each in enumerate(value):
                for part in _parts(each):
                    yield lambda k=k, part=part, value=value: value.__setitem__(k, part)


def _parts(node: ast.AST) -> list[ast.expr]:
    """The expressions inside one, each of which may stand for it."""
    if isinstance(node, ast.Subscript | ast.Tuple | ast.Attribute):
        return []
    found = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
    if isinstance(node, ast.Call):
        found = list(node.args)
    return found
