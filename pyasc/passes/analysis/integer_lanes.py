# SPDX-License-Identifier: Apache-2.0
"""One number of 64 int32 lanes, which the reducing instructions take as float32 alone.

A lane is 65536 times its upper half, which has a sign, plus its lower half. Sums of 64 halves are exact in float32; the
largest number is the one with the largest lower half among those with the largest upper half.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, tile
from pyasc.ir.dtypes import DType
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import index

LANES = 64
NUMBER_ELEMENTS = 128
"""A number of the row stands in front of this many elements, so that a comparison may take a whole repeat."""
BYTES = 4096
"""What a reduction takes on chip."""

_HALF_BITS = 16
_NONE = {"maximum": -1.0, "minimum": float(1 << _HALF_BITS)}
"""A lower half that never wins."""


def reduce_integers(at: Builder, fn: str, line: Value, target: Value, sizes: Sequence[Value]) -> None:
    """Combine the lanes of a line by `add`, `maximum` or `minimum` into the number `target`."""
    _Integers(at, fn, sizes).reduce(line, target)


class _Integers:
    def __init__(self, at: Builder, fn: str, sizes: Sequence[Value]) -> None:
        self.at = at
        self.fn = fn
        self.sizes = sizes
        self.one = [index(at, 1)] * 2

    def reduce(self, line: Value, target: Value) -> None:
        """Halves, their numbers, and what these make."""
        upper, lower = self._line(dtypes.i32, "upper"), self._line(dtypes.i32, "lower")
        self._do("shr", upper, [line, self._constant(_HALF_BITS)], self.sizes)
        self._do("mul", lower, [upper, self._constant(1 << _HALF_BITS)], self.sizes)
        self._do("sub", lower, [line, lower], self.sizes)
        high, low = self._float(upper), self._float(lower)
        most, rest = self._number(dtypes.f32, "ofUpper"), self._number(dtypes.f32, "ofLower")
        self._combine(high, most)
        if self.fn != "add":
            low = self._of_extremes(high, low, most)
        self._combine(low, rest)
        whole, part = self._whole(most), self._whole(rest)
        self._do("mul", whole, [whole, self._constant(1 << _HALF_BITS)], self.one)
        self._do("add", target, [whole, part], self.one)

    def _of_extremes(self, high: Value, low: Value, most: Value) -> Value:
        """The lower halves of lanes whose upper half is the extreme, others being none."""
        everywhere, mask = self._line(dtypes.f32, "everywhere"), self._line(dtypes.i1, "mask")
        self.at.insert(tile.Broadcast(source=most, target=everywhere, sizes=self.sizes))
        self._do("eq", mask, [high, everywhere], self.sizes)
        none = self.at.value(arith.Constant.of(_NONE[self.fn], dtypes.f32))
        self._do("select", low, [mask, low, none], self.sizes)
        return low

    def _combine(self, line: Value, number: Value) -> None:
        self.at.insert(tile.Reduce(source=line, target=number, sizes=self.sizes, fn=self.fn, axis=1))

    def _do(self, fn: str, target: Value, args: Sequence[Value], sizes: Sequence[Value]) -> None:
        self.at.insert(tile.Elementwise(fn=fn, args=args, target=target, sizes=sizes))

    def _float(self, line: Value) -> Value:
        made = self._line(dtypes.f32, f"{line.name}Float")
        self.at.insert(tile.Cast(source=line, target=made, sizes=self.sizes, rounding="rint"))
        return made

    def _whole(self, number: Value) -> Value:
        made = self._number(dtypes.i32, f"{number.name}Int")
        self.at.insert(tile.Cast(source=number, target=made, sizes=self.one, rounding="rint"))
        return made

    def _line(self, dtype: DType, name: str) -> Value:
        type_ = RefType((1, None), dtype, "ub")
        buffer = tile.Buffer(extents=[index(self.at, LANES)], capacity=LANES, types=[type_])
        return self.at.value(buffer, name)

    def _number(self, dtype: DType, name: str) -> Value:
        return self.at.value(tile.Buffer(types=[RefType((NUMBER_ELEMENTS, 1), dtype, "ub")]), name)

    def _constant(self, number: int) -> Value:
        return self.at.value(arith.Constant.of(number, dtypes.i32))
