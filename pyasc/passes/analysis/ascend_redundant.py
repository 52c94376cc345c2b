# SPDX-License-Identifier: Apache-2.0
"""Barriers that another one makes superfluous.

`ascend_barriers` looks at one method at a time and puts a barrier at its end where anything could follow. Here the
methods are seen in the order in which they run, rounds of loops behind each other: a barrier goes if no call then meets
what an earlier one, since the last barrier, reads or writes. One that has to stay before a tensor is handed over moves
to the start of its method, where it is for the round before.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import asc, scf
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.ascend_barriers import SELF_SYNCHRONISED, is_vector, root, touched

_FEW = 48
"""Up to this many barriers in a function each is looked at; behind that those at the ends of methods alone."""


def drop_redundant_barriers(function: Func, parts: Collection[Value]) -> None:
    """Take out barriers of the vector pipe that order nothing. `parts` as for `insert_barriers`."""
    # Those inside of loops of calls say that a round needs what the one before wrote, and stay.
    barriers = [
        op
        for op in function.walk()
        if isinstance(op, asc.PipeBarrier) and op.pipe == "PIPE_V" and isinstance(op.parent_op, asc.Method)
    ]
    order = _Order(parts)
    if not barriers or not order.holds(function):
        return
    ends = [op for op in barriers if _ends_method(op)]
    # Twice: one that has moved to the start of its method may make another one superfluous.
    for barrier in [*ends, *ends, *(barriers if len(barriers) <= _FEW else ())]:
        if barrier.parent is not None and not _moved(barrier, None, function, order):
            first = _first_call(barrier) if _ends_method(barrier) else None
            if first is not None:
                _moved(barrier, first, function, order)


def _moved(barrier: Operation, anchor: Operation | None, function: Func, order: _Order) -> bool:
    """Move a barrier before another operation, or nowhere, if what it has to order stays so."""
    block, following = barrier.parent, barrier.next
    assert block is not None
    barrier.unlink()
    if anchor is not None and anchor.parent is not None:
        anchor.parent.insert_before(anchor, barrier)
    if order.holds(function):
        if anchor is None:
            barrier.drop()
        return True
    block.insert_before(following, barrier)
    return False


def _ends_method(barrier: Operation) -> bool:
    """Whether no call of the vector unit comes behind a barrier in its method."""
    following = barrier.next
    while following is not None:
        if is_vector(following) or following.regions:
            return False
        following = following.next
    return True


def _first_call(barrier: Operation) -> Operation | None:
    assert barrier.parent is not None
    first = next((op for op in barrier.parent if is_vector(op) or isinstance(op, asc.PipeBarrier)), None)
    return None if first is barrier or isinstance(first, asc.PipeBarrier) else first


@dataclass
class _Memory:
    """What calls since the last barrier read and wrote, by the buffers or tensors of queues."""

    reads: set[Value] = field(default_factory=lambda: set[Value]())
    writes: set[Value] = field(default_factory=lambda: set[Value]())
    seen_by_scalar: bool = False

    def copy(self) -> _Memory:
        return _Memory(set(self.reads), set(self.writes))

    def join(self, other: _Memory) -> None:
        self.reads |= other.reads
        self.writes |= other.writes

    def clear(self) -> None:
        self.reads.clear()
        self.writes.clear()

    def forget(self, tensor: Value) -> None:
        """A queue gives a buffer whose earlier users have finished."""
        for values in (self.reads, self.writes):
            values -= {value for value in values if root(value) is tensor}


@dataclass(frozen=True)
class _Order:
    """Whether calls that meet in memory have a barrier between them."""

    parts: Collection[Value]

    def holds(self, function: Func) -> bool:
        """True if no two calls of the function meet unordered."""
        return self._block(function.body.block, _Memory())

    def _block(self, block: Block, memory: _Memory) -> bool:
        return all(self._operation(op, memory) for op in block)

    def _operation(self, op: Operation, memory: _Memory) -> bool:
        match op:
            case asc.PipeBarrier():
                memory.clear()
            case asc.Flag():
                self._flag(op, memory)
            case asc.AllocTensor() | asc.DeQue():
                memory.forget(op.tensor)
            case asc.Method():
                return self._block(op.body.block, memory)
            case scf.If():
                return self._branch(op, memory)
            case scf.For() | scf.While() if not _is_one_call(op):
                return self._loop(op, memory)
            case _ if is_vector(op):
                return self._call(op, memory)
            case _:
                pass
        return True

    def _flag(self, op: asc.Flag, memory: _Memory) -> None:
        """The scalar unit waits for the vector unit, then that for the scalar unit: all earlier calls are done."""
        event = str(op.id.type)
        if op.call == "WaitFlag" and "V_S" in event:
            memory.seen_by_scalar = True
        elif op.call == "WaitFlag" and "S_V" in event and memory.seen_by_scalar:
            memory.clear()

    def _branch(self, op: scf.If, memory: _Memory) -> bool:
        other = memory.copy()
        holds = self._block(op.then.block, memory) and self._block(op.otherwise.block, other)
        memory.join(other)
        return holds

    def _loop(self, op: scf.For | scf.While, memory: _Memory) -> bool:
        """No round, one, or several behind each other."""
        before = memory.copy()
        blocks = [block for region in op.regions for block in region.blocks]
        for _ in range(2):
            if not all(self._block(block, memory) for block in blocks):
                return False
        memory.join(before)
        return True

    def _call(self, op: Operation, memory: _Memory) -> bool:
        memory.seen_by_scalar = False
        reads, writes = (set(map(_memory_of, values)) for values in touched(op, self.parts))
        if isinstance(op, SELF_SYNCHRONISED):
            memory.clear()
            return True
        if reads & memory.writes or writes & (memory.reads | memory.writes):
            return False
        memory.reads |= reads
        memory.writes |= writes
        return True


def _is_one_call(op: scf.For | scf.While) -> bool:
    """Whether a loop is calls alone, on other places in each round."""
    return (
        isinstance(op, scf.For)
        and is_vector(op)
        and not any(
            isinstance(each, (asc.PipeBarrier, asc.Flag, asc.Method, *SELF_SYNCHRONISED))
            for each in op.walk()
        )
    )


def _memory_of(tensor: Value) -> Value:
    """The buffer behind a tensor, which other methods know under other names."""
    base = root(tensor)
    return base.owner.buffer if isinstance(base.owner, asc.Get) else tensor
