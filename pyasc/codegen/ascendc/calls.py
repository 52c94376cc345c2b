# SPDX-License-Identifier: Apache-2.0
"""The text of each call of the vector unit. Operation names are those of the table in `pyasc.ir.ascend_calls`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pyasc.codegen.ascendc.spelling import NAMED_CTYPES, element
from pyasc.codegen.cpp.nodes import Expr
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import asc, asc_vector
from pyasc.ir.types import dtype_of


class Speller(Protocol):
    """What knows how values are written at one place of a file."""

    def text(self, value: Value) -> Expr:
        """The expression of a value."""
        ...

    def count(self, value: Value) -> str:
        """The value as a number of elements."""
        ...

    def narrowed(self, value: Value, type_: str) -> str:
        """The value where a narrower type is asked for and a conversion that narrows has to be written."""
        ...


_Strided = (
    asc_vector.Unary
    | asc_vector.Binary
    | asc_vector.TensorScalar
    | asc_vector.Cast
    | asc_vector.Compare
    | asc_vector.Select
    | asc_vector.Duplicate
)


def vector_call(op: Operation, at: Speller) -> str:
    """A call of the vector unit. Raises TypeError for an operation that is none."""
    printer = _PRINTERS.get(type(op))
    if printer is None:
        raise TypeError(f"{op.name} is not printed")
    return printer(op, at)


def print_call(op: asc.Printf, at: Speller) -> str:
    """A call of the debug print, whose arguments are as wide as its format says."""
    types = ["float" if dtype_of(value.type).is_float else "long long" for value in op.values]
    values = [f"static_cast<{type_}>({at.text(v)})" for type_, v in zip(types, op.values, strict=True)]
    return f"AscendC::printf({', '.join([json.dumps(op.format, ensure_ascii=False), *values])})"


def _join(values: Sequence[Value], at: Speller) -> str:
    return ", ".join(str(at.text(value)) for value in values)


def _arithmetic(op: asc_vector.Unary | asc_vector.Binary | asc_vector.TensorScalar, at: Speller) -> str:
    operands = {
        asc_vector.Unary: ("dst", "src"),
        asc_vector.Binary: ("dst", "src0", "src1"),
        asc_vector.TensorScalar: ("dst", "src", "scalar"),
    }
    name = op.call if op.set_mask else f"{op.call}<{element(op.dst)}, false>"
    return _formed(name, _join([getattr(op, each) for each in operands[type(op)]], at), op, at, op.set_mask)


def _cast(op: asc_vector.Cast, at: Speller) -> str:
    return _formed("Cast", f"{_join([op.dst, op.src], at)}, RoundMode::{op.mode}", op, at)


def _compare(op: asc_vector.Compare, at: Speller) -> str:
    return _formed(op.call, f"{_join([op.dst, op.a, op.b], at)}, CMPMODE::{op.mode}", op, at)


def _select(op: asc_vector.Select, at: Speller) -> str:
    return _formed("Select", f"{_join([op.dst, op.mask, op.a, op.b], at)}, SELMODE::{op.mode}", op, at)


def _duplicate(op: asc_vector.Duplicate, at: Speller) -> str:
    return _formed("Duplicate", _join([op.dst, op.scalar], at), op, at)


def _formed(name: str, start: str, op: _Strided, at: Speller, set_mask: bool = True) -> str:
    """A call in its count form, or in its mask form with strides."""
    if len(op.amount) == 1:
        return f"{name}({start}, {at.count(op.amount[0])})"
    amount = [str(at.text(value)) for value in op.amount]
    if not set_mask:
        amount[0] = "MASK_PLACEHOLDER"
    return f"{name}({', '.join([start, *amount, _strides(op, at)])})"


def _strides(op: _Strided, at: Speller) -> str:
    """Block and repeat strides: in braces, which convert nothing that may narrow, but for Duplicate."""
    if isinstance(op, asc_vector.Duplicate):
        return _join(op.strides, at)
    types = stride_types(op)
    shown = (at.narrowed(value, type_) for value, type_ in zip(op.strides, types, strict=True))
    return f"{{{', '.join(shown)}}}"


def stride_types(op: _Strided) -> tuple[str, ...]:
    """The fields of UnaryRepeatParams and BinaryRepeatParams: blocks, then repeats."""
    if len(op.strides) == 4:
        return ("uint16_t", "uint16_t", "uint8_t", "uint8_t")
    return ("uint8_t",) * len(op.strides)


def _advanced(op: asc_vector.Advanced | asc_vector.Reduce, at: Speller) -> str:
    return f"{op.call}({_join([op.dst, op.src, op.scratch, op.count], at)})"


def _remainders(op: asc_vector.Remainders, at: Speller) -> str:
    operands = [op.dst, op.src0, op.src1, op.scratch, op.ready, op.taken, op.count]
    return f"Remainders<{element(op.dst)}>({_join(operands, at)})"


def _gather(op: asc_vector.Gather, at: Speller) -> str:
    return f"Gather({_join([op.dst, op.src, op.offsets, op.base], at)}, {at.count(op.count)})"


def _whole_reduce(op: asc_vector.WholeReduce, at: Speller) -> str:
    order = "" if op.order is None else f", ReduceOrder::{op.order}"
    return f"{op.call}({_join([op.dst, op.src, *op.amount, *op.strides], at)}{order})"


def _brcb(op: asc_vector.Brcb, at: Speller) -> str:
    strides = ", ".join(at.narrowed(value, "uint16_t") for value in op.strides)
    return f"Brcb({_join([op.dst, op.src, op.repeat], at)}, {{{strides}}})"


def _create_index(op: asc_vector.CreateVecIndex, at: Speller) -> str:
    return f"CreateVecIndex({_join([op.dst, op.first], at)}, {at.count(op.count)})"


def _mask_mode(op: asc_vector.MaskMode, at: Speller) -> str:
    return f"{op.call}()"


def _set_mask(op: asc_vector.SetVectorMask, at: Speller) -> str:
    mode = "COUNTER" if op.counter else "NORMAL"
    return f"SetVectorMask<{NAMED_CTYPES[op.dtype]}, MaskMode::{mode}>({_join([op.high, op.low], at)})"


def _data_copy(op: asc.DataCopy, at: Speller) -> str:
    return f"DataCopy({_join([op.dst, op.src, *op.amount], at)})"


def _barrier(op: asc.PipeBarrier, at: Speller) -> str:
    return f"PipeBarrier<{op.pipe}>()"


_PRINTERS: Mapping[type[Operation], Callable[[Any, Speller], str]] = {
    asc_vector.Unary: _arithmetic,
    asc_vector.Binary: _arithmetic,
    asc_vector.TensorScalar: _arithmetic,
    asc_vector.Advanced: _advanced,
    asc_vector.Cast: _cast,
    asc_vector.Compare: _compare,
    asc_vector.Select: _select,
    asc_vector.Duplicate: _duplicate,
    asc_vector.Gather: _gather,
    asc_vector.WholeReduce: _whole_reduce,
    asc_vector.Reduce: _advanced,
    asc_vector.Remainders: _remainders,
    asc_vector.Brcb: _brcb,
    asc_vector.CreateVecIndex: _create_index,
    asc_vector.MaskMode: _mask_mode,
    asc_vector.SetVectorMask: _set_mask,
    asc.DataCopy: _data_copy,
    asc.PipeBarrier: _barrier,
}
