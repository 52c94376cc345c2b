# SPDX-License-Identifier: Apache-2.0
"""What a function's text says about it as a whole, collected in one walk."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)
_WRITERS = frozenset({"copy", "atomic_add", "atomic_max", "atomic_min", "fill"})


@dataclass
class Scan:
    """`locals` are the names that the function makes its own, `captured` those that nested functions read.

    `mutates` says that elements of arrays other than the parameters may be assigned, so that names for one array
    must stay aliases of one buffer. `returned` is the last expression that is returned.
    """

    locals: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    stored_into: set[str] = field(default_factory=set)
    writes_otherwise: bool = False
    copies_names: bool = False
    augments_names: bool = False
    returned: ast.expr | None = None
    parameters: set[str] = field(default_factory=set)

    @property
    def mutates(self) -> bool:
        """See the class."""
        aliased = self.copies_names and self.augments_names
        return bool(self.stored_into - self.parameters) or self.writes_otherwise or aliased


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes directly below one."""
    values = node.__dict__
    for name in node._fields:
        value = values.get(name)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, ast.AST):
                    yield each


def scan(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Scan:
    """Look over a function once."""
    found = Scan()
    args = function.args
    found.parameters = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    found.locals |= found.parameters
    body = function.body if isinstance(function.body, list) else [function.body]
    stack: list[tuple[ast.AST, bool]] = [(node, False) for node in reversed(body)]
    while stack:
        node, nested = stack.pop()
        if isinstance(node, ast.Constant):
            continue
        if isinstance(node, ast.Name):
            _name(found, node, nested)
            continue
        _note(found, node, nested)
        nested = nested or isinstance(node, _SCOPES)
        stack.extend([(child, nested) for child in children(node)][::-1])
    return found


def _name(found: Scan, node: ast.Name, nested: bool) -> None:
    if nested:
        if isinstance(node.ctx, ast.Load):
            found.captured.add(node.id)
    elif not isinstance(node.ctx, ast.Load):
        found.locals.add(node.id)


def _note(found: Scan, node: ast.AST, nested: bool) -> None:
    if isinstance(node, ast.Subscript):
        if not isinstance(node.ctx, ast.Load):
            found.stored_into.add(_base(node))
    elif isinstance(node, ast.Assign):
        found.copies_names = found.copies_names or isinstance(node.value, ast.Name)
    elif isinstance(node, ast.AugAssign):
        found.augments_names = found.augments_names or isinstance(node.target, ast.Name)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _WRITERS:
            found.writes_otherwise = True
    elif isinstance(node, ast.Return):
        if not nested and node.value is not None:
            found.returned = node.value
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not nested:
        found.locals.add(node.name)


def _base(node: ast.Subscript) -> str:
    """The name whose elements are assigned, or text that is no name."""
    base: ast.expr = node.value
    while isinstance(base, ast.Subscript):
        base = base.value
    return base.id if isinstance(base, ast.Name) else "?"
