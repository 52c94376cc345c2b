# SPDX-License-Identifier: Apache-2.0
"""What the functions of a program text can see, found without running the text."""

from __future__ import annotations

import ast
import builtins
import importlib
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyasc.language import dtypes

# Modules that a kernel may use; nothing else is imported on behalf of a text.
_IMPORTABLE = ("pyasc", "numpy", "math")

UNTOLD = "%untold"
"""The key, which is no name, of the names that a text gives values that are not known here."""

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


UNKNOWN = (ValueError, TypeError, ArithmeticError, KeyError, AttributeError, RecursionError)
"""What is raised for an expression whose value only a run of the text would tell."""


def text_globals(tree: ast.Module) -> dict[str, Any]:
    """What the names at the top of a text stand for when all of it has run, as far as that can be told from here.

    These are imports, constants and functions (their nodes) without decorators other than pyasc's. A name that any
    other statement may give a value to stays unknown, also where it is that of a builtin.
    """
    names: dict[str, Any] = {}
    bound = {"__name__", "__doc__"}
    for node in tree.body:
        if not _is_for_programs(node):
            _run(node, names)
            bound |= bound_names(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            _forget(node.names, names)
            bound.update(node.names)
    names[UNTOLD] = bound - names.keys()
    names["__builtins__"] = {key: value for key, value in vars(builtins).items() if key not in bound}
    return names


def _is_for_programs(node: ast.stmt) -> bool:
    """Whether this is `if __name__ == "__main__":`, whose body an import does not run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _run(node: ast.stmt, names: dict[str, Any]) -> None:
    known: dict[str, Any] = {}
    match node:
        case ast.Import(names=aliases):
            known = _imported(aliases)
        case ast.ImportFrom(module=str(module), names=aliases, level=0) if module in _IMPORTABLE:
            found = importlib.import_module(module)
            known = {a.asname or a.name: getattr(found, a.name, None) for a in aliases if a.name != "*"}
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                known |= _assigned(target, value, names)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            known = _assigned(target, value, names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _fix_defaults(node.args, names)
            known = {node.name: node} if all(is_of_pyasc(each, names) for each in node.decorator_list) else {}
        case _:
            pass
    _forget(bound_names(node), names)
    names.update(known)


def _forget(changed: Iterable[str], names: dict[str, Any]) -> None:
    for name in changed:
        if name != "*":
            names.pop(name, None)
            continue
        # Whatever a module exports may take the place of what is known, except that of modules.
        for each in [each for each, value in names.items() if not isinstance(value, types.ModuleType)]:
            del names[each]


def bound_names(node: ast.AST) -> set[str]:
    """The names of a module that one of its statements sets or deletes, or whose objects it changes."""
    found: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        each = pending.pop()
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                found |= _root(each)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                found.add(name)
            case _:
                pass
        pending += ast.iter_child_nodes(each)
    return found


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def is_of_pyasc(decorator: ast.expr, names: Mapping[str, Any]) -> bool:
    """Whether a decorator is `asc.kernel` or `asc.func`, under whatever name."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if ast.unparse(target) in ("asc.kernel", "asc.func"):
        return True
    try:
        found = evaluate(target, names)
    except UNKNOWN:
        return False
    return getattr(found, "__module__", "") == "pyasc.runtime.decorators"


def _fix_defaults(args: ast.arguments, names: Mapping[str, Any]) -> None:
    """Put numbers in the place of defaults, which are computed where the function is defined."""
    args.defaults = [_fixed(each, names) for each in args.defaults]
    args.kw_defaults = [None if each is None else _fixed(each, names) for each in args.kw_defaults]


def _fixed(node: ast.expr, names: Mapping[str, Any]) -> ast.expr:
    try:
        value = evaluate(node, names)
    except UNKNOWN:
        return node
    plain = value is None or isinstance(value, int | float | str)
    return ast.copy_location(ast.Constant(value), node) if plain else node


def _imported(aliases: list[ast.alias]) -> dict[str, Any]:
    return {
        alias.asname or alias.name: importlib.import_module(alias.name)
        for alias in aliases
        if alias.name in _IMPORTABLE
    }


def _assigned(target: ast.expr, value: ast.expr, names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that an assignment of a constant sets."""
    try:
        result = evaluate(value, names)
    except UNKNOWN:
        return {}
    match target:
        case ast.Name(id=name):
            return {name: result}
        case ast.Tuple(elts=parts) if isinstance(result, tuple) and len(result) == len(parts):
            return {p.id: v for p, v in zip(parts, result, strict=True) if isinstance(p, ast.Name)}
        case _:
            return {}


def evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a constant expression. Raises one of UNKNOWN for anything else: no code of the text runs."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.Tuple(elts=parts):
            return tuple(evaluate(part, names) for part in parts)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](evaluate(operand, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(evaluate(left, names)), _number(evaluate(right, names)))
        case ast.Attribute(value=ast.Name(id=module), attr=attr) if module in names:
            return getattr(names[module], attr)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_number(evaluate(left, names)), _number(evaluate(right, names)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not evaluate(operand, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(evaluate(left, names)), _number(evaluate(right, names)))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return evaluate(body if evaluate(test, names) else orelse, names)
        case ast.Call(func=ast.Attribute(attr="dims"), args=[ast.Constant(value=str(text))], keywords=[]):
            return dtypes.dims(text)
        case _:
            raise ValueError(ast.unparse(node))


def _power(base: Any, exponent: Any) -> Any:
    """Raises ValueError for one that could have very many digits."""
    if isinstance(base, int) and not (
        isinstance(exponent, int) and abs(base) < 1 << 64 and 0 <= exponent <= 64
    ):
        raise ValueError(f"{base} ** {exponent}")
    return base**exponent


def _number(value: Any) -> Any:
    """The operand of an operator. Raises ValueError for text and tuples, which operators could make very long."""
    if not isinstance(value, (int, float, dtypes.SizeSymbol)):
        raise ValueError(f"{value!r} is no number")
    return value
