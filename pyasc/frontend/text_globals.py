# SPDX-License-Identifier: Apache-2.0
"""What the functions of a program text can see, found without running the text."""

from __future__ import annotations

import ast
import importlib
import operator
from collections.abc import Callable
from typing import Any

from pyasc.language import dtypes

# Modules that a kernel may use; nothing else is imported on behalf of a text.
_IMPORTABLE = ("pyasc", "numpy", "math")

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
}


def text_globals(tree: ast.Module) -> dict[str, Any]:
    """Names that imports and constant assignments at the top of the text give. Others stay unknown."""
    names: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.Import(names=aliases):
                _import(aliases, names)
            case ast.ImportFrom(module=str(module), names=aliases, level=0) if module in _IMPORTABLE:
                found = importlib.import_module(module)
                names.update({a.asname or a.name: getattr(found, a.name, None) for a in aliases})
            case ast.Assign(targets=[target], value=value):
                _assign(target, value, names)
            case _:
                pass
    return names


def _import(aliases: list[ast.alias], names: dict[str, Any]) -> None:
    for alias in aliases:
        if alias.name in _IMPORTABLE:
            names[alias.asname or alias.name] = importlib.import_module(alias.name)


def _assign(target: ast.expr, value: ast.expr, names: dict[str, Any]) -> None:
    try:
        result = _evaluate(value, names)
    except (ValueError, TypeError, ArithmeticError, KeyError, AttributeError, RecursionError):
        return
    match target:
        case ast.Name(id=name):
            names[name] = result
        case ast.Tuple(elts=parts) if isinstance(result, tuple) and len(result) == len(parts):
            names.update({p.id: v for p, v in zip(parts, result, strict=True) if isinstance(p, ast.Name)})
        case _:
            pass


def _evaluate(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of a constant expression. Raises ValueError for anything else: no code of the text runs."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.Tuple(elts=parts):
            return tuple(_evaluate(part, names) for part in parts)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(operand, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(_evaluate(left, names)), _number(_evaluate(right, names)))
        case ast.Attribute(value=ast.Name(id=module), attr=attr) if module in names:
            return getattr(names[module], attr)
        case ast.Call(func=ast.Attribute(attr="dims"), args=[ast.Constant(value=str(text))], keywords=[]):
            return dtypes.dims(text)
        case _:
            raise ValueError(ast.unparse(node))


def _number(value: Any) -> Any:
    """The operand of an operator. Raises ValueError for text and tuples, which operators could make very long."""
    if not isinstance(value, (int, float, dtypes.SizeSymbol)):
        raise ValueError(f"{value!r} is no number")
    return value
