# SPDX-License-Identifier: Apache-2.0
"""The catalogue of Python constructs that a kernel cannot use: how a user calls them, why, what to write instead."""

from __future__ import annotations

import ast

from pyasc.ir.record import Record


class Refusal(Record):
    """One refused construct. `name` fits "... is not supported in a kernel"."""

    name: str
    reason: str
    hint: str = ""


_NO_OBJECTS = "a kernel has numbers, arrays and tuples, and no objects made at run time"
_NO_EXCEPTIONS = "the hardware has no exceptions"
_NO_ASYNC = "a kernel runs to its end without waiting"
_NO_GENERATORS = "a kernel cannot be suspended"

_NODES: dict[str, Refusal] = {
    "AsyncFor": Refusal("`async for`", _NO_ASYNC, "use `for`"),
    "AsyncFunctionDef": Refusal("`async def`", _NO_ASYNC, "use `def`"),
    "AsyncWith": Refusal("`async with`", _NO_ASYNC, "use `with`"),
    "Await": Refusal("`await`", _NO_ASYNC),
    "ClassDef": Refusal("a class definition", _NO_OBJECTS, "define it outside the kernel"),
    "Delete": Refusal("`del`", "names live until the kernel ends", "leave it out"),
    "Dict": Refusal("a dictionary", _NO_OBJECTS, "use an array indexed by small integers, or a tuple"),
    "DictComp": Refusal("a dictionary comprehension", _NO_OBJECTS, "use a list comprehension"),
    "Global": Refusal(
        "`global`",
        "globals are read when the kernel is compiled",
        "return the value, or write it to an array",
    ),
    "Import": Refusal(
        "`import`", "modules are found when the kernel is compiled", "import outside the kernel"
    ),
    "ImportFrom": Refusal(
        "`import`", "modules are found when the kernel is compiled", "import outside the kernel"
    ),
    "Interpolation": Refusal(
        "a template string", "text exists in asc.print alone", "use an f-string in asc.print"
    ),
    "JoinedStr": Refusal(
        "an f-string", "text exists in asc.print and assert alone", "put it into asc.print(...)"
    ),
    "Match": Refusal("`match`", "there is no pattern to match numbers against", "use if/elif/else"),
    "Nonlocal": Refusal(
        "`nonlocal`",
        "a nested function may run where its caller's names have other values",
        "return the value",
    ),
    "Raise": Refusal("`raise`", _NO_EXCEPTIONS, "use assert, or write a flag to an array"),
    "Set": Refusal("a set", _NO_OBJECTS, "use a tuple"),
    "SetComp": Refusal("a set comprehension", _NO_OBJECTS, "use a list comprehension"),
    "TemplateStr": Refusal(
        "a template string", "text exists in asc.print alone", "use an f-string in asc.print"
    ),
    "Try": Refusal("`try`", _NO_EXCEPTIONS, "test the condition with `if`"),
    "TryStar": Refusal("`try`", _NO_EXCEPTIONS, "test the condition with `if`"),
    "TypeAlias": Refusal("a type alias", "types are known when the kernel is compiled", "define it outside"),
    "Yield": Refusal("`yield`", _NO_GENERATORS, "write the values to an array"),
    "YieldFrom": Refusal("`yield from`", _NO_GENERATORS, "write the values to an array"),
    "Starred": Refusal("`*`", "the number of values must be known", "write the values out"),
}

REFUSED: dict[type[ast.AST], Refusal] = {
    getattr(ast, name): refusal for name, refusal in _NODES.items() if hasattr(ast, name)
}
