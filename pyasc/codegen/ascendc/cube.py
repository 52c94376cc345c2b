# SPDX-License-Identifier: Apache-2.0
"""Calls of the cube unit, with the parameter structs that most of them take, field by field."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from pyasc.codegen.ascendc.calls import narrowed
from pyasc.codegen.ascendc.expressions import CTYPES
from pyasc.codegen.cpp.nodes import Expr
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import asc, asc_cube, scf
from pyasc.ir.types import dtype_of

Text = Callable[[Value], Expr]


@dataclass(frozen=True)
class Struct:
    """A parameter struct: its type, a name for the variable, and the texts of its fields. `key` tells equal ones."""

    type: str
    hint: str
    fields: tuple[tuple[str, str], ...]
    key: Hashable


def cube_struct(op: Operation, text: Text) -> Struct | None:
    """The struct that a call takes, or None for one that takes none."""
    match op:
        case asc_cube.LoadData():
            fields = _load_fields(op, text)
            if op.transpose:
                fields.append(("ifTranspose", "true"))
            return _struct("LoadData2DParams", "load", fields, op, op.operands[2:])
        case asc_cube.LoadDataWithTranspose():
            fields = [*_load_fields(op, text), ("dstFracGap", narrowed(op.dst_fractal_gap, text, "uint16_t"))]
            return _struct("LoadData2dTransposeParams", "load", fields, op, op.operands[2:])
        case asc_cube.Mmad():
            sizes = [(name, narrowed(getattr(op, name), text, "uint16_t")) for name in ("m", "n", "k")]
            fields = [*sizes, ("cmatrixInitVal", str(text(op.fresh)))]
            return _struct("MmadParams", "product", fields, op, (op.m, op.n, op.k, op.fresh))
        case asc_cube.Fixpipe():
            return _struct("FixpipeParamsV220", "store", _store_fields(op, text), op, op.operands[2:])
        case _:
            return None


def _struct(
    type_: str,
    hint: str,
    fields: list[tuple[str, str]],
    op: Operation,
    values: tuple[Value, ...] | list[Value],
) -> Struct:
    return Struct(type_, hint, tuple(fields), (type_, tuple(values), tuple(op.attrs.items())))


def _load_fields(op: asc_cube.LoadData | asc_cube.LoadDataWithTranspose, text: Text) -> list[tuple[str, str]]:
    return [
        ("startIndex", narrowed(op.start, text, "uint16_t")),
        ("repeatTimes", narrowed(op.repeat, text, "uint8_t")),
        ("srcStride", narrowed(op.src_stride, text, "uint16_t")),
        ("dstGap", narrowed(op.dst_gap, text, "uint16_t")),
    ]


def _store_fields(op: asc_cube.Fixpipe, text: Text) -> list[tuple[str, str]]:
    relu = [("reluEn", "true")] if op.relu else []
    return [
        ("nSize", narrowed(op.n, text, "uint16_t")),
        ("mSize", narrowed(op.m, text, "uint16_t")),
        ("srcStride", narrowed(op.src_stride, text, "uint16_t")),
        ("dstStride", narrowed(op.dst_stride, text, "uint32_t")),
        ("ndNum", "1"),
        ("srcNdStride", "0"),
        ("dstNdStride", "0"),
        *relu,
        ("quantPre", f"QuantMode_t::{op.quant}"),
        ("deqScalar", "0"),
    ]


def invariant_structs(loop: scf.For) -> list[Operation]:
    """The calls of a loop's own block whose structs do not change in it."""
    inside = {value for op in loop.body.block for value in op.results} | set(loop.body.block.args)
    calls = (asc_cube.LoadData, asc_cube.LoadDataWithTranspose)
    found = [op for op in loop.body.block if isinstance(op, calls)]
    return [op for op in found if not any(value in inside for value in op.operands[2:])]


def cube_call(op: Operation, struct: str, text: Text) -> str:
    """The text of a call of the cube unit, given its struct's name. Raises TypeError for an operation that is none."""
    match op:
        case asc_cube.Nd2Nz():
            values = (op.dst, op.src, op.rows, op.columns, op.src_row_stride, op.dst_c0_stride)
            return f"CopyNdToNz<{_element(op.dst)}>({', '.join(str(text(value)) for value in values)})"
        case asc_cube.LoadData():
            return f"LoadData({text(op.dst)}, {text(op.src)}, {struct})"
        case asc_cube.LoadDataWithTranspose():
            return f"LoadDataWithTranspose({text(op.dst)}, {text(op.src)}, {struct})"
        case asc_cube.InitConstValue():
            sizes = ", ".join(narrowed(value, text, "uint16_t") for value in (op.repeat, op.blocks, op.gap))
            params = f"InitConstValueParams<{_element(op.dst)}>({sizes}, {text(op.value)})"
            return f"InitConstValue({text(op.dst)}, {params})"
        case asc_cube.Mmad():
            bias = "".join(f"{text(value)}, " for value in op.bias)
            return f"Mmad({text(op.dst)}, {text(op.fm)}, {text(op.filter)}, {bias}{struct})"
        case asc_cube.Fixpipe():
            types = f"{_element(op.dst)}, {_element(op.src)}"
            return f"Fixpipe<{types}, CFG_ROW_MAJOR>({text(op.dst)}, {text(op.src)}, {struct})"
        case asc.SetAtomic():
            dtype = next(c for d, c in CTYPES.items() if d.name == op.dtype)
            return f"{op.call}<{dtype}>()"
        case asc.SetAtomicNone():
            return "SetAtomicNone()"
        case _:
            raise TypeError(f"{op.name} is not printed")


CUBE_CALLS = (
    asc_cube.Nd2Nz,
    asc_cube.LoadData,
    asc_cube.LoadDataWithTranspose,
    asc_cube.InitConstValue,
    asc_cube.Mmad,
    asc_cube.Fixpipe,
    asc.SetAtomic,
    asc.SetAtomicNone,
)
"""The operations that `cube_call` prints."""


def _element(value: Value) -> str:
    return CTYPES[dtype_of(value.type)]
