# SPDX-License-Identifier: Apache-2.0
"""Remainders of float32, by a function of the file that subtracts until nothing is left to subtract.

How long that takes depends on all elements, so that rows are taken one by one: what lies between them is undefined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import asc, asc_vector, scf, tile
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_tensors import buffer_of, cover_of, pitch_of
from pyasc.passes.analysis.ascend_vector import local, part_from
from pyasc.passes.analysis.tile_buffers import SCRATCH_BYTES
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_program import FULL

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_methods import Methods
    from pyasc.passes.analysis.ascend_tensors import TensorMap


def remainders(methods: Methods, tensors: TensorMap, op: tile.Elementwise) -> None:
    """One call for elements that lie side by side, else one for each row."""
    at, phase = tensors.at, methods.phase
    methods.spreads.pop(buffer_of(op.target), None)
    target, *sources = (tensors.of(value) for value in (op.target, *op.args))
    assert methods.scratch is not None
    scratch = at.value(asc.Get(buffer=methods.scratch, types=[local(SCRATCH_BYTES, dtypes.u8)]), "scratch")
    flags = [methods.event(event) for event in ("V_S", "S_V")]

    def call(inner: Builder, tensors: list[Value], count: Value) -> None:
        dst, src0, src1 = tensors
        ready, taken = flags
        inner.insert(
            asc_vector.Remainders(
                dst=dst, src0=src0, src1=src1, scratch=scratch, ready=ready, taken=taken, count=count
            )
        )

    if len(op.sizes) == 1 or cover_of(op.target) != FULL:
        call(at, [target, *sources], methods.count_of(at, op))
        return
    rows, width = (phase.value(size) for size in op.sizes)
    body = block_of([ScalarType(dtypes.i64)], ["r"])
    loop = at.insert(scf.For(lower=index(at, 0), upper=rows, step=index(at, 1), types=[], body=body))
    inner = Builder(loop.body.block, loc=at.loc)
    start = binary(inner, "mul", loop.counter, phase.value(pitch_of(op.target)))
    call(inner, [part_from(inner, each, start) for each in (target, *sources)], width)
    inner.insert(scf.Yield())
