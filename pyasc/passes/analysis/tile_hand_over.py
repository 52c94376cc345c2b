# SPDX-License-Identifier: Apache-2.0
"""Tiles and numbers that are made where they leave, and used where they arrive.

What only passes through a core stays in one buffer, which is filled and emptied in turn. A number of a line has a
buffer of its own, and is copied between it and the one that it travels in. Where all work on it is done in the round
that stores or loads it, the copy goes, and with it the buffer:

    tile.reduce %lanes -> %sum                      tile.reduce %lanes -> %out
    tile.broadcast %sum -> %out            =>
    tile.copy %out -> %result                       tile.copy %out -> %result
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import tile, tile_lanes
from pyasc.ir.dialects.func import Func
from pyasc.ir.dialects.mem import shape_of
from pyasc.passes.analysis.integer_lanes import NUMBER_ELEMENTS
from pyasc.passes.analysis.tile_emit import MAX_QUEUES

_NUMBER = (NUMBER_ELEMENTS, 1)
_COPIES = (tile.Copy, tile_lanes.CopyRows)
_MAKERS = (tile.Elementwise, tile.Cast, tile.Fill, tile.Broadcast, tile.Reduce)


def hand_over_directly(phase: Func) -> None:
    """Take out the copies of a phase between buffers that one is enough for."""
    blocks = [block for op in [phase, *phase.walk()] for region in op.regions for block in region.blocks]
    for block in blocks:
        for ops in list(_rounds(block)):
            _tidy(ops)


def _rounds(block: Block) -> Iterator[list[Operation]]:
    """What stands between loops."""
    ops: list[Operation] = []
    for op in block:
        if op.regions and not isinstance(op, tile_lanes.CopyRows):
            yield ops
            ops = []
        else:
            ops.append(op)
    yield ops


def _tidy(ops: list[Operation]) -> None:
    order = {op: number for number, op in enumerate(ops)}
    for op in ops:
        if op.parent is None or not isinstance(op, tile.Broadcast):
            continue
        if _passes(op, order):
            _drop(op, op.target, op.source)
        elif _copies_number(op) and _leaves(op, order):
            first = min(op.source.uses, key=lambda user: order[user])
            assert first.parent is not None and isinstance(op.target.owner, tile.Buffer)
            first.parent.insert_before(first, op.target.owner)
            _drop(op, op.source, op.target)
        elif _copies_number(op) and _arrives(op, order):
            _drop(op, op.target, op.source)


def _passes(op: tile.Broadcast, order: Mapping[Operation, int]) -> bool:
    """Whether the source comes from global memory, and the target leaves for it, with nothing else done to either."""
    source, target = op.source.owner, op.target.owner
    if not isinstance(source, tile.Buffer) or not isinstance(target, tile.Buffer):
        return False
    alike = op.source.type == op.target.type and list(source.extents) == list(target.extents)
    coming = [each for each in op.source.uses if isinstance(each, _COPIES) and each.target is op.source]
    leaving = [each for each in op.target.uses if isinstance(each, tile.Copy) and each.source is op.target]
    alone = len(op.source.uses) == len(op.target.uses) == 2 and len(coming) == len(leaving) == 1
    here = all(user in order for user in (*op.source.uses, *op.target.uses))
    return alike and alone and here and _queues(order) <= MAX_QUEUES


def _queues(order: Mapping[Operation, int]) -> int:
    """Buffers of queues that what comes in takes; where there are too many, they share one."""
    targets = {op.target.owner for op in order if isinstance(op, _COPIES) and op.parent is not None}
    return sum(each.depth for each in targets if isinstance(each, tile.Buffer))


def _copies_number(op: tile.Broadcast) -> bool:
    ends = (op.source, op.target)
    return all(isinstance(end.owner, tile.Buffer) and shape_of(end) == _NUMBER for end in ends)


def _leaves(op: tile.Broadcast, order: Mapping[Operation, int]) -> bool:
    """Whether the source is made in this round and used no more, and the target leaves for global memory."""
    if not _used_in(op.source, order) or not _used_in(op.target, order):
        return False
    first = min(op.source.uses, key=lambda user: order[user])
    last = max(op.source.uses, key=lambda user: order[user])
    made = isinstance(first, _MAKERS) and first.target is op.source and op.source.uses[first] == 1
    copies = [each for each in op.target.uses if isinstance(each, tile.Copy) and each.source is op.target]
    return made and last is op and len(op.target.uses) == 2 and len(copies) == 1


def _arrives(op: tile.Broadcast, order: Mapping[Operation, int]) -> bool:
    """Whether the source comes from global memory for the target alone, which only this round uses."""
    if not _used_in(op.source, order) or not _used_in(op.target, order):
        return False
    first = min(op.target.uses, key=lambda user: order[user])
    copies = [each for each in op.source.uses if isinstance(each, tile.Copy) and each.target is op.source]
    stays = not any(isinstance(each, tile.Copy) for each in op.target.uses)
    return first is op and stays and len(op.source.uses) == 2 and len(copies) == 1


def _used_in(value: Value, order: Mapping[Operation, int]) -> bool:
    return all(user in order and not user.results for user in value.uses)


def _drop(op: tile.Broadcast, old: Value, new: Value) -> None:
    op.erase()
    old.replace_uses(new)
    assert isinstance(old.owner, tile.Buffer)
    old.owner.erase()
