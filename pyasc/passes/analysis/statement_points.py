# SPDX-License-Identifier: Apache-2.0
"""The iterations of statements at one time: which of them make one structured op.

Two statements of one phase that compute the same at different places are one where their places together are the points
of constraints: `A[i, j] -= A[i, k] * A[j, k]` for j < i, and `A[i, i] -= A[i, k] * A[i, k]`.

Two statements over the same points, one after the other, are one op with two results where they meet at no other than
the same point: what the first writes and the second reads is handed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from pyasc.ir.affine import AffineExpr, dim
from pyasc.ir.core import Builder, Region, Value
from pyasc.ir.dialects import arith, mem
from pyasc.ir.dtypes import i64
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.iteration_bounds import Bounds, Quotient, bounds_of, replaced
from pyasc.passes.analysis.polyhedron import implies, is_empty, project
from pyasc.passes.analysis.statements import AffineNest, Statement

I64 = ScalarType(i64)
Place = tuple[Value, tuple[AffineExpr, ...]]
"""An element: its array and where it lies."""


@dataclass(frozen=True, eq=False)
class Points:
    """Iterations of a statement: counters that follow from others, and the bounds of these in order.

    `united` says that they are those of several statements that compute the same.
    """

    statement: Statement
    solved: Mapping[int, AffineExpr]
    order: tuple[int, ...]
    bounds: Bounds
    united: bool = False

    def place(self, expr: AffineExpr) -> AffineExpr:
        """An expression of the nest's counters over iterators numbered as they stand in `order`."""
        numbers = {loop: dim(number) for number, loop in enumerate(self.order)}
        return replaced(replaced(expr, self.solved), numbers)

    @property
    def target(self) -> tuple[AffineExpr, ...]:
        """Where a point writes."""
        return tuple(map(self.place, self.statement.target.map.results))

    @property
    def space(self) -> Bounds:
        """The bounds of all iterators, numbered as they stand in `order`."""
        return Bounds([range_.mapped(self.place) for range_ in self.bounds.ranges], self.bounds.guards)

    @property
    def domain(self) -> list[AffineExpr]:
        """The constraints, over the nest's counters that are left."""
        return [replaced(expr, self.solved) for expr in self.statement.domain]


def points_of(
    statement: Statement,
    known: Mapping[int, AffineExpr],
    base: Sequence[AffineExpr],
    quotient: Quotient | None = None,
) -> Points | None:
    """The iterations of a statement where some counters are known, the axis of its array that is contiguous last.

    None where no order of its counters has bounds that a structured op can have.
    """
    solved = dict(known)
    domain = [replaced(expr, solved) for expr in statement.domain]
    left = [loop for loop in statement.loops if loop not in solved]
    for loop in list(left):
        value = _only_value(domain, loop)
        if value is not None:
            left.remove(loop)
            solved = {each: replaced(expr, {loop: value}) for each, expr in solved.items()}
            solved[loop] = value
            domain = [replaced(expr, {loop: value}) for expr in domain]
    for order in permutations(sorted(left, key=lambda loop: axis_walked(statement, loop, solved))):
        bounds = bounds_of(domain, order, base, False, quotient)
        if bounds is not None:
            return Points(statement, solved, order, bounds)
    return None


def axis_walked(statement: Statement, loop: int, solved: Mapping[int, AffineExpr]) -> int:
    """Which axis of what a statement writes a loop walks; -1 for none."""
    results = [replaced(expr, solved) for expr in statement.target.map.results]
    return next((axis for axis, expr in enumerate(results) if expr.coefficient(loop)), -1)


def _only_value(domain: Sequence[AffineExpr], loop: int) -> AffineExpr | None:
    """What the counter of a loop is, where constraints leave one value."""
    for expr in domain:
        if expr.coefficient(loop) == 1 and expr * -1 in domain:
            return dim(loop) - expr
    return None


def united(first: Points, second: Points, model: AffineNest, base: Sequence[AffineExpr]) -> Points | None:
    """The points of two statements of one phase as those of the first, where both compute the same; else None."""
    if first.statement.store.ref is not second.statement.store.ref:
        return None
    counters = _as_in(first, second)
    if counters is None or not _Same(first, second, counters, model).compute_the_same():
        return None
    domain = _hull(first, second, counters, model, base)
    if domain is None:
        return None
    known = {loop: expr for loop, expr in first.solved.items() if not expr.dims}
    statement = replace(first.statement, domain=tuple(domain))
    made = points_of(statement, known, base)
    return None if made is None else replace(made, united=True)


def _as_in(first: Points, second: Points) -> dict[int, AffineExpr] | None:
    """The counters of the first by those of the second where both write the same element."""
    if any(expr.dims for expr in first.solved.values()):
        return None
    here = [replaced(expr, first.solved) for expr in first.statement.target.map.results]
    there = [replaced(expr, second.solved) for expr in second.statement.target.map.results]
    made: dict[int, AffineExpr] = {}
    for mine, other in zip(here, there, strict=True):
        walked = [loop for loop in first.order if mine.coefficient(loop)]
        if len(walked) == 1 and mine.coefficient(walked[0]) == 1 and walked[0] not in made:
            made[walked[0]] = other - (mine - dim(walked[0]))
    if len(made) != len(first.order):
        return None
    return made if [replaced(expr, made) for expr in here] == there else None


