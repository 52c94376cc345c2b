# SPDX-License-Identifier: Apache-2.0
"""What the definition of an i64 value says about its bounds and its magnitude, one operation at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from pyasc.ir import sizes
from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, mem, scf, tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import TensorType, dtype_of
from pyasc.passes.analysis.affine import integer_of

ZERO = sizes.constant(0)

MAX_STEP = 1 << 20
"""A counter with a larger step may wrap before its loop has run for years."""

MAX_CONSTANT = 1 << 40
"""A larger constant does not count as tame."""


class Bound(Record):
    """`scale * name` is at least (at most) one of `any_of`; which one is open, so a proof has to hold for each."""

    scale: int
    any_of: tuple[SizeExpr, ...]


@dataclass(slots=True)
class Bounds:
    """Alternative lower and upper bounds of one name."""

    lower: list[Bound] = field(default_factory=lambda: list[Bound]())
    upper: list[Bound] = field(default_factory=lambda: list[Bound]())

    def at_least(self, *any_of: SizeExpr, scale: int = 1) -> None:
        """Add a lower bound."""
        self.lower.append(Bound(scale, any_of))

    def at_most(self, *any_of: SizeExpr, scale: int = 1) -> None:
        """Add an upper bound."""
        self.upper.append(Bound(scale, any_of))

    def among(self, *any_of: SizeExpr) -> None:
        """The name equals one of these."""
        self.at_least(*any_of)
        self.at_most(*any_of)


class Facts(Protocol):
    """What definitions ask of the analysis that collects them (`ranges.Ranges`)."""

    def exact(self, value: Value) -> SizeExpr:
        """The polynomial of a value where it cannot have wrapped, else a name of its own."""
        ...

    def difference(self, left: Value, right: Value) -> int | None:
        """`left - right` where that is a constant."""
        ...

    def nonnegative(self, expr: SizeExpr, at: Block) -> bool:
        """Whether the polynomial is at least 0 in a block."""
        ...

    def holds_by_induction(self, name: Value, claim: Bounds, goals: tuple[SizeExpr, ...], at: Block) -> bool:
        """Whether the goals are at least 0 in a block, given the claim about a value; nothing is remembered."""
        ...

    def small(self, value: Value) -> bool:
        """Whether a value is a short sum of tame ones."""
        ...

    def tame(self, value: Value) -> bool:
        """Whether the magnitude of a value is limited."""
        ...


def define(bounds: Bounds, value: Value, facts: Facts) -> None:
    """Add what the definition of a value says about its bounds."""
    match value.owner:
        case Block() as block:
            _define_argument(bounds, value, block, facts)
        case arith.Elementwise() as op:
            _define_elementwise(bounds, op, facts)
        case arith.Cast() as op:
            limits = _limits(dtype_of(op.value.type))
            if limits is not None:
                bounds.at_least(sizes.constant(limits[0]))
                bounds.at_most(sizes.constant(limits[1]))
        case mem.Dim() | tensor.Dim():
            bounds.at_least(ZERO)
        case scf.If() as op:
            bounds.among(*(facts.exact(r.block.terminator.operands[value.index]) for r in op.regions))
        case scf.For() as op:
            last = op.body.block.terminator.operands[value.index]
            bounds.among(facts.exact(op.inits[value.index]), facts.exact(last))
        case scf.While() as op:
            bounds.among(facts.exact(op.before.block.terminator.operands[1 + value.index]))
        case _:
            return


def _limits(dtype: DType) -> tuple[int, int] | None:
    if dtype.is_bool:
        return 0, 1
    if not dtype.is_integer or dtype.bits >= 64:
        return None
    return (
        (-(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1) if dtype.is_signed else (0, (1 << dtype.bits) - 1)
    )


def _define_elementwise(bounds: Bounds, op: arith.Elementwise, facts: Facts) -> None:
    match op.fn:
        case "minimum" | "pymin" | "maximum" | "pymax":
            each = [facts.exact(arg) for arg in op.operands]
            one_by_one = bounds.at_most if op.fn in ("minimum", "pymin") else bounds.at_least
            together = bounds.at_least if op.fn in ("minimum", "pymin") else bounds.at_most
            together(*each)
            for expr in each:
                one_by_one(expr)
        case "select":
            bounds.among(*(facts.exact(arg) for arg in op.operands[1:]))
        case "mod":
            _define_remainder(bounds, op, facts)
        case "floordiv" | "shr":
            _define_quotient(bounds, op, facts)
        case "and":
            masks = [mask for mask in map(integer_of, op.operands) if mask is not None and mask >= 0]
            if masks:
                bounds.at_least(ZERO)
                bounds.at_most(sizes.constant(min(masks)))
        case "abs" if facts.tame(op.operands[0]):
            bounds.at_least(ZERO)
        case _:
            return


def _define_remainder(bounds: Bounds, op: arith.Elementwise, facts: Facts) -> None:
    modulus = facts.exact(op.operands[1])
    if op.parent is not None and facts.nonnegative(modulus, op.parent):
        bounds.at_least(ZERO)
        # A remainder by 0 is 0.
        number = modulus.as_constant
        bounds.at_most(*([modulus - 1] if number is not None and number > 0 else [modulus - 1, ZERO]))


def _define_quotient(bounds: Bounds, op: arith.Elementwise, facts: Facts) -> None:
    divisor = integer_of(op.operands[1])
    if divisor is not None and op.fn == "shr":
        divisor = 1 << divisor if 0 <= divisor < 63 else None
    if divisor is None or divisor <= 0:
        return
    dividend = facts.exact(op.operands[0])
    bounds.at_most(dividend, scale=divisor)
    bounds.at_least(dividend - (divisor - 1), scale=divisor)
    if op.parent is not None and facts.nonnegative(dividend, op.parent):
        bounds.at_least(ZERO)


def _define_argument(bounds: Bounds, value: Value, block: Block, facts: Facts) -> None:
    match block.parent_op:
        case scf.For() as op if value.index == 0:
            _define_counter(bounds, op, facts)
        case scf.For() as op:
            i = value.index - 1
            _induct(bounds, value, op.inits[i], block.terminator.operands[i], block, facts)
        case scf.While() as op if block is op.before.block:
            after = op.after.block
            _induct(
                bounds, value, op.inits[value.index], after.terminator.operands[value.index], after, facts
            )
        case scf.While() as op:
            bounds.among(facts.exact(op.before.block.terminator.operands[1 + value.index]))
        case tensor.Generate() as op:
            bounds.at_least(ZERO)
            type_ = op.result.type
            assert isinstance(type_, TensorType)
            extent = type_.shape[value.index]
            given = op.sizes[type_.shape[: value.index].count(None)] if extent is None else None
            bounds.at_most((facts.exact(given) if given is not None else sizes.lift(extent or 0)) - 1)
        case _:
            return


def _define_counter(bounds: Bounds, loop: scf.For, facts: Facts) -> None:
    first, end = facts.exact(loop.lower), facts.exact(loop.upper)
    step = integer_of(loop.step)
    if step is None:
        assert loop.parent is not None
        if facts.nonnegative(facts.exact(loop.step), loop.parent):
            bounds.at_least(first)
            bounds.at_most(end - 1)
    elif step > 0:
        bounds.at_least(first)
        bounds.at_most(last_counted(first, end, step))
    else:
        bounds.at_most(first)
        bounds.at_least(last_counted(first, end, step))


def last_counted(first: SizeExpr, end: SizeExpr, step: int) -> SizeExpr:
    """The last counter of a loop that runs, or a bound of it where the step does not divide the distance."""
    distance = (end - first) * (1 if step > 0 else -1)
    number = distance.as_constant
    if number is not None and number > 0:
        return first + (number - 1) // abs(step) * step
    if all(coefficient % step == 0 for _, coefficient in distance.terms):
        return end - step
    return end - (1 if step > 0 else -1)


def _induct(bounds: Bounds, value: Value, init: Value, passed: Value, at: Block, facts: Facts) -> None:
    """A carried value that never falls is at least its start; one that never rises is at most that."""
    start, following = facts.exact(init), facts.exact(passed)
    rising, falling = Bounds(), Bounds()
    rising.at_least(start)
    falling.at_most(start)
    if facts.holds_by_induction(value, rising, (following - start,), at):
        bounds.at_least(start)
    if facts.holds_by_induction(value, falling, (start - following,), at):
        bounds.at_most(start)


def is_tame(value: Value, facts: Facts) -> bool:
    """Whether the magnitude of a value that is no sum is limited: see `Ranges.tame`."""
    match value.owner:
        case Block() as block:
            return _argument_is_tame(value, block, facts)
        case arith.Cast() as op:
            return _limits(dtype_of(op.value.type)) is not None
        case mem.Dim() | tensor.Dim():
            return True
        case arith.Elementwise(fn=("minimum" | "pymin" | "maximum" | "pymax")) as op:
            return all(facts.small(arg) for arg in op.operands)
        case arith.Elementwise(fn="select") as op:
            return all(facts.small(arg) for arg in op.operands[1:])
        case arith.Elementwise(fn=("mod" | "floordiv" | "shr" | "abs")) as op:
            return all(facts.small(arg) for arg in op.operands)
        case arith.Elementwise(fn="and") as op:
            return any(0 <= mask <= MAX_CONSTANT for mask in map(integer_of, op.operands) if mask is not None)
        case scf.If() as op:
            return all(facts.small(r.block.terminator.operands[value.index]) for r in op.regions)
        case scf.For() as op:
            return facts.small(op.inits[value.index]) and facts.small(
                op.body.block.terminator.operands[value.index]
            )
        case scf.While() as op:
            return facts.small(op.before.block.terminator.operands[1 + value.index])
        case _:
            return False


def _argument_is_tame(value: Value, block: Block, facts: Facts) -> bool:
    match block.parent_op:
        case scf.For() as op if value.index == 0:
            step = integer_of(op.step)
            return step is not None and abs(step) <= MAX_STEP and facts.small(op.lower)
        case scf.For() as op:
            passed = block.terminator.operands[value.index - 1]
            return facts.small(op.inits[value.index - 1]) and _counts(passed, value, facts)
        case scf.While() as op if block is op.before.block:
            passed = op.after.block.terminator.operands[value.index]
            return facts.small(op.inits[value.index]) and _counts(passed, value, facts)
        case scf.While() as op:
            return facts.small(op.before.block.terminator.operands[1 + value.index])
        case tensor.Generate():
            return True
        case _:
            return False


def _counts(passed: Value, carried: Value, facts: Facts) -> bool:
    """Whether what a loop passes on is the carried value plus a small constant, or tame without it."""
    for each in _choices(passed, 4):
        difference = facts.difference(each, carried)
        if (difference is None or abs(difference) > MAX_STEP) and not facts.small(each):
            return False
    return True


def _choices(value: Value, depth: int) -> Iterator[Value]:
    """The values that a branch or `select` picks one of."""
    op = value.owner
    if depth and isinstance(op, scf.If):
        for region in op.regions:
            yield from _choices(region.block.terminator.operands[value.index], depth - 1)
    elif depth and isinstance(op, arith.Elementwise) and op.fn == "select":
        for arg in op.operands[1:]:
            yield from _choices(arg, depth - 1)
    else:
        yield value
