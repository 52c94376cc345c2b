# SPDX-License-Identifier: Apache-2.0
"""From one tile operation on whole tiles to the vector calls that do it, in the count form.

Barriers are put between calls afterwards (`ascend_barriers`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, asc, asc_vector
from pyasc.ir.dtypes import DType
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import constant_of, integer_of
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.tile_emit import a_block, a_repeat, binary, ceil_div, named
from pyasc.passes.analysis.tile_legalise import COMPARISONS

UNARY = {"not": "Not", "exp": "Exp", "log": "Ln", "sqrt": "Sqrt", "abs": "Abs"}
BINARY = {
    "and": "And",
    "or": "Or",
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "maximum": "Max",
    "minimum": "Min",
}
SCALAR = {
    "shl": "ShiftLeft",
    "shr": "ShiftRight",
    "add": "Adds",
    "mul": "Muls",
    "maximum": "Maxs",
    "minimum": "Mins",
}
ADVANCED_FACTORS = {
    "tanh": (1, 4),
    "erf": (3, 8),
    "erfc": (8, 32),
}
"""Scratch of an advanced call in chunks of 256 bytes: for float32, for float16 (section 10 of the API sheet, which has
no figure for Erfc: it gets all there is)."""

_TWIN = {16: dtypes.f16, 32: dtypes.f32}
_WORD = dtypes.u16
_WORD_BITS = 16


def local(elements: int, dtype: DType) -> RefType:
    """The type of a LocalTensor."""
    return RefType((elements,), dtype, "ub")


def part_from(at: Builder, tensor: Value, start: Value, name: str = "") -> Value:
    """A tensor from an element on."""
    assert isinstance(tensor.type, RefType)
    return at.value(asc.Offset(tensor=tensor, offset=start, types=[tensor.type]), name)


def recast(at: Builder, tensor: Value, dtype: DType) -> Value:
    """The tensor's bytes as elements of another dtype."""
    if dtype_of(tensor.type) is dtype:
        return tensor
    assert isinstance(tensor.type, RefType)
    type_ = RefType(tensor.type.shape, dtype, tensor.type.space)
    return at.value(asc.ReinterpretCast(tensor=tensor, types=[type_]), tensor.name)


def _pair(at: Builder, byte: Value) -> Value:
    """An 8-bit integer twice, as one of 16."""
    known = constant_of(byte)
    if known is not None:
        (number,) = struct.unpack("<h", bytes(2 * [int(known) & 0xFF]))
        return at.value(arith.Constant.of(number, dtypes.i16))
    low = binary(at, "and", at.value(arith.Cast.to(byte, dtypes.i64)), 0xFF)
    return at.value(arith.Cast.to(binary(at, "mul", low, 0x101), dtypes.i16), "pair")


