# SPDX-License-Identifier: Apache-2.0
"""Rewrites of structured control flow: branches and loops whose course is known."""

from __future__ import annotations

from pyasc.ir.core import Block, Operation, Region, Value
from pyasc.ir.dialects import arith, scf
from pyasc.ir.types import ScalarType, VectorType
from pyasc.passes.analysis.affine import constant_of, integer_of
from pyasc.passes.analysis.structure import is_inside
from pyasc.passes.rewriter import Rewriter

MAX_USES = 32
"""A condition with more uses is not followed into the branch, so that the work stays linear."""


def take_known_branch(op: Operation, rewriter: Rewriter) -> bool:
    """A branch on a constant is the block it takes."""
    assert isinstance(op, scf.If)
    known = constant_of(op.condition)
    if known is None:
        return False
    taken = op.then if known else op.otherwise
    rewriter.replace(op, rewriter.inline_block(taken.block, op, ()))
    return True


def swap_negated_branch(op: Operation, rewriter: Rewriter) -> bool:
    """`if not c` takes its blocks the other way round."""
    assert isinstance(op, scf.If)
    negation = op.condition.op
    if not isinstance(negation, arith.Elementwise) or negation.fn != "not":
        return False
    op.operands = [negation.operands[0]]
    op.regions.reverse()
    rewriter.push(negation)
    rewriter.changed(op)
    return True


def drop_same_results(op: Operation, rewriter: Rewriter) -> bool:
    """A result that is the same outer value in both branches is that value."""
    assert isinstance(op, scf.If)
    first, second = (region.block.terminator.operands for region in op.regions)
    changed = False
    for result, a, b in zip(op.results, first, second, strict=True):
        if a is b and result.uses:
            rewriter.push_users(result)
            result.replace_uses(a)
            changed = True
    if changed:
        rewriter.push(op)
    return changed


def choose_without_branch(op: Operation, rewriter: Rewriter) -> bool:
    """A branch that computes nothing is a choice between values."""
    assert isinstance(op, scf.If)
    if not op.results or any(region.block.first is not region.block.last for region in op.regions):
        return False
    if not all(isinstance(result.type, (ScalarType, VectorType)) for result in op.results):
        return False
    first, second = (region.block.terminator.operands for region in op.regions)
    chosen = [
        rewriter.value_before(op, arith.Elementwise(fn="select", args=[op.condition, a, b]))
        for a, b in zip(first, second, strict=True)
    ]
    rewriter.replace(op, chosen)
    return True


def assume_condition_inside(op: Operation, rewriter: Rewriter) -> bool:
    """Inside a branch its condition is known."""
    assert isinstance(op, scf.If)
    condition = op.condition
    if not 2 <= len(condition.uses) <= MAX_USES:
        return False
    changed = False
    for user in list(condition.uses):
        region = _region_around(user, op) if user is not op else None
        if region is not None:
            known = rewriter.constant(region is op.then, condition.type)
            user.operands = [known if value is condition else value for value in user.operands]
            rewriter.push(user)
            changed = True
    return changed


def _region_around(op: Operation, ancestor: Operation) -> Region | None:
    """The region of `ancestor` in which `op` stands."""
    block = op.parent
    while block is not None and block.parent is not None:
        if block.parent.parent is ancestor:
            return block.parent
        parent = block.parent.parent
        block = parent.parent if parent is not None else None
    return None


def run_known_iterations(op: Operation, rewriter: Rewriter) -> bool:
    """A loop without iterations is its start values; one with a single iteration is its body."""
    assert isinstance(op, scf.For)
    trips = constant_trips(op)
    if trips == 0:
        rewriter.replace(op, op.inits)
    elif trips == 1:
        rewriter.replace(op, rewriter.inline_block(op.body.block, op, [op.lower, *op.inits]))
    else:
        return False
    return True


def constant_trips(loop: scf.For) -> int | None:
    """The number of iterations when it is known."""
    step = integer_of(loop.step)
    if loop.lower is loop.upper:
        return 0
    lower, upper = integer_of(loop.lower), integer_of(loop.upper)
    if step is None or lower is None or upper is None:
        return None
    return len(range(lower, upper, step))


def drop_constant_carried(op: Operation, rewriter: Rewriter) -> bool:
    """A carried value that a loop passes on unchanged is its start value."""
    assert isinstance(op, scf.For)
    changed = False
    passed = op.body.block.terminator.operands
    for init, arg, result, value in zip(op.inits, op.carried, op.results, passed, strict=True):
        if (value is arg or value is init) and (arg.uses.keys() - {op.body.block.last} or result.uses):
            for old in (arg, result):
                rewriter.push_users(old)
                old.replace_uses(init)
            changed = True
    return changed


def never_loop(op: Operation, rewriter: Rewriter) -> bool:
    """A while loop whose condition is false at once runs its `before` block alone."""
    assert isinstance(op, scf.While)
    before = op.before.block
    if constant_of(before.terminator.operands[0]) not in (False, 0):
        return False
    _, *forwarded = rewriter.inline_block(before, op, op.inits)
    rewriter.replace(op, forwarded)
    return True


def drop_constant_while_carried(op: Operation, rewriter: Rewriter) -> bool:
    """A value that a while loop passes round unchanged is its start value."""
    assert isinstance(op, scf.While)
    before, after = op.before.block, op.after.block
    changed = False
    forwarded = before.terminator.operands[1:]
    for init, arg, value in zip(op.inits, before.args, after.terminator.operands, strict=True):
        source = _forwarded(value, after, forwarded)
        if (source is arg or source is init) and arg.uses:
            rewriter.push_users(arg)
            arg.replace_uses(init)
            changed = True
    for value, arg, result in zip(list(before.terminator.operands[1:]), after.args, op.results, strict=True):
        if (arg.uses or result.uses) and value.block is not before and not is_inside(value, op):
            for old in (arg, result):
                rewriter.push_users(old)
                old.replace_uses(value)
            changed = True
    if changed:
        rewriter.push(op)
    return changed


def _forwarded(value: Value, after: Block, forwarded: list[Value]) -> Value:
    return forwarded[value.index] if value.owner is after else value
