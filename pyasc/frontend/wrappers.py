# SPDX-License-Identifier: Apache-2.0
"""Decorators below `@asc.kernel`: the function under one that passes its arguments on, and nothing under any other."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable
from typing import Any

_CACHED = type(functools.lru_cache(lambda: None))


def is_transparent(function: Any, parsed: Callable[[types.FunctionType], ast.AST]) -> bool:
    """Whether a call of `function` does what its `__wrapped__` does. `parsed` gives the tree of a function.

    True of kernels, of cached functions, and of `def wrapper(*args, **kwargs): return wrapped(*args, **kwargs)`.
    """
    if not isinstance(function, types.FunctionType):
        return isinstance(function, _CACHED) or hasattr(function, "py_func")
    called = _passed_on(parsed(function))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return called in cells and _holds(cells[called], function.__wrapped__)  # pyright: ignore[reportFunctionMemberAccess]


def _passed_on(node: ast.AST) -> str:
    """The name of the function that a function does nothing but call with its own arguments; empty for any other."""
    if not isinstance(node, ast.FunctionDef):
        return ""
    parameters = node.args
    named = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    match node.body:
        case [ast.Return(value=ast.Call(func=ast.Name(id=called)) as call)] if (
            parameters.vararg and not named
        ):
            wanted = f"{called}(*{parameters.vararg.arg}"
            wanted += f", **{parameters.kwarg.arg})" if parameters.kwarg else ")"
            return called if ast.unparse(call) == wanted else ""
        case _:
            return ""


def _holds(cell: types.CellType, value: object) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:
        return False
