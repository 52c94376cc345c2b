# SPDX-License-Identifier: Apache-2.0
"""Prints nodes through their templates. Nothing is decided here or there."""

from __future__ import annotations

from pyasc.codegen.cpp import nodes
from pyasc.codegen.templates import macros

INDENT = "  "


def render(node: nodes.Node) -> str:
    """The text of one node and everything in it."""
    macro = getattr(macros("pyasc.codegen.cpp"), type(node).__name__)
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
