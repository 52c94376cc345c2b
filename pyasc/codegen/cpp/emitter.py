# SPDX-License-Identifier: Apache-2.0
"""The C++ of a module at the loop level: lowered to nodes, then printed."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.codegen.cpp import nodes
from pyasc.codegen.cpp.lower import EmitOptions, FunctionLowering, Site
from pyasc.codegen.cpp.render import render
from pyasc.ir.dialects import func
from pyasc.ir.record import Record


class EmittedKernel(Record):
    """What the launcher must know of one emitted function: check sites by number (from 1) and print formats."""

    symbol: str
    sites: tuple[Site, ...]
    prints: tuple[tuple[str, tuple[str, ...]], ...]


class EmittedUnit(Record):
    """A translation unit and its kernels."""

    text: str
    kernels: tuple[EmittedKernel, ...]


def emit_cpp(modules: Sequence[func.Module], source: str, options: EmitOptions | None = None) -> EmittedUnit:
    """C++ for all kernels of `modules` (loop level, lowered); `source` names the Python file in the first line.

    Raises TypeError for an operation that should have been lowered before.
    """
    chosen = options or EmitOptions()
    functions: list[nodes.Function] = []
    kernels: list[EmittedKernel] = []
    for function in (f for module in modules for f in module.functions if f.kernel):
        state = FunctionLowering(function, chosen)
        functions.append(state.run())
        prints = tuple((p.format, tuple(str(v.type) for v in p.values)) for p in state.prints)
        kernels.append(EmittedKernel(function.symbol, tuple(state.sites), prints))
    text = render(nodes.Unit(source, functions)) + "\n"
    return EmittedUnit(_each_place_once(text) if chosen.line_comments else text, tuple(kernels))


def _each_place_once(text: str) -> str:
    """A place is named where it changes, not before every loop and store that one line became."""
    lines: list[str] = []
    last = ""
    for line in text.split("\n"):
        comment = line.strip() if line.lstrip().startswith("// ") else ""
        if not line:
            last = ""
        if not comment or comment != last:
            lines.append(line)
        last = comment or last
    return "\n".join(lines)
