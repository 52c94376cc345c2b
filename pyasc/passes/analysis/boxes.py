# SPDX-License-Identifier: Apache-2.0
"""Which elements an access touches in one iteration of a loop: a span of elements along each axis of the array.

Spans are computed for an iteration by its number, so that quotients and remainders of the counter, minima and the
bounds of slices become numbers, or polynomials over what is the same in all iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyasc.ir import sizes
from pyasc.ir.affine import AffineExpr
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, func, mem, scf, st
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import extent_operand, integer_of
from pyasc.passes.analysis.structure import is_inside

_ONE = sizes.constant(1)

_FOLDED: dict[str, Callable[[int, int], int]] = {
    "minimum": min,
    "maximum": max,
    "pymin": min,
    "pymax": max,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "gt": lambda a, b: int(a > b),
    "ge": lambda a, b: int(a >= b),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b if 0 <= b < 63 else 0,
    "shr": lambda a, b: a >> b if 0 <= b < 63 else -int(a < 0),
}


class Unknown(Exception):
    """What is touched depends on more than the number of the iteration."""


class Span(Record):
    """`count` elements from `start` on, `step` apart. Counts of symbols are taken to be at least 1."""

    start: SizeExpr
    count: SizeExpr
    step: int

    def meets(self, other: Span) -> bool:
        """Whether the two have an element in common for certain."""
        apart = (other.start - self.start).as_constant
        if apart is None:
            return False
        counts = (self.count.as_constant, other.count.as_constant)
        if None in counts:
            return apart == 0 and all(count is None or count > 0 for count in counts)
        first, second = counts
        assert first is not None and second is not None
        if self.step == other.step == 1:
            return max(0, apart) < min(first, apart + second)
        left = range(0, first * self.step, self.step)
        right = range(apart, apart + second * other.step, other.step)
        few, many = (left, right) if len(left) < len(right) else (right, left)
        return any(place in many for place in few)


_ANYWHERE = Span(sizes.ZERO, sizes.size("%unknown"), 1)


class Box(Record):
    """The elements that one operation reads or writes in one array."""

    op: Operation
    root: Value
    writes: bool
    spans: tuple[Span, ...]

    def meets(self, other: Box) -> bool:
        """Whether the two have an element in common for certain."""
        return all(a.meets(b) for a, b in zip(self.spans, other.spans, strict=True))


class Iteration:
    """The values of one iteration of a loop. `known` are numbers that stand for symbolic sizes.

    Without `cut`, slices are as long as they are written, also where the axis ends before. `has_steps` says whether
    anything was a quotient, a remainder, a minimum or a comparison.
    """

    def __init__(self, loop: scf.For, number: int, known: Mapping[str, int], cut: bool = True) -> None:
        self.loop = loop
        self.known = known
        self.cut = cut
        self.has_steps = False
        self._values: dict[Value, SizeExpr] = {}
        self._inner: dict[str, scf.For] = {}
        step = integer_of(loop.step)
        assert step is not None
        self._values[loop.counter] = self.of(loop.lower) + number * step

    def of(self, value: Value) -> SizeExpr:
        """An integer as a polynomial over what is the same in all iterations. Raises Unknown."""
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = self._compute(value)
        return found

    def _compute(self, value: Value) -> SizeExpr:
        match value.op:
            case arith.Constant(value=bool() | int() as number):
                return sizes.constant(int(number))
            case func.Size(symbol=symbol):
                return sizes.size(symbol).substitute(self.known)
            case mem.Dim(ref=ref, axis=axis):
                return self.extent(ref, axis)
            case arith.Elementwise(fn=fn, args=args):
                return self._elementwise(fn, [self.of(arg) for arg in args])
            case None:
                return self._argument(value)
            case _:
                return self._same_everywhere(value)

    def _elementwise(self, fn: str, args: Sequence[SizeExpr]) -> SizeExpr:
        match fn, args:
            case "add", (a, b):
                return a + b
            case "sub", (a, b):
                return a - b
            case "mul", (a, b):
                return a * b
            case "neg", (a,):
                return a * -1
            case "select", (condition, yes, no) if condition.as_constant is not None:
                return yes if condition.as_constant else no
            case "abs", (a,) if a.as_constant is not None:
                self.has_steps = True
                return sizes.constant(abs(a.as_constant))
            case "not", (a,) if a.as_constant is not None:
                return sizes.constant(1 - a.as_constant)
            case _, (a, b) if fn in _FOLDED and a.as_constant is not None and b.as_constant is not None:
                self.has_steps = True
                return sizes.constant(_FOLDED[fn](a.as_constant, b.as_constant))
            case _:
                return self._named(fn, args)

    def _named(self, fn: str, args: Sequence[SizeExpr]) -> SizeExpr:
        """A function of what is the same in all iterations, by its text."""
        if any(name in self._inner for arg in args for name in arg.names):
            raise Unknown
        return sizes.size(f"%{fn}({', '.join(map(str, args))})")

    def _argument(self, value: Value) -> SizeExpr:
        holder = value.block.parent_op if value.block is not None else None
        if is_inside(value, self.loop) and isinstance(holder, scf.For) and value is holder.counter:
            name = f"%inner{len(self._inner)}"
            self._inner[name] = holder
            return sizes.size(name)
        return self._same_everywhere(value)

    def _same_everywhere(self, value: Value) -> SizeExpr:
        if is_inside(value, self.loop):
            raise Unknown
        return sizes.size(f"%{id(value)}")

    def extent(self, ref: Value, axis: int) -> SizeExpr:
        """The extent of one axis of a ref. Raises Unknown."""
        assert isinstance(ref.type, RefType)
        extent = ref.type.shape[axis]
        if extent is not None:
            return sizes.lift(extent).substitute(self.known)
        source = extent_operand(ref, axis)
        if source is None:
            raise Unknown
        return self.of(source)

    def reaches(self, op: Operation) -> bool:
        """Whether the branches around an operation lead to it in this iteration. Raises Unknown."""
        inner = op
        for parent in op.ancestors():
            if parent is self.loop:
                return True
            if isinstance(parent, scf.If):
                condition = self.of(parent.condition).as_constant
                if condition is None:
                    raise Unknown
                side = parent.then if condition else parent.otherwise
                if inner.parent is not side.block:
                    return False
            inner = parent
        raise Unknown

    def boxes(self, op: Operation) -> Iterator[Box]:
        """What an operation reads and writes. Raises Unknown."""
        if not self.cut:
            self._uncut(op.operands)
        match op:
            case mem.Load() | mem.Store() | mem.Atomic():
                yield self._box(op, op.ref, not isinstance(op, mem.Load), self._points(op.indices))
            case mem.Copy():
                yield self._box(op, op.source, False, self._whole(op.source))
                yield self._box(op, op.target, True, self._whole(op.target))
            case st.Apply():
                for refs, maps, writes in (
                    (op.inputs, op.input_maps, False),
                    (op.outputs, op.output_maps, True),
                ):
                    for ref, map_ in zip(refs, maps, strict=True):
                        yield self._box(op, ref, writes, self._mapped(op, map_.results))
            case _:
                pass

    def _uncut(self, operands: Sequence[Value]) -> None:
        """Take slices as long as written: `max(min(b, N) - min(a, N), 0)` elements from `min(a, N)` on."""
        for value in operands:
            match value.op:
                case mem.View() as view:
                    self._uncut(view.operands)
                case arith.Elementwise(fn="maximum", args=[length, _]):
                    parts = _arguments("sub", length)
                    high, low = (_arguments("minimum", each) for each in parts) if parts else ((), ())
                    if high and low and high[1] is low[1]:
                        self._values[parts[1]] = self.of(low[0])
                        self._values[value] = self.of(high[0]) - self.of(low[0])
                case _:
                    pass

    def _whole(self, ref: Value) -> list[Span]:
        assert isinstance(ref.type, RefType)
        return [Span(sizes.ZERO, self.extent(ref, axis), 1) for axis in range(len(ref.type.shape))]

    def _points(self, indices: Sequence[Value]) -> list[Span]:
        """One element, or those that the loops inside walk along one axis each."""
        used: set[str] = set()
        return [self._walked(self.of(index), used) for index in indices]

    def _walked(self, place: SizeExpr, used: set[str]) -> Span:
        names = [name for name in place.names if name in self._inner]
        if not names:
            return Span(place, _ONE, 1)
        (name,) = names if len(names) == 1 else ("",)
        factor = next((c for monomial, c in place.terms if monomial == (name,)), 0)
        linear = all(monomial == (name,) or name not in monomial for monomial, _ in place.terms)
        if name in used or factor < 1 or not linear:
            raise Unknown
        used.add(name)
        inner = self._inner[name]
        lower, upper, step = self.of(inner.lower), self.of(inner.upper), integer_of(inner.step)
        if step is None or step < 1 or any(n in self._inner for n in (*lower.names, *upper.names)):
            raise Unknown
        start = place - sizes.size(name) * factor + lower * factor
        return Span(start, self._trips(lower, upper, step), factor * step)

    def _trips(self, lower: SizeExpr, upper: SizeExpr, step: int) -> SizeExpr:
        length = upper - lower
        known = length.as_constant
        if known is not None:
            return sizes.constant(max(0, -(-known // step)))
        return length if step == 1 else self._named("trips", [length, sizes.constant(step)])

    def _mapped(self, op: st.Apply, places: Sequence[AffineExpr]) -> list[Span]:
        used: set[int] = set()
        return [self._iterated(op, place, used) for place in places]

    def _iterated(self, op: st.Apply, place: AffineExpr, used: set[int]) -> Span:
        start = sizes.constant(place.constant)
        for symbol, factor in zip(op.symbols, place.symbols, strict=False):
            if factor:
                start = start + self.of(symbol) * factor
        walked = [(k, factor) for k, factor in enumerate(place.dims) if factor]
        if not walked:
            return Span(start, _ONE, 1)
        (iterator, step) = walked[0]
        lower, upper = (self._bound(op, bounds[iterator]) for bounds in (op.lower, op.upper))
        if len(walked) > 1 or iterator in used or step < 1:
            raise Unknown
        used.add(iterator)
        return Span(start + lower * step, self._trips(lower, upper, 1), step)

    def _bound(self, op: st.Apply, bound: AffineExpr) -> SizeExpr:
        if any(bound.dims):
            raise Unknown
        total = sizes.constant(bound.constant)
        for symbol, factor in zip(op.symbols, bound.symbols, strict=False):
            if factor:
                total = total + self.of(symbol) * factor
        return total

    def _box(self, op: Operation, ref: Value, writes: bool, spans: list[Span]) -> Box:
        """The spans in the array that a ref is a view of."""
        while isinstance(ref.op, mem.View):
            spans = self._through(ref.op, spans)
            ref = ref.op.ref
        open_axes = [any(name in self._inner for name in (*s.start.names, *s.count.names)) for s in spans]
        if self.cut and any(open_axes):
            raise Unknown
        known = [_ANYWHERE if is_open else span for span, is_open in zip(spans, open_axes, strict=True)]
        return Box(op, ref, writes, tuple(known))

    def _through(self, view: mem.View, spans: list[Span]) -> list[Span]:
        found: list[Span] = []
        for axis, (offset, step) in enumerate(zip(view.offsets, view.steps, strict=True)):
            start = self.of(offset)
            if axis not in view.axes:
                found.append(Span(start, _ONE, 1))
                continue
            span, factor = spans[view.axes.index(axis)], integer_of(step)
            if factor is None or factor < 1:
                raise Unknown
            found.append(Span(start + span.start * factor, span.count, span.step * factor))
        return found


def _arguments(fn: str, value: Value) -> Sequence[Value]:
    """The arguments when a function gives the value, else none."""
    op = value.op
    return op.args if isinstance(op, arith.Elementwise) and op.fn == fn else ()
