# SPDX-License-Identifier: Apache-2.0
"""What the scalar unit computes by itself; anything else on numbers takes calls of the vector unit on one element."""

from __future__ import annotations

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType

HALVES = (dtypes.f16, dtypes.bf16)
"""Floats that the scalar unit stores and does not compute."""
SCALAR_FLOAT = frozenset(
    "add sub mul div fmod neg abs minimum maximum pymin pymax lt le gt ge eq ne isnan select".split()
)
SCALAR_INT = frozenset(
    (
        "add sub mul neg abs minimum maximum pymin pymax lt le gt ge eq ne select and or xor not floordiv mod "
        "shl shr"
    ).split()
)


def has_instruction(fn: str, dtype: DType) -> bool:
    """Whether the scalar unit computes a function of a dtype by itself."""
    if dtype in (*HALVES, dtypes.f64):
        return False
    return fn in (SCALAR_FLOAT if dtype.is_float else SCALAR_INT)
