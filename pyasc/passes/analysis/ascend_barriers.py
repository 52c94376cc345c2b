# SPDX-License-Identifier: Apache-2.0
"""Barriers between dependent vector calls, and nowhere else.

Calls of the vector pipe start in order but overlap, so one that reads what an earlier one writes, or writes what an
earlier one reads or writes, needs `PipeBarrier<PIPE_V>` between them. Queues order buffers that are copied in or
out; a TBuf is used again in the next round, so the end of a round may need a barrier too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, asc, asc_vector, scf
from pyasc.ir.types import RefType, dtype_of

SELF_SYNCHRONISED = (asc_vector.Select, asc_vector.Reduce, asc_vector.Remainders)
"""Calls that hold a barrier before and behind their own instructions."""


@dataclass
class _Pending:
    """What the calls since the last barrier read and wrote."""

    reads: set[Value] = field(default_factory=lambda: set[Value]())
    writes: set[Value] = field(default_factory=lambda: set[Value]())

    def conflicts(self, reads: set[Value], writes: set[Value]) -> bool:
        """Whether a call that reads and writes these must wait."""
        return bool(reads & self.writes or writes & self.writes or writes & self.reads)

    def add(self, reads: set[Value], writes: set[Value]) -> None:
        """Count one more call."""
        self.reads |= reads
        self.writes |= writes

    def clear(self) -> None:
        """A barrier."""
        self.reads.clear()
        self.writes.clear()


def insert_barriers(block: Block, sealed: bool = False, parts: Collection[Value] = ()) -> None:
    """Put barriers into one round of vector calls; a sealed one has one behind it if it used what no queue orders.

    `parts` are tensors that lie side by side in one buffer.
    """
    pending, first, passed = _Pending(), _Pending(), False
    for op in block:
        if isinstance(op, asc.PipeBarrier):
            pending.clear()
            passed = True
            continue
        if not is_vector(op):
            continue
        reads, writes = touched(op, parts)
        if _starts_with_barrier(op):
            # It may run no round at all, so what came before it stays pending.
            pending.add(reads, writes)
            if not passed:
                first.add(reads, writes)
            continue
        if isinstance(op, SELF_SYNCHRONISED):
            if not passed:
                first.add(reads, writes)
            passed = True
            pending.clear()
            continue
        if pending.conflicts(reads, writes):
            Builder.before(op).insert(asc.PipeBarrier(pipe="PIPE_V"))
            pending.clear()
            passed = True
        pending.add(reads, writes)
        if not passed:
            first.add(reads, writes)
    kept = _Pending(_kept(pending.reads), _kept(pending.writes))
    if (sealed and (kept.reads or kept.writes)) or kept.conflicts(first.reads, first.writes):
        last = next(op for op in reversed(block) if is_vector(op))
        Builder.after(last).insert(asc.PipeBarrier(pipe="PIPE_V"))


def join_relu(block: Block) -> None:
    """One AddRelu for an Add whose result is then cut off at zero, and nothing else."""
    previous: Operation | None = None
    for op in block:
        if _cuts_off(previous, op):
            assert isinstance(previous, asc_vector.Binary)
            joined = asc_vector.Binary(
                call="AddRelu",
                dst=previous.dst,
                src0=previous.src0,
                src1=previous.src1,
                amount=previous.amount,
                loc=op.loc,
            )
            Builder.before(op).insert(joined)
            previous.erase()
            op.erase()
            previous = joined
        elif is_vector(op):
            previous = op


def _cuts_off(add: Operation | None, limit: Operation) -> bool:
    if not isinstance(limit, asc_vector.TensorScalar) or not isinstance(add, asc_vector.Binary):
        return False
    if limit.call != "Maxs" or add.call != "Add":
        return False
    zero = isinstance(limit.scalar.owner, arith.Constant) and limit.scalar.owner.value == 0
    floats = dtype_of(add.dst.type).is_float
    same = limit.src is add.dst and limit.dst is add.dst and add.amount == limit.amount
    return zero and floats and same and not add.strides


def root(tensor: Value, parts: Collection[Value] = ()) -> Value:
    """The tensor that a queue or buffer gave, or its part, below offsets and reinterpretations."""
    while tensor not in parts and isinstance(tensor.owner, (asc.Offset, asc.ReinterpretCast)):
        tensor = tensor.owner.tensor
    return tensor


def _kept(values: set[Value]) -> set[Value]:
    """Those that no queue orders from one round to the next."""
    return {value for value in values if isinstance(root(value).owner, asc.Get)}


def _starts_with_barrier(op: Operation) -> bool:
    """Whether every round of a loop of calls starts with a barrier, so that it needs none before it."""
    if not isinstance(op, scf.For):
        return False
    calls = (each for each in op.body.block if is_vector(each) or isinstance(each, asc.PipeBarrier))
    return isinstance(next(calls, None), asc.PipeBarrier)


def is_vector(op: Operation) -> bool:
    """Whether an operation is a call of the vector unit, or a loop or branch with one."""
    if isinstance(op, (scf.For, scf.If)):
        return any(is_vector(each) for block in _blocks(op) for each in block)
    return type(op).__module__ == asc_vector.__name__ or isinstance(op, (asc.DataCopy, asc.Copy))


def _blocks(op: scf.For | scf.If) -> list[Block]:
    return [block for region in op.regions for block in region.blocks]


def touched(op: Operation, parts: Collection[Value]) -> tuple[set[Value], set[Value]]:
    """What a call, or a loop or branch with calls, reads and writes."""
    reads: set[Value] = set()
    writes: set[Value] = set()
    if isinstance(op, (scf.For, scf.If)):
        for inner in (each for block in _blocks(op) for each in block if is_vector(each)):
            more_reads, more_writes = touched(inner, parts)
            reads |= more_reads
            writes |= more_writes
        return reads, writes
    for spec in op.spec.operands:
        value = getattr(op, spec.name)
        if isinstance(value, Value) and isinstance(value.type, RefType):
            found = root(value, parts)
            inside = {part for part in parts if part is not found and root(part) is found}
            (writes if spec.written else reads).update({found, *inside})
    return reads, writes
