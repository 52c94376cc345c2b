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


@dataclass(frozen=True)
class Range:
    """From the greatest of some expressions to the least of others, which is the first that is outside."""

    lowers: list[AffineExpr]
    uppers: list[AffineExpr]

    @property
    def both(self) -> tuple[tuple[list[AffineExpr], str], tuple[list[AffineExpr], str]]:
        """Each side with the function that chooses."""
        return (self.lowers, "maximum"), (self.uppers, "minimum")

    def mapped(self, fn: Callable[[AffineExpr], AffineExpr]) -> Range:
        """The range between what a function makes of all expressions."""
        return Range([fn(expr) for expr in self.lowers], [fn(expr) for expr in self.uppers])

    def constraints(self, now: AffineExpr) -> list[AffineExpr]:
        """That an iterator or a time is in the range."""
        return [*(now - expr for expr in self.lowers), *(expr - now - 1 for expr in self.uppers)]


@dataclass(frozen=True)
class Bounds:
    """The ranges of some iterators in order, and what has to be at least 0 for there to be any point."""

    ranges: list[Range]
    guards: list[AffineExpr]


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
    ranges: list[Range] = []
    left: list[AffineExpr] | None = [expr for expr in domain if expr.dims]
    for iterator in reversed(order):
        around = project(left, iterator)
        if around is None:
            return None
        around = [expr for expr in around if expr.dims]
        kept = without_redundant([e for e in left if e.coefficient(iterator)], [*known, *around])
        range_ = _range(kept, iterator, quotient)
        if range_ is None or not (several or all(_is_one_or_fixed(side) for side, _ in range_.both)):
            return None
        ranges.append(range_)
        left = around
    return Bounds(ranges[::-1], without_redundant(guards, base))


def _is_one_or_fixed(side: Sequence[AffineExpr]) -> bool:
    """Whether a bound is one expression, or the same wherever the iterators around are."""
    return len(side) == 1 or not any(expr.dims for expr in side)


def _range(constraints: Sequence[AffineExpr], iterator: int, quotient: Quotient | None) -> Range | None:
    """What constraints say of an iterator; None where that is no range of whole numbers."""
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
    return Range(lowers, uppers) if lowers and uppers else None


def times_of(
    parts: Sequence[tuple[list[AffineExpr], list[int]]], time: int, base: Sequence[AffineExpr]
) -> Range:
    """The times, symbol number `time`, at which any of some statements has an iteration.

    Raises NotAffine where no statement of them has the first time, or the last, whatever the sizes are.
    """
    known = [_times(domain, left) for domain, left in parts]
    lowers = _widest(known, time, 1, base)
    uppers = _widest(known, time, -1, base)
    now = symbol(time)
    return Range([(e - now) * -1 for e in lowers], [e + now + 1 for e in uppers])


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
