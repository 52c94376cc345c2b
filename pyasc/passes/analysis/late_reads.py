# SPDX-License-Identifier: Apache-2.0
"""Which arguments of a kernel may be read after another one was written: where these share memory, it shows.

A launch whose arguments share elements copies those that are read alone. That is the result that the function has on
one memory as long as every read comes before the writes; what this module finds are the pairs for which it may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import mem, py, scf
from pyasc.ir.traits import LOOP, READS, WRITES
from pyasc.passes.analysis.effects import root_of

if TYPE_CHECKING:
    from pyasc.ir.dialects.func import Func

_MOST_PAIRS = 10_000
"""Pairs of accesses that are looked at one by one; of more, nothing is assumed."""


@dataclass(frozen=True)
class _Access:
    """A read or a write of a parameter: the operation, its place in program order, the ref it goes through."""

    op: Operation
    place: int
    ref: Value
    loops: tuple[Operation, ...]


def late_reads(func: Func) -> tuple[tuple[str, str, bool], ...]:
    """Pairs of parameters of a function, before or after its tensors are lowered: what may be read after what.

    The third item says that an iteration of a loop reads no element but the one that it writes itself afterwards, so
    that it does not matter where both are the same array.
    """
    reads: dict[Value, list[_Access]] = {}
    writes: dict[Value, list[_Access]] = {}
    for access, written in _accesses(func):
        (writes if written else reads).setdefault(root_of(access.ref), []).append(access)
    found: list[tuple[str, str, bool]] = []
    for reader in filter(reads.get, func.params):
        for written in filter(writes.get, func.params):
            own = None if written is reader else _each_its_own(reads[reader], writes[written])
            if own is not None:
                found.append((reader.name, written.name, own))
    return tuple(found)


def _accesses(func: Func) -> Iterator[tuple[_Access, bool]]:
    """Every read and write of a parameter, and which of both it is."""
    params = set(func.params)
    for place, op in enumerate(func.walk()):
        if not (op.has(WRITES) or op.has(READS)):
            continue
        loops = tuple(each for each in op.ancestors() if each.has(LOOP))
        for position, value in enumerate(op.operands):
            if root_of(value) not in params:
                continue
            written = position in op.spec.written
            if written:
                yield _Access(op, place, value, loops), True
            if op.has(READS) and not (written and isinstance(op, mem.Copy)):
                yield _Access(op, place, value, loops), False


def _each_its_own(reads: list[_Access], writes: list[_Access]) -> bool | None:
    """What `late_reads` says of these; None where no read comes after a write."""
    if len(reads) * len(writes) > _MOST_PAIRS:
        return False
    kinds = {_kind(read, write) for read in reads for write in writes}
    return None if kinds == {None} else False not in kinds


def _kind(read: _Access, write: _Access) -> bool | None:
    common = [loop for loop in read.loops if loop in write.loops]
    if read.place >= write.place:
        return False
    if not common:
        return None
    counters = [loop.counter if isinstance(loop, scf.For) else None for loop in common]
    found = _indices(read.op)
    if found is None or found != _indices(write.op) or read.op.parent is not write.op.parent:
        return False
    return all(counter in found for counter in counters)


def _indices(op: Operation) -> list[Value] | None:
    """The indices of an element that is accessed in a parameter itself."""
    if not isinstance(op, (py.Load, py.Store, mem.Load, mem.Store)) or op.ref.op is not None:
        return None
    return list(op.indices)
