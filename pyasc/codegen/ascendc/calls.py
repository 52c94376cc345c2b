# SPDX-License-Identifier: Apache-2.0
"""The text of each Ascend C call. Operation names are those of the table in `pyasc.ir.ascend_calls`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pyasc.codegen.ascendc.expressions import CTYPES
from pyasc.codegen.cpp.nodes import Expr
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc, asc_vector
from pyasc.ir.types import dtype_of

Text = Callable[[Value], Expr]


def vector_call(op: Operation, text: Text) -> str:
    """A call of the vector unit. Raises TypeError for an operation that is none."""
    match op:
        case asc_vector.Unary():
            return _call(op.call, [op.dst, op.src], op, text)
        case asc_vector.Binary():
            return _call(op.call, [op.dst, op.src0, op.src1], op, text)
        case asc_vector.TensorScalar():
            return _call(op.call, [op.dst, op.src, op.scalar], op, text)
        case asc_vector.Advanced():
            return f"{op.call}({_join([op.dst, op.src, op.scratch, op.count], text)})"
        case asc_vector.Cast():
            return _formed(
                "Cast", f"{_join([op.dst, op.src], text)}, RoundMode::{op.mode}", op, text, "Unary"
            )
        case asc_vector.Compare():
            start = f"{_join([op.dst, op.a, op.b], text)}, CMPMODE::{op.mode}"
            return _formed(op.call, start, op, text, "Binary")
        case asc_vector.Select():
            start = f"{_join([op.dst, op.mask, op.a, op.b], text)}, SELMODE::{op.mode}"
            return _formed("Select", start, op, text, "Binary")
        case asc_vector.Duplicate():
            return _formed("Duplicate", _join([op.dst, op.scalar], text), op, text, "")
        case asc_vector.Gather():
            return f"Gather({_join([op.dst, op.src, op.offsets, op.base, op.count], text)})"
        case asc_vector.WholeReduce():
            values = _join([op.dst, op.src, *op.amount, *op.strides], text)
            order = "" if op.order is None else f", ReduceOrder::{op.order}"
            return f"{op.call}({values}{order})"
        case asc_vector.Reduce():
            return f"{op.call}({_join([op.dst, op.src, op.scratch, op.count], text)})"
        case asc_vector.Brcb():
            return f"Brcb({_join([op.dst, op.src, op.repeat], text)}, {{{_braced(op.strides, text, 'uint16_t')}}})"
        case asc_vector.CreateVecIndex():
            return f"CreateVecIndex({_join([op.dst, op.first, op.count], text)})"
        case asc_vector.MaskMode():
            return f"{op.call}()"
        case asc_vector.SetVectorMask():
            mode = "COUNTER" if op.counter else "NORMAL"
            dtype = next(c for d, c in CTYPES.items() if d.name == op.dtype)
            return f"SetVectorMask<{dtype}, MaskMode::{mode}>({text(op.high)}, {text(op.low)})"
        case asc.DataCopy():
            return f"DataCopy({_join([op.dst, op.src, *op.amount], text)})"
        case asc.PipeBarrier():
            return f"PipeBarrier<{op.pipe}>()"
        case _:
            raise TypeError(f"{op.name} is not printed")


def print_call(op: asc.Printf, text: Text) -> str:
    """A call of the debug print, whose arguments are as wide as its format says."""
    types = ["float" if dtype_of(value.type).is_float else "long long" for value in op.values]
    values = [f"static_cast<{type_}>({text(v)})" for type_, v in zip(types, op.values, strict=True)]
    return f"AscendC::printf({', '.join([json.dumps(op.format, ensure_ascii=False), *values])})"


def _join(values: Sequence[Value], text: Text) -> str:
    return ", ".join(str(text(value)) for value in values)


def _call(
    name: str,
    operands: Sequence[Value],
    op: asc_vector.Unary | asc_vector.Binary | asc_vector.TensorScalar,
    text: Text,
) -> str:
    if not op.set_mask:
        name = f"{name}<{CTYPES[dtype_of(op.dst.type)]}, false>"
    return _formed(
        name, _join(operands, text), op, text, "Binary" if len(op.strides) == 6 else "Unary", op.set_mask
    )


def _formed(
    name: str,
    start: str,
    op: asc_vector.Unary
    | asc_vector.Binary
    | asc_vector.TensorScalar
    | asc_vector.Cast
    | asc_vector.Compare
    | asc_vector.Select
    | asc_vector.Duplicate,
    text: Text,
    kind: str,
    set_mask: bool = True,
) -> str:
    """A call in its count form, or in its mask form with strides."""
    if len(op.amount) == 1:
        return f"{name}({start}, {text(op.amount[0])})"
    amount = [str(text(value)) for value in op.amount]
    if not set_mask:
        amount[0] = "MASK_PLACEHOLDER"
    if not kind:
        strides = _join(op.strides, text)
    elif kind == "Unary":
        half = len(op.strides) // 2
        blocks = _braced(op.strides[:half], text, "uint16_t")
        strides = f"{{{blocks}, {_braced(op.strides[half:], text, 'uint8_t')}}}"
    else:
        strides = f"{{{_braced(op.strides, text, 'uint8_t')}}}"
    return f"{name}({', '.join([start, *amount, strides])})"


def _braced(values: Sequence[Value], text: Text, type_: str) -> str:
    """Values inside braces, where a conversion that may narrow has to be written."""
    return ", ".join(narrowed(value, text, type_) for value in values)


_MOST = {"uint8_t": 2**8 - 1, "uint16_t": 2**16 - 1, "uint32_t": 2**32 - 1}


def narrowed(value: Value, text: Text, type_: str) -> str:
    """A value of a narrower type; a constant converts by itself."""
    shown = text(value)
    owner = value.owner
    if isinstance(owner, arith.Constant) and not value.name.isupper() and 0 <= owner.value <= _MOST[type_]:
        return str(shown)
    return f"static_cast<{type_}>({shown})"
