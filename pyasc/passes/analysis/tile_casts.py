# SPDX-License-Identifier: Apache-2.0
"""Conversions between element types, in Casts that the vector unit has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.tile_program import Register

if TYPE_CHECKING:
    from pyasc.passes.analysis.tile_legalise import Legaliser

_CAST_STEPS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("f32", "f16"): (("f16", "rint"),),
    ("f32", "bf16"): (("bf16", "rint"),),
    ("f16", "f32"): (("f32", "none"),),
    ("bf16", "f32"): (("f32", "none"),),
    ("f16", "bf16"): (("f32", "none"), ("bf16", "rint")),
    ("bf16", "f16"): (("f32", "none"), ("f16", "rint")),
    ("f32", "i32"): (("i32", "trunc"),),
    ("f32", "i16"): (("i16", "trunc"),),
    ("f16", "i32"): (("i32", "trunc"),),
    ("f16", "i16"): (("i16", "trunc"),),
    ("f16", "i8"): (("i8", "trunc"),),
    ("f16", "u8"): (("u8", "trunc"),),
    ("i32", "f32"): (("f32", "rint"),),
    ("i32", "f16"): (("f32", "rint"), ("f16", "rint")),
    ("i16", "f32"): (("f32", "none"),),
    ("i16", "f16"): (("f16", "rint"),),
    ("i16", "i8"): (("f16", "rint"), ("i8", "rint")),
    ("i16", "u8"): (("f16", "rint"), ("u8", "rint")),
    ("i8", "f16"): (("f16", "none"),),
    ("u8", "f16"): (("f16", "none"),),
    ("i8", "f32"): (("f16", "none"), ("f32", "none")),
    ("u8", "f32"): (("f16", "none"), ("f32", "none")),
    ("i8", "i16"): (("f16", "none"), ("i16", "rint")),
    ("u8", "i16"): (("f16", "none"), ("i16", "rint")),
    ("i8", "i32"): (("f16", "none"), ("i32", "rint")),
    ("u8", "i32"): (("f16", "none"), ("i32", "rint")),
    ("i16", "i32"): (("f32", "none"), ("i32", "rint")),
    ("i32", "i64"): (("i64", "none"),),
    ("i16", "i64"): (("f32", "none"), ("i64", "rint")),
    ("f32", "i64"): (("i64", "trunc"),),
}
"""Exact routes between dtypes; every step is one Cast."""


def cast(legaliser: Legaliser, source: Register, dtype: DType) -> Register:
    """A conversion as the language defines it, where a chain of Casts gives it exactly."""
    if source.dtype is dtype:
        return source
    if source.is_mask:
        return _of_mask(legaliser, source, dtype)
    if dtype is dtypes.i1:
        source = cast(legaliser, source, dtypes.f16) if source.dtype.bits == 8 else source
        return legaliser.compare("ne", [source, legaliser.number(0, source.dtype)])
    if source.dtype is dtypes.i16 and dtype in (dtypes.i8, dtypes.u8):
        source = legaliser.low_byte(source, dtype)
    if source.dtype is dtypes.f32 and dtype in (dtypes.i8, dtypes.u8):
        source = _clamped(legaliser, source, dtype)
    steps = _CAST_STEPS.get((source.dtype.name, dtype.name))
    if steps is None:
        raise refuse(f"a cast of {source.dtype} elements to {dtype}", legaliser.loc)
    made = source
    for name, mode in steps:
        made = legaliser.emit("cast", dtypes.BY_NAME[name], made, mode=mode)
    return made


def _clamped(legaliser: Legaliser, source: Register, dtype: DType) -> Register:
    """The whole part of a float as an int16 in the range of an 8-bit integer."""
    low = 0 if dtype is dtypes.u8 else -128
    whole = legaliser.emit("cast", dtypes.i16, source, mode="trunc")
    limited = legaliser.emit("maximum", dtypes.i16, whole, legaliser.number(low, dtypes.i16))
    return legaliser.emit("minimum", dtypes.i16, limited, legaliser.number(low + 255, dtypes.i16))


def _of_mask(legaliser: Legaliser, mask: Register, dtype: DType) -> Register:
    via = dtype if dtype in (dtypes.f16, dtypes.f32) else dtypes.f16
    ones = legaliser.register(legaliser.number(1.0, via), mask.cover)
    made = legaliser.emit("select", via, mask, ones, legaliser.number(0.0, via))
    return cast(legaliser, made, dtype)
