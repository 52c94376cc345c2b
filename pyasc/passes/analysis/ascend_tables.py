# SPDX-License-Identifier: Apache-2.0
"""Arrays that stay on chip while a loop over tiles runs: copied in before it, given back behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import asc, mem, scf, tile
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_tensors import elements_of
from pyasc.passes.analysis.ascend_vector import local, part_from
from pyasc.passes.analysis.tile_emit import binary

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_emit import PhaseLowering


def has_tables(ops: Sequence[Operation]) -> bool:
    """Whether tiles are filled before a loop over others."""
    buffers = [op for op in ops if isinstance(op, tile.Buffer)]
    return any(op.lasting for op in buffers) or (
        bool(buffers) and any(isinstance(op, tile.Loop) for op in ops)
    )


def run_with_tables(phase: PhaseLowering, ops: Sequence[Operation], at: Builder) -> None:
    """Lower what stands in a core, with queues for what stays there; each is used once, for the wait on the copy."""
    queues: dict[Value, Value] = {}
    copies: list[tile.Copy] = []
    for op in ops:
        at.loc = op.loc
        match op:
            case tile.Buffer():
                queue = at.value(asc.Queue(position="VECIN", depth=1), f"{op.tile.name}Queue")
                amount = index(at, elements_of(op) * dtype_of(op.tile.type).bytes)
                at.insert(asc.InitQueue(pipe=phase.pipe, queue=queue, bytes=amount, number=1))
                queues[op.tile] = queue
            case tile.Copy():
                copies.append(op)
            case tile.Loop() | scf.For():
                _around(phase, op, copies, queues, at)
            case _:
                phase.operation(op, at)


def _around(
    phase: PhaseLowering,
    loop: tile.Loop | scf.For,
    copies: Sequence[tile.Copy],
    queues: dict[Value, Value],
    at: Builder,
) -> None:
    name = "LoadRows" if isinstance(loop, scf.For) else "LoadTables"
    method = at.insert(asc.Method(method=name, body=block_of()))
    phase.front = Builder.before(method)
    inner = Builder(method.body.block, loc=at.loc)
    for copy in copies:
        _load(phase, copy, queues[copy.target], inner)
    inner.insert(asc.End())
    for copy in copies:
        type_ = _type(copy.target)
        taken = asc.DeQue(queue=queues[copy.target], types=[type_])
        phase.running[copy.target] = at.value(taken, copy.target.name)
    phase.operation(loop, at)
    for copy in copies:
        at.insert(asc.FreeTensor(queue=queues[copy.target], tensor=phase.running.pop(copy.target)))
    phase.prologue.emit(phase.front)
    phase.front = None


def _load(phase: PhaseLowering, copy: tile.Copy, queue: Value, at: Builder) -> None:
    view, type_ = copy.source.owner, _type(copy.target)
    assert isinstance(view, mem.View)
    tensor = at.value(asc.AllocTensor(queue=queue, types=[type_]), copy.target.name)
    source, zero = _source(phase, view, at), index(at, 0)
    at.insert(
        asc.DataCopyPad(
            dst=tensor,
            src=source,
            block_count=index(at, 1),
            block_len=binary(at, "mul", phase.value(copy.sizes[-1]), type_.dtype.bytes),
            src_stride=zero,
            dst_stride=zero,
        )
    )
    at.insert(asc.EnQue(queue=queue, tensor=tensor))


def _source(phase: PhaseLowering, view: mem.View, at: Builder) -> Value:
    """What is copied: a line of an array that the core has a tensor for, or a row of another one."""
    if len(view.axes) == 1:
        return phase.value(view.view)
    tensor, start = phase.global_of(view.ref), phase.value(view.offsets[-1])
    return part_from(at, tensor, start)


def _type(tile_: Value) -> RefType:
    owner = tile_.owner
    assert isinstance(owner, tile.Buffer)
    return local(elements_of(owner), dtype_of(tile_.type))
