# SPDX-License-Identifier: Apache-2.0
"""The first comment of a file: what each of its kernels takes, and what it holds in which memory."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.kernel import KernelLowering, entry_parameters
from pyasc.codegen.ascendc.render import WIDTH
from pyasc.codegen.ascendc.spelling import element
from pyasc.codegen.names import VendorNames
from pyasc.ir.ascend_calls import POSITION_SPACES
from pyasc.ir.core import Value
from pyasc.ir.dialects import arith, asc
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import OpaqueType, RefType

_COLUMN = 11
"""Where the text behind a heading starts."""


def described(lowering: KernelLowering, part: bool) -> list[str]:
    """What a class takes, as its entry does or as a part of one, and its on-chip memory."""
    function = lowering.function
    params = lowering.used_params() if part else function.params
    sizes = lowering.used_sizes() if part else function.sizes
    names = [str(lowering.texts[param]) for param in params]
    shown = [lowering.sizes[symbol] for symbol in sizes]
    lines = ["", *_signature("Part" if part else "Signature", function.symbol, params, (names, shown))]
    heading = "Tiling"
    for space, (total, parts) in _memory(lowering).items():
        lines += _entry(heading, f"{' + '.join(parts)} = {total} B of {space.upper()}")
        heading = ""
    return lines


def described_entry(function: Func) -> list[str]:
    """Signature of an entry that runs several classes."""
    given, sizes = entry_parameters(function, VendorNames())
    shown = _names(given), _names(sizes)
    return ["", *_signature("Signature", function.symbol, function.params, shown)]


def _names(variables: Sequence[nodes.Variable]) -> list[str]:
    return [variable.name for variable in variables]


def _signature(
    heading: str, symbol: str, params: Sequence[Value], shown_as: tuple[Sequence[str], Sequence[str]]
) -> list[str]:
    names, sizes = shown_as
    shown = [
        f"{element(param)} {name}{_shape(param.type)}" for param, name in zip(params, names, strict=True)
    ]
    lines = _entry(heading, f"{symbol}({', '.join([*names, *sizes])})")
    return [*lines, *_entry("", ", ".join([*shown, *(f"int64_t {size}" for size in sizes)]))]


def _shape(type_: object) -> str:
    return f"[{', '.join(map(str, type_.shape))}]" if isinstance(type_, RefType) else ""


def _entry(heading: str, text: str) -> list[str]:
    """A text behind its heading, in as many lines as it takes."""
    lines = textwrap.wrap(text, WIDTH - _COLUMN - len(" * "), break_long_words=False, break_on_hyphens=False)
    return [
        f"{title:{_COLUMN}}{line}" for title, line in zip([heading, *[""] * len(lines)], lines, strict=False)
    ]


def _memory(lowering: KernelLowering) -> dict[str, tuple[int, list[str]]]:
    """The bytes of each memory, and the buffers they are the sum of."""
    found: dict[str, tuple[int, list[str]]] = {}
    for op in lowering.function.body.block:
        if isinstance(op, asc.InitQueue | asc.InitBuf) and isinstance(op.bytes.op, arith.Constant):
            owner = op.queue if isinstance(op, asc.InitQueue) else op.buffer
            assert isinstance(owner.type, OpaqueType)
            space = POSITION_SPACES[str(owner.type.parameters[0])]
            number = op.number if isinstance(op, asc.InitQueue) else 1
            size = int(op.bytes.op.value)
            total, parts = found.get(space, (0, []))
            shown = f"{lowering.texts[owner]} {f'{number} x ' if number > 1 else ''}{size}"
            found[space] = (total + number * size, [*parts, shown])
    return found
