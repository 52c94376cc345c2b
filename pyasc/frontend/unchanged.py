# SPDX-License-Identifier: Apache-2.0
"""Whether a text is the one that a function was loaded from: it is compiled again and compared with the code."""

from __future__ import annotations
import __future__

import ast
import copy
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def is_unchanged(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    code: types.CodeType,
    names: Mapping[str, Any],
    lines: Sequence[str],
) -> bool:
    """Whether `node` compiles to `code`. `lines` is the whole file, which decides where the function alone cannot.

    A function alone may compile to other instructions: calls of what the module imports, and private names in
    classes, depend on the text around it.
    """
    if is_rewritten(code):
        return True
    alone = _compile_alone(_bare(node), code, names)
    return any(same_code(each, code) for each in alone) or in_file(code, lines)


def is_rewritten(code: types.CodeType) -> bool:
    """Whether pytest has put its own code in place of the asserts, so that no text compiles to the function's."""
    return any(name.startswith("@py") for name in (*code.co_varnames, *code.co_names))


def matching_lambdas(
    found: Sequence[ast.Lambda], code: types.CodeType, names: Mapping[str, Any]
) -> list[ast.Lambda]:
    """Those that compile to `code`; where Python keeps columns, those at its very place."""
    compiled = [(node, each) for node in found for each in _compile_alone(ast.Expr(node), code, names)]
    same = [(node, each) for node, each in compiled if same_code(each, code)]
    if len(same) > 1 and hasattr(code, "co_positions"):
        same = [(node, each) for node, each in same if _columns(each) == _columns(code)]
    return [node for node, _ in same]


def _columns(code: types.CodeType) -> list[Any]:
    return list(code.co_positions())  # pyright: ignore[reportAttributeAccessIssue]


def in_file(code: types.CodeType, lines: Sequence[str]) -> bool:
    """Whether the file compiles to a function of this name, place and code."""
    flags = code.co_flags & FUTURE_FLAGS
    try:
        module = compile("".join(lines), code.co_filename, "exec", flags, dont_inherit=True)
    except SyntaxError:
        return False
    return any(
        each.co_firstlineno == code.co_firstlineno and same_code(each, code)
        for each in _codes(module, code.co_name)
    )


def _bare(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """The function without what is not part of its code: decorators, annotations and defaults."""
    bare = copy.copy(node)
    bare.decorator_list = []
    bare.returns = None
    bare.args = _without_annotations(node.args)
    return bare


def _compile_alone(
    body: ast.stmt, code: types.CodeType, names: Mapping[str, Any]
) -> Iterator[types.CodeType]:
    if code.co_freevars:
        outer = ast.parse(f"def outer({', '.join(code.co_freevars)}): pass").body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = [body]
        body = outer
    # CPython compiles calls of a module's functions in another way when it sees the import.
    modules = [name for name in code.co_names if isinstance(names.get(name), types.ModuleType)]
    imports = ast.parse("import " + ", ".join(modules)).body if modules else []
    module = ast.fix_missing_locations(ast.Module([*imports, body], []))
    flags = code.co_flags & FUTURE_FLAGS
    return _codes(compile(module, code.co_filename, "exec", flags, dont_inherit=True), code.co_name)


def _without_annotations(args: ast.arguments) -> ast.arguments:
    def plain(group: list[ast.arg]) -> list[ast.arg]:
        return [ast.copy_location(ast.arg(a.arg), a) for a in group]

    def starred(arg: ast.arg | None) -> ast.arg | None:
        return None if arg is None else plain([arg])[0]

    return ast.arguments(
        plain(args.posonlyargs),
        plain(args.args),
        starred(args.vararg),
        plain(args.kwonlyargs),
        [None] * len(args.kwonlyargs),
        starred(args.kwarg),
        [],
    )


def _codes(code: types.CodeType, name: str) -> Iterator[types.CodeType]:
    """The code objects of that name, outer ones first."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_name == name:
                yield const
            yield from _codes(const, name)


def same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects do the same."""
    if a.co_code != b.co_code or len(a.co_consts) != len(b.co_consts):
        return False
    if (a.co_names, a.co_varnames, a.co_freevars) != (b.co_names, b.co_varnames, b.co_freevars):
        return False
    return all(
        same_code(x, y)
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType)
        else type(x) is type(y) and repr(x) == repr(y)
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )
