# SPDX-License-Identifier: Apache-2.0
"""Element types: the closed list of scalar kinds that every level and device agrees on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type. There is one object for each, so that identity is equality.

    `kind` is `"f"` (floating point), `"i"` (signed), `"u"` (unsigned) or `"b"` (bool); `bits` is the width
    in memory; `numpy` is the NumPy name (bfloat16 has none in plain NumPy and is carried as uint16 bits).
    """

    name: str
    kind: str
    bits: int
    numpy: str
    is_float: bool = field(init=False)
    """Whether this is a floating-point type."""
    is_integer: bool = field(init=False)
    """Whether this is a signed or unsigned integer type (bool is neither)."""
    is_signed: bool = field(init=False)
    """Whether negative values exist in this type."""
    is_bool: bool = field(init=False)
    """Whether this is the truth-value type."""
    bytes: int = field(init=False)
    """Size of one element in memory; a bool takes one byte."""

    def __post_init__(self) -> None:
        derived = {
            "is_float": self.kind == "f",
            "is_integer": self.kind in "iu",
            "is_signed": self.kind in "fi",
            "is_bool": self.kind == "b",
            "bytes": self.bits // 8,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        return _named, (self.name,)


f16 = DType("f16", "f", 16, "float16")
bf16 = DType("bf16", "f", 16, "bfloat16")
f32 = DType("f32", "f", 32, "float32")
f64 = DType("f64", "f", 64, "float64")
i8 = DType("i8", "i", 8, "int8")
i16 = DType("i16", "i", 16, "int16")
i32 = DType("i32", "i", 32, "int32")
i64 = DType("i64", "i", 64, "int64")
u8 = DType("u8", "u", 8, "uint8")
u16 = DType("u16", "u", 16, "uint16")
u32 = DType("u32", "u", 32, "uint32")
u64 = DType("u64", "u", 64, "uint64")
i1 = DType("i1", "b", 8, "bool")

ALL = (f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, i1)
BY_NAME = {dtype.name: dtype for dtype in ALL}
BY_NUMPY = {dtype.numpy: dtype for dtype in ALL}


def _named(name: str) -> DType:
    return BY_NAME[name]
