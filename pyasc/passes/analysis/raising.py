# SPDX-License-Identifier: Apache-2.0
"""What the parts of loop raising share: the reason why a loop stays, copying of code into bodies, and proofs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, func, mem, st
from pyasc.ir.location import Location
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.traits import PURE
from pyasc.passes.analysis.affine import Nest, Polynomials
from pyasc.passes.analysis.effects import is_silent, may_alias
from pyasc.passes.analysis.ranges import Ranges

COSTLY = frozenset(
    """div floordiv mod fmod sqrt pow rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan
    sinh cosh tanh asinh acosh atanh erf erfc atan2 hypot""".split()
)
"""Functions that are not computed again for every iteration of an inner loop."""


class CannotRaise(Exception):
    """A loop stays a loop: where, why, and what to write instead.

    `quiet` reasons are no news to the user; `meets` says that different iterations write the same element.
    """

    def __init__(
        self, loc: Location, reason: str, hint: str = "", *, quiet: bool = False, meets: bool = False
    ) -> None:
        super().__init__(reason)
        self.loc = loc
        self.reason = reason
        self.hint = hint
        self.quiet = quiet
        self.meets = meets


def is_plain(op: Operation) -> bool:
    """Whether an operation is pure and has no regions."""
    return PURE in op.spec.traits and not op.regions


def slice_of(values: Iterable[Value], block: Block) -> list[Operation]:
    """The operations of `block` that the values are computed by, in order."""
    needed: set[Operation] = set()
    stack = list(values)
    while stack:
        op = stack.pop().op
        if op is not None and op.parent is block and op not in needed:
            needed.add(op)
            stack += op.operands
            stack += captured(op)
    return [op for op in block if op in needed] if needed else []


def captured(op: Operation) -> list[Value]:
    """Values from outside of an operation that its regions use."""
    if not op.regions:
        return []
    inside: set[Value] = set()
    found: dict[Value, None] = {}
    for inner in op.nested():
        inside.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.args)
        if inner is not op:
            found.update(dict.fromkeys(inner.operands))
    return [value for value in found if value not in inside]


def copy_into(ops: Iterable[Operation], at: Builder, mapping: dict[Value, Value]) -> None:
    """Insert copies of operations; `mapping` gains their results."""
    for op in ops:
        at.insert(op.clone(mapping))


def is_same_each_time(value: Value, block: Block) -> bool:
    """Whether what a block computes a value from is the same each time: no arguments, no memory."""
    ops = slice_of([value], block)
    inputs = {used for op in ops for used in op.operands} | {value}
    return all(is_plain(op) for op in ops) and not any(used.owner is block for used in inputs)


class Proofs:
    """Facts about the values of a function, found out when first asked for.

    They stay true while loops are raised, since a value that is replaced is not asked for again.
    """

    def __init__(self, function: func.Func) -> None:
        self._function = function
        self._ranges: Ranges | None = None
        self.polynomials = Polynomials()

    @property
    def ranges(self) -> Ranges:
        """Bounds of the function's values."""
        if self._ranges is None:
            self._ranges = Ranges(self._function, self.polynomials)
        return self._ranges

    def in_range(self, load: mem.Load, at: Block) -> bool:
        """Whether all indices of an access are in range whenever control is in a block."""
        polynomials = self.polynomials
        for axis, value in enumerate(load.indices):
            extent = polynomials.extent(load.ref, axis)
            if extent is None:
                return False
            if not self.ranges.proves(value, "ge", 0, at) or not self.ranges.proves(value, "lt", extent, at):
                return False
        return True

    def same_value(self, a: Value, b: Value) -> bool:
        """Whether two i64 values are equal."""
        return a is b or self.polynomials.of(a) == self.polynomials.of(b)

    def distance(self, a: Sequence[Value], b: Sequence[Value]) -> bool | None:
        """Whether two lists of indices name the same element: yes, no, or None when that is open."""
        differences = [
            (self.polynomials.of(x) - self.polynomials.of(y)).as_constant for x, y in zip(a, b, strict=True)
        ]
        if any(differences):
            return False
        return True if all(d == 0 for d in differences) else None


class Domain:
    """The points of some iterators of a structured op, for proofs about affine expressions over them."""

    def __init__(self, op: st.Apply, proofs: Proofs) -> None:
        self.op = op
        self.proofs = proofs

    def nonnegative(self, expr: AffineExpr, at: Block) -> bool:
        """Whether an expression is at least 0 at all points of the iterators in it."""
        for iterator in range(len(expr.dims) - 1, -1, -1):
            factor = expr.coefficient(iterator)
            if factor:
                bound = self.op.lower[iterator] if factor > 0 else self.op.upper[iterator] - 1
                expr = without(expr, iterator) + bound * factor
        return self.proofs.ranges.nonnegative(self.polynomial(expr), at)

    def polynomial(self, expr: AffineExpr) -> SizeExpr:
        """An expression without iterators as a polynomial."""
        total = constant(expr.constant)
        for number, factor in enumerate(expr.symbols):
            if factor:
                total = total + self.proofs.ranges.exact(self.op.symbols[number]) * factor
        return total

    def in_range(self, ref: Value, map_: AffineMap, at: Block) -> bool:
        """Whether an access is in range at all points of the iterators that its map uses."""
        for axis, expr in enumerate(map_.results):
            extent = self.proofs.polynomials.extent(ref, axis)
            if extent is None or not self.nonnegative(expr, at):
                return False
            last = self._greatest(expr)
            if not self.proofs.ranges.nonnegative(extent - 1 - self.polynomial(last), at):
                return False
        return True

    def _greatest(self, expr: AffineExpr) -> AffineExpr:
        for iterator in range(len(expr.dims) - 1, -1, -1):
            factor = expr.coefficient(iterator)
            if factor:
                bound = self.op.upper[iterator] - 1 if factor > 0 else self.op.lower[iterator]
                expr = without(expr, iterator) + bound * factor
        return expr

    def nonempty(self, iterator: int, at: Block) -> bool:
        """Whether an iterator has a value whatever the ones before it are."""
        return self.nonnegative(self.op.upper[iterator] - self.op.lower[iterator] - 1, at)


