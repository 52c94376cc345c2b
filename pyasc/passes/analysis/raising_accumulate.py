# SPDX-License-Identifier: Apache-2.0
"""An op that reads, changes and writes one element again is a reduction into that element.

    st.apply [%i], [%x, %y], [], [%y] { ^(%e: f32, %sum: f32): %0 = arith.add %sum, %e; st.yield %0 }

becomes

    st.apply [%i], [%x], [], [%y] {roles = ["reduce"]} { ^(%e: f32): st.yield %e } { ... add ... }
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, st
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.raising_recurrences import Recurrence, Recurrences, call, merged, neutral
from pyasc.passes.analysis.structured import combiner


def accumulate(op: st.Apply) -> st.Apply | None:
    """Turn a write of a combination with what was there into a reduction; None when the op is neither."""
    if op.roles == ("reduce",):
        return op
    if op.roles != ("write",):
        return None
    own = [
        k for k, ref in enumerate(op.inputs) if ref is op.outputs[0] and op.input_maps[k] == op.output_maps[0]
    ]
    if len(own) != 1:
        return None
    block = op.body.block
    element = block.args[op.rank + own[0]]
    yielded = block.terminator.operands[0]
    recurrences = Recurrences(block, [element], [yielded], op.strict)
    found = recurrences.match_all()
    if found is None or any(value in recurrences.dependent for value in block.terminator.operands[1:]):
        return None
    return op if _convert(op, own[0], found[0]) else None


def _convert(op: st.Apply, own: int, group: Recurrence) -> bool:
    block = op.body.block
    terminator = block.terminator
    at = Builder.before(terminator)
    (new,) = group.emit_new(at)
    rest = neutral(group.fn, dtype_of(new.type)) if group.fn else None
    if group.guard is not None:
        if rest is None:
            return False
        neutral_value: Value = at.value(arith.Constant(value=rest, types=[new.type]))
        new = call(at, "select", group.guard, new, neutral_value)
    terminator.operands = [new, *terminator.operands[1:]]
    for inner in reversed(block):
        if inner is not terminator and not any(value.uses for value in inner.results):
            inner.erase()
    block.remove_arg(op.rank + own)
    op.set_operands("inputs", [ref for k, ref in enumerate(op.inputs) if k != own])
    op.input_maps = tuple(map_ for k, map_ in enumerate(op.input_maps) if k != own)
    op.roles = ("reduce",)
    op.regions[1] = combiner([new.type], merged([group]))
    op.regions[1].parent = op
    return True
