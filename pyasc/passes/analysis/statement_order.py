# SPDX-License-Identifier: Apache-2.0
"""In which order the iterations of statements have to run, and a time at which each may.

Iteration x of statement S has to come before iteration y of T where both touch one element, at least one of them
writes it, and x of S comes first in the order of the nest. All such pairs are the integer points of a few systems of
constraints, one for each loop that may carry the dependence. A schedule gives every iteration a time, an affine
function of its counters, and every statement a phase. It is right where in all these systems the later iteration has a
later time, or the same time and a later phase: each of these claims is proved by showing that the system has no point
where it fails (`polyhedron`). Iterations of one statement at one time are then independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product

from pyasc.ir.affine import AffineExpr, dim
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.polyhedron import is_empty
from pyasc.passes.analysis.statement_points import Points
from pyasc.passes.analysis.statements import Access, AffineNest, NotAffine, Statement

MAX_STATEMENTS = 24
MAX_SYSTEMS = 4000
"""Systems that are looked at for one nest, about a second's work."""
WEIGHTS = (1, 2)
"""How many times the counter of an inner loop that of an outer one may count in a time: diagonals of a plane."""
MAX_CHOICES = 512
"""Combinations of times that are tried for the statements of one cycle."""

System = list[AffineExpr]


@dataclass(frozen=True)
class Schedule:
    """A time for each statement, and the statements of each phase in order."""

    times: dict[Statement, AffineExpr]
    phases: list[list[Statement]]


