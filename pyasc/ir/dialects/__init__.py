# SPDX-License-Identifier: Apache-2.0
"""All dialects, and the table from names to operation classes that the parser reads."""

from __future__ import annotations

from types import ModuleType

from pyasc.ir.core import Operation
from pyasc.ir.dialects import arith, asc, asc_cube, asc_vector, func, mem, py, scf, st, tensor, tile, vec

MODULES: tuple[ModuleType, ...] = (
    func,
    arith,
    scf,
    py,
    tensor,
    mem,
    st,
    vec,
    tile,
    asc,
    asc_vector,
    asc_cube,
)


def operations() -> dict[str, type[Operation]]:
    """Every declared operation by name, in declaration order."""
    found: dict[str, type[Operation]] = {}
    for module in MODULES:
        for member in vars(module).values():
            if isinstance(member, type) and issubclass(member, Operation) and member is not Operation:
                found.setdefault(member.spec.name, member)
    return found
