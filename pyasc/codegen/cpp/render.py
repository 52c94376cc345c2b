# SPDX-License-Identifier: Apache-2.0
"""Prints nodes through their templates. Nothing is decided here or there."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pyasc.codegen.cpp import nodes

INDENT = "  "


@cache
def _macros() -> Any:
    environment = Environment(
        loader=PackageLoader("pyasc.codegen.cpp"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("nodes.j2").module


def render(node: nodes.Node) -> str:
    """The text of one node and everything in it."""
    macro = getattr(_macros(), type(node).__name__)
    match node:
        case nodes.Unit(functions=functions):
            text = macro(node, "\n\n".join(render(function) for function in functions))
        case nodes.Function(body=body, outlined=outlined):
            before = "".join(render(part) + "\n\n" for part in outlined)
            text = macro(node, _block(body), before)
        case nodes.For(body=body) | nodes.While(body=body) | nodes.Outlined(body=body):
            text = macro(node, _block(body))
        case nodes.If(then=then, otherwise=otherwise):
            text = macro(node, _block(then), _block(otherwise))
        case _:
            text = macro(node)
    text = text.strip("\n") + ("\n" if isinstance(node, nodes.Unit) else "")
    return f"// {node.comment}\n{text}" if node.comment else text


def _block(body: list[nodes.Node]) -> str:
    lines = "\n".join(render(node) for node in body).split("\n")
    # Preprocessor lines keep to the left margin of their statement, as clang-format leaves pragmas.
    return "\n".join(INDENT + line if line else line for line in lines)
