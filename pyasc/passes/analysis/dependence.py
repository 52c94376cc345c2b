# SPDX-License-Identifier: Apache-2.0
"""Whether two accesses may touch one element, in one iteration or in different ones.

Two instances of a loop body are compared by giving every name defined inside the loop a twin for the second one.
The difference of two indices is a polynomial then; where it is proved positive or negative for one axis, or is no
multiple of a common divisor, the accesses do not meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from pyasc.ir import sizes
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import mem, scf, vec
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import VectorType
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.bounds import Bound, Bounds
from pyasc.passes.analysis.effects import (
    has_own_effect,
    may_alias,
    read_refs,
    refs,
    written_refs,
)
from pyasc.passes.analysis.races import is_private
from pyasc.passes.analysis.ranges import Proof, Ranges, split_linear
from pyasc.passes.analysis.structure import is_inside

ElementAccess = mem.Load | mem.Store | mem.Atomic | vec.Load | vec.Store

MAX_ACCESSES = 96
"""Different accesses in one loop that are compared pair by pair."""

Meeting = Literal["same", "distinct", "unknown"]


class Access(Record):
    """One operation's access to memory. `indices` is None where the operation touches more than one element."""

    op: Operation
    ref: Value
    writes: bool
    indices: tuple[Value, ...] | None
    atomic: bool = False


class Conflict(Record):
    """Two accesses of a loop that may touch one element in different iterations."""

    first: Access
    second: Access
    reason: str


def accesses_of(op: Operation) -> Iterator[Access]:
    """The accesses of an operation itself."""
    if isinstance(op, (mem.Load, mem.Store, mem.Atomic)):
        atomic = isinstance(op, mem.Atomic)
        yield Access(op, op.ref, not isinstance(op, mem.Load), tuple(op.indices), atomic)
        return
    written = written_refs(op)
    for ref in written:
        yield Access(op, ref, True, None)
    for ref in read_refs(op):
        yield Access(op, ref, False, None)
    if has_own_effect(op) and not written:
        for ref in refs(op.operands):
            yield Access(op, ref, True, None)


def accesses_inside(op: Operation) -> list[Access]:
    """The accesses of everything that the operation nests."""
    return [access for inner in op.nested() if inner is not op for access in accesses_of(inner)]


def compare(a: Access, b: Access, ranges: Ranges) -> Meeting:
    """Whether two accesses with the same values of all names touch the same element, different ones, or either."""
    if not may_alias(a.ref, b.ref):
        return "distinct"
    if a.ref is not b.ref or a.indices is None or b.indices is None:
        return "unknown"
    same = True
    for left, right in zip(a.indices, b.indices, strict=True):
        if left is right:
            continue
        difference = (ranges.polynomials.of(left) - ranges.polynomials.of(right)).as_constant
        if difference:
            return "distinct"
        same &= difference == 0
    return "same" if same and _one_element(a) and _one_element(b) else "unknown"


def _one_element(access: Access) -> bool:
    values = (*access.op.operands, *access.op.results)
    return not any(isinstance(value.type, VectorType) for value in values)


def find_conflict(loop: scf.For, ranges: Ranges) -> Conflict | None:
    """Two accesses that keep the iterations of a loop from being independent, or None when they are.

    Buffers allocated inside the loop are fresh in each iteration, and atomic updates do not conflict with each
    other. A conflict may be a mere lack of proof; then its reason says so.
    """
    accesses = _distinct(accesses_inside(loop), loop, ranges)
    if len(accesses) > MAX_ACCESSES:
        return Conflict(accesses[0], accesses[-1], f"more than {MAX_ACCESSES} different accesses in one loop")
    twins = _Twins(loop, ranges)
    for i, first in enumerate(accesses):
        for second in accesses[i:]:
            if not (first.writes or second.writes) or (first.atomic and second.atomic):
                continue
            if may_alias(first.ref, second.ref):
                reason = twins.meet(first, second)
                if reason is not None:
                    return Conflict(first, second, reason)
    return None


def _distinct(accesses: list[Access], loop: scf.For, ranges: Ranges) -> list[Access]:
    """One of each kind of access, without those to buffers that each iteration has of its own."""
    found: dict[object, Access] = {}
    for access in accesses:
        if not is_private(access.ref, loop):
            indices = access.indices and tuple(ranges.polynomials.of(index) for index in access.indices)
            found.setdefault((access.ref, access.writes, access.atomic, type(access.op), indices), access)
    return list(found.values())


