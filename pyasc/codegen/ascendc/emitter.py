# SPDX-License-Identifier: Apache-2.0
"""The Ascend C file of a kernel: a class and an entry for each of its phases, under a comment that says what it is."""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.expressions import CTYPES, HELPERS
from pyasc.codegen.ascendc.lower import EmitOptions, KernelLowering
from pyasc.codegen.ascendc.mixed import lower_mixed
from pyasc.codegen.ascendc.render import render_unit
from pyasc.ir.ascend_calls import POSITION_SPACES
from pyasc.ir.dialects import arith, asc
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.types import OpaqueType, RefType, dtype_of


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
        for each in parts or [phase]:
            made = KernelLowering(each, chosen, each.symbol, constants).run()
            made.part = bool(parts)
            kernels.append(made)
            header += _described(each)
        if parts:
            kernels.append(lower_mixed(phase, chosen))
            header += _described(phase)
    body = render_unit(nodes.Unit((), (), (), kernels))
    helpers = tuple(text for name, text in HELPERS.items() if f"{name}<" in body)
    unit = nodes.Unit(tuple(header), tuple(constants.values()), helpers, kernels)
    return EmittedFile(render_unit(unit), tuple(each.symbol for each in phases))


def parts_of(phase: Func, module: Module) -> list[Func]:
    """The functions that a mixed kernel runs."""
    return [module.function(op.callee) for op in phase.body.block if isinstance(op, asc.Run)]


def _described(phase: Func) -> list[str]:
    """Signature and on-chip memory of one phase."""
    params = ", ".join([*(param.name for param in phase.params), *phase.sizes])
    types = "; ".join(
        f"{param.name} {CTYPES[dtype_of(param.type)]}{_shape(param.type)}" for param in phase.params
    )
    lines = ["", f"Signature  {phase.symbol}({params})", f"           {types}"]
    for space, (used, parts) in _memory(phase).items():
        word = "Tiling    " if len(lines) == 3 else " " * 10
        lines.append(f"{word} {' + '.join(parts)} = {used} B of {space.upper()}")
    return lines


def _shape(type_: object) -> str:
    return f"[{', '.join(map(str, type_.shape))}]" if isinstance(type_, RefType) else ""


def _memory(phase: Func) -> dict[str, tuple[int, list[str]]]:
    """The bytes of each memory, and the buffers they are the sum of."""
    found: dict[str, tuple[int, list[str]]] = {}
    for op in phase.body.block:
        if isinstance(op, asc.InitQueue | asc.InitBuf) and isinstance(op.bytes.op, arith.Constant):
            owner = (op.queue if isinstance(op, asc.InitQueue) else op.buffer).type
            assert isinstance(owner, OpaqueType)
            space = POSITION_SPACES[str(owner.parameters[0])]
            number = op.number if isinstance(op, asc.InitQueue) else 1
            size = int(op.bytes.op.value)
            total, parts = found.get(space, (0, []))
            found[space] = (
                total + number * size,
                [*parts, f"{number} x {size}" if number > 1 else str(size)],
            )
    return found
