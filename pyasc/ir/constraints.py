# SPDX-License-Identifier: Apache-2.0
"""Type constraints that declarations share."""

from __future__ import annotations

from pyasc.ir import dtypes
from pyasc.ir.declare import Constraint
from pyasc.ir.types import OpaqueType, RefType, ScalarType, TensorType, TileType, VectorType

SCALAR = Constraint("a scalar", lambda t: isinstance(t, ScalarType))
I64 = Constraint("i64", lambda t: isinstance(t, ScalarType) and t.dtype is dtypes.i64)
BOOL = Constraint("i1", lambda t: isinstance(t, ScalarType) and t.dtype is dtypes.i1)
REF = Constraint("a ref", lambda t: isinstance(t, RefType))
TENSOR = Constraint("a tensor", lambda t: isinstance(t, TensorType))
I64_TENSOR = Constraint(
    "an i64 scalar or tensor", lambda t: isinstance(t, (ScalarType, TensorType)) and t.dtype is dtypes.i64
)
VECTOR = Constraint("a vector", lambda t: isinstance(t, VectorType))
TILE = Constraint("a tile", lambda t: isinstance(t, TileType))
ELEMENTWISE = Constraint(
    "a scalar, tensor or vector", lambda t: isinstance(t, (ScalarType, TensorType, VectorType))
)
REF_OR_SCALAR = Constraint("a ref or a scalar", lambda t: isinstance(t, (RefType, ScalarType)))
ON_CHIP = Constraint("a ref on chip", lambda t: isinstance(t, RefType) and t.space not in ("gm", "local"))
GLOBAL = Constraint("a ref in global memory", lambda t: isinstance(t, RefType) and t.space == "gm")
HANDLE = Constraint("a handle", lambda t: isinstance(t, OpaqueType))


def handle(name: str) -> Constraint:
    """A handle of one name, whatever its parameters."""
    return Constraint(f"!{name}", lambda t: isinstance(t, OpaqueType) and t.name == name)
