# SPDX-License-Identifier: Apache-2.0
"""A loop nest written anew: loops over time, and in each of them what may run side by side at one time.

The statements of a nest are cut into groups of those that depend on each other (Allen and Kennedy), and each group
follows the ones it depends on. A group becomes one of these, the first that is right for it; where none is for a
statement in the innermost loop, the nest stays:

- a structured op over all of its iterations, where no iteration depends on another;
- loops around an update of one element, for `raise-loops` to make a reduction of;
- a loop over the times of a schedule (see `statement_order`), with structured ops for its statements;
- its outermost loop as it was, with the same done inside.

A statement that does not depend on itself otherwise may be cut where its reads meet its write, so that the pieces have
a schedule (`split_where_accesses_meet`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyasc.ir.affine import AffineExpr, AffineMap, const, dim, symbol
from pyasc.ir.core import Block, Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, mem, scf, st
from pyasc.ir.dtypes import i64
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.iteration_bounds import Range, bounds_of, fixed, replaced, times_of
from pyasc.passes.analysis.phases import changes_what_it_starts_from
from pyasc.passes.analysis.polyhedron import implies, project
from pyasc.passes.analysis.raising_order import renumber_symbols
from pyasc.passes.analysis.statement_order import (
    Dependences,
    Schedule,
    split_where_accesses_meet,
)
from pyasc.passes.analysis.statement_points import (
    Place,
    Points,
    axis_walked,
    followed,
    is_column,
    loaded,
    never_meet,
    points_of,
    unit_factors,
    united,
    walk_alike,
)
from pyasc.passes.analysis.statements import (
    Access,
    AffineNest,
    NotAffine,
    Statement,
    greatest,
    through_memory,
)
from pyasc.passes.analysis.structure import discard
from pyasc.passes.analysis.structured import loads_to_inputs

I64 = ScalarType(i64)


def rewrite(root: scf.For, sums: bool) -> bool:
    """Put what does the same before a nest and drop it; False, and nothing changed, where that is no use.

    With `sums` updates of one element by many iterations are left to `raise-loops`.
    """
    if changes_what_it_starts_from(root):
        return False
    before = root.prev
    work = root.clone()
    assert isinstance(work, scf.For)
    Builder.before(root).insert(work)
    made = block_of().block
    try:
        through_memory(work)
        _Rewriting(AffineNest(work), sums).run(made)
    except NotAffine:
        for op in reversed(made):
            discard(op)
        _discard_between(before, root)
        return False
    at = Builder.before(work)
    for op in list(made):
        op.unlink()
        at.insert(op)
    discard(work)
    discard(root)
    return True


def _discard_between(before: Operation | None, end: Operation) -> None:
    """Drop what was inserted in front of an operation."""
    while end.prev is not None and end.prev is not before:
        discard(end.prev)


@dataclass
class _Rewriting:
    """One nest. `values` are what the symbols of new expressions stand for: those of the nest, then new ones."""

    model: AffineNest
    sums: bool
    values: list[Value] = field(init=False)
    base: list[AffineExpr] = field(init=False)
    fixed: dict[int, AffineExpr] = field(default_factory=lambda: dict[int, AffineExpr]())

    def run(self, made: Block) -> None:
        """Append operations that do what the nest does. Raises NotAffine where one of its inner loops would stay."""
        statements = self.model.statements()
        self.values = list(self.model.symbols)
        self.base = list(self.model.facts())
        self.deepest = max(len(each.loops) for each in statements) if statements else 0
        self._groups(statements, [], Builder(made, loc=self.model.root.loc))

    def _groups(self, statements: Sequence[Statement], outer: list[int], at: Builder) -> None:
        dependences = Dependences(self.model, statements, outer)
        groups = dependences.components()
        while groups:
            group = groups.pop(0)
            at.loc = group[0].store.loc
            if not self._alone(group, dependences, at):
                while groups and self._take_time_together(group, groups[0], dependences):
                    group = [*group, *groups.pop(0)]
                self._timed(group, dependences, at)

    def _alone(self, group: Sequence[Statement], dependences: Dependences, at: Builder) -> bool:
        """Whether a group took no loop over time."""
        if len(group) > 1:
            return False
        (statement,) = group
        if (statement, statement) not in dependences.systems:
            self._apply([self._points(statement, self.fixed, at)], at)
            return True
        if self.sums and dependences.is_sum(statement):
            self._loops(statement, dependences, at)
            return True
        return False

    def _take_time_together(
        self, group: list[Statement], following: list[Statement], dependences: Dependences
    ) -> bool:
        """Whether two groups may share a loop over time, at equal times of equal ranges."""
        if len(following) == 1 and (following[0], following[0]) not in dependences.systems:
            return False
        schedule = dependences.schedule([*group, *following])
        if schedule is None:
            return False
        down = any(c < 0 for c in schedule.times[group[0]].dims)
        try:
            mine, other = (
                self._range({s: schedule.times[s] * (-1 if down else 1) for s in part})
                for part in (group, following)
            )
        except NotAffine:
            return False
        return mine == other

    def _timed(self, group: list[Statement], dependences: Dependences, at: Builder) -> None:
        """A loop over time for a group, or its outermost loop as it was around such loops."""
        schedule = dependences.schedule(group)
        if schedule is None and len(group) == 1:
            pieces = split_where_accesses_meet(group[0])
            cut = Dependences(self.model, pieces, dependences.outer)
            schedule = cut.schedule(pieces)
            if schedule is not None:
                self._time_loop(schedule, cut, at)
                return
        if schedule is None:
            self._in_order(group, list(dependences.outer), at)
        else:
            self._time_loop(schedule, dependences, at)

    def _in_order(self, group: list[Statement], outer: list[int], at: Builder) -> None:
        """The outermost loop around a group as it was, if another one is left inside."""
        number = next((loop for loop in group[0].loops if loop not in outer), -1)
        if number < 0 or any(len(each.loops) == self.deepest == len(outer) + 1 for each in group):
            raise NotAffine
        low, high = (replaced(expr, self.fixed) for expr in self.model.ranges[number])
        if self.model.descends(number):
            low, high = high, low
        ends = [(low - dim(number)) * -1, high + dim(number) + 1]
        bounds = [materialise(expr, (), self.values, at) for expr in ends]
        down, name = self.model.descends(number), self.model.loops[number].counter.name
        inside, counter = self._loop(at, bounds, down, name, "sequential")
        self.fixed[number] = self._symbol(counter)
        known = len(self.base)
        self.base += [replaced(expr, self.fixed) for expr in self.model.ranges[number]]
        self._groups(group, [*outer, number], inside)
        del self.base[known:], self.fixed[number]

    def _symbol(self, value: Value) -> AffineExpr:
        self.values.append(value)
        return symbol(len(self.values) - 1)

    def _loop(
        self, at: Builder, range_: Sequence[Value], down: bool, name: str, kind: str
    ) -> tuple[Builder, Value]:
        """A loop over a range, upwards or from its end: where to insert what it does, and its counter."""
        one = index(at, 1)
        lower, upper = range_
        if down:
            lower, upper = (
                at.value(arith.Elementwise(fn="sub", args=[each, one])) for each in (upper, lower)
            )
        step = index(at, -1) if down else one
        body = block_of([I64], [name])
        made = at.insert(scf.For(lower=lower, upper=upper, step=step, types=[], kind=kind, body=body))
        end = Builder(made.body.block, loc=at.loc).insert(scf.Yield())
        return Builder.before(end), made.counter

    def _ends(self, at: Builder, range_: Range) -> list[Value]:
        """From where to where a range goes."""
        return [self._extreme(at, exprs, fn) for exprs, fn in range_.both]

    def _time_loop(self, schedule: Schedule, dependences: Dependences, at: Builder) -> None:
        """A loop over times; inside of it structured ops for the phases."""
        first, time = next(iter(schedule.times.items()))
        downwards = any(c < 0 for c in time.dims)
        forms = {s: t * (-1 if downwards else 1) for s, t in schedule.times.items()}
        range_ = self._range(forms)
        inside, counter = self._loop(at, self._ends(at, range_), downwards, self._name(time), "sequential")
        inside.loc = first.store.loc
        now = self._symbol(counter)
        known = len(self.base)
        self.base += range_.constraints(now)
        waiting: list[Points] = []
        for points in self._at_one_time(schedule, forms, now, inside):
            if waiting and not self._joins(waiting, points, dependences, forms):
                self._apply(waiting, inside)
                waiting = []
            waiting.append(points)
        self._apply(waiting, inside)
        del self.base[known:]

    def _name(self, time: AffineExpr) -> str:
        """What a time is called: like the one counter that it is, else the front of all that is done."""
        counted = [loop for loop, factor in enumerate(time.dims) if factor]
        return self.model.loops[counted[0]].counter.name if len(counted) == 1 else "front"

    def _range(self, times: dict[Statement, AffineExpr]) -> Range:
        """From when to when statements have iterations."""
        return times_of([self._at_time(s, t) for s, t in times.items()], len(self.values), self.base)

    def _at_time(self, statement: Statement, time: AffineExpr) -> tuple[list[AffineExpr], list[int]]:
        """The constraints of a statement whose time is the next symbol, and the iterators that are left."""
        solved = self.fixed | fixed(time, symbol(len(self.values)))
        return (
            [replaced(expr, solved) for expr in statement.domain],
            [loop for loop in statement.loops if loop not in solved],
        )

    def _at_one_time(
        self, schedule: Schedule, forms: dict[Statement, AffineExpr], now: AffineExpr, at: Builder
    ) -> Iterator[Points]:
        """What each phase does at one time, statements that compute the same as one."""
        for phase in schedule.phases:
            made: list[Points] = []
            for statement in phase:
                points = self._points(statement, self.fixed | fixed(forms[statement], now), at)
                for number, other in enumerate(made):
                    whole = united(other, points, self.model, self.base)
                    whole = whole or united(points, other, self.model, self.base)
                    if whole is not None:
                        made[number] = whole
                        break
                else:
                    made.append(points)
            yield from made

    def _points(self, statement: Statement, known: dict[int, AffineExpr], at: Builder) -> Points:
        if len(statement.loops) == self.deepest and all(loop in known for loop in statement.loops):
            raise NotAffine
        quotients: dict[tuple[AffineExpr, int], AffineExpr] = {}

        def quotient(expr: AffineExpr, divisor: int) -> AffineExpr:
            if (expr, divisor) not in quotients:
                args = [materialise(expr, (), self.values, at), index(at, divisor)]
                made = at.value(arith.Elementwise(fn="floordiv", args=args))
                quotients[expr, divisor] = self._symbol(made)
            return quotients[expr, divisor]

        points = points_of(statement, known, self.base, quotient)
        if points is None:
            raise NotAffine
        return points

    def _joins(
        self,
        group: Sequence[Points],
        last: Points,
        dependences: Dependences,
        forms: dict[Statement, AffineExpr],
    ) -> bool:
        """Whether each point of a statement may follow the same point of others at once."""
        for points in group:
            if points.space != last.space or not points.order or points.united or last.united:
                return False
            if not walk_alike(points, last) or dependences.meet_elsewhere(points, last, forms):
                return False
            mine = points.statement.target
            for access in last.statement.accesses:
                if may_alias(access.ref, mine.ref):
                    where = tuple(map(last.place, access.map.results))
                    handed_on = where == points.target and not access.writes
                    if not handed_on and not never_meet(where, points.target, last, self.base):
                        return False
        return True

    def _extreme(self, at: Builder, exprs: Sequence[AffineExpr], fn: str) -> Value:
        """The least or greatest of some expressions of symbols."""
        made = [materialise(expr, (), self.values, at) for expr in exprs]
        total = made[0]
        for value in made[1:]:
            total = at.value(arith.Elementwise(fn=fn, args=[total, value]))
        return total

    def _apply(self, group: Sequence[Points], at: Builder) -> None:
        """A structured op over the points of some statements, all of which are independent."""
        first = group[0]
        at.loc = first.statement.store.loc
        aside = self._columns_aside(group, at)
        ranges = self._walked(first, at)
        rank = len(ranges)
        names = [self.model.loops[loop].counter.name for loop in first.order] or ["once"]
        region = block_of([I64] * rank, names)
        inner = Builder(region.block, loc=at.loc)
        known: dict[Place, Value] = {}
        for points in group:
            inner.loc = points.statement.store.loc
            known[points.statement.store.ref, points.target] = self._value(
                points, known | loaded(aside, inner, region), region, inner
            )
        inner.insert(st.Yield(values=list(known.values())))
        outputs = [(points.statement.store.ref, followed(points, points.target)) for points in group]
        self._insert(at, outputs, ranges, region)

    def _walked(self, points: Points, at: Builder) -> list[tuple[AffineExpr, AffineExpr]]:
        """From where to where each iterator of an op over some points goes."""
        ranges: list[tuple[AffineExpr, AffineExpr]] = []
        for range_ in points.bounds.ranges:
            low, high = (
                points.place(exprs[0]) if len(exprs) == 1 else self._symbol(self._extreme(at, exprs, fn))
                for exprs, fn in range_.both
            )
            ranges.append((low, high))
        if not ranges:
            ranges = [(const(0), const(1))]
        if points.bounds.guards:
            ranges[0] = (ranges[0][0], self._guarded(at, ranges[0], points.bounds.guards))
        return ranges

    def _insert(
        self,
        at: Builder,
        outputs: Sequence[Place],
        ranges: Sequence[tuple[AffineExpr, AffineExpr]],
        region: Region,
        inputs: Sequence[Place] = (),
    ) -> None:
        """A structured op that writes, over parallel iterators."""
        op = st.Apply(
            symbols=list(self.values),
            inputs=[ref for ref, _ in inputs],
            outputs=[ref for ref, _ in outputs],
            iterators=("parallel",) * len(ranges),
            lower=tuple(low for low, _ in ranges),
            upper=tuple(high for _, high in ranges),
            input_maps=tuple(AffineMap(place) for _, place in inputs),
            output_maps=tuple(AffineMap(place) for _, place in outputs),
            roles=("write",) * len(outputs),
            body=region,
            combine=Region(),
        )
        at.insert(op)
        loads_to_inputs(op)
        renumber_symbols(op)

    def _columns_aside(self, group: Sequence[Points], at: Builder) -> dict[Place, Value]:
        """Columns that every row of an op reads, copied to where their elements lie side by side."""
        made: dict[Place, Value] = {}
        loop = at.block.parent_op
        for points in group if loop is not None else ():
            for access in points.statement.accesses[:-1]:
                place = access.ref, tuple(map(points.place, access.map.results))
                if place not in made and is_column(place[1], len(points.order)):
                    column = self._column_aside(points, access, at)
                    if column is not None:
                        made[place] = column
        return made

    def _column_aside(self, points: Points, access: Access, at: Builder) -> Value | None:
        statement = points.statement
        *outer, inner = points.order
        left: list[AffineExpr] | None = points.domain
        for loop in outer:
            left = None if left is None or not unit_factors(left, loop) else project(left, loop)
        bounds = None if left is None else bounds_of(left, [inner], self.base, several=True)
        if bounds is None or not implies([*statement.domain, *self.model.facts()], dim(inner)):
            return None
        extent = greatest(dim(inner) + 1, statement.loops, statement.domain, self.model)
        dtype = dtype_of(access.ref.type)
        loop = at.block.parent_op
        assert loop is not None
        column = Builder.before(loop).value(
            mem.Alloc(types=[RefType((extent,), dtype)]), f"{access.ref.name}Column"
        )
        (range_,) = bounds.ranges
        low, high = map(self._symbol, self._ends(at, range_))
        where = [replaced(replaced(e, points.solved), {inner: dim(0)}) for e in access.map.results]
        region = block_of([I64, ScalarType(dtype)], [self.model.loops[inner].counter.name, access.ref.name])
        Builder(region.block, loc=at.loc).insert(st.Yield(values=[region.block.args[1]]))
        self._insert(at, [(column, (dim(0),))], [(low, high)], region, [(access.ref, tuple(where))])
        return column

    def _guarded(
        self, at: Builder, range_: tuple[AffineExpr, AffineExpr], guards: Sequence[AffineExpr]
    ) -> AffineExpr:
        """The upper bound of a range that is empty unless all guards are at least 0."""
        least = self._extreme(at, guards, "minimum")
        holds = at.value(arith.Elementwise(fn="ge", args=[least, index(at, 0)]))
        lower, upper = (materialise(expr, (), self.values, at) for expr in range_)
        return self._symbol(at.value(arith.Elementwise(fn="select", args=[holds, upper, lower])))

    def _value(
        self,
        points: Points,
        known: dict[Place, Value],
        region: Region,
        at: Builder,
    ) -> Value:
        """A copy of what a statement computes. What is known of elements is not loaded."""
        args = region.block.args
        statement = points.statement

        def value_of(expr: AffineExpr) -> Value:
            return materialise(points.place(expr), args, self.values, at)

        mapping = {self.model.loops[loop].counter: value_of(dim(loop)) for loop in statement.loops}
        for op in self.model.computing(statement.store):
            if isinstance(op, mem.Load):
                map_ = self.model.nest.map(op.indices)
                assert map_ is not None
                place = tuple(map(points.place, map_.results))
                value = known.get((op.ref, place))
                if value is None:
                    where = followed(points, place) if op.ref is statement.store.ref else place
                    indices = [materialise(expr, args, self.values, at) for expr in where]
                    value = at.value(mem.Load(ref=op.ref, indices=indices), op.value.name)
                mapping[op.value] = value
            else:
                at.insert(op.clone(mapping))
        return mapping.get(statement.store.value, statement.store.value)

    def _loops(self, statement: Statement, dependences: Dependences, at: Builder) -> None:
        """Loops around an update alone, those outermost whose iterations update different elements."""
        left = [loop for loop in statement.loops if loop not in self.fixed]
        free = [loop for loop in left if not dependences.carries(loop, statement)]
        # The updates of one element keep their order.
        order = [
            *sorted(free, key=lambda loop: axis_walked(statement, loop, self.fixed)),
            *(loop for loop in left if loop not in free),
        ]
        domain = [replaced(expr, self.fixed) for expr in statement.domain]
        bounds = bounds_of(domain, order, self.base, several=True)
        if bounds is None or bounds.guards:
            raise NotAffine
        made = {loop: materialise(expr, (), self.values, at) for loop, expr in self.fixed.items()}
        numbers: dict[int, AffineExpr] = {}
        known = len(self.values)
        for loop, range_ in zip(order, bounds.ranges, strict=True):
            ends = self._ends(at, range_.mapped(lambda expr: replaced(expr, numbers)))
            down = loop not in free and self.model.descends(loop)
            kind, name = "parallel" if loop in free else "sequential", self.model.loops[loop].counter.name
            at, made[loop] = self._loop(at, ends, down, name, kind)
            numbers[loop] = self._symbol(made[loop])
        self._update(statement, made, at)
        del self.values[known:]

    def _update(self, statement: Statement, counters: Mapping[int, Value], at: Builder) -> None:
        """A copy of a statement where each loop's counter has a value."""
        mapping = {self.model.loops[loop].counter: counters[loop] for loop in statement.loops}
        for op in self.model.computing(statement.store):
            at.insert(op.clone(mapping))
        at.insert(statement.store.clone(mapping))
