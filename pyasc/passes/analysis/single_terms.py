# SPDX-License-Identifier: Apache-2.0
"""Reductions over nothing: `einsum("i,j->ij")` adds one product to each element, which is an elementwise operation."""

from __future__ import annotations

from pyasc.ir.core import Builder, Region, Value
from pyasc.ir.dialects import st
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.structured import copy_block


def write_single_terms(op: st.Apply) -> bool:
    """Write what an op without summed iterators would combine once; says whether it is one."""
    reduces = "reduce" in op.roles and "scan" not in op.roles
    if not reduces or op.guarded or any(kind != "parallel" for kind in op.iterators):
        return False
    running = list(op.inits) or _present(op)
    block = op.body.block
    yielded = block.terminator
    at = Builder.before(yielded)
    new = [yielded.operands[number] for number in op.combined]
    combine = op.combine.block
    mapping: dict[Value, Value] = dict(zip(combine.args, [*running, *new], strict=True))
    combined = dict(zip(op.combined, copy_block(combine, mapping, at), strict=True))
    yielded.operands = [combined.get(number, value) for number, value in enumerate(yielded.operands)]
    op.set_operands("inits", ())
    op.roles = ("write",) * len(op.roles)
    for each in list(combine):
        each.drop()
    empty = Region()
    op.regions[1] = empty
    empty.parent = op
    return True


def _present(op: st.Apply) -> list[Value]:
    """What the outputs hold, as inputs."""
    made: list[Value] = []
    for number in op.combined:
        ref, map_ = op.outputs[number], op.output_maps[number]
        made.append(op.body.block.add_arg(ScalarType(dtype_of(ref.type)), ref.name))
        op.set_operands("inputs", [*op.inputs, ref])
        op.input_maps = (*op.input_maps, map_)
    return made