@dataclass
class Dependences:
    """The dependences between some statements of a nest, in loops of which `outer` run in order around all of them.

    In a system the counters of the earlier iteration have the nest's numbers, those of the later one follow them.
    """

    model: AffineNest
    statements: Sequence[Statement]
    outer: Sequence[int] = ()
    systems: dict[tuple[Statement, Statement], list[System]] = field(init=False)

    def __post_init__(self) -> None:
        if len(self.statements) > MAX_STATEMENTS:
            raise NotAffine
        facts = list(self.model.facts())
        self.systems = {}
        looked_at = 0
        for first, second in product(self.statements, repeat=2):
            systems = list(self._between(first, second))
            looked_at += len(systems)
            if looked_at > MAX_SYSTEMS:
                raise NotAffine
            found = [[*each, *facts] for each in systems if not is_empty([*each, *facts])]
            if found:
                self.systems[first, second] = found

    def later(self, expr: AffineExpr) -> AffineExpr:
        """An expression of the later iteration's counters."""
        return AffineExpr((0,) * len(self.model.loops) + expr.dims, expr.symbols, expr.constant)

    def components(self) -> list[list[Statement]]:
        """Statements that depend on each other together, and each group before those that depend on it."""
        reached = {s: self._reachable(s) for s in self.statements}
        groups: list[list[Statement]] = []
        for statement in self.statements:
            if not any(statement in group for group in groups):
                reaching = [s for s in self.statements if s in reached[statement] and statement in reached[s]]
                groups.append(reaching or [statement])
        ordered: list[list[Statement]] = []
        while groups:
            ready = next(g for g in groups if not any(g[0] in reached[o[0]] for o in groups if o is not g))
            groups.remove(ready)
            ordered.append(ready)
        return ordered

    def schedule(self, statements: Sequence[Statement]) -> Schedule | None:
        """A time and a phase for each of some statements, or None where none was found."""
        for choice in islice(self._choices(statements), MAX_CHOICES):
            times = dict(zip(statements, choice, strict=True))
            phases = self._phases(statements, times)
            if phases is not None:
                return Schedule(times, phases)
        return None

    def meet_elsewhere(self, first: Points, second: Points, times: Mapping[Statement, AffineExpr]) -> bool:
        """Whether a point of one statement may depend on another point of the other at the same time."""
        for system in self.systems.get((first.statement, second.statement), ()):
            same = _equal(self.later(times[second.statement]), times[first.statement])
            for a, b in zip(first.order, second.order, strict=True):
                step = self.later(dim(b)) - dim(a)
                if not (is_empty([*system, *same, step - 1]) and is_empty([*system, *same, step * -1 - 1])):
                    return True
        return False

    def is_sum(self, statement: Statement) -> bool:
        """Whether the iterations of a statement depend on each other through the element alone that each updates."""
        target = statement.target
        for access in statement.accesses[:-1]:
            same = access.ref is target.ref and access.map == target.map
            # What was read before the loop around the update is not what the iteration before has written.
            if (same and access.loops == target.loops) or not may_alias(access.ref, target.ref):
                continue
            systems = [*self._pair(statement, access, statement, target)]
            systems += self._pair(statement, target, statement, access)
            if not all(is_empty([*each, *self.model.facts()]) for each in systems):
                return False
        return True

    def carries(self, loop: int, statement: Statement) -> bool:
        """Whether a later iteration of a loop depends on an earlier one, the other loops aside."""
        for system in self.systems.get((statement, statement), ()):
            difference = self.later(dim(loop)) - dim(loop)
            if not is_empty([*system, difference - 1]) or not is_empty([*system, difference * -1 - 1]):
                return True
        return False

    def _reachable(self, start: Statement) -> set[Statement]:
        found: set[Statement] = set()
        pending = [start]
        while pending:
            last = pending.pop()
            for first, second in self.systems:
                if first is last and second not in found:
                    found.add(second)
                    pending.append(second)
        return found

    def _between(self, first: Statement, second: Statement) -> Iterator[System]:
        for a, b in product(first.accesses, second.accesses):
            if (a.writes or b.writes) and may_alias(a.ref, b.ref):
                yield from self._pair(first, a, second, b)

    def _pair(self, first: Statement, a: Access, second: Statement, b: Access) -> Iterator[System]:
        """The systems of pairs of iterations in which access `a` of one comes before `b` of the other."""
        if a.ref is not b.ref:
            raise NotAffine
        base = [*first.domain, *map(self.later, second.domain)]
        for loop in self.outer:
            base += _equal(dim(loop), self.later(dim(loop)))
        for left, right in zip(a.map.results, b.map.results, strict=True):
            base += _equal(left, self.later(right))
        for order in self._orders(first, a, second, b):
            yield base + order

    def _orders(self, first: Statement, a: Access, second: Statement, b: Access) -> Iterator[System]:
        """Every way in which `a` may come first: an iteration before, or in the same one of all loops around both."""
        same: System = []
        common = _shared(a.loops, b.loops)
        for loop in common:
            yield [*same, self._step(loop)]
            same += _equal(dim(loop), self.later(dim(loop)))
        if a.path[: len(common)] >= b.path[: len(common)]:
            return
        if first.store is not second.store:
            yield same
            return
        # An iteration does not depend on itself.
        for loop in first.loops[len(common) :]:
            step = self._step(loop)
            yield [*same, step]
            yield [*same, step * -1 - 2]
            same += _equal(dim(loop), self.later(dim(loop)))

    def _step(self, loop: int) -> AffineExpr:
        """At least 0 where the later iteration of a loop comes after the earlier one."""
        forward = self.later(dim(loop)) - dim(loop)
        return (forward * -1 if self.model.descends(loop) else forward) - 1

    def _choices(self, statements: Sequence[Statement]) -> Iterator[tuple[AffineExpr, ...]]:
        """Times to try: one loop around all statements, any loop of each, sums of two loops around all."""
        shared = [loop for loop in statements[0].loops if all(loop in s.loops for s in statements)]
        own = [self._times(statement.loops) for statement in statements]
        for time in self._times(shared):
            yield (time,) * len(statements)
        yield from self._consistent(statements, own, ())
        for outer, inner in combinations(self._times(shared), 2):
            for weight in WEIGHTS:
                yield (outer * weight + inner,) * len(statements)

    def _consistent(
        self, statements: Sequence[Statement], own: Sequence[list[AffineExpr]], chosen: tuple[AffineExpr, ...]
    ) -> Iterator[tuple[AffineExpr, ...]]:
        """Combinations in which no pair of statements is wrong already."""
        if len(chosen) == len(statements):
            yield chosen
            return
        for time in own[len(chosen)]:
            following = (*chosen, time)
            times = dict(zip(statements, following, strict=False))
            newest = statements[len(chosen)]
            if all(
                self._holds(pair, times) for pair in self.systems if newest in pair and {*pair} <= {*times}
            ):
                yield from self._consistent(statements, own, following)

    def _times(self, loops: Iterable[int]) -> list[AffineExpr]:
        inner = [loop for loop in loops if loop not in self.outer]
        return [dim(loop) * (-1 if self.model.descends(loop) else 1) for loop in inner]

    def _holds(self, pair: tuple[Statement, Statement], times: dict[Statement, AffineExpr]) -> bool:
        """Whether no later iteration has an earlier time, nor the same one where the statement is the same."""
        first, second = pair
        ahead = self.later(times[second]) - times[first]
        least = 1 if first is second else 0
        return all(is_empty([*system, ahead * -1 + (least - 1)]) for system in self.systems[pair])

    def _phases(
        self, statements: Sequence[Statement], times: dict[Statement, AffineExpr]
    ) -> list[list[Statement]] | None:
        """The phases of a choice of times, or None where it is wrong."""
        pairs = [pair for pair in self.systems if {*pair} <= {*statements}]
        if not all(self._holds(pair, times) for pair in pairs):
            return None
        after = [
            (first, second)
            for first, second in pairs
            if first is not second
            and not all(
                is_empty([*system, *_equal(self.later(times[second]), times[first])])
                for system in self.systems[first, second]
            )
        ]
        phases: list[list[Statement]] = []
        left = list(statements)
        while left:
            ready = [s for s in left if not any(second is s and first in left for first, second in after)]
            if not ready:
                return None
            phases.append(ready)
            left = [s for s in left if s not in ready]
        return phases


def split_where_accesses_meet(statement: Statement) -> list[Statement]:
    """A statement in pieces, cut where one of its reads is at the element that it writes along some axis.

    `x[i, j] = min(x[i, j], x[i, k] + x[k, j])` becomes nine, for i less than k, k itself and greater, and j likewise.
    """
    cuts: list[AffineExpr] = []
    target = statement.target
    for access in statement.accesses[:-1]:
        if access.ref is target.ref:
            for left, right in zip(target.map.results, access.map.results, strict=True):
                between = left - right
                if between.dims and between not in cuts and between * -1 not in cuts:
                    cuts.append(between)
    pieces = [statement]
    for cut in cuts:
        pieces = [
            piece.within(*part) for piece in pieces for part in ((cut * -1 - 1,), (cut, cut * -1), (cut - 1,))
        ]
    return [piece for piece in pieces if not is_empty(piece.domain)]


def _equal(left: AffineExpr, right: AffineExpr) -> System:
    return [left - right, right - left]


def _shared(a: Sequence[int], b: Sequence[int]) -> Sequence[int]:
    """The loops around both of two places, which stand first in the loops around either."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return a[:count]
