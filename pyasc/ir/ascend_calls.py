# SPDX-License-Identifier: Apache-2.0
"""Ascend C calls as data: their names, the pipe they run on, and the element types they take on arch 2201.

Only names that the headers of CANN 8.1 and of the current tree both accept. Sources: the project's API sheet and its
corrections (sections 1 to 9). A call that is not listed must not be emitted, whatever the headers declare.
"""

from __future__ import annotations

from dataclasses import dataclass

PIPES = ("PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL")

POSITION_SPACES = {
    "VECIN": "ub",
    "VECCALC": "ub",
    "VECOUT": "ub",
    "A1": "l1",
    "B1": "l1",
    "C1": "l1",
    "A2": "l0a",
    "B2": "l0b",
    "C2": "bt",
    "CO1": "l0c",
}
"""Memory of each TPosition on arch 2201."""
POSITIONS = tuple(POSITION_SPACES)

EVENTS = tuple(
    "S_V V_S S_MTE2 MTE2_S S_MTE3 MTE3_S MTE2_V V_MTE2 V_MTE3 MTE3_V MTE2_MTE3 MTE3_MTE2 "
    "M_MTE1 M_MTE2 M_FIX MTE1_M MTE1_MTE2 MTE1_MTE3 MTE1_FIX MTE2_M MTE2_MTE1 MTE3_MTE1 FIX_M FIX_MTE1".split()
)
"""Ordered pairs of pipes that a flag may connect on arch 2201."""

KERNEL_TYPES = (
    "KERNEL_TYPE_AIV_ONLY",
    "KERNEL_TYPE_AIC_ONLY",
    "KERNEL_TYPE_MIX_AIV_1_0",
    "KERNEL_TYPE_MIX_AIC_1_0",
    "KERNEL_TYPE_MIX_AIC_1_1",
    "KERNEL_TYPE_MIX_AIC_1_2",
)

MODES = ("LT", "GT", "EQ", "LE", "GE", "NE")
SELECT_MODES = ("VSEL_CMPMASK_SPR", "VSEL_TENSOR_SCALAR_MODE", "VSEL_TENSOR_TENSOR_MODE")
ROUND_MODES = ("CAST_NONE", "CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC", "CAST_ODD")
ORDERS = ("ORDER_VALUE_INDEX", "ORDER_INDEX_VALUE", "ORDER_ONLY_VALUE", "ORDER_ONLY_INDEX")
QUANT_MODES = (
    "NoQuant",
    "F322F16",
    "F322BF16",
    "QF322B8_PRE",
    "VQF322B8_PRE",
    "DEQF16",
    "VDEQF16",
    "REQ8",
    "VREQ8",
)


@dataclass(frozen=True, slots=True)
class Call:
    """One vector call: its form, and the dtypes of its elements on arch 2201.

    `form` is `"unary"` (dst, src), `"binary"` (dst, src0, src1), `"scalar"` (dst, src, scalar) or `"advanced"` (dst,
    src, scratch, made of several instructions). `accumulates` says that the destination is read too.
    """

    name: str
    form: str
    dtypes: tuple[str, ...]
    accumulates: bool = False


_HALF_FLOAT = ("f16", "f32")
_ARITHMETIC = ("f16", "f32", "i16", "i32")
_SHIFTED = ("i16", "u16", "i32", "u32")
_BITS = ("i16", "u16")


def _calls(form: str, names: str, dtypes: tuple[str, ...], accumulates: bool = False) -> list[Call]:
    return [Call(name, form, dtypes, accumulates) for name in names.split()]


VECTOR_CALLS: dict[str, Call] = {
    call.name: call
    for call in (
        *_calls("unary", "Exp Ln Sqrt Rsqrt Reciprocal Abs", _HALF_FLOAT),
        *_calls("unary", "Relu", ("f16", "f32", "i32")),
        *_calls("unary", "Not", _BITS),
        *_calls("binary", "Add Sub Mul Max Min", _ARITHMETIC),
        *_calls("binary", "Div", _HALF_FLOAT),
        *_calls("binary", "And Or", _BITS),
        *_calls("binary", "MulAddDst FusedMulAdd", _HALF_FLOAT, accumulates=True),
        *_calls("binary", "AddRelu SubRelu", ("f16", "f32", "i16")),
        *_calls("scalar", "Adds Muls Maxs Mins", _ARITHMETIC),
        *_calls("scalar", "LeakyRelu", _HALF_FLOAT),
        *_calls("scalar", "Axpy", _HALF_FLOAT, accumulates=True),
        *_calls("scalar", "ShiftLeft ShiftRight", _SHIFTED),
        *_calls(
            "advanced",
            "Tanh Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Sin Cos Tan Erf Erfc Log2 Floor Ceil Trunc Round Sign "
            "Sigmoid Silu Gelu",
            _HALF_FLOAT,
        ),
    )
}
"""Elementwise vector calls by name."""


_FIVE = ("CAST_RINT", "CAST_FLOOR", "CAST_CEIL", "CAST_ROUND", "CAST_TRUNC")
_EXACT = ("CAST_NONE",)


def _casts(source: str, targets: str, modes: tuple[str, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    return {(source, target): modes for target in targets.split()}


CASTS: dict[tuple[str, str], tuple[str, ...]] = {
    **_casts("i8", "f16", _EXACT),
    **_casts("u8", "f16", _EXACT),
    **_casts("i16", "f16", (*_FIVE, *_EXACT)),
    **_casts("i16", "f32", _EXACT),
    **_casts("f16", "i8 u8", (*_FIVE, *_EXACT)),
    **_casts("f16", "i16 i32", _FIVE),
    **_casts("f16", "f32", _EXACT),
    **_casts("bf16", "f32", _EXACT),
    **_casts("bf16", "i32", _FIVE),
    # int32 to half is scaled by SetDeqScale, whatever the mode.
    **_casts("i32", "i16 i64 f16", _EXACT),
    **_casts("i32", "f32", (*_FIVE, *_EXACT)),
    **_casts("f32", "f16", (*_FIVE, "CAST_ODD", *_EXACT)),
    **_casts("f32", "bf16 i16 i32 i64 f32", _FIVE),
    **_casts("i64", "i32", _EXACT),
    **_casts("i64", "f32", _FIVE),
}
"""Round modes of Cast on arch 2201 by source and target dtype."""
