# SPDX-License-Identifier: Apache-2.0
"""The levels of the IR: which operations and kinds of value each of them knows."""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.declare import OpSpec
from pyasc.ir.types import OpaqueType, RefType, ScalarType, TensorType, TileType, Type, VectorType


@dataclass(frozen=True)
class Level:
    """One level: all operations of `dialects`, the single `operations` besides, and values of the `types`."""

    name: str
    dialects: frozenset[str]
    operations: frozenset[str]
    types: tuple[type[Type], ...]

    def allows(self, spec: OpSpec) -> bool:
        """Whether operations of this declaration may occur."""
        return spec.dialect in self.dialects or spec.name in self.operations


def _level(name: str, dialects: str, operations: str, types: tuple[type[Type], ...]) -> Level:
    return Level(name, frozenset(dialects.split()), frozenset(operations.split()), types)


_KEPT_CHECKS = "py.check py.print"

LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        _level("py", "func arith scf py tensor mem", "", (ScalarType, TensorType, RefType)),
        _level(
            "loop", "func arith scf mem st vec", _KEPT_CHECKS, (ScalarType, RefType, VectorType, TileType)
        ),
        _level("tile", "func arith scf mem st tile", _KEPT_CHECKS, (ScalarType, RefType, OpaqueType)),
        _level("ascend", "func arith scf asc", _KEPT_CHECKS, (ScalarType, RefType, OpaqueType)),
    )
}
"""Every level by name, from the top."""
