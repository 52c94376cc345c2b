# SPDX-License-Identifier: Apache-2.0
"""Bounds of loops that visit the integer points of constraints, in an order of one's choice.

A constraint bounds the innermost of its iterators; what it says of the ones around follows by elimination. So the
bounds of all loops together are the constraints, and where a loop has no iteration there is no point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyasc.ir.affine import AffineExpr, dim, symbol
from pyasc.passes.analysis.polyhedron import implies, project, without_redundant
from pyasc.passes.analysis.statements import NotAffine

Quotient = Callable[[AffineExpr, int], AffineExpr]
Level = tuple[list[AffineExpr], list[AffineExpr]]
"""The lower bounds of an iterator, the greatest of which counts, and the upper ones (exclusive), the least."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of some iterators in order, and what has to be at least 0 for there to be any point."""

    levels: list[Level]
    guards: list[AffineExpr]


@dataclass(frozen=True)
class TimeRange:
    """From the greatest of some expressions to the least of others."""

    lowers: list[AffineExpr]
    uppers: list[AffineExpr]

    @property
    def both(self) -> tuple[tuple[list[AffineExpr], str], tuple[list[AffineExpr], str]]:
        """Each side with the function that chooses."""
        return (self.lowers, "maximum"), (self.uppers, "minimum")

    def constraints(self, now: AffineExpr) -> list[AffineExpr]:
        """That a time is in the range."""
        return [*(now - expr for expr in self.lowers), *(expr - now - 1 for expr in self.uppers)]


def replaced(expr: AffineExpr, by: Mapping[int, AffineExpr]) -> AffineExpr:
    """An expression with other expressions in the place of some iterators."""
    total = AffineExpr((), expr.symbols, expr.constant)
    for number, factor in enumerate(expr.dims):
        if factor:
            total = total + (by[number] if number in by else dim(number)) * factor
    return total


def fixed(time: AffineExpr, now: AffineExpr) -> dict[int, AffineExpr]:
    """The iterator with factor 1 of a time, last first, as what it is at one moment. Raises NotAffine without one."""
    for number in range(len(time.dims) - 1, -1, -1):
        if time.dims[number] == 1:
            return {number: now - (time - dim(number))}
    raise NotAffine


def bounds_of(
    domain: Sequence[AffineExpr],
    order: Sequence[int],
    base: Sequence[AffineExpr],
    several: bool,
    quotient: Quotient | None = None,
) -> Bounds | None:
    """Bounds for iterators in an order; None where one is no whole number, or one of several with others in it.

    `base` is known to hold around the loops. With `several` a bound may be the least of expressions of outer iterators.
    `quotient` gives what a symbol expression is, divided by a number and rounded down.
    """
    guards = [expr for expr in domain if not expr.dims and not implies(base, expr)]
    known = [*base, *guards]
    levels: list[Level] = []
    left: list[AffineExpr] | None = [expr for expr in domain if expr.dims]
    for iterator in reversed(order):
        around = project(left, iterator)
        if around is None:
            return None
        around = [expr for expr in around if expr.dims]
        kept = without_redundant([e for e in left if e.coefficient(iterator)], [*known, *around])
        level = _level(kept, iterator, quotient)
        if level is None or not (several or all(len(b) == 1 or not any(e.dims for e in b) for b in level)):
            return None
        levels.append(level)
        left = around
    return Bounds(levels[::-1], without_redundant(guards, base))


def _level(constraints: Sequence[AffineExpr], iterator: int, quotient: Quotient | None) -> Level | None:
    lowers: list[AffineExpr] = []
    uppers: list[AffineExpr] = []
    for expr in constraints:
        factor = expr.coefficient(iterator)
        rest = expr - dim(iterator) * factor
        # From `factor * x + rest >= 0`: the least x is a quotient rounded up, the greatest one rounded down.
        bound = rest * -1 + (factor - 1) if factor > 0 else rest - factor
        if abs(factor) != 1:
            if quotient is None or rest.dims:
                return None
            bound = quotient(bound, abs(factor))
        (lowers if factor > 0 else uppers).append(bound)
    return (lowers, uppers) if lowers and uppers else None


def times_of(
    parts: Sequence[tuple[list[AffineExpr], list[int]]], time: int, base: Sequence[AffineExpr]
) -> TimeRange:
    """The times, symbol number `time`, at which any of some statements has an iteration.

    Raises NotAffine where no statement of them has the first time, or the last, whatever the sizes are.
    """
    known = [_times(domain, left) for domain, left in parts]
    lowers = _widest(known, time, 1, base)
    uppers = _widest(known, time, -1, base)
    now = symbol(time)
    return TimeRange([(e - now) * -1 for e in lowers], [e + now + 1 for e in uppers])


def _times(domain: Sequence[AffineExpr], left: Sequence[int]) -> list[AffineExpr]:
    made: list[AffineExpr] | None = list(domain)
    for iterator in left:
        made = project(made, iterator) if made is not None else None
    if made is None:
        raise NotAffine
    return made


def _widest(
    known: Sequence[list[AffineExpr]], time: int, sign: int, base: Sequence[AffineExpr]
) -> list[AffineExpr]:
    """The bounds on one side that hold for all."""
    for candidate in known:
        side = [expr for expr in candidate if expr.symbol_coefficient(time) * sign > 0]
        if not side or any(abs(expr.symbol_coefficient(time)) != 1 for expr in side):
            continue
        if all(implies([*base, *other], expr) for other in known for expr in side):
            return without_redundant(side, base)
    raise NotAffine
