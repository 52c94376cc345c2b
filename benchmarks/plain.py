# SPDX-License-Identifier: Apache-2.0
"""The loops of `kernels.py` as plain CPython functions, on nested lists or on NumPy arrays.

The text is the kernels' own. Sizes named in annotations become assignments at the head of the function, and for
lists `x[i, j]` becomes `x[i][j]`; nothing else changes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

KERNELS = Path(__file__).with_name("kernels.py")


def _kernel(function: Any = None, **_options: object) -> Any:
    return function if function is not None else _kernel


_SHIM = SimpleNamespace(kernel=_kernel, parallel_for=range, exp=math.exp, log=math.log, sqrt=math.sqrt)


def load(*, lists: bool) -> dict[str, Callable[..., Any]]:
    """All functions of `kernels.py` by name, for nested lists or for arrays."""
    tree = ast.parse(KERNELS.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.body = _size_assignments(node) + node.body
            for argument in node.args.args:
                argument.annotation = None
    if lists:
        tree = _NestedSubscripts().visit(tree)
    names: dict[str, Any] = {"asc": _SHIM}
    exec(compile(ast.fix_missing_locations(tree), str(KERNELS), "exec"), names)
    return {name: value for name, value in names.items() if callable(value)}


def text_of(name: str) -> str:
    """The text of one function of `kernels.py`, without its decorator."""
    text = KERNELS.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_source_segment(text, node) or ""
    raise KeyError(name)


def _size_assignments(function: ast.FunctionDef) -> list[ast.stmt]:
    """`N = len(x)`, `C = len(x[0])` and so on, for every symbolic size where it is first named."""
    known: set[str] = set()
    statements: list[ast.stmt] = []
    for argument in function.args.args:
        if not isinstance(argument.annotation, ast.Subscript):
            continue
        sizes = argument.annotation.slice
        for axis, size in enumerate(sizes.elts if isinstance(sizes, ast.Tuple) else [sizes]):
            if isinstance(size, ast.Name) and size.id not in known:
                known.add(size.id)
                statements += ast.parse(f"{size.id} = len({argument.arg}{'[0]' * axis})").body
    return statements


class _NestedSubscripts(ast.NodeTransformer):
    """`x[i, j]` to `x[i][j]`, in loads and in stores."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.slice, ast.Tuple):
            return node
        value: ast.expr = node.value
        for index in node.slice.elts[:-1]:
            value = ast.Subscript(value, index, ast.Load())
        return ast.Subscript(value, node.slice.elts[-1], node.ctx)
