# SPDX-License-Identifier: Apache-2.0
"""All dialects, and the table from names to operation classes that the parser reads.

The modules are imported on first use, so that a compilation loads the dialects of its own levels alone.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyasc.ir.core import Operation

NAMES = (
    *("func", "arith", "scf", "py", "tensor", "mem", "st", "vec", "tile", "tile_lanes"),
    *("asc", "asc_vector", "asc_cube"),
)


@cache
def modules() -> tuple[ModuleType, ...]:
    """The module of every dialect, from the top level down."""
    return tuple(import_module(f"{__name__}.{name}") for name in NAMES)


@cache
def operations() -> dict[str, type[Operation]]:
    """Every declared operation by name, in declaration order."""
    from pyasc.ir.core import Operation

    found: dict[str, type[Operation]] = {}
    for module in modules():
        for member in vars(module).values():
            if isinstance(member, type) and issubclass(member, Operation) and member is not Operation:
                found.setdefault(member.spec.name, member)
    return found
