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

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import ALLOCATES, TERMINATOR, VIEW
from pyasc.passes.analysis.effects import has_own_effect, read_refs, root_of, written_refs
from pyasc.passes.base import Context, FunctionPass


@dataclass(frozen=True)
class Dce(FunctionPass):
    """Dead code elimination by marking what is needed and sweeping the rest."""

    name = "dce"

    def run(self, func: Func, context: Context) -> bool:
        """Drop dead code of one function."""
        return eliminate_dead_code(func, context)


def eliminate_dead_code(func: Func, context: Context) -> bool:
    """Drop everything in the function that nothing needs."""
    liveness = _Liveness(func)
    dropped = _sweep(func, liveness)
    context.count("operations", dropped)
    slots = sum(_drop_slots(op, liveness) for op in func.walk() if op is not func)
    context.count("carried values", slots)
    return dropped + slots > 0


class _Liveness:
    """Which operations and values are needed, found from effects backwards."""

    def __init__(self, func: Func) -> None:
        self.operations: set[Operation] = {func}
        self.values: set[Value] = set()
        self._worklist: list[Value] = []
        self._useless = _write_only_buffers(func)
        self.need_op(func.body.block.terminator)
        for op in func.walk():
            if op is not func and has_own_effect(op) and not self._writes_nothing_needed(op):
                self.need_op(op)
        while self._worklist:
            self._propagate(self._worklist.pop())

    def _writes_nothing_needed(self, op: Operation) -> bool:
        written = written_refs(op)
        return bool(written) and all(root_of(ref) in self._useless for ref in written)

    def need(self, value: Value) -> None:
        """Mark a value."""
        if value not in self.values:
            self.values.add(value)
            self._worklist.append(value)

    def need_op(self, op: Operation) -> None:
        """Mark an operation, what it needs to run at all, and everything around it."""
        if op in self.operations:
            return
        self.operations.add(op)
        parent = op.parent_op
        if parent is not None:
            self.need_op(parent)
        for value in _control_operands(op):
            self.need(value)
        for block in (block for region in op.regions for block in region.blocks):
            if block.last is not None and TERMINATOR in block.last.spec.traits:
                self.need_op(block.last)

    def _propagate(self, value: Value) -> None:
        if isinstance(value.owner, Operation):
            self.need_op(value.owner)
            sources = _result_sources(value.owner, value.index)
        else:
            sources = _argument_sources(value.owner, value.index)
        for source in sources:
            self.need(source)


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


def _result_sources(op: Operation, index: int) -> Sequence[Value]:
    """The values that a result is one of."""
    match op:
        case scf.For():
            return (op.operands[3 + index], op.body.block.terminator.operands[index])
        case scf.While():
            return (op.before.block.terminator.operands[1 + index],)
        case scf.If():
            return tuple(region.block.terminator.operands[index] for region in op.regions)
        case _:
            return ()


def _argument_sources(block: Block, index: int) -> Sequence[Value]:
    """The values that a block argument is one of."""
    match block.parent_op:
        case scf.For() as op if index > 0:
            return (op.operands[2 + index], block.terminator.operands[index - 1])
        case scf.While() as op if block is op.before.block:
            return (op.operands[index], op.after.block.terminator.operands[index])
        case scf.While() as op:
            return (op.before.block.terminator.operands[1 + index],)
        case _:
            return ()


def _write_only_buffers(func: Func) -> set[Value]:
    """Buffers allocated here that are written and viewed, and never read or passed on."""
    return {
        op.results[0] for op in func.walk() if ALLOCATES in op.spec.traits and _only_written(op.results[0])
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


def _sweep(func: Func, liveness: _Liveness) -> int:
    dead = [op for op in func.walk() if op not in liveness.operations]
    for op in dead:
        op.drop()
    for op in dead:
        op.unlink()
    return len(dead)


def _drop_slots(op: Operation, liveness: _Liveness) -> int:
    """Take carried values and results that are not needed out of a loop or branch."""
    match op:
        case scf.For() | scf.If():
            keep = [i for i in range(len(op.results)) if _slot_needed(op, i, liveness)]
        case scf.While():
            return _drop_while_slots(op, liveness)
        case _:
            return 0
    dropped = len(op.results) - len(keep)
    if dropped:
        for region in op.regions:
            terminator = region.block.terminator
            terminator.set_operands("values", [terminator.operands[i] for i in keep])
        if isinstance(op, scf.For):
            op.set_operands("inits", [op.operands[3 + i] for i in keep])
            _keep_args(op.body.block, [0, *(i + 1 for i in keep)])
        _keep_results(op, keep)
    return dropped


def _slot_needed(op: scf.For | scf.If, index: int, liveness: _Liveness) -> bool:
    if op.results[index] in liveness.values:
        return True
    return isinstance(op, scf.For) and op.carried[index] in liveness.values


def _drop_while_slots(op: scf.While, liveness: _Liveness) -> int:
    before, after = op.before.block, op.after.block
    carried = [i for i, arg in enumerate(before.args) if arg in liveness.values]
    passed = [
        i
        for i, (arg, value) in enumerate(zip(after.args, op.results, strict=True))
        if arg in liveness.values or value in liveness.values
    ]
    dropped = len(before.args) - len(carried) + len(after.args) - len(passed)
    if dropped:
        forwarded = before.terminator.operands[1:]
        before.terminator.set_operands("forwarded", [forwarded[i] for i in passed])
        after.terminator.set_operands("values", [after.terminator.operands[i] for i in carried])
        op.set_operands("inits", [op.operands[i] for i in carried])
        _keep_args(before, carried)
        _keep_args(after, passed)
        _keep_results(op, passed)
    return dropped


def _keep_args(block: Block, keep: Sequence[int]) -> None:
    kept = set(keep)
    for i in reversed(range(len(block.args))):
        if i not in kept:
            block.remove_arg(i)


def _keep_results(op: Operation, keep: Sequence[int]) -> None:
    op.results = tuple(op.results[i] for i in keep)
    for i, value in enumerate(op.results):
        value.index = i
