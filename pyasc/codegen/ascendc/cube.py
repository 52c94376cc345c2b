# SPDX-License-Identifier: Apache-2.0
"""Calls of the cube unit, with the parameter structs that most of them take, field by field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from pyasc.codegen.ascendc.calls import Speller
from pyasc.codegen.ascendc.spelling import NAMED_CTYPES, element
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import asc, asc_cube, scf


@dataclass(frozen=True)
class Struct:
    """A parameter struct: its type, a name for the variable, and the texts of its fields. `key` tells equal ones."""

    type: str
    hint: str
    fields: tuple[tuple[str, str], ...]
    key: Hashable


def cube_struct(op: Operation, at: Speller) -> Struct | None:
    """The struct that a call takes, or None for one that takes none."""
    maker = _STRUCTS.get(type(op))
    return None if maker is None else maker(op, at)


def _load_struct(op: asc_cube.LoadData, at: Speller) -> Struct:
    fields = _load_fields(op, at)
    if op.transpose:
        fields.append(("ifTranspose", "true"))
    return _struct("LoadData2DParams", "load", fields, op, op.operands[2:])


def _square_struct(op: asc_cube.LoadDataWithTranspose, at: Speller) -> Struct:
    fields = [*_load_fields(op, at), ("dstFracGap", at.narrowed(op.dst_fractal_gap, "uint16_t"))]
    return _struct("LoadData2dTransposeParams", "load", fields, op, op.operands[2:])


def _product_struct(op: asc_cube.Mmad, at: Speller) -> Struct:
    sizes = [(name, at.narrowed(getattr(op, name), "uint16_t")) for name in ("m", "n", "k")]
    fields = [*sizes, ("cmatrixInitVal", str(at.text(op.fresh)))]
    return _struct("MmadParams", "product", fields, op, (op.m, op.n, op.k, op.fresh))


def _store_struct(op: asc_cube.Fixpipe, at: Speller) -> Struct:
    return _struct("FixpipeParamsV220", "store", _store_fields(op, at), op, op.operands[2:])


_STRUCTS: Mapping[type[Operation], Callable[[Any, Speller], Struct]] = {
    asc_cube.LoadData: _load_struct,
    asc_cube.LoadDataWithTranspose: _square_struct,
    asc_cube.Mmad: _product_struct,
    asc_cube.Fixpipe: _store_struct,
}


def _struct(
    type_: str,
    hint: str,
    fields: list[tuple[str, str]],
    op: Operation,
    values: tuple[Value, ...] | list[Value],
) -> Struct:
    return Struct(type_, hint, tuple(fields), (type_, tuple(values), tuple(op.attrs.items())))


def _load_fields(
    op: asc_cube.LoadData | asc_cube.LoadDataWithTranspose, at: Speller
) -> list[tuple[str, str]]:
    return [
        ("startIndex", at.narrowed(op.start, "uint16_t")),
        ("repeatTimes", at.narrowed(op.repeat, "uint8_t")),
        ("srcStride", at.narrowed(op.src_stride, "uint16_t")),
        ("dstGap", at.narrowed(op.dst_gap, "uint16_t")),
    ]


def _store_fields(op: asc_cube.Fixpipe, at: Speller) -> list[tuple[str, str]]:
    relu = [("reluEn", "true")] if op.relu else []
    return [
        ("nSize", at.narrowed(op.n, "uint16_t")),
        ("mSize", at.narrowed(op.m, "uint16_t")),
        ("srcStride", at.narrowed(op.src_stride, "uint16_t")),
        ("dstStride", at.narrowed(op.dst_stride, "uint32_t")),
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


def cube_call(op: Operation, struct: str, at: Speller) -> str:
    """The text of a call of the cube unit, given its struct's name. Raises KeyError for an operation that is none."""
    return _PRINTERS[type(op)](op, struct, at)


def _nd2nz(op: asc_cube.Nd2Nz, struct: str, at: Speller) -> str:
    values = (op.dst, op.src, op.rows, op.columns, op.src_row_stride, op.dst_c0_stride)
    return f"CopyNdToNz<{element(op.dst)}>({', '.join(str(at.text(value)) for value in values)})"


def _load(op: asc_cube.LoadData | asc_cube.LoadDataWithTranspose, struct: str, at: Speller) -> str:
    name = "LoadData" if isinstance(op, asc_cube.LoadData) else "LoadDataWithTranspose"
    return f"{name}({at.text(op.dst)}, {at.text(op.src)}, {struct})"


def _mmad(op: asc_cube.Mmad, struct: str, at: Speller) -> str:
    operands = (op.dst, op.fm, op.filter, *op.bias)
    return f"Mmad({', '.join(str(at.text(value)) for value in operands)}, {struct})"


def _fixpipe(op: asc_cube.Fixpipe, struct: str, at: Speller) -> str:
    types = f"{element(op.dst)}, {element(op.src)}"
    return f"Fixpipe<{types}, CFG_ROW_MAJOR>({at.text(op.dst)}, {at.text(op.src)}, {struct})"


def _set_atomic(op: asc.SetAtomic, struct: str, at: Speller) -> str:
    return f"{op.call}<{NAMED_CTYPES[op.dtype]}>()"


def _atomic_none(op: asc.SetAtomicNone, struct: str, at: Speller) -> str:
    return "SetAtomicNone()"


_PRINTERS: Mapping[type[Operation], Callable[[Any, str, Speller], str]] = {
    asc_cube.Nd2Nz: _nd2nz,
    asc_cube.LoadData: _load,
    asc_cube.LoadDataWithTranspose: _load,
    asc_cube.Mmad: _mmad,
    asc_cube.Fixpipe: _fixpipe,
    asc.SetAtomic: _set_atomic,
    asc.SetAtomicNone: _atomic_none,
}

CUBE_CALLS = tuple(_PRINTERS)
"""The operations that `cube_call` prints."""
