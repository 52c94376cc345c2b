# SPDX-License-Identifier: Apache-2.0
"""What can be computed and checked at the start of a function, before any loop has run.

Extremes of an affine index over the loops around it are polynomials over sizes, parameters and pure functions
of them. A comparison of polynomials is emitted only where it cannot go wrong by wrapping: names of unlimited
magnitude stand alone on one side, or are checked to be small as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir import sizes
from pyasc.ir.core import Builder, Operation, OpT, Value
from pyasc.ir.dialects import arith, func, mem, scf
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import extent_operand, index, integer_of, materialise_polynomial
from pyasc.passes.analysis.bounds import MAX_CONSTANT, last_counted
from pyasc.passes.analysis.ranges import Ranges, split_linear

MAX_CLONED = 16
"""Operations that are copied to the start for one value."""

MAX_FACTOR = 64
MAX_MAGNITUDE = 1 << 54
"""Names of unlimited magnitude are checked to be below this; times `MAX_FACTOR` and a few of them, no sum wraps."""


class Extremes(Record):
    """The least and greatest value of an index, attained whenever all `guards` are at least 0.

    A guard says of one loop that it has an iteration; where one fails, the index is never used.
    """

    lowest: SizeExpr
    highest: SizeExpr
    guards: tuple[SizeExpr, ...]


class LaunchBlock:
    """The start of a function, where checks and the values they need are put."""

    def __init__(self, function: func.Func, ranges: Ranges) -> None:
        block = function.body.block
        self.ranges = ranges
        self._at = Builder(block, block.first, function.loc)
        self._sizes: dict[str, Value] = {}
        self._copies: dict[Value, Value | None] = {arg: arg for arg in block.args}
        self._values: dict[SizeExpr, Value] = {}

    def insert(self, op: OpT) -> OpT:
        """Put an operation at the start, after what was put there before."""
        return self._at.insert(op)

    def gives_way(self, op: Operation, other: Operation) -> None:
        """Told that `other`, which stands in front of `op`, takes its place: `op` may be the first of the function."""
        if self._at.anchor is op:
            self._at.anchor = other

    def extent(self, ref: Value, axis: int, at: Operation) -> SizeExpr:
        """The extent of an axis as a polynomial; one known only at run time is a name for a value before `at`."""
        assert isinstance(ref.type, RefType)
        extent = ref.type.shape[axis]
        if extent is not None:
            return sizes.lift(extent)
        source = extent_operand(ref, axis)
        if source is None:
            source = Builder.before(at).value(mem.Dim(ref=ref, axis=axis))
        return self.ranges.exact(source)

    def available(self, expr: SizeExpr) -> bool:
        """Whether the polynomial can be computed at the start."""
        return all(self._value_of(name) is not None for name in expr.names)

    def value(self, expr: SizeExpr) -> Value:
        """The polynomial's value at the start. Raises ValueError when it is not `available`."""
        known = self._values.get(expr)
        if known is None:
            known = self._values[expr] = materialise_polynomial(expr, self._required, self._at)
        return known

    def value_at(self, expr: SizeExpr, op: Operation) -> Value:
        """The polynomial's value for use in `op`, where all its names are visible."""
        if self.available(expr):
            return self.value(expr)
        atoms = self.ranges.polynomials.atoms
        return materialise_polynomial(
            expr, lambda name: atoms[name] if name in atoms else self._required(name), Builder.before(op)
        )

    def _required(self, name: str) -> Value:
        value = self._value_of(name)
        if value is None:
            raise ValueError(f"{name} is not known at the start of the function")
        return value

    def _value_of(self, name: str) -> Value | None:
        atom = self.ranges.polynomials.atoms.get(name)
        if atom is not None:
            return self._copy(atom, MAX_CLONED)
        if name not in self._sizes:
            self._sizes[name] = self._at.value(func.Size(symbol=name), name)
        return self._sizes[name]

    def _copy(self, value: Value, depth: int) -> Value | None:
        """The value computed again at the start, or None where it depends on anything that is not known there."""
        if value not in self._copies:
            self._copies[value] = None
            self._copies[value] = self._copied(value, depth)
        return self._copies[value]

    def _copied(self, value: Value, depth: int) -> Value | None:
        op = value.op
        if op is None or depth == 0 or PURE not in op.spec.traits or op.regions:
            return None
        mapping: dict[Value, Value] = {}
        for operand in op.operands:
            copy = self._copy(operand, depth - 1)
            if copy is None:
                return None
            mapping[operand] = copy
        copy_op = self._at.insert(op.clone(mapping))
        return copy_op.results[value.index]

    def extremes(self, expr: SizeExpr, op: Operation) -> Extremes | None:
        """Least and greatest value of an affine index at `op`.

        None when `op` does not stand in counted loops alone, when a loop may have no iterations for reasons that
        only the loops around it know, or when the index is not monotonic in each counter.
        """
        guards: list[SizeExpr] = []
        lowest = highest = expr
        for parent in op.ancestors():
            if isinstance(parent, func.Func):
                break
            if not isinstance(parent, scf.For) or not self._add_guard(parent, guards):
                return None
            ends = self._ends(parent)
            low, high = self._corner(lowest, parent, ends, False), self._corner(highest, parent, ends, True)
            if low is None or high is None:
                return None
            lowest, highest = low, high
        known = all(self.available(each) for each in (lowest, highest, *guards))
        return Extremes(lowest, highest, tuple(guards)) if known else None

    def _add_guard(self, loop: scf.For, guards: list[SizeExpr]) -> bool:
        step = integer_of(loop.step)
        if step is None or loop.parent is None:
            return False
        distance = self.ranges.exact(loop.upper) - self.ranges.exact(loop.lower)
        guard = (distance if step > 0 else distance * -1) - 1
        if not self.ranges.nonnegative(guard, loop.parent):
            guards.append(guard)
        return True

    def _ends(self, loop: scf.For) -> tuple[SizeExpr, SizeExpr] | None:
        """The first and the last counter of a loop that has an iteration."""
        first, end = self.ranges.exact(loop.lower), self.ranges.exact(loop.upper)
        step = integer_of(loop.step)
        assert step is not None
        distance = end - first
        if abs(step) == 1 or distance.as_constant is not None or _divides(step, distance):
            return first, last_counted(first, end, step)
        last = self._last_value(loop, step)
        return None if last is None else (first, last)

    def _last_value(self, loop: scf.For, step: int) -> SizeExpr | None:
        """`lower + (upper - 1 - lower) // step * step`, computed at the start."""
        lower, upper = self._copy(loop.lower, MAX_CLONED), self._copy(loop.upper, MAX_CLONED)
        if lower is None or upper is None:
            return None
        at = self._at
        edge = index(at, 1 if step > 0 else -1)
        inclusive = at.value(arith.Elementwise(fn="sub", args=[upper, edge]))
        distance = at.value(arith.Elementwise(fn="sub", args=[inclusive, lower]))
        whole = at.value(arith.Elementwise(fn="floordiv", args=[distance, index(at, step)]))
        self._copies[whole] = whole
        return self.ranges.exact(loop.lower) + self.ranges.polynomials.of(whole) * step

    def _corner(
        self, expr: SizeExpr, loop: scf.For, ends: tuple[SizeExpr, SizeExpr] | None, greatest: bool
    ) -> SizeExpr | None:
        name = self.ranges.polynomials.of(loop.counter).as_name
        split = split_linear(expr, name) if name is not None else None
        if split is None:
            return None
        factor, rest = split
        if not factor.terms:
            return rest
        rising = all(c > 0 for _, c in factor.terms)
        if ends is None or not (rising or all(c < 0 for _, c in factor.terms)):
            return None
        if any(name in self.ranges.polynomials.atoms for name in factor.names):
            return None
        step = integer_of(loop.step)
        assert step is not None
        return factor * ends[rising == (greatest == (step > 0))] + rest

    def all_or_empty(self, needed: Sequence[SizeExpr], guards: Sequence[SizeExpr]) -> Value | None:
        """An i1 that holds when all of `needed` are at least 0 or one of `guards` is not.

        None when that cannot be said without wrapping.
        """
        positive = [self._at_least_zero(expr) for expr in needed]
        nonempty = [self._at_least_zero(expr) for expr in guards]
        if any(each is None for each in (*positive, *nonempty)):
            return None
        empty = [self._emit("not", each()) for each in nonempty if each is not None]
        holds = self._fold("and", [each() for each in positive if each is not None])
        return self._fold("or", [*empty, holds])

    def _at_least_zero(self, expr: SizeExpr) -> Callable[[], Value] | None:
        """How to emit `expr >= 0`, or None."""
        if any(abs(c) > MAX_CONSTANT for _, c in expr.terms):
            return None
        wild = self._wild(expr)
        if wild is None:
            return None
        alone = len(wild) == 1 and abs(wild[0][1]) == 1
        return lambda: self._compare(expr, wild, alone)

    def _wild(self, expr: SizeExpr) -> list[tuple[str, int]] | None:
        """Names of unlimited magnitude with their factors, or None where these are too many or multiplied."""
        atoms = self.ranges.polynomials.atoms
        found: list[tuple[str, int]] = []
        for monomial, coefficient in expr.terms:
            for name in monomial:
                if name in atoms and not self.ranges.tame(atoms[name]):
                    if len(monomial) > 1 or abs(coefficient) > MAX_FACTOR or len(found) == 4:
                        return None
                    found.append((name, coefficient))
        return found

    def _compare(self, expr: SizeExpr, wild: list[tuple[str, int]], alone: bool) -> Value:
        if alone:
            name, coefficient = wild[0]
            rest = expr - sizes.size(name) * coefficient
            other = self.value(rest if coefficient < 0 else rest * -1)
            return self._emit("le" if coefficient < 0 else "ge", self._required(name), other)
        positive = sizes.lift(0)
        for monomial, coefficient in expr.terms:
            if coefficient > 0:
                positive = positive + SizeExpr(((monomial, coefficient),))
        parts = [self._emit("ge", self.value(positive), self.value(positive - expr))]
        for name, _ in wild:
            value = self._required(name)
            parts.append(self._emit("le", value, self.value(sizes.constant(MAX_MAGNITUDE))))
            parts.append(self._emit("ge", value, self.value(sizes.constant(-MAX_MAGNITUDE))))
        return self._fold("and", parts)

    def _emit(self, fn: str, *args: Value) -> Value:
        return self._at.value(arith.Elementwise(fn=fn, args=args))

    def _fold(self, fn: str, values: Sequence[Value]) -> Value:
        total = values[0]
        for value in values[1:]:
            total = self._emit(fn, total, value)
        return total


def _divides(step: int, distance: SizeExpr) -> bool:
    return all(coefficient % step == 0 for _, coefficient in distance.terms)
