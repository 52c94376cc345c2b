# SPDX-License-Identifier: Apache-2.0
"""Elements added to bins: for each bin a comparison, a choice, and one instruction that folds what was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, block_of
from pyasc.ir.dialects import arith, asc, asc_vector, scf, tile_lanes
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_lines import fold
from pyasc.passes.analysis.ascend_vector import VectorCalls, local, recast
from pyasc.passes.analysis.tile_emit import binary

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_methods import Methods
    from pyasc.passes.analysis.ascend_tensors import TensorMap

_LANES = 64
_ROWS = 128
"""Bins whose lanes one instruction adds up; it repeats at most 255 times."""
_I64 = ScalarType(dtypes.i64)


def tally(methods: Methods, tensors: TensorMap, op: tile_lanes.Tally) -> None:
    """A loop over the bins."""
    at, phase = tensors.at, methods.phase
    source, places, lanes = (tensors.of(each) for each in (op.source, op.places, op.lanes))
    count = phase.value(op.sizes[0])
    assert isinstance(op.source.type, RefType)
    (length,) = op.source.type.shape
    assert isinstance(length, int)
    dtype = dtype_of(source.type)
    chosen = at.value(
        asc.Get(buffer=methods.buffer_of("chosen", length * 4), types=[local(length, dtype)]), "chosen"
    )
    mask_type = local(length // 8, dtypes.u8)
    mask = at.value(asc.Get(buffer=methods.buffer_of("mask", length // 8), types=[mask_type]), "mask")
    body = block_of([_I64], ["bin"])
    loop = at.insert(
        scf.For(lower=index(at, 0), upper=phase.value(op.bins), step=index(at, 1), types=[], body=body)
    )
    inner = Builder(loop.body.block, loc=at.loc)
    calls = VectorCalls(inner, count)
    number = inner.value(arith.Cast.to(loop.counter, dtypes.i32))
    inner.insert(asc.PipeBarrier(pipe="PIPE_V"))
    calls.elementwise("eq", mask, [places, number])
    zero = inner.value(arith.Constant.of(0.0, dtypes.f32))
    single = [recast(inner, each, dtypes.f32) for each in (chosen, source)]
    mode = "VSEL_TENSOR_SCALAR_MODE"
    inner.insert(asc_vector.Select(dst=single[0], mask=mask, a=single[1], b=zero, amount=[count], mode=mode))
    start = binary(inner, "mul", loop.counter, _LANES)
    row = inner.value(asc.Offset(tensor=lanes, offset=start, types=[lanes.type]))
    fold(inner, "add", row, chosen, count)
    inner.insert(scf.Yield())


def totals(methods: Methods, tensors: TensorMap, op: tile_lanes.Totals) -> None:
    """The lanes of a bin added up, as float32; the integers that come out are small enough for it."""
    at, bins = tensors.at, methods.phase.value(op.sizes[0])
    lanes, target = tensors.of(op.lanes), tensors.of(op.target)
    whole = dtype_of(target.type) is dtypes.i32
    sums = recast(at, target, dtypes.f32)
    numbers = recast(at, lanes, dtypes.f32)
    if whole:
        VectorCalls(at, binary(at, "mul", bins, _LANES)).cast(numbers, lanes, "rint")
    body = block_of([_I64], ["bin"])
    loop = at.insert(scf.For(lower=index(at, 0), upper=bins, step=index(at, _ROWS), types=[], body=body))
    inner = Builder(loop.body.block, loc=at.loc)
    left = binary(inner, "sub", bins, loop.counter, "left")
    rows = binary(inner, "minimum", left, _ROWS, "rows")
    start = binary(inner, "mul", loop.counter, _LANES)
    inner.insert(
        asc_vector.WholeReduce(
            call="WholeReduceSum",
            dst=inner.value(asc.Offset(tensor=sums, offset=loop.counter, types=[sums.type])),
            src=inner.value(asc.Offset(tensor=numbers, offset=start, types=[numbers.type])),
            amount=[index(inner, _LANES), rows],
            strides=[index(inner, each) for each in (1, 1, 8)],
        )
    )
    inner.insert(scf.Yield())
    if whole:
        VectorCalls(at, bins).cast(target, sums, "rint")