@dataclass
class VectorCalls:
    """Emits calls over `count` elements. `scratch` makes the tensor that advanced calls work in."""

    at: Builder
    count: Value
    scratch: Value | None = None
    _whole: dict[int, Value] = field(default_factory=lambda: dict[int, Value]())

    def elementwise(self, fn: str, target: Value, args: Sequence[Value]) -> None:
        """One function of the number table. Raises NotVector for what `tile_legalise` should have spelt out."""
        dtype = dtype_of(args[-1].type)
        if fn in COMPARISONS:
            self._compare(fn, target, args)
        elif fn == "select":
            self._select(target, args)
        elif dtype_of(target.type) is dtypes.u8 and fn in ("and", "or", "not"):
            self._bits(fn, target, args)
        elif fn in ADVANCED_FACTORS:
            self._advanced(fn, target, args[0])
        elif fn in UNARY:
            self.insert(asc_vector.Unary(call=UNARY[fn], dst=target, src=args[0], amount=[self.count]))
        elif len(args) == 2 and isinstance(args[1].type, ScalarType) and fn in SCALAR:
            self.insert(
                asc_vector.TensorScalar(
                    call=SCALAR[fn], dst=target, src=args[0], scalar=args[1], amount=[self.count]
                )
            )
        elif len(args) == 2 and fn in BINARY:
            self.insert(
                asc_vector.Binary(
                    call=BINARY[fn], dst=target, src0=args[0], src1=args[1], amount=[self.count]
                )
            )
        else:
            raise refuse(f"`{fn}` of {dtype} elements", self.at.loc)

    def insert(self, op: asc_vector.Unary | asc_vector.Binary | asc_vector.TensorScalar) -> None:
        """Append a call."""
        self.at.insert(op)

    def cast(self, target: Value, source: Value, rounding: str) -> None:
        """A conversion that is one Cast."""
        mode = f"CAST_{rounding.upper()}"
        self.at.insert(asc_vector.Cast(dst=target, src=source, amount=[self.count], mode=mode))

    def fill(self, target: Value, value: Value) -> None:
        """One scalar in every element; bytes go in pairs."""
        if dtype_of(target.type).bits > 8:
            self.at.insert(asc_vector.Duplicate(dst=target, scalar=value, amount=[self.count]))
            return
        pair, amount = _pair(self.at, value), [ceil_div(self.at, self.count, 2)]
        words = recast(self.at, target, dtypes.i16)
        self.at.insert(asc_vector.Duplicate(dst=words, scalar=pair, amount=amount))

    def iota(self, target: Value, first: Value) -> None:
        """Numbers that grow by one."""
        self.at.insert(asc_vector.CreateVecIndex(dst=target, first=first, count=self.count))

    def move(self, target: Value, source: Value) -> None:
        """A copy inside UB, by whole blocks of 32 bytes."""
        amount = self._rounded(a_block, dtype_of(target.type).bytes)
        self.at.insert(asc.DataCopy(dst=target, src=source, amount=[amount]))

    def _rounded(self, unit_of: Callable[[Builder, int], Value], width: int) -> Value:
        """The elements of `width` bytes in whole blocks or repeats."""
        unit = unit_of(self.at, width)
        number = integer_of(unit) or 1
        if number not in self._whole:
            name = "wholeBlocks" if unit_of is a_block else "whole"
            self._whole[number] = binary(self.at, "mul", ceil_div(self.at, self.count, unit), unit, name)
        return self._whole[number]

    def _compare(self, fn: str, mask: Value, args: Sequence[Value]) -> None:
        left, right = args
        call = "CompareScalar" if isinstance(right.type, ScalarType) else "Compare"
        # Compare works on whole repeats; the bits past the count belong to no element.
        whole = self._rounded(a_repeat, dtype_of(left.type).bytes)
        self.at.insert(
            asc_vector.Compare(call=call, dst=mask, a=left, b=right, amount=[whole], mode=fn.upper())
        )

    def _select(self, target: Value, args: Sequence[Value]) -> None:
        mask, then, otherwise = args
        twin = _TWIN[dtype_of(target.type).bits]
        scalar = isinstance(otherwise.type, ScalarType)
        mode = "VSEL_TENSOR_SCALAR_MODE" if scalar else "VSEL_TENSOR_TENSOR_MODE"
        self.at.insert(
            asc_vector.Select(
                dst=recast(self.at, target, twin),
                mask=mask,
                a=recast(self.at, then, twin),
                b=otherwise if scalar else recast(self.at, otherwise, twin),
                amount=[self.count],
                mode=mode,
            )
        )

    def _bits(self, fn: str, target: Value, args: Sequence[Value]) -> None:
        words = [recast(self.at, each, _WORD) for each in (target, *args)]
        amount = [ceil_div(self.at, self.count, named(self.at, _WORD_BITS, "WORD_BITS"), "words")]
        if fn == "not":
            self.at.insert(asc_vector.Unary(call="Not", dst=words[0], src=words[1], amount=amount))
        else:
            call = fn.capitalize()
            self.at.insert(
                asc_vector.Binary(call=call, dst=words[0], src0=words[1], src1=words[2], amount=amount)
            )

    def _advanced(self, fn: str, target: Value, source: Value) -> None:
        assert self.scratch is not None
        self.at.insert(
            asc_vector.Advanced(
                call=fn.capitalize(), dst=target, src=source, scratch=self.scratch, count=self.count
            )
        )
