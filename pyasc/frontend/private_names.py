# SPDX-License-Identifier: Apache-2.0
"""Names such as `__scale` in classes, which Python spells `_Class__scale` wherever it compiles them."""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Iterator

_FIELDS = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.FunctionDef: "name"}
"""Where the nodes that have names keep them; Python leaves the keywords of calls as they are."""


def spell_private_names(node: ast.AST, function: types.FunctionType) -> None:
    """Give the private names in a function of a class, in place, the spelling that they have in its code."""
    prefix = _class_prefix(getattr(function.__code__, "co_qualname", function.__qualname__))
    if not prefix:
        return
    known = set(_names(function.__code__))
    for each in ast.walk(node):
        field = _FIELDS.get(type(each))
        name = getattr(each, field) if field is not None and each is not node else None
        if field is not None and name is not None and _is_private(name) and prefix + name in known:
            setattr(each, field, prefix + name)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__") and "." not in name


def _class_prefix(qualname: str) -> str:
    """`_Class` for the innermost class around a function; empty if there is none."""
    parts = [*qualname.split(".")[:-1], ""]
    around = [name for name, inner in itertools.pairwise(parts) if "<locals>" not in (name, inner)]
    bare = around[-1].lstrip("_") if around else ""
    return f"_{bare}" if bare else ""


def _names(code: types.CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names(each)
