# SPDX-License-Identifier: Apache-2.0
"""Drops what nothing needs: unused silent operations, carried values and results, and write-only buffers.

Before:

    %b = mem.alloc : ref<4 x f32, local>
    %r:2 = scf.for %0, %n, %1, [%x, %x] {
    ^(%i: i64, %p: f32, %q: f32):
      mem.store %p, %b, [%0]
      %s = arith.add %p, %x
      scf.yield %s, %q
    } : f32, f32
    %unused = arith.mul %x, %x
    mem.store %r#0, %y, [%0]

After:

    %r = scf.for %0, %n, %1, [%x] {
    ^(%i: i64, %p: f32):
      %s = arith.add %p, %x
      scf.yield %s
    } : f32
    mem.store %r, %y, [%0]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import ALLOCATES, CHECKS, PURE, TERMINATOR, VIEW
from pyasc.passes.analysis.effects import has_own_effect, read_refs, root_of, written_refs
from pyasc.passes.base import Context, FunctionPass


class Dce(FunctionPass):
    """Dead code elimination by marking what is needed and sweeping the rest."""

    name = "dce"
    cleans = True

    def run(self, func: Func, context: Context) -> bool:
        """Drop dead code of one function."""
        return eliminate_dead_code(func, context)


def eliminate_dead_code(func: Func, context: Context) -> bool:
    """Drop everything in the function that nothing needs."""
    operations = func.nested()
    if not _may_be_dead(operations):
        return False
    liveness = _Liveness(func, operations)
    dropped = _sweep(operations, liveness)
    context.count("operations", dropped)
    slots = _drop_slots(operations, liveness)
    context.count("carried values", slots)
    return dropped + slots > 0


def _may_be_dead(operations: Sequence[Operation]) -> bool:
    """Whether there is a trace of dead code: all values that nothing needs lead to one that nothing uses.

    Operations come parents first, starting with the function.
    """
    acting: set[Operation | None] = set()
    for op in reversed(operations[1:]):
        traits = op.spec.traits
        if TERMINATOR in traits:
            continue
        if ALLOCATES in traits and _only_written(op.results[0]):
            return True
        acts = op in acting or (PURE not in traits and has_own_effect(op))
        if acts and op.parent is not None:
            acting.add(op.parent.parent_op)
        unused = 0
        for result in op.results:
            unused += not result.uses
        if unused if op.regions else not acts and unused == len(op.results):
            return True
        if op.regions and (not (acts or op.results) or _has_unused_argument(op)):
            return True
    return False


def _has_unused_argument(op: Operation) -> bool:
    return isinstance(op, scf.While) and not all(arg.uses for arg in op.before.block.args)


class _Liveness:
    """Which operations and values are needed, found from effects backwards."""

    def __init__(self, func: Func, operations: Sequence[Operation]) -> None:
        self.operations: set[Operation] = {func}
        self.values: set[Value] = set()
        self._blocks: set[Block] = set()
        self._slots: dict[scf.For, Sequence[tuple[Value, Value]]] = {}
        self._worklist: list[Value] = []
        self._useless = _write_only_buffers(operations)
        self.need_op(func.body.block.terminator)
        for op in operations:
            if PURE in op.spec.traits or op is func or not has_own_effect(op):
                continue
            # Of a store whose index is still to be checked, the check matters though nobody reads the buffer.
            checks = CHECKS in op.spec.traits
            if checks or not (self._useless and self._writes_nothing_needed(op)):
                self.need_op(op)
        while self._worklist:
            self._propagate(self._worklist.pop())

    def _writes_nothing_needed(self, op: Operation) -> bool:
        written = written_refs(op)
        return bool(written) and all(root_of(ref) in self._useless for ref in written)

    def _need_all(self, values: Sequence[Value]) -> None:
        for value in values:
            if value not in self.values:
                self.values.add(value)
                self._worklist.append(value)

    def need_op(self, op: Operation) -> None:
        """Mark an operation, what it needs to run at all, and everything around it."""
        if op in self.operations:
            return
        self.operations.add(op)
        block = op.parent
        if block is not None and block not in self._blocks:
            self._blocks.add(block)
            if block.parent_op is not None:
                self.need_op(block.parent_op)
        self._need_all(_control_operands(op) if op.regions or TERMINATOR in op.spec.traits else op.operands)
        for region in op.regions:
            for block in region.blocks:
                if block.last is not None and TERMINATOR in block.last.spec.traits:
                    self.need_op(block.last)

    def _propagate(self, value: Value) -> None:
        op = value.op
        if op is None:
            self._need_all(self._argument_sources(value))
            return
        if op not in self.operations:
            self.need_op(op)
        if op.regions:
            index = value.index
            self._need_all(self._slots_of(op)[index] if isinstance(op, scf.For) else _sources(op, index))

    def _argument_sources(self, argument: Value) -> Sequence[Value]:
        """The values that a block argument is one of."""
        block, index = argument.block, argument.index
        assert block is not None
        match block.parent_op:
            case scf.For() as op:
                return self._slots_of(op)[index - 1] if index else ()
            case scf.While() as op if block is op.before.block:
                return (op.operands[index], op.after.block.terminator.operands[index])
            case scf.While() as op:
                return (op.before.block.terminator.operands[1 + index],)
            case _:
                return ()

    def _slots_of(self, loop: scf.For) -> Sequence[tuple[Value, Value]]:
        """For each carried value, what it starts as and what an iteration makes of it."""
        found = self._slots.get(loop)
        if found is None:
            found = self._slots[loop] = list(
                zip(loop.inits, loop.body.block.terminator.operands, strict=True)
            )
        return found


def _control_operands(op: Operation) -> Sequence[Value]:
    """What an operation uses however few of its results are needed."""
    match op:
        case scf.For():
            return op.operands[:3]
        case scf.While() | scf.Yield() if _has_slots(op):
            return ()
        case scf.If() | scf.Condition():
            return op.operands[:1]
        case _:
            return op.operands


def _has_slots(op: Operation) -> bool:
    """Whether values that the operation passes on are needed one by one."""
    return isinstance(op if not isinstance(op, scf.Yield) else op.parent_op, (scf.For, scf.While, scf.If))


def _sources(op: Operation, index: int) -> Sequence[Value]:
    """The values that a result of anything but a counted loop is one of."""
    match op:
        case scf.While():
            return (op.before.block.terminator.operands[1 + index],)
        case scf.If():
            return tuple(region.block.terminator.operands[index] for region in op.regions)
        case _:
            return ()


def _write_only_buffers(operations: Iterable[Operation]) -> set[Value]:
    """Buffers allocated here that are written and viewed, and never read or passed on."""
    return {
        op.results[0] for op in operations if ALLOCATES in op.spec.traits and _only_written(op.results[0])
    }


def _only_written(ref: Value) -> bool:
    for user in ref.uses:
        traits = user.spec.traits
        if VIEW in traits and user.operands[0] is ref:
            if not _only_written(user.results[0]):
                return False
        elif ref in read_refs(user) or user.operands.count(ref) != written_refs(user).count(ref):
            return False
    return True


def _sweep(operations: Iterable[Operation], liveness: _Liveness) -> int:
    dead = [op for op in operations if op not in liveness.operations]
    for op in dead:
        op.drop()
    for op in dead:
        op.unlink()
    return len(dead)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The slots that stay: of inits and of what is passed round, and of results."""

    carried: tuple[int, ...]
    results: tuple[int, ...]