@dataclass(frozen=True)
class _Same:
    """Whether a statement computes what another one does, with its own counters in terms of the other's."""

    first: Points
    second: Points
    counters: Mapping[int, AffineExpr]
    model: AffineNest

    def compute_the_same(self) -> bool:
        """Whether the values are equal."""
        return self._equal(self.first.statement.store.value, self.second.statement.store.value)

    def _equal(self, a: Value, b: Value) -> bool:
        if a is b and self.model.nest.is_invariant(a):
            return True
        if a.type == I64:
            return self._equal_indices([a], [b])
        match a.op, b.op:
            case mem.Load() as x, mem.Load() as y:
                return x.ref is y.ref and self._equal_indices(x.indices, y.indices)
            case arith.Constant() as x, arith.Constant() as y:
                return x.value == y.value and repr(x.value) == repr(y.value) and a.type == b.type
            case arith.Elementwise() as x, arith.Elementwise() as y:
                same = x.fn == y.fn and len(x.args) == len(y.args)
                return same and all(self._equal(p, q) for p, q in zip(x.args, y.args, strict=True))
            case _:
                return False

    def _equal_indices(self, a: Sequence[Value], b: Sequence[Value]) -> bool:
        mine, other = self.model.nest.map(a), self.model.nest.map(b)
        if mine is None or other is None:
            return False
        moved = [replaced(replaced(expr, self.first.solved), self.counters) for expr in mine.results]
        return moved == [replaced(expr, self.second.solved) for expr in other.results]


def _hull(
    first: Points,
    second: Points,
    counters: Mapping[int, AffineExpr],
    model: AffineNest,
    base: Sequence[AffineExpr],
) -> list[AffineExpr] | None:
    """Constraints whose points are those of both statements, and no others; over the first one's counters."""
    mine = first.domain
    other = _moved(second, counters, len(model.loops))
    if other is None:
        return None
    kept = [expr for expr in mine if implies([*base, *other], expr)]
    kept += [expr for expr in other if expr not in kept and implies([*base, *mine], expr)]
    for a in [expr for expr in mine if expr not in kept]:
        for b in [expr for expr in other if expr not in kept]:
            if not is_empty([*base, *kept, a * -1 - 1, b * -1 - 1]):
                return None
    return kept


def _moved(points: Points, counters: Mapping[int, AffineExpr], width: int) -> list[AffineExpr] | None:
    """The constraints of the second statement over the counters of the first."""

    def shifted(expr: AffineExpr) -> AffineExpr:
        return AffineExpr((0,) * width + expr.dims, expr.symbols, expr.constant)

    known: list[AffineExpr] | None = [shifted(expr) for expr in points.domain]
    for loop, expr in counters.items():
        known += [dim(loop) - shifted(expr), shifted(expr) - dim(loop)]
    for loop in points.order:
        known = None if known is None else project(known, width + loop)
    return known


def never_meet(
    a: Sequence[AffineExpr], b: Sequence[AffineExpr], points: Points, base: Sequence[AffineExpr]
) -> bool:
    """Whether two places, given over the iterators of points, differ at all of them."""
    apart = [e for x, y in zip(a, b, strict=True) for e in (x - y, y - x)]
    return is_empty([*base, *map(points.place, points.domain), *apart])


def walk_alike(a: Points, b: Points) -> bool:
    """Whether two statements fit one op: elements a row apart, beside others side by side, are gathered as floats."""
    innermost = len(a.order) - 1
    contiguous = [bool(points.target[-1].coefficient(innermost)) for points in (a, b)]
    dtypes = {dtype_of(points.statement.store.ref.type) for points in (a, b)}
    return contiguous[0] == contiguous[1] or all(dtype.is_float for dtype in dtypes)


def is_column(place: Sequence[AffineExpr], rank: int) -> bool:
    """Whether the last of several iterators walks an axis whose elements are apart, and the others nothing."""
    walked = [number for expr in place for number, factor in enumerate(expr.dims) if factor]
    return (
        rank > 1
        and walked == [rank - 1]
        and not place[-1].dims
        and any(expr.coefficient(rank - 1) == 1 for expr in place)
    )


def unit_factors(constraints: Sequence[AffineExpr], loop: int) -> bool:
    """Whether eliminating a counter is exact for whole numbers."""
    return all(abs(expr.coefficient(loop)) <= 1 for expr in constraints)


def followed(points: Points, place: tuple[AffineExpr, ...]) -> tuple[AffineExpr, ...]:
    """A place over iterators; where there is but one point, what it writes follows the one iterator that its op has."""
    if points.order or not place or place != points.target:
        return place
    return (*place[:-1], place[-1] + dim(0))


def loaded(aside: dict[Place, Value], at: Builder, region: Region) -> dict[Place, Value]:
    """The elements of columns that have been copied, at the last iterator of an op."""
    if not aside:
        return {}
    last = next(arg for arg in reversed(region.block.args) if arg.type == I64)
    return {place: at.value(mem.Load(ref=ref, indices=[last]), ref.name) for place, ref in aside.items()}