def without(expr: AffineExpr, iterator: int) -> AffineExpr:
    """The expression with one iterator's term taken out."""
    dims = tuple(0 if i == iterator else c for i, c in enumerate(expr.dims))
    return AffineExpr(dims, expr.symbols, expr.constant)


Access = tuple[Value, AffineMap | None]
"""A ref and how it is indexed; None stands for indices that are not affine."""


def reads_of(op: st.Apply) -> Iterator[Access]:
    """What the inputs and the body of a structured op read."""
    yield from zip(op.inputs, op.input_maps, strict=True)
    for inner in op.nested():
        if isinstance(inner, mem.Load):
            yield inner.ref, None


def writes_of(op: st.Apply) -> Iterator[Access]:
    """What a structured op writes."""
    yield from zip(op.outputs, op.output_maps, strict=True)


def extend(op: st.Apply, expr: AffineExpr, nest: Nest) -> AffineExpr | None:
    """An expression of an op inside a nest over the counters of the nest, then the op's iterators; None when the
    op's symbols are not affine in the counters."""
    if expr.is_constant:
        return expr
    shifted = AffineExpr((0,) * len(nest.counters) + expr.dims, (), expr.constant)
    parts: list[AffineExpr] = [shifted] if expr.dims or expr.constant else []
    for number, factor in enumerate(expr.symbols):
        if factor:
            part = nest.expr(op.symbols[number])
            if part is None:
                return None
            parts.append(part if factor == 1 else part * factor)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def extend_map(op: st.Apply, map_: AffineMap, nest: Nest) -> AffineMap | None:
    """A map of an op inside a nest, as `extend` gives its results."""
    results = [extend(op, expr, nest) for expr in map_.results]
    made = tuple(expr for expr in results if expr is not None)
    return AffineMap(made) if len(made) == len(results) else None


Limits = Sequence["tuple[int, int] | None"]
"""The least and greatest value of each iterator of a nest, where constants bound them."""


def limits_of(lower: Sequence[AffineExpr | None], upper: Sequence[AffineExpr | None]) -> Limits:
    """The limits that constant bounds give."""
    return [
        (low.constant, high.constant - 1)
        if low is not None and high is not None and low.is_constant and high.is_constant
        else None
        for low, high in zip(lower, upper, strict=True)
    ]


def conflict(
    iterator: int, writes: Sequence[Access], others: Sequence[Access], limits: Limits = ()
) -> Access | None:
    """A write that may meet an access of another value of `iterator`, or None when there is none."""
    for ref, map_ in writes:
        for other, other_map in others:
            if may_alias(ref, other) and not (
                ref is other
                and map_ is not None
                and other_map is not None
                and _separate(iterator, map_, other_map, limits)
            ):
                return ref, map_
    return None


def _separate(iterator: int, a: AffineMap, b: AffineMap, limits: Limits) -> bool:
    """Whether two accesses meet at equal values of `iterator` alone, or never.

    That holds when one index is `c * iterator + rest` in both, and the two values of `rest` are always less than
    `c` apart; or where they are a constant apart that `c` does not divide.
    """
    for x, y in zip(a.results, b.results, strict=True):
        factor = x.coefficient(iterator)
        if factor != y.coefficient(iterator) or x.symbols != y.symbols:
            continue
        first, second = (_span(without(expr, iterator), limits) for expr in (x, y))
        if first is None or second is None:
            continue
        least, most = first[0] - second[1], first[1] - second[0]
        if max(abs(least), abs(most)) < abs(factor):
            return True
        if least == most != 0 and (not factor or least % factor):
            return True
    return False


def _span(expr: AffineExpr, limits: Limits) -> tuple[int, int] | None:
    """The least and greatest value of an expression's iterators and constant."""
    low = high = expr.constant
    for number, factor in enumerate(expr.dims):
        if factor:
            limit = limits[number] if number < len(limits) else None
            if limit is None:
                return None
            ends = (factor * limit[0], factor * limit[1])
            low, high = low + min(ends), high + max(ends)
    return low, high


def is_costly(op: Operation) -> bool:
    """Whether an operation is too slow to be repeated in an inner loop."""
    return bool(op.regions) or (isinstance(op, arith.Elementwise) and op.fn in COSTLY)


def sweep(block: Block, kept: Container[Value] = ()) -> None:
    """Erase what nothing uses any more, but for what gives a value that is kept."""
    for op in reversed(block):
        dead = op.results and not any(value.uses or value in kept for value in op.results)
        if dead and is_silent(op):
            op.erase()
