# SPDX-License-Identifier: Apache-2.0
"""Prints nodes through their templates, and breaks lines as clang-format would. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.templates import macros

INDENT = "    "
WIDTH = 120
_RELATIONS = (" >=", " <=", " ==", " !=", " &&", " ||")


def _macros() -> Any:
    return macros("pyasc.codegen.ascendc")


def render_unit(unit: nodes.Unit) -> str:
    """The text of a file."""
    text = _macros().Unit(unit, "\n\n".join(_kernel(kernel) for kernel in unit.kernels))
    lines = [part for line in text.strip("\n").split("\n") for part in broken(line)]
    return "\n".join(lines) + "\n"


def aligned(constants: Sequence[nodes.Variable]) -> tuple[str, ...]:
    """The declarations of constants: those with a comment first, the comments below each other."""
    shown = {each: f"constexpr {each.declaration} = {each.value};" for each in constants}
    column = max((len(text) for each, text in shown.items() if each.meaning), default=0)
    commented = [f"{text:{column}}  // {each.meaning}" for each, text in shown.items() if each.meaning]
    return (*commented, *(text for each, text in shown.items() if not each.meaning))


def _kernel(kernel: nodes.Kernel | nodes.Mixed) -> str:
    if isinstance(kernel, nodes.Mixed):
        return _macros().Mixed(kernel).strip("\n")
    members = "\n".join(
        f"{member.declaration}{' = ' + member.value if member.value else ''};" for member in kernel.members
    )
    text = _macros().Kernel(kernel, _methods(kernel.public), _methods(kernel.private), indented(members))
    return text.strip("\n")


def _methods(methods: Sequence[nodes.Method]) -> str:
    return indented(
        "\n\n".join(_commented(method, _macros().Method(method, _block(method.body))) for method in methods)
    )


def _block(body: Sequence[nodes.Node]) -> str:
    return indented("\n".join(_render(node) for node in body))


def _render(node: nodes.Node) -> str:
    macro = getattr(_macros(), type(node).__name__)
    match node:
        case nodes.For(body=body) | nodes.While(body=body):
            text = macro(node, _block(body))
        case nodes.If(then=then, otherwise=otherwise):
            text = macro(node, _block(then), _block(otherwise))
        case _:
            text = macro(node)
    return _commented(node, text)


def _commented(node: nodes.Node, text: str) -> str:
    text = text.strip("\n")
    return f"// {node.comment}\n{text}" if node.comment else text


def indented(text: str) -> str:
    """The text one level further in."""
    return "\n".join(INDENT + line if line else line for line in text.split("\n"))


def broken(line: str) -> list[str]:
    """A line, or several where it is too long: broken behind commas and relations or before operators, below them."""
    made: list[str] = []
    while len(line) > WIDTH and not line.lstrip().startswith(("//", "*", "/*")):
        found = _break(line, continued=bool(made))
        if found is None:
            break
        position, column = found
        made.append(line[:position].rstrip())
        line = " " * column + line[position:].lstrip()
    return [*made, line]


def _break(line: str, continued: bool) -> tuple[int, int] | None:
    """Where to break and where to go on: the last place of the least depth that fits.

    A line that goes on from another is inside that one's parenthesis already.
    """
    open_: list[int] = []
    candidates: list[tuple[int, int, int]] = []
    start = len(line) - len(line.lstrip())
    for position, char in enumerate(line[:WIDTH]):
        if char in "({[":
            open_.append(position + 1)
        elif char in ")}]" and open_:
            open_.pop()
        elif char == "," and (open_ or continued):
            candidates.append((len(open_), -position, open_[-1] if open_ else start))
        elif char == " " and line[:position].endswith(_RELATIONS) and position > start:
            candidates.append((len(open_) + 1, -position, open_[-1] if open_ else start + len(INDENT)))
        elif (
            char == " " and line[position + 1 : position + 3] in ("+ ", "? ", ": ", "- ") and position > start
        ):
            column = open_[-1] if open_ else start + len(INDENT)
            candidates.append((len(open_) + 2, -position, column))
    if not candidates:
        return None
    _, negative, column = min(candidates)
    position = -negative
    return (position + 1 if line[position] == "," else position), column
