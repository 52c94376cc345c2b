# SPDX-License-Identifier: Apache-2.0
"""Which elements of its parameters every launch of a kernel writes: boxes between bounds that its sizes give.

A box grows from the element of a store, one loop at a time: what one iteration writes, moved by the counter, is an
interval along the axis that the counter walks. Only stores that no condition guards count, and of those to memory
that the kernel reads as well, only what is certain to be stored even if it may equal what is there. In doubt, an
element is in no box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyasc.ir import sizes
from pyasc.ir.affine import AffineExpr
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, mem, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import i64
from pyasc.ir.location import Location
from pyasc.ir.record import Record, changed
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.effects import is_local, read_refs, root_of, written_refs

_ONE = sizes.constant(1)


class Covered(Record):
    """Elements of a parameter, from `lower` to `upper` (exclusive) along each axis, that a launch writes.

    It does so where every polynomial in `positive` is greater than 0. All of them are over the sizes and the i64
    parameters of the kernel. `loc` is where the store is written. What stood there before is not to be taken for
    unused: a core may read an element that it writes, as where a value runs through a loop.
    """

    param: str
    lower: tuple[SizeExpr, ...]
    upper: tuple[SizeExpr, ...]
    positive: tuple[SizeExpr, ...]
    loc: Location

    def at(self, numbers: Mapping[str, int], shape: Sequence[int]) -> tuple[slice, ...] | None:
        """The elements in a launch, of an array of this shape; None if there are none, or not all in the array."""
        if any(each.evaluate(numbers) <= 0 for each in self.positive):
            return None
        bounds = [
            (a.evaluate(numbers), b.evaluate(numbers)) for a, b in zip(self.lower, self.upper, strict=True)
        ]
        inside = all(0 <= a < b <= extent for (a, b), extent in zip(bounds, shape, strict=True))
        return tuple(slice(a, b) for a, b in bounds) if inside else None


class _Box(Record):
    """What some operations write of the memory behind `root`, with counters of loops around them in the bounds."""

    root: Value
    lower: tuple[SizeExpr, ...]
    upper: tuple[SizeExpr, ...]
    loc: Location
    positive: tuple[SizeExpr, ...] = ()


def covered(func: Func) -> tuple[Covered, ...]:
    """The boxes of a kernel at the loop level. Parameters that share memory with others are in none."""
    if func.attrs.get("aliases"):
        return ()
    boxes = _Boxes(func)
    found = [boxes.named(box) for box in boxes.of_block(func.body.block)]
    return tuple(dict.fromkeys(each for each in found if each is not None))


class _Boxes:
    """The boxes of the operations of one function."""

    def __init__(self, func: Func) -> None:
        self._polynomials = Polynomials()
        self._iterators = 0
        self._read = {root_of(ref) for op in func.walk() for ref in _reads(op)}
        numbers = [p for p in func.params if p.type == ScalarType(i64) and p.name not in func.sizes]
        self._names = {name: name for name in func.sizes} | {self._name(p): p.name for p in numbers}
        self._params = {p for p in func.params if isinstance(p.type, RefType)}

    def of_block(self, block: Block) -> list[_Box]:
        """What the operations of a block write when all of them run."""
        return [box for op in block for box in self._of(op)]

    def named(self, box: _Box) -> Covered | None:
        """The box with the names that a launch knows, if all of it can be said in these."""
        if any(name not in self._names for each in _polynomials_of(box) for name in each.names):
            return None
        lower, upper, positive = (
            tuple(_renamed(each, self._names) for each in part)
            for part in (box.lower, box.upper, box.positive)
        )
        open_ = tuple(each for each in positive if not _holds(each))
        return Covered(box.root.name, lower, upper, open_, box.loc)

    def _name(self, value: Value) -> str:
        name = self._polynomials.of(value).as_name
        assert name is not None
        return name

    def _of(self, op: Operation) -> Iterator[_Box]:
        match op:
            case mem.Store() if self._counts(op.ref, op.value):
                places = [self._polynomials.of(index) for index in op.indices]
                yield from self._box(op, op.ref, places, [place + 1 for place in places])
            case mem.Copy() if root_of(op.target) not in self._read:
                extents = [self._polynomials.extent(op.target, axis) for axis in range(_rank(op.target))]
                known = [each for each in extents if each is not None]
                if len(known) == len(extents):
                    yield from self._box(op, op.target, [sizes.ZERO] * len(known), known)
            case st.Apply(guarded=False):
                yield from self._applied(op)
            case scf.For():
                yield from self._looped(op)
            case scf.If():
                yield from self._either(op)
            case _:
                pass

    def _counts(self, ref: Value, value: Value) -> bool:
        """Whether a store is certain to be made: what stores an element over itself may be left out."""
        root = root_of(ref)
        return root not in self._read or not _may_be_kept(value, root)

    def _box(
        self, op: Operation, ref: Value, lower: Sequence[SizeExpr], upper: Sequence[SizeExpr]
    ) -> Iterator[_Box]:
        """The box in the array that a ref is a view of, if that is a parameter."""
        while isinstance(ref.op, mem.View):
            view = ref.op
            if any(integer_of(view.steps[axis]) != 1 for axis in view.axes if axis >= 0):
                return
            starts = [self._polynomials.of(offset) for offset in view.offsets]
            places = {axis: number for number, axis in enumerate(view.axes) if axis >= 0}
            shown = [places.get(axis) for axis in range(len(starts))]
            lower, upper = (
                [s + (end if k is None else bounds[k]) for s, k in zip(starts, shown, strict=True)]
                for bounds, end in ((lower, sizes.ZERO), (upper, _ONE))
            )
            ref = view.ref
        if ref in self._params:
            yield _Box(ref, tuple(lower), tuple(upper), op.loc)

    def _applied(self, op: st.Apply) -> Iterator[_Box]:
        names = [sizes.size(f"#{self._iterators + number}") for number in range(op.rank)]
        self._iterators += op.rank
        symbols = [self._polynomials.of(symbol) for symbol in op.symbols]
        bounds = [
            (_substituted(low, names, symbols), _substituted(high, names, symbols))
            for low, high in zip(op.lower, op.upper, strict=True)
        ]
        yielded = op.body.block.terminator.operands
        for ref, map_, value in zip(op.outputs, op.output_maps, yielded, strict=False):
            if not self._counts(ref, value):
                continue
            places = [_substituted(place, names, symbols) for place in map_.results]
            for box in self._box(op, ref, places, [place + 1 for place in places]):
                swept: _Box | None = box
                for name, (low, high) in zip(reversed(names), reversed(bounds), strict=True):
                    swept = None if swept is None else _swept(swept, name, low, high)
                if swept is not None:
                    yield swept

    def _looped(self, loop: scf.For) -> Iterator[_Box]:
        lower, upper = self._polynomials.of(loop.lower), self._polynomials.of(loop.upper)
        step = integer_of(loop.step)
        if step == -1:
            lower, upper = upper + 1, lower + 1
        counter = self._polynomials.of(loop.counter)
        for box in self.of_block(loop.body.block) if step in (1, -1) else ():
            swept = _swept(box, counter, lower, upper)
            if swept is not None:
                yield swept

    def _either(self, op: scf.If) -> Iterator[_Box]:
        """What both branches write."""
        other = {(b.root, b.lower, b.upper): b for b in self.of_block(op.otherwise.block)}
        for box in self.of_block(op.then.block):
            same = other.get((box.root, box.lower, box.upper))
            if same is not None:
                yield changed(box, positive=(*box.positive, *same.positive))


def _swept(box: _Box, counter: SizeExpr, low: SizeExpr, high: SizeExpr) -> _Box | None:
    """What all values of a counter from `low` to `high` write together, if that is a box."""
    name = counter.as_name
    assert name is not None
    if any(name in each.names for each in box.positive):
        return None
    axes = [
        axis
        for axis, bounds in enumerate(zip(box.lower, box.upper, strict=True))
        if any(name in each.names for each in bounds)
    ]
    if not axes:
        return changed(box, positive=(*box.positive, high - low))
    return _grown(box, axes[0], counter, low, high) if len(axes) == 1 else None


def _grown(box: _Box, axis: int, counter: SizeExpr, low: SizeExpr, high: SizeExpr) -> _Box | None:
    """What the values of a counter that moves a box along one axis make of it, if that leaves no gaps."""
    name = counter.names[0]
    width = box.upper[axis] - box.lower[axis]
    factor, known = _factor(box.lower[axis], name), width.as_constant
    if factor is None or name in width.names or (abs(factor) > 1 if known is None else known < abs(factor)):
        return None
    first, last = (low, high - 1) if factor > 0 else (high - 1, low)
    still = box.lower[axis] - counter * factor
    # An interval of single elements is empty by itself where the loop does not run.
    needed = (high - low,) if known is None or known > 1 else ()
    return changed(
        box,
        lower=_with(box.lower, axis, still + first * factor),
        upper=_with(box.upper, axis, still + last * factor + width),
        positive=(*box.positive, *needed, *((width,) if known is None else ())),
    )


def _factor(expr: SizeExpr, name: str) -> int | None:
    """What a name is multiplied with, where it stands in one term, and by itself."""
    terms = [(monomial, factor) for monomial, factor in expr.terms if name in monomial]
    return terms[0][1] if len(terms) == 1 and terms[0][0] == (name,) else None


def _with(bounds: tuple[SizeExpr, ...], axis: int, bound: SizeExpr) -> tuple[SizeExpr, ...]:
    return (*bounds[:axis], bound, *bounds[axis + 1 :])


def _substituted(expr: AffineExpr, names: Sequence[SizeExpr], symbols: Sequence[SizeExpr]) -> SizeExpr:
    total = sizes.constant(expr.constant)
    for factors, values in ((expr.dims, names), (expr.symbols, symbols)):
        for factor, value in zip(factors, values, strict=False):
            total = total + value * factor
    return total


def _renamed(expr: SizeExpr, names: Mapping[str, str]) -> SizeExpr:
    total = sizes.ZERO
    for monomial, factor in expr.terms:
        term = sizes.constant(factor)
        for name in monomial:
            term = term * sizes.size(names[name])
        total = total + term
    return total


def _holds(positive: SizeExpr) -> bool:
    number = positive.as_constant
    return number is not None and number > 0


def _polynomials_of(box: _Box) -> tuple[SizeExpr, ...]:
    return (*box.lower, *box.upper, *box.positive)


def _rank(ref: Value) -> int:
    assert isinstance(ref.type, RefType)
    return len(ref.type.shape)


def _reads(op: Operation) -> list[Value]:
    """The refs whose elements an operation itself reads, or has to read to keep them where it may not write."""
    found = [*op.inputs] if isinstance(op, st.Apply) else read_refs(op)
    if any(isinstance(each, (scf.If, scf.While)) for each in op.ancestors()):
        return [*found, *written_refs(op)]
    if isinstance(op, st.Apply):
        kept = range(len(op.outputs)) if op.guarded else () if op.inits else op.combined
        found += [op.outputs[k] for k in kept]
    return found


def _may_be_kept(value: Value, root: Value) -> bool:
    """Whether a value may be an element of the array as it is, or went through a buffer that may hold such."""
    source = _loaded_from(value)
    if source is not None:
        return root_of(source) is root or is_local(root_of(source))
    op = value.op
    return (
        isinstance(op, arith.Elementwise)
        and op.fn == "select"
        and any(_may_be_kept(arm, root) for arm in op.args[1:])
    )


def _loaded_from(value: Value) -> Value | None:
    """The ref that a value is an element of, where it is just that."""
    if isinstance(value.op, mem.Load):
        return value.op.ref
    block = value.block
    apply = None if block is None or value.op is not None else block.parent_op
    if isinstance(apply, st.Apply) and block is apply.body.block and value.index >= apply.rank:
        return apply.inputs[value.index - apply.rank]
    return None
