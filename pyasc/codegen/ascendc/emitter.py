# SPDX-License-Identifier: Apache-2.0
"""The Ascend C file of a kernel: a class and an entry for each of its phases, under a comment that says what it is."""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.header import described, described_entry
from pyasc.codegen.ascendc.helpers import HELPERS
from pyasc.codegen.ascendc.kernel import EmitOptions, KernelLowering
from pyasc.codegen.ascendc.mixed import lower_mixed
from pyasc.codegen.ascendc.render import aligned, render_unit
from pyasc.ir.dialects import asc
from pyasc.ir.dialects.func import Func, Module


@dataclass(frozen=True)
class EmittedFile:
    """The text of a file and its entries, in the order in which they are launched."""

    text: str
    entries: tuple[str, ...]


def emit_ascendc(module: Module, title: str, options: EmitOptions | None = None) -> EmittedFile:
    """Ascend C for the kernel functions of a module at the ascend level; `title` says where they come from.

    Raises TypeError for an operation that should have been lowered before.
    """
    chosen = options or EmitOptions()
    constants: dict[str, nodes.Variable] = {}
    phases = [each for each in module.functions if each.kernel]
    kernels: list[nodes.Kernel | nodes.Mixed] = []
    header = [title]
    for phase in phases:
        parts = parts_of(phase, module)
        lowerings = {
            each.symbol: KernelLowering(each, chosen, each.symbol, constants) for each in parts or [phase]
        }
        for lowering in lowerings.values():
            made = lowering.run()
            made.part = bool(parts)
            kernels.append(made)
            header += described(lowering, bool(parts))
        if parts:
            kernels.append(lower_mixed(phase, chosen, lowerings))
            header += described_entry(phase)
    body = render_unit(nodes.Unit((), (), (), kernels))
    helpers = tuple(text for name, text in HELPERS.items() if f"{name}<" in body)
    unit = nodes.Unit(tuple(header), aligned([*constants.values()]), helpers, kernels)
    return EmittedFile(render_unit(unit), tuple(each.symbol for each in phases))


def parts_of(phase: Func, module: Module) -> list[Func]:
    """The functions that a mixed kernel runs."""
    return [module.function(op.callee) for op in phase.body.block if isinstance(op, asc.Run)]
