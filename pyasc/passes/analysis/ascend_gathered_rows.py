# SPDX-License-Identifier: Apache-2.0
"""Copies of single rows into a tile, each from where the scalar unit finds that it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, asc, mem, scf, tile_lanes
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_tensors import pitch_of
from pyasc.passes.analysis.tile_emit import binary

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_methods import Methods

_I64 = ScalarType(dtypes.i64)


def copy_rows(methods: Methods, at: Builder, op: tile_lanes.CopyRows, tensor: Value) -> None:
    """A loop over the rows of a tile, which starts the copy of each."""
    phase = methods.phase
    rows, width = (phase.value(size) for size in op.sizes)
    pitch, source = phase.value(pitch_of(op.target)), phase.global_of(op.source)
    length = binary(at, "mul", width, dtype_of(tensor.type).bytes)
    body = block_of([_I64], ["r"])
    loop = at.insert(scf.For(lower=index(at, 0), upper=rows, step=index(at, 1), types=[], body=body))
    inner = Builder(loop.body.block, loc=op.loc)
    start = _start(methods, op, loop.counter, inner)
    zero = index(inner, 0)
    assert isinstance(tensor.type, RefType)
    row = asc.Offset(tensor=tensor, offset=binary(inner, "mul", loop.counter, pitch), types=[tensor.type])
    inner.insert(
        asc.DataCopyPad(
            dst=inner.value(row),
            src=inner.value(asc.Offset(tensor=source, offset=start, types=[source.type])),
            block_count=index(inner, 1),
            block_len=length,
            src_stride=zero,
            dst_stride=zero,
        )
    )
    inner.insert(scf.Yield())


def _start(methods: Methods, op: tile_lanes.CopyRows, row: Value, at: Builder) -> Value:
    """The first element of a row, as the block computes it; what it reads passes through the data cache."""
    phase = methods.phase
    mapping = dict(phase.mapping)
    mapping[op.body.block.args[0]] = row
    for each in op.body.block:
        at.loc = each.loc
        if isinstance(each, mem.Load):
            where = phase.linear(at, each.ref, [mapping.get(value, value) for value in each.indices])
            tensor = phase.global_of(each.ref)
            mapping[each.value] = at.value(asc.GetValue(tensor=tensor, index=where), each.value.name)
        elif not isinstance(each, scf.Yield):
            assert isinstance(each, (arith.Constant, arith.Elementwise, arith.Cast)) or not each.regions
            at.insert(each.clone(mapping))
    (start,) = op.body.block.terminator.operands
    return mapping.get(start, start)
