# SPDX-License-Identifier: Apache-2.0
"""Running sums and extremes of a line, in as many steps as its length has bits.

In a step every element is combined with the one that is 1, 2, 4, ... places before it. Where that is less than a block
of 32 bytes away, no vector operand can start there, so Gather shifts the line; from then on it is an offset. A block
that changes nothing stands in front of the line, for elements that have none before them. What came before the line
is combined into its first element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, asc, asc_vector, scf, tile, tile_lanes
from pyasc.ir.dtypes import DType
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_lanes import gather_from, get_offsets, ramp
from pyasc.passes.analysis.ascend_rows import FOLDS
from pyasc.passes.analysis.ascend_tensors import elements_of, pitch_of
from pyasc.passes.analysis.ascend_vector import VectorCalls, local, part_from
from pyasc.passes.analysis.row_work import IDENTITIES
from pyasc.passes.analysis.tile_emit import a_block, binary, ceil_div
from pyasc.passes.analysis.tile_legalise import number_of

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_emit import PhaseLowering
    from pyasc.passes.analysis.ascend_methods import Methods
    from pyasc.passes.analysis.ascend_tensors import TensorMap

_BLOCK_BYTES = 32
_I64 = ScalarType(dtypes.i64)


def scan(methods: Methods, tensors: TensorMap, op: tile_lanes.Scan) -> None:
    """All steps of one line, and the last element to the carry."""
    phase = methods.phase
    if op.axis == 0:
        _rows(methods, tensors, op)
        return
    owner = op.target.owner
    assert isinstance(owner, tile.Buffer)
    count = phase.value(op.sizes[-1])
    line = _Line(methods, tensors.at, op.fn, dtype_of(op.target.type), elements_of(owner), count)
    source, carry, target = (tensors.of(each) for each in (op.source, op.carry, op.target))
    line.run(source, carry, target)


def _rows(methods: Methods, tensors: TensorMap, op: tile_lanes.Scan) -> None:
    """Each row combined with the one above it, the first one with the carry, which the last one then is."""
    at, phase = tensors.at, methods.phase
    source, carry, target = (tensors.of(each) for each in (op.source, op.carry, op.target))
    count, width = (phase.value(size) for size in op.sizes)
    pitch = phase.value(pitch_of(op.target))
    call, one = FOLDS[op.fn], index(at, 1)
    at.insert(asc_vector.Binary(call=call, dst=target, src0=carry, src1=source, amount=[width]))
    body = block_of([_I64], ["r"])
    loop = at.insert(scf.For(lower=one, upper=count, step=one, types=[], body=body))
    inner = Builder(loop.body.block, loc=at.loc)
    offset = binary(inner, "mul", loop.counter, pitch, "start")
    above = part_from(inner, target, binary(inner, "sub", offset, pitch))
    row, result = part_from(inner, source, offset), part_from(inner, target, offset)
    inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
    inner.insert(asc_vector.Binary(call=call, dst=result, src0=above, src1=row, amount=[width]))
    inner.insert(scf.Yield())
    last = binary(at, "mul", binary(at, "sub", count, 1), pitch, "last")
    at.insert(asc.PipeBarrier(pipe="PIPE_V"))
    VectorCalls(at, width).move(carry, part_from(at, target, last))


@dataclass
class _Line:
    methods: Methods
    at: Builder
    fn: str
    dtype: DType
    length: int
    count: Value

    def __post_init__(self) -> None:
        self.block = _BLOCK_BYTES // self.dtype.bytes
        self.call = FOLDS[self.fn]
        phase = self.methods.phase
        whole = local(self.length + self.block, self.dtype)
        self.padded = self.at.value(asc.Get(buffer=self._padded(phase), types=[whole]), "running")
        self.line = part_from(self.at, self.padded, index(self.at, self.block), "line")
        amount = self.length * self.dtype.bytes
        buffer = self.methods.buffer_of("shifted", amount)
        self.shifted = self.at.value(
            asc.Get(buffer=buffer, types=[local(self.length, self.dtype)]), "shifted"
        )

    def _padded(self, phase: PhaseLowering) -> Value:
        """A buffer for a line behind a block of elements that leave others as they are."""
        key = (self.length, self.block, *map(ord, self.fn))
        if key not in phase.prologue.made:
            assert phase.front is not None
            buffer = phase.front.value(asc.Buf(position="VECCALC"), "runningBuf")
            amount = index(phase.front, self.length * self.dtype.bytes + _BLOCK_BYTES)
            phase.front.insert(asc.InitBuf(pipe=phase.pipe, buffer=buffer, bytes=amount))
            phase.prologue.made[key] = buffer
            block, dtype, identity = self.block, self.dtype, IDENTITIES[self.fn]

            def fill(at: Builder) -> None:
                start = at.value(asc.Get(buffer=buffer, types=[local(block, dtype)]), "running")
                VectorCalls(at, index(at, block)).fill(start, at.value(number_of(identity, dtype)))

            phase.prologue.fills.append(fill)
        return phase.prologue.made[key]

    def run(self, source: Value, carry: Value, target: Value) -> None:
        """Combine, and hand the last element on."""
        at, one = self.at, index(self.at, 1)
        VectorCalls(at, self.count).move(self.line, source)
        self._combine(at, self.line, self.line, carry, one)
        offsets = get_offsets(
            at, ramp(self.methods.phase, self.length, self.dtype.bytes), self.length, "offsets"
        )
        distance = 1
        while distance < self.block:
            back = (self.block - distance) * self.dtype.bytes
            gather_from(at, self.shifted, self.padded, offsets, back, self.count)
            self._combine(at, self.line, self.line, self.shifted, self.count)
            distance *= 2
        self._long_steps()
        VectorCalls(at, self.count).move(target, self.line)
        self._keep_last(carry)

    def _long_steps(self) -> None:
        """Steps over whole blocks, while they are shorter than the line."""
        at = self.at
        block = a_block(at, self.dtype.bytes)
        whole = binary(at, "mul", ceil_div(at, self.count, block), block, "wholeBlocks")
        loop = at.insert(
            scf.While(
                inits=[index(at, self.block)],
                types=[_I64],
                before=block_of([_I64], ["distance"]),
                after=block_of([_I64], ["distance"]),
            )
        )
        before = Builder(loop.before.block, loc=at.loc)
        distance = loop.before.block.args[0]
        less = before.value(arith.Elementwise(fn="lt", args=[distance, self.count]))
        before.insert(scf.Condition(condition=less, forwarded=[distance]))
        inner = Builder(loop.after.block, loc=at.loc)
        distance = loop.after.block.args[0]
        left = binary(inner, "sub", self.count, distance, "left")
        rest = part_from(inner, self.padded, binary(inner, "add", distance, self.block), "rest")
        inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
        self._combine(inner, self.shifted, rest, self.line, left)
        inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
        inner.insert(asc.DataCopy(dst=rest, src=self.shifted, amount=[binary(inner, "sub", whole, distance)]))
        inner.insert(scf.Yield(values=[binary(inner, "mul", distance, 2)]))
        at.insert(asc.PipeBarrier(pipe="PIPE_V"))

    def _keep_last(self, carry: Value) -> None:
        """The last element in the carry; a line without elements leaves it alone."""
        at = self.at
        type_ = local(_BLOCK_BYTES // 4, dtypes.i32)
        place = at.value(
            asc.Get(buffer=self.methods.buffer_of("place", _BLOCK_BYTES), types=[type_]), "place"
        )
        byte = binary(at, "mul", binary(at, "sub", self.count, 1), self.dtype.bytes)
        last = at.value(arith.Cast.to(byte, dtypes.i32), "last")
        some = index(at, 1) if _is_piece(self.count) else binary(at, "minimum", self.count, 1, "some")
        at.insert(asc_vector.Duplicate(dst=place, scalar=last, amount=[some]))
        gather_from(at, carry, self.line, place, 0, some)

    def _combine(self, at: Builder, target: Value, left: Value, right: Value, count: Value) -> None:
        at.insert(asc_vector.Binary(call=self.call, dst=target, src0=left, src1=right, amount=[count]))


def _is_piece(count: Value) -> bool:
    """Whether a count is what is left in a loop, or a tile of it: at least one element."""
    match count.op:
        case arith.Elementwise(
            fn="minimum", args=[Value(op=arith.Elementwise(fn="sub", args=[_, counter])), _]
        ):
            return isinstance(counter.block.parent_op if counter.block else None, scf.For)
        case _:
            return False