def _drop_slots(operations: Iterable[Operation], liveness: _Liveness) -> int:
    """Take carried values and results that are not needed out of loops and branches."""
    found: dict[Operation, _Kept] = {}
    for op in operations:
        if op.regions and op in liveness.operations:
            kept = _kept_slots(op, liveness)
            if kept is not None:
                found[op] = kept
    # All uses go first: a slot that is dropped may be the start value of another one that is.
    for op, kept in found.items():
        _drop_operands(op, kept)
    return sum(_drop_definitions(op, kept) for op, kept in found.items())


def _kept_slots(op: Operation, liveness: _Liveness) -> _Kept | None:
    """What stays of an operation with slots, or None where all does."""
    needed = liveness.values
    if not isinstance(op, scf.While) and needed.issuperset(op.results):
        return None
    match op:
        case scf.For():
            kept = _numbers(a in needed or r in needed for a, r in zip(op.carried, op.results, strict=True))
            slots = _Kept(kept, kept)
        case scf.If():
            kept = _numbers(result in needed for result in op.results)
            slots = _Kept(kept, kept)
        case scf.While():
            passed = zip(op.after.block.args, op.results, strict=True)
            slots = _Kept(
                _numbers(arg in needed for arg in op.before.block.args),
                _numbers(arg in needed or result in needed for arg, result in passed),
            )
        case _:
            return None
    all_stay = len(slots.results) == len(op.results) and len(slots.carried) == _carried_count(op)
    return None if all_stay else slots


def _numbers(needed: Iterable[bool]) -> tuple[int, ...]:
    return tuple(i for i, is_needed in enumerate(needed) if is_needed)


def _carried_count(op: scf.For | scf.If | scf.While) -> int:
    return len(op.before.block.args) if isinstance(op, scf.While) else len(op.results)


def _drop_operands(op: Operation, kept: _Kept) -> None:
    match op:
        case scf.For():
            op.set_operands("inits", [op.inits[i] for i in kept.carried])
            _pick(op.body.block.terminator, "values", 0, kept.carried)
        case scf.If():
            for region in op.regions:
                _pick(region.block.terminator, "values", 0, kept.results)
        case scf.While():
            op.set_operands("inits", [op.inits[i] for i in kept.carried])
            _pick(op.before.block.terminator, "forwarded", 1, kept.results)
            _pick(op.after.block.terminator, "values", 0, kept.carried)
        case _:
            return


def _pick(terminator: Operation, field: str, first: int, keep: Sequence[int]) -> None:
    terminator.set_operands(field, [terminator.operands[first + i] for i in keep])


def _drop_definitions(op: Operation, kept: _Kept) -> int:
    """Remove block arguments and results; the number of slots that went."""
    before = len(op.results)
    dropped = 0
    match op:
        case scf.For():
            _keep_args(op.body.block, [0, *(i + 1 for i in kept.carried)])
        case scf.While():
            dropped = len(op.before.block.args) - len(kept.carried)
            _keep_args(op.before.block, kept.carried)
            _keep_args(op.after.block, kept.results)
        case _:
            pass
    op.results = tuple(op.results[i] for i in kept.results)
    for i, value in enumerate(op.results):
        value.index = i
    return dropped + before - len(op.results)


def _keep_args(block: Block, keep: Sequence[int]) -> None:
    kept = set(keep)
    for i in reversed(range(len(block.args))):
        if i not in kept:
            block.remove_arg(i)
