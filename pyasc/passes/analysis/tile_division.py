# SPDX-License-Identifier: Apache-2.0
"""Integer division by a positive number, in instructions that the vector unit has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.passes.analysis.tile_program import Register

if TYPE_CHECKING:
    from pyasc.passes.analysis.tile_legalise import Legaliser


def quotient(legaliser: Legaliser, left: Register, by: int) -> Register:
    """Rounded down. Floats are exact for int16; for int32 twice the rest is divided, then corrected by one."""
    dtype = left.dtype
    if by == 1:
        return left
    if by & (by - 1) == 0:
        return legaliser.emit("shr", dtype, left, legaliser.number(by.bit_length() - 1, dtype))
    if dtype is dtypes.i16:
        whole = legaliser.register(
            legaliser.divide([legaliser.cast(left, dtypes.f32), legaliser.number(by, dtypes.f32)])
        )
        return legaliser.emit("cast", dtype, whole, mode="floor")
    quotient, rest = _roughly(legaliser, left, by)
    more, rest = _roughly(legaliser, rest, by)
    quotient = legaliser.emit("add", dtype, quotient, more)
    below = legaliser.emit("shr", dtype, rest, legaliser.number(31, dtype))
    quotient = legaliser.emit("add", dtype, quotient, below)
    rest = _minus(legaliser, rest, legaliser.emit("mul", dtype, below, legaliser.number(by, dtype)))
    beyond = legaliser.arithmetic("sub", [legaliser.number(by - 1, dtype), rest])
    return _minus(legaliser, quotient, legaliser.emit("shr", dtype, beyond, legaliser.number(31, dtype)))


def _roughly(legaliser: Legaliser, left: Register, by: int) -> tuple[Register, Register]:
    """A quotient by way of float32, and what it leaves."""
    scaled = legaliser.emit(
        "mul", dtypes.f32, legaliser.cast(left, dtypes.f32), legaliser.number(1.0 / by, dtypes.f32)
    )
    quotient = legaliser.emit("cast", left.dtype, scaled, mode="floor")
    return quotient, _minus(
        legaliser, left, legaliser.emit("mul", left.dtype, quotient, legaliser.number(by, left.dtype))
    )


def _minus(legaliser: Legaliser, left: Register, right: Register) -> Register:
    return legaliser.emit("sub", left.dtype, left, right)
