# SPDX-License-Identifier: Apache-2.0
"""A while loop run by all lanes at once: each lane stops by itself, and the loop when none is left.

A carried value that is the same in every lane still running (a count of iterations) stays a scalar. What the loop
leaves behind is frozen in a lane when it stops; of such a scalar a vector of last values is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, scf
from pyasc.ir.dtypes import DType
from pyasc.ir.traits import CONSTANT
from pyasc.ir.types import dtype_of


@dataclass
class WhilePlan:
    """What becomes of the carried values of one loop, by number.

    `scalar` ones stay scalars, `latched` ones of these leave a vector of last values of the given dtype behind,
    `frozen` ones are kept in lanes that have stopped. `masks` are the parts of the condition that differ between
    lanes, `tests` those that do not.
    """

    op: scf.While
    scalar: set[int] = field(default_factory=lambda: set[int]())
    latched: dict[int, DType] = field(default_factory=lambda: dict[int, DType]())
    frozen: set[int] = field(default_factory=lambda: set[int]())
    masks: list[Value] = field(default_factory=lambda: list[Value]())
    tests: list[Value] = field(default_factory=lambda: list[Value]())

    def vectors(self) -> list[int]:
        """The carried values that become vectors."""
        return [k for k in range(len(self.op.inits)) if k not in self.scalar]


def plan_while(
    op: scf.While, is_uniform: Callable[[Value], bool], mark: Callable[[Value], None]
) -> WhilePlan | str:
    """The plan of one loop, or why there is none. Values that are the same in all running lanes are marked."""
    for block in (op.before.block, op.after.block):
        if not all(_is_simple(each) for each in block if each is not block.last):
            return "a loop in it does more than arithmetic"
    plan = WhilePlan(op)
    plan.scalar = _uniform_carried(op, is_uniform)
    _mark(op, plan.scalar, is_uniform, mark)
    _split(op.before.block.terminator.operands[0], is_uniform, plan)
    if not plan.masks:
        return "its lanes would all stop at once"
    return _results(plan, is_uniform) or plan


def _is_simple(op: object) -> bool:
    return isinstance(op, (arith.Elementwise, arith.Cast, arith.Constant))


def _uniform_carried(op: scf.While, is_uniform: Callable[[Value], bool]) -> set[int]:
    """Carried values that start the same and are computed from the same in every lane."""
    kept = {k for k, init in enumerate(op.inits) if is_uniform(init)}
    while True:
        known: set[Value] = set()

        def uniform(value: Value, known: set[Value] = known) -> bool:
            return value in known or is_uniform(value)

        _mark(op, kept, uniform, known.add)
        following = op.after.block.terminator.operands
        smaller = {k for k in kept if uniform(following[k])}
        if smaller == kept:
            return kept
        kept = smaller


def _mark(
    op: scf.While, scalar: set[int], is_uniform: Callable[[Value], bool], mark: Callable[[Value], None]
) -> None:
    """Mark the values inside that are uniform when the carried ones of these numbers are."""
    for k in scalar:
        mark(op.before.block.args[k])
    _mark_block(op.before.block, is_uniform, mark)
    forwarded = op.before.block.terminator.operands[1:]
    for value, arg in zip(forwarded, op.after.block.args, strict=True):
        if is_uniform(value):
            mark(arg)
    _mark_block(op.after.block, is_uniform, mark)


def _mark_block(block: Block, is_uniform: Callable[[Value], bool], mark: Callable[[Value], None]) -> None:
    for each in block:
        if each is not block.last and (CONSTANT in each.spec.traits or all(map(is_uniform, each.operands))):
            mark(each.results[0])


def _split(condition: Value, is_uniform: Callable[[Value], bool], plan: WhilePlan) -> None:
    """Take a conjunction apart."""
    op = condition.op
    if is_uniform(condition):
        plan.tests.append(condition)
    elif isinstance(op, arith.Elementwise) and op.fn == "and" and dtype_of(condition.type) is dtypes.i1:
        for arg in op.args:
            _split(arg, is_uniform, plan)
    else:
        plan.masks.append(condition)


def _results(plan: WhilePlan, is_uniform: Callable[[Value], bool]) -> str | None:
    args = plan.op.before.block.args
    forwarded = plan.op.before.block.terminator.operands[1:]
    for value, result in zip(forwarded, plan.op.values, strict=True):
        if not result.uses:
            continue
        if value not in args:
            if is_uniform(value):
                return "a result of a loop in it is computed from its count"
            plan.frozen = set(plan.vectors())
            continue
        k = args.index(value)
        if k in plan.scalar:
            plan.latched[k] = _latched_dtype(result, plan.latched.get(k))
        else:
            plan.frozen.add(k)
    return None


def _latched_dtype(result: Value, other: DType | None) -> DType:
    """The dtype that a last value is needed in: that of the casts, where it is only used in one."""
    found = {
        dtype_of(use.result.type) if isinstance(use, arith.Cast) else dtype_of(result.type)
        for use in result.uses
    }
    if len(found) == 1 and other is None:
        return found.pop()
    return dtype_of(result.type)
