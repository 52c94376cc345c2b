# SPDX-License-Identifier: Apache-2.0
"""Vector calls on tiles of rows: one instruction takes 256 bytes of every row, the repeat stride being the pitch.

What has one value a row is spread over a block of 32 bytes a row (Brcb) and read with block stride 0; one row for all
is read with repeat stride 0. A row is reduced by folding it into its first 256 bytes and reducing those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyasc.ir.ascend_calls import VECTOR_CALLS
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, asc, asc_vector, scf
from pyasc.ir.dtypes import i16, i32, i64
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.ascend_vector import BINARY, part_from, recast
from pyasc.passes.analysis.tile_emit import a_block, a_repeat, binary, ceil_div, named
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW

_I64 = ScalarType(i64)
MOST_REPEATS = 255
_CHAINED = ("f16", "f32", "i32")
FOLDS = {"add": "Add", "maximum": "Max", "minimum": "Min"}
WHOLE = {"add": "WholeReduceSum", "maximum": "WholeReduceMax", "minimum": "WholeReduceMin"}


@dataclass(frozen=True)
class Rows:
    """A tensor of rows: what it covers, and for one value a row the tensor it is spread over."""

    tensor: Value
    cover: str


@dataclass
class RowCalls:
    """Emits calls over `count` rows of `width` elements, `pitch` apart."""

    at: Builder
    count: Value
    width: Value
    pitch: Value
    spread: Callable[[Value], Value]

    def binary(self, fn: str, target: Value, args: Sequence[Rows]) -> None:
        """A binary function where an argument has one value a row, or one row for all."""
        self._emit_binary(fn, target, [self._in_blocks(arg) for arg in args])

    def _in_blocks(self, arg: Rows) -> Rows:
        """The argument as an instruction reads it: one value a row fills a block of its own."""
        return Rows(self.spread(arg.tensor), COLUMN) if arg.cover == COLUMN else arg

    def _emit_binary(self, fn: str, target: Value, shapes: Sequence[Rows]) -> None:
        stride = self._stride(target)
        blocks, repeats = zip(*(self._strides(arg.cover, stride) for arg in shapes), strict=True)

        def emit(at: Builder, column: Value, lanes: Value) -> None:
            dst = part_from(at, target, column)
            sources = [
                arg.tensor if arg.cover == COLUMN else part_from(at, arg.tensor, column) for arg in shapes
            ]
            at.insert(
                asc_vector.Binary(
                    call=BINARY[fn],
                    dst=dst,
                    src0=sources[0],
                    src1=sources[1],
                    amount=[lanes, self.count],
                    strides=[index(at, 1), *blocks, stride, *repeats],
                )
            )

        self._columns(target, index(self.at, 0), emit)

    def repeat(self, target: Value, source: Rows) -> None:
        """One value a row, or one row for all, in every element."""
        shape = self._in_blocks(source)
        shape = Rows(comparable(self.at, shape.tensor), shape.cover)
        self._emit_binary("maximum", comparable(self.at, target), [shape, shape])

    def reduce(self, fn: str, target: Value, source: Value, scratch: Value, start: Value) -> None:
        """One value a row. `start` is what rows without elements give."""
        at = self.at
        if integer_of(self.width) == 0:
            at.insert(asc_vector.Duplicate(dst=target, scalar=start, amount=[self.count]))
            return
        self._without_elements(target, start)
        stride = self._stride(source)
        lanes = self._lanes(source, index(at, 0), name="head")
        one = index(at, 1)
        if scratch is not source:
            zero = at.value(arith.Constant.of(0.0, dtype_of(source.type)))
            amount, strides = [lanes, self.count], [one, one, stride, stride]
            at.insert(
                asc_vector.TensorScalar(
                    call="Adds", dst=scratch, src=source, scalar=zero, amount=amount, strides=strides
                )
            )
        self._fold(FOLDS[fn], source, scratch, stride)
        at.insert(
            asc_vector.WholeReduce(
                call=WHOLE[fn],
                dst=target,
                src=scratch,
                amount=[lanes, self.count],
                strides=[one, one, stride],
                order=None if fn == "add" else "ORDER_ONLY_VALUE",
            )
        )

    def accumulate(self, call: str, total: Value, source: Value, start: Value) -> None:
        """All rows into one, which is source and destination of every repeat.

        That is the one overlap between repeats that the instruction set allows: of the destination with the second
        source. Each repeat adds a row to what the one before it left.
        """
        stride = self._stride(source)

        def emit(at: Builder, column: Value, lanes: Value) -> None:
            zero, one = index(at, 0), index(at, 1)
            there = part_from(at, total, column)
            at.insert(
                asc_vector.Binary(
                    call=call,
                    dst=there,
                    src0=part_from(at, source, binary(at, "add", start, column)),
                    src1=there,
                    amount=[lanes, self.count],
                    strides=[one, one, one, zero, stride, zero],
                )
            )

        self._columns(source, index(self.at, 0), emit)

    def _without_elements(self, target: Value, start: Value) -> None:
        """What a reduction starts from is its result where there is nothing to reduce, and only there."""
        at = self.at
        if (integer_of(self.width) or 0) > 0:
            return
        none = at.value(arith.Elementwise(fn="eq", args=[self.width, index(at, 0)]), "empty")
        branch = at.insert(scf.If(condition=none, types=[], then=block_of(), otherwise=block_of()))
        inner = Builder(branch.then.block, loc=at.loc)
        inner.insert(asc_vector.Duplicate(dst=target, scalar=start, amount=[self.count]))
        inner.insert(scf.Yield())
        Builder(branch.otherwise.block, loc=at.loc).insert(scf.Yield())

    def _fold(self, call: str, source: Value, scratch: Value, stride: Value) -> None:
        """All repeats of a row into its first one."""
        one = index(self.at, 1)

        def fold(inner: Builder, column: Value, active: Value) -> None:
            inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
            inner.insert(
                asc_vector.Binary(
                    call=call,
                    dst=scratch,
                    src0=part_from(inner, source, column),
                    src1=scratch,
                    amount=[active, self.count],
                    strides=[one, one, one, stride, stride, stride],
                )
            )

        self._columns(source, a_repeat(self.at, dtype_of(source.type).bytes), fold)

    def _columns(self, tensor: Value, start: Value, emit: Callable[[Builder, Value, Value], None]) -> None:
        """A loop over the columns, one repeat of elements at a time."""
        at = self.at
        step = a_repeat(at, dtype_of(tensor.type).bytes)
        loop = at.insert(
            scf.For(lower=start, upper=self.width, step=step, types=[], body=block_of([_I64], ["c"]))
        )
        inner = Builder(loop.body.block, loc=at.loc)
        emit(inner, loop.counter, self._lanes(tensor, loop.counter, inner))
        inner.insert(scf.Yield())

    def _lanes(self, tensor: Value, column: Value, at: Builder | None = None, name: str = "lanes") -> Value:
        builder = at or self.at
        left = binary(builder, "sub", self.width, column, "left")
        most = a_repeat(builder, dtype_of(tensor.type).bytes)
        return binary(builder, "minimum", left, most, name)

    def _stride(self, tensor: Value) -> Value:
        return binary(
            self.at, "floordiv", self.pitch, a_block(self.at, dtype_of(tensor.type).bytes), "stride"
        )

    def _strides(self, cover: str, stride: Value) -> tuple[Value, Value]:
        """Block and repeat stride of an argument."""
        zero, one = index(self.at, 0), index(self.at, 1)
        return {FULL: (one, stride), ROW: (one, zero), COLUMN: (zero, one)}[cover]


def comparable(at: Builder, tensor: Value) -> Value:
    """The tensor, or its bits as signed integers where Max does not take its dtype: the maximum of equals is a copy."""
    dtype = dtype_of(tensor.type)
    if dtype.name in VECTOR_CALLS[FOLDS["maximum"]].dtypes:
        return tensor
    return recast(at, tensor, i16 if dtype.bits == 16 else i32)


def add_rows(at: Builder, fn: str, total: Value, source: Value, shape: tuple[Value, Value, Value]) -> None:
    """Combine `count` rows of `width` elements, `pitch` apart, into one, in order."""
    count, width, pitch = shape
    if dtype_of(source.type).name not in _CHAINED:
        _add_one_by_one(at, fn, total, source, shape)
        return
    most = named(at, MOST_REPEATS, "MAX_REPEATS")
    if (upper_bound(count) or MOST_REPEATS + 1) <= MOST_REPEATS:
        at.insert(asc.PipeBarrier(pipe="PIPE_V"))
        RowCalls(at, count, width, pitch, _as_it_is).accumulate(FOLDS[fn], total, source, index(at, 0))
        return
    body = block_of([_I64], ["r"])
    loop = at.insert(scf.For(lower=index(at, 0), upper=count, step=most, types=[], body=body))
    inner = Builder(loop.body.block, loc=at.loc)
    below = binary(inner, "sub", count, loop.counter, "below")
    rows = binary(inner, "minimum", below, most, "repeats")
    inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
    start = binary(inner, "mul", loop.counter, pitch, "start")
    RowCalls(inner, rows, width, pitch, _as_it_is).accumulate(FOLDS[fn], total, source, start)
    inner.insert(scf.Yield())


def _as_it_is(tensor: Value) -> Value:
    return tensor


def _add_one_by_one(
    at: Builder, fn: str, total: Value, source: Value, shape: tuple[Value, Value, Value]
) -> None:
    """The same where an instruction cannot go on from its own result."""
    count, width, pitch = shape
    body = block_of([_I64], ["r"])
    loop = at.insert(scf.For(lower=index(at, 0), upper=count, step=index(at, 1), types=[], body=body))
    inner = Builder(loop.body.block, loc=at.loc)
    row = part_from(inner, source, binary(inner, "mul", loop.counter, pitch))
    inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
    inner.insert(asc_vector.Binary(call=FOLDS[fn], dst=total, src0=total, src1=row, amount=[width]))
    inner.insert(scf.Yield())


def upper_bound(value: Value) -> int | None:
    """A number that an index is known not to exceed, since it is a minimum with it."""
    known = integer_of(value)
    if known is None and isinstance(value.op, arith.Elementwise) and value.op.fn == "minimum":
        bounds = [bound for arg in value.op.args if (bound := upper_bound(arg)) is not None]
        return min(bounds, default=None)
    return known


def pack(at: Builder, column: Value, blocks: Value, count: Value) -> None:
    """The first element of each block of 32 bytes: the largest of that element alone."""
    one = index(at, 1)
    at.insert(
        asc_vector.WholeReduce(
            call=WHOLE["maximum"],
            dst=column,
            src=blocks,
            amount=[one, count],
            strides=[one, one, one],
            order="ORDER_ONLY_VALUE",
        )
    )


def spread_over(at: Builder, column: Value, blocks: Value, count: Value) -> None:
    """Each of `count` elements fills a block of 32 bytes."""
    strides = [index(at, 1), index(at, 8)]
    at.insert(asc_vector.Brcb(dst=blocks, src=column, repeat=ceil_div(at, count, 8), strides=strides))
