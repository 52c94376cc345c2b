# SPDX-License-Identifier: Apache-2.0
"""How dtypes and numbers are spelt in Ascend C."""

from __future__ import annotations

import math
import struct

from pyasc.codegen.cpp.nodes import PRIMARY, UNARY, Expr
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dtypes import DType
from pyasc.ir.types import dtype_of

CTYPES = {
    dtypes.f16: "half",
    dtypes.bf16: "bfloat16_t",
    dtypes.f32: "float",
    dtypes.i1: "bool",
    **{d: f"{'u' if d.kind == 'u' else ''}int{d.bits}_t" for d in dtypes.ALL if d.is_integer},
}
"""The C++ name of each dtype that a kernel may hold."""

CTYPE_BYTES = {name: dtype.bytes for dtype, name in CTYPES.items()}
"""The size of each of them."""

NAMED_CTYPES = {dtype.name: text for dtype, text in CTYPES.items()}
"""The same by the names of dtypes, as attributes of operations have them."""


_LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
"""The largest float32."""


def element(value: Value) -> str:
    """The C++ name of a value's dtype."""
    return CTYPES[dtype_of(value.type)]


def literal(value: bool | int | float, dtype: DType) -> Expr:
    """A number of a dtype, so that template arguments are deduced from it alone."""
    if dtype is dtypes.i1:
        return Expr("true" if value else "false")
    text = _float(float(value)) if dtype.is_float else str(int(value))
    # The number behind the sign of the least int32 does not fit, so it would be a long one.
    least = dtype is dtypes.i32 and value == -(1 << 31)
    if dtype is dtypes.u64 and value >= 1 << 63:
        text += "U"
    if dtype in (dtypes.f32, dtypes.i32, dtypes.i64, dtypes.u64) and not least:
        return Expr(text, UNARY if text.startswith("-") else PRIMARY)
    return converted(Expr(text), dtypes.f32 if dtype.is_float else dtypes.i64, dtype)


def converted(value: Expr, source: DType, target: DType) -> Expr:
    """A conversion on the scalar unit. bfloat16 has functions of its own for those from and to float32.

    Between halves and integers it goes through float32, which no half and no integer that a half holds is rounded in.
    """
    ends = (source, target)
    if dtypes.f32 not in ends and (dtypes.f16 in ends or source is dtypes.bf16):
        return converted(converted(value, source, dtypes.f32), dtypes.f32, target)
    if source is dtypes.bf16 and target is dtypes.f32:
        return Expr(f"ToFloat({value})")
    if source is dtypes.f32 and target is dtypes.bf16:
        return Expr(f"ToBfloat16({value})")
    return Expr(f"static_cast<{CTYPES[target]}>({value})")


def zero(dtype: DType) -> str:
    """What a member of a dtype starts as."""
    return str(literal(0, dtype)) if dtype in (dtypes.i1, dtypes.bf16, dtypes.f32) else "0"


def _float(value: float) -> str:
    if math.isnan(value):
        return '__builtin_nanf("")'
    if abs(value) > _LARGEST:
        return "-__builtin_inff()" if value < 0 else "__builtin_inff()"
    return f"{_shortest(value)}f"


def _shortest(value: float) -> str:
    """The fewest digits that give the same float32: every number here is used as one."""
    rounded = struct.unpack("<f", struct.pack("<f", value))[0]
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    text = next(text for text in texts if struct.unpack("<f", struct.pack("<f", float(text)))[0] == rounded)
    return repr(float(text))