class _Twins:
    """Two iterations of one loop: names of the first as they are, those of the second with a prime.

    The distance between the counters is a name of its own, at least one step.
    """

    DISTANCE = "%distance"

    def __init__(self, loop: scf.For, ranges: Ranges) -> None:
        self.loop = loop
        self.ranges = ranges
        self.step = abs(integer_of(loop.step) or 0)
        self.counter = str(ranges.polynomials.of(loop.counter))
        self._inside: dict[str, bool] = {}

    def meet(self, a: Access, b: Access) -> str | None:
        """Why the two may touch one element in different iterations; None when they cannot."""
        if a.ref is not b.ref:
            return "the two arrays may share memory"
        if a.indices is None or b.indices is None or not (_one_element(a) and _one_element(b)):
            return "an operation touches more than one element"
        if not self.step:
            return "the step of the loop is not known"
        if self._apart(a.indices, b.indices) and self._apart(b.indices, a.indices):
            return None
        return "the same element may be touched in two iterations"

    def _apart(self, later: Sequence[Value], earlier: Sequence[Value]) -> bool:
        """Whether indices differ on some axis whenever the first counter is the greater one."""
        for left, right in zip(later, earlier, strict=True):
            first = self._shifted(self.ranges.polynomials.of(left))
            second = self._prime(self.ranges.polynomials.of(right))
            difference = first - second
            if _never_zero(difference) or self._positive(difference) or self._positive(difference * -1):
                return True
        return False

    def _shifted(self, expr: SizeExpr) -> SizeExpr:
        """The index in the later iteration: its counter is the earlier one's plus the distance."""
        split = split_linear(expr, self.counter)
        if split is None:
            return expr
        factor, rest = split
        later = sizes.size(self.counter + "'") + sizes.size(self.DISTANCE) * self.step
        return factor * later + rest

    def _prime(self, expr: SizeExpr) -> SizeExpr:
        total = sizes.constant(0)
        for monomial, coefficient in expr.terms:
            term = sizes.constant(coefficient)
            for name in monomial:
                term = term * sizes.size(name + "'" if self._stands_inside(name) else name)
            total = total + term
        return total

    def _stands_inside(self, name: str) -> bool:
        known = self._inside.get(name)
        if known is None:
            value = self.ranges.polynomials.atoms.get(name)
            known = self._inside[name] = value is not None and is_inside(value, self.loop)
        return known

    def _positive(self, expr: SizeExpr) -> bool:
        return Proof(self, self.loop.body.block).shows(expr - 1)

    def is_opaque(self, name: str) -> bool:
        """Whether the name is no size (see `ranges.Names`)."""
        return name == self.DISTANCE or self.ranges.is_opaque(name.rstrip("'"))

    def position(self, name: str) -> int:
        """Where the name is defined; the distance is replaced last but for the counter."""
        if name == self.DISTANCE:
            return 2 * self.ranges.position(self.counter) + 1
        return 2 * self.ranges.position(name.rstrip("'"))

    def bounds(self, name: str, at: Block) -> Iterator[Bounds]:
        """Bounds of a name, said in the names of the same iteration."""
        if name == self.DISTANCE:
            yield self._distance_bounds(at)
        elif name.endswith("'"):
            for bounds in self.ranges.bounds(name.rstrip("'"), at):
                yield Bounds([self._primed(b) for b in bounds.lower], [self._primed(b) for b in bounds.upper])
        else:
            for bounds in self.ranges.bounds(name, at):
                yield Bounds([self._later(b) for b in bounds.lower], [self._later(b) for b in bounds.upper])

    def _distance_bounds(self, at: Block) -> Bounds:
        """At least one step, and not beyond what is left of the loop."""
        counter = sizes.size(self.counter + "'")
        upper = [
            Bound(
                self.step * bound.scale,
                tuple(self._prime(expr) - counter * bound.scale for expr in bound.any_of),
            )
            for bounds in self.ranges.bounds(self.counter, at)
            for bound in bounds.upper
        ]
        return Bounds([Bound(1, (sizes.constant(1),))], upper)

    def _primed(self, bound: Bound) -> Bound:
        return Bound(bound.scale, tuple(self._prime(expr) for expr in bound.any_of))

    def _later(self, bound: Bound) -> Bound:
        return Bound(bound.scale, tuple(self._shifted(expr) for expr in bound.any_of))


def _never_zero(expr: SizeExpr) -> bool:
    """The greatest common divisor of the factors does not divide the constant."""
    constant = sum(c for monomial, c in expr.terms if not monomial)
    divisor = math.gcd(*(c for monomial, c in expr.terms if monomial))
    return constant != 0 if divisor == 0 else constant % divisor != 0


def distance(a: Access, b: Access, loops: Sequence[scf.For], ranges: Ranges) -> tuple[int | None, ...] | None:
    """How many iterations after `a` the access `b` touches the same element, for each loop, outermost first.

    An entry is None where the loop's counter does not matter. The result is None where there is no constant
    distance: the indices are not of one form, or depend on more than one counter an axis. Steps are counted in
    values of the counter. Raises ValueError when the two never meet.
    """
    if a.ref is not b.ref or a.indices is None or b.indices is None:
        return None
    counters = [str(ranges.polynomials.of(loop.counter)) for loop in loops]
    found: dict[str, int] = {}
    for left, right in zip(a.indices, b.indices, strict=True):
        first, second = ranges.polynomials.of(left), ranges.polynomials.of(right)
        offset = (first - second).as_constant
        if offset is None:
            return None
        used = [name for name in first.names if name in counters]
        if not used and offset:
            raise ValueError("the accesses never touch the same element")
        if not used:
            continue
        split = split_linear(first, used[0])
        factor = split[0].as_constant if split is not None else None
        if (
            len(used) > 1
            or factor is None
            or any(ranges.is_opaque(name) for name in first.names[len(used) :])
        ):
            return None
        if offset % factor or found.get(used[0], offset // factor) != offset // factor:
            raise ValueError("the accesses never touch the same element")
        found[used[0]] = offset // factor
    return tuple(found.get(name) for name in counters)
