# SPDX-License-Identifier: Apache-2.0
"""Tiles that a loop adds to: filled before it, and in their queues all the time until they are copied out behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyasc.ir.core import Builder, Operation
from pyasc.ir.dialects import asc, mem, scf, tile
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.ascend_methods import Methods
from pyasc.passes.analysis.ascend_tensors import space_of
from pyasc.passes.analysis.ascend_vector import VectorCalls, local

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_emit import PhaseLowering

_START_METHODS = ("LoadStart", "Start", "")


def has_accumulators(ops: Sequence[Operation]) -> bool:
    """Whether a tile is added to in a loop and then copied out."""
    inside = (each for op in ops if isinstance(op, scf.For) for each in op.walk())
    totals = {each.target for each in inside if isinstance(each, tile.Reduce) and each.continued}
    return any(isinstance(op, tile.Copy) and op.source in totals for op in ops)


def run_with_accumulators(phase: PhaseLowering, ops: Sequence[Operation], at: Builder) -> None:
    """Lower what fills accumulators, the loop that adds to them, and what copies them out."""
    lowering = _Accumulators(phase, ops, at)
    for op in ops:
        at.loc = op.loc
        lowering.operation(op)


class _Accumulators:
    def __init__(self, phase: PhaseLowering, ops: Sequence[Operation], at: Builder) -> None:
        self.phase = phase
        self.at = at
        copies = [op for op in ops if isinstance(op, tile.Copy) and space_of(op.target) == "gm"]
        self.totals = {op.source for op in copies}
        self.methods = Methods(phase, at)
        buffers = [op for op in ops if isinstance(op, tile.Buffer) and op.tile in self.totals]
        self.methods.declare(buffers, (), copies, ())
        self.loading: list[Operation] = []

    def operation(self, op: Operation) -> None:
        """Lower one operation around the loop, or the loop."""
        match op:
            case tile.Buffer() if op.tile in self.totals:
                self._allocate(op)
            case tile.Buffer():
                self.loading = [op]
            case tile.Copy() if space_of(op.target) == "gm":
                self._copy_out(op)
            case tile.Copy():
                self.loading.append(op)
            case tile.Broadcast():
                Methods(self.phase, self.at, _START_METHODS).run([*self.loading, op])
            case tile.Fill():
                calls = VectorCalls(self.at, self.phase.value(op.sizes[1]))
                calls.fill(self.phase.running[op.target], self.phase.value(op.value))
            case scf.For():
                self.phase.operation(op, self.at)
            case mem.View() | scf.Yield() | tile.Yield():
                pass
            case _:
                self.at.insert(op.clone(self.phase.mapping))

    def _allocate(self, op: tile.Buffer) -> None:
        queue = self.phase.holders[op.tile].queue
        assert queue is not None
        tensor = asc.AllocTensor(queue=queue, types=[local(op.capacity, dtype_of(op.tile.type))])
        self.phase.running[op.tile] = self.at.value(tensor, op.tile.name)

    def _copy_out(self, op: tile.Copy) -> None:
        queue = self.phase.holders[op.source].queue
        assert queue is not None
        self.at.insert(asc.EnQue(queue=queue, tensor=self.phase.running[op.source]))
        self.methods.copy_out([op])
