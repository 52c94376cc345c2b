# SPDX-License-Identifier: Apache-2.0
"""Views of arrays and tensors by integers, slices, `...` and None, and axes put in another order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.frontend import arithmetic, moving_slices, numeric
from pyasc.frontend.arithmetic import BINARY
from pyasc.frontend.values import Array, Const, Scalar, SizeVal, Slice, Tensor, Val, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir.core import Value
from pyasc.ir.dialects import mem, tensor
from pyasc.ir.sizes import Dim, SizeExpr
from pyasc.ir.types import RefType, TensorType

_ADD, _SUB, _DIV = (BINARY[op] for op in (ast.Add, ast.Sub, ast.FloorDiv))


@dataclass
class Box:
    """The parts of a view: one offset, size and step a source axis, and the axes and extents of the result."""

    offsets: list[Val] = field(default_factory=list)
    sizes: list[Val] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    axes: list[int] = field(default_factory=list)
    shape: list[Dim] = field(default_factory=list)
    contiguous: bool = True

    def whole(self, length: Val, axis: int) -> None:
        """All of an axis."""
        self.add(Const(0), length, 1)
        self.keep(axis, length)

    def add(self, offset: Val, size: Val, step: int) -> None:
        """The part of the next source axis."""
        self.offsets.append(offset)
        self.sizes.append(size)
        self.steps.append(step)

    def keep(self, axis: int, size: Val) -> None:
        """A source axis (or -1: a new one) is the next axis of the result."""
        self.axes.append(axis)
        self.shape.append(numeric.dim_of(size))


def basic_view(v: Visitor, base: Array | Tensor, indices: Sequence[Val]) -> Array | Tensor:
    """The part that integers, slices, `...` and None name, without copying."""
    box = Box()
    for index in expanded(v, base, indices):
        axis = len(box.offsets)
        if isinstance(index, Const) and index.value is None:
            box.keep(-1, Const(1))
        elif isinstance(index, Slice):
            _slice(v, box, numeric.length(v, base, axis), axis, index)
        elif is_number(index):
            numeric.refuse_bool_index(v, index)
            box.add(Scalar(in_range(v, index, numeric.length(v, base, axis)), weak=True), Const(1), 1)
        else:
            hint = "use integers, slices, `...`, None, or integer arrays"
            raise v.error(None, "PA0505", f"{numeric.describe(index)} is not an index", hint=hint)
    return make_view(v, base, box)


def expanded(v: Visitor, base: Array | Tensor, indices: Sequence[Val]) -> list[Val]:
    """The indices with `...` and missing ones written out as full slices."""
    rank = len(base.shape)
    count = sum(1 for index in indices if not (isinstance(index, Const) and index.value in (None, ...)))
    if sum(isinstance(index, Const) and index.value is ... for index in indices) > 1:
        raise v.error(None, "PA0505", "`...` stands in an index once", hint="write `:` for single axes")
    full = [Slice(None, None, None)] * (rank - count)
    for k, index in enumerate(indices):
        if isinstance(index, Const) and index.value is ...:
            return [*indices[:k], *full, *indices[k + 1 :]]
    return [*indices, *full]


def make_view(v: Visitor, base: Array | Tensor, box: Box) -> Array | Tensor:
    """The view that a box describes; the base itself when it is all of it."""
    if _is_identity(base, box):
        return base
    offsets = [numeric.index(v, offset) for offset in box.offsets]
    sizes = [numeric.index(v, size) for size in box.sizes]
    steps = [numeric.index(v, Const(step)) for step in box.steps]
    axes, shape = tuple(box.axes), tuple(box.shape)
    if isinstance(base, Tensor):
        type_ = TensorType(shape, base.dtype)
        return Tensor(
            v.emit.value(
                tensor.View(
                    value=base.value, offsets=offsets, sizes=sizes, steps=steps, axes=axes, types=[type_]
                )
            )
        )
    source = numeric.element_ref(base.ref)
    layout = "row" if source.layout == "row" and _is_contiguous(base, box) else "strided"
    ref = RefType(shape, base.dtype, source.space, layout)
    return Array(
        v.emit.value(
            mem.View(ref=base.ref, offsets=offsets, sizes=sizes, steps=steps, axes=axes, types=[ref])
        )
    )


def _is_identity(base: Array | Tensor, box: Box) -> bool:
    rank = len(base.shape)
    return box.axes == list(range(rank)) and all(_is_whole(base, box, axis) for axis in range(rank))


def _is_whole(base: Array | Tensor, box: Box, axis: int) -> bool:
    offset = box.offsets[axis]
    at_start = isinstance(offset, Const) and offset.value == 0
    extent = base.shape[axis]
    return (
        at_start and box.steps[axis] == 1 and extent is not None and numeric.dim_of(box.sizes[axis]) == extent
    )


def _is_contiguous(base: Array | Tensor, box: Box) -> bool:
    """Whether the elements follow each other: single indices, then at most one range, then whole axes."""
    kept = [axis for axis in box.axes if axis >= 0]
    if kept != sorted(kept) or len(kept) != len(box.axes):
        return False
    first = next((a for a in range(len(base.shape)) if numeric.dim_of(box.sizes[a]) != 1), len(base.shape))
    if first < len(base.shape) and box.steps[first] != 1:
        return False
    return all(_is_whole(base, box, axis) for axis in range(first + 1, len(base.shape)))


def in_range(v: Visitor, index: Val, length: Val) -> Value:
    """A Python index as one counted from the front; out of range stops the kernel with IndexError."""
    # Where the launch gave a size of 0, a loop around may have no iteration.
    empty = v.known_sizes and isinstance(length, Const) and length.value == 0
    if isinstance(index, Const) and isinstance(length, Const) and not empty:
        number = int(index.value)
        if not -length.value <= number < length.value:
            raise v.error(
                None, "PA0504", f"index {number} is out of range", f"the axis has size {length.value}"
            )
        return v.emit.index(number % length.value)
    given, size = numeric.index(v, index), numeric.index(v, length)
    place = given
    zero = v.emit.index(0)
    counted = v.counters.get(place)
    if counted is not None and _is_within(counted, length):
        return place
    if isinstance(index, Const):
        place = v.emit.fn("add", size, place) if int(index.value) < 0 else place
    elif counted is None:
        place = v.emit.select(v.emit.fn("lt", place, zero), v.emit.fn("add", place, size), place)
    fine = v.emit.fn("and", v.emit.fn("ge", place, zero), v.emit.fn("lt", place, size))
    numeric.check(v, fine, "IndexError", "index {} is out of range for an axis of size {}", [given, size])
    return place


def _is_within(stop: Val, length: Val) -> bool:
    """Whether a counter from 0 to `stop` stays below a length."""
    if isinstance(stop, Const) and isinstance(length, Const):
        return stop.value <= length.value
    return isinstance(stop, SizeVal) and stop == length


def _slice(v: Visitor, box: Box, length: Val, axis: int, part: Slice) -> None:
    step = part.step or Const(1)
    if not (isinstance(step, Const) and isinstance(step.value, int) and not isinstance(step.value, bool)):
        if not (isinstance(step, Const) and step.value is None):
            raise v.error(None, "PA0206", "the step of a slice must be known when the kernel is compiled")
        step = Const(1)
    if step.value == 0:
        raise v.error(None, "PA0503", "the step of a slice must not be 0")
    start, stop = (None if p is None or p == Const(None) else p for p in (part.start, part.stop))
    known = _known_slice(length, start, stop, step.value)
    if known is not None:
        offset, size = Const(known.start), Const(len(known))
    elif step.value > 0:
        offset, size = _forward(v, length, start, stop, step.value)
    else:
        offset, size = _backward(v, length, start, stop, step.value)
    box.add(offset, size, step.value)
    box.keep(axis, size)


def _known_slice(length: Val, start: Val | None, stop: Val | None, step: int) -> range | None:
    parts = [p for p in (length, start, stop) if p is not None]
    if not all(isinstance(p, Const) and isinstance(p.value, int) for p in parts):
        return None
    first, last = (p.value if isinstance(p, Const) else None for p in (start, stop))
    bounds = slice(first, last, step)
    assert isinstance(length, Const)
    found = range(*bounds.indices(length.value))
    return found if len(found) else range(0, 0, step)


def _forward(v: Visitor, length: Val, start: Val | None, stop: Val | None, step: int) -> tuple[Val, Val]:
    moving = moving_slices.extent(v, length, start, stop, step)
    if moving is not None and start is not None:
        return start, moving
    low = Const(0) if start is None else _bound(v, length, start)
    high = length if stop is None else _bound(v, length, stop)
    span = arithmetic.binary(v, _SUB, high, low)
    if step != 1:
        span = arithmetic.binary(v, _DIV, arithmetic.binary(v, _ADD, span, Const(step - 1)), Const(step))
    return low, _not_negative(v, span, certain=start is None or (stop is None and step == 1))


def _not_negative(v: Visitor, span: Val, certain: bool) -> Val:
    """A size that a slice cannot make negative; known differences of sizes are checked instead of clamped."""
    if isinstance(span, Const):
        return Const(max(0, span.value))
    if certain:
        return span
    size = numeric.index(v, span)
    if not isinstance(numeric.size_polynomial(span), SizeExpr):
        return Scalar(v.emit.fn("maximum", size, v.emit.index(0)), weak=True)
    _assume_not_negative(v, span)
    numeric.check(v, v.emit.fn("ge", size, v.emit.index(0)), "IndexError", "a slice has {} elements", [size])
    return span


def _assume_not_negative(v: Visitor, size: Val) -> None:
    polynomial = numeric.size_polynomial(size)
    assert polynomial is not None
    v.not_negative.setdefault(polynomial)


def _bound(v: Visitor, length: Val, bound: Val) -> Val:
    """A bound of a slice, counted from the front and in range.

    Bounds that are polynomials in the sizes stay polynomials, so that shapes can be compared; that they are in
    range is assumed, and checked for callers that cannot compile anew. Others are clamped as Python does.
    """
    polynomial, whole = numeric.size_polynomial(bound), numeric.size_polynomial(length)
    if polynomial is not None and whole is not None:
        from_end = isinstance(bound, Const) and bound.value < 0
        place = arithmetic.size_val(whole + polynomial if from_end else polynomial)
        _check_bound(v, place, length)
        return place
    place, size, zero = numeric.index(v, bound), numeric.index(v, length), v.emit.index(0)
    if not (isinstance(bound, Const) and bound.value >= 0):
        place = v.emit.select(v.emit.fn("lt", place, zero), v.emit.fn("add", place, size), place)
        place = v.emit.fn("maximum", place, zero)
    return Scalar(v.emit.fn("minimum", place, size), weak=True)


def _check_bound(v: Visitor, place: Val, length: Val) -> None:
    if isinstance(place, Const) and place.value == 0:
        return
    left = arithmetic.binary(v, _SUB, length, place)
    for part in (place, left):
        if isinstance(part, Const) and part.value >= 0:
            continue
        key = (v.emit.builder.block, part)
        if key in v.checked_bounds:
            continue
        v.checked_bounds.add(key)
        _assume_not_negative(v, part)
        value = numeric.index(v, part)
        message = "a slice reaches {} beyond the axis"
        fine = v.emit.fn("ge", value, v.emit.index(0))
        numeric.check(v, fine, "IndexError", message, [v.emit.fn("neg", value)])


def _backward(v: Visitor, length: Val, start: Val | None, stop: Val | None, step: int) -> tuple[Val, Val]:
    size, one, none = numeric.index(v, length), v.emit.index(1), v.emit.index(-1)
    last = v.emit.fn("sub", size, one)
    high = last if start is None else v.emit.fn("minimum", _clamped(v, start, size), last)
    low = none if stop is None else v.emit.fn("minimum", _clamped(v, stop, size), last)
    if start is None and stop is None and step == -1:
        return Scalar(last, weak=True), length
    span = v.emit.fn("add", v.emit.fn("sub", high, low), v.emit.index(-step - 1))
    count = v.emit.fn("maximum", v.emit.fn("floordiv", span, v.emit.index(-step)), v.emit.index(0))
    offset = v.emit.fn("maximum", high, v.emit.index(0))
    return Scalar(offset, weak=True), Scalar(count, weak=True)


def _clamped(v: Visitor, bound: Val, size: Value) -> Value:
    place = numeric.index(v, bound)
    wrapped = v.emit.select(v.emit.fn("lt", place, v.emit.index(0)), v.emit.fn("add", place, size), place)
    return v.emit.fn("maximum", wrapped, v.emit.index(-1))


def permuted(v: Visitor, base: Array | Tensor, order: Sequence[int]) -> Array | Tensor:
    """The axes in another order."""
    box = Box()
    lengths = [numeric.length(v, base, axis) for axis in range(len(base.shape))]
    for length in lengths:
        box.add(Const(0), length, 1)
    for axis in order:
        box.keep(axis, lengths[axis])
    return make_view(v, base, box)
