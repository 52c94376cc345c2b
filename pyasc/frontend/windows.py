# SPDX-License-Identifier: Apache-2.0
"""Sorting, padding, convolution and pooling: arguments checked here, elements computed by `language.composed`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pyasc.frontend import arithmetic, numeric, shapes, views
from pyasc.frontend.composed import call_composed
from pyasc.frontend.elementwise import table_function
from pyasc.frontend.extremes import smallest_or_largest
from pyasc.frontend.reductions import axes_of
from pyasc.frontend.values import FALSE, MINUS_ONE, NONE, ONE, TRUE, ZERO, Const, Slice, Tensor, Tuple, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.language import composed

_ADD, _SUB, _MUL, _DIV, _MOD = (
    arithmetic.BINARY[op] for op in (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
)
_WHOLE = Slice(None, None, None)
_CONSTANT = Const("constant")
_PAIR = "an integer, or a pair of integers"


def sort(v: Visitor, array: Val, axis: Val = MINUS_ONE) -> Val:
    """`asc.sort`: ascending, NaN last."""
    return _ordered(v, array, axis, FALSE, NONE)[0]


def argsort(v: Visitor, array: Val, axis: Val = MINUS_ONE) -> Val:
    """`asc.argsort`: a stable order."""
    return _ordered(v, array, axis, FALSE, NONE)[1]


def topk(v: Visitor, array: Val, k: Val, axis: Val = MINUS_ONE) -> Val:
    """`asc.topk`: the largest elements first, and where they are; NaN counts as the largest."""
    numeric.index(v, k)
    return Tuple(_ordered(v, array, axis, TRUE, k))


def _ordered(v: Visitor, array: Val, axis: Val, descending: Val, count: Val) -> tuple[Val, Val]:
    """The first `count` (all: None) elements along an axis in order, and their indices."""
    value = numeric.as_tensor(v, array)
    if axis == NONE:
        value, axis = shapes.flatten(v, value), MINUS_ONE
    (position,) = axes_of(v, axis, len(value.shape))
    last = [k for k in range(len(value.shape)) if k != position]
    front = numeric.as_tensor(v, views.permuted(v, value, [*last, position]))
    lengths = [numeric.length(v, front, k) for k in range(len(front.shape))]
    rows = shapes.reshape(v, front, shapes.product(v, lengths[:-1]), lengths[-1])
    keys = numeric.cast_to(v, rows, dtypes.u8) if front.dtype.is_bool else rows
    order = call_composed(v, composed.argsort, keys, descending)
    if count != NONE:
        _check_count(v, count, lengths[-1])
        order = views.basic_view(v, numeric.as_tensor(v, order), [_WHOLE, Slice(None, count, None)])
        lengths[-1] = count
    back = [*range(position), len(last), *range(position, len(last))]

    def restored(found: Val) -> Val:
        return views.permuted(v, numeric.as_tensor(v, shapes.reshape(v, found, *lengths)), back)

    return restored(call_composed(v, composed.along_rows, rows, order)), restored(order)


def _check_count(v: Visitor, count: Val, length: Val) -> None:
    fits = arithmetic.compare(v, arithmetic.COMPARE[ast.LtE], count, length)
    message = "asc.topk of more elements than the axis has"
    condition = numeric.truth(v, fits)
    if condition is False:
        raise v.error(None, "PA0506", message, hint="k is at most the size of the axis")
    if condition is not True:
        numeric.check(
            v,
            condition,
            "ValueError",
            f"{message}: {{}} of {{}}",
            [numeric.index(v, each) for each in (count, length)],
        )


def pad(v: Visitor, array: Val, widths: Val, mode: Val = _CONSTANT, constant_values: Val = ZERO) -> Val:
    """`asc.pad`: constants, or elements of the axis over again."""
    value = numeric.as_tensor(v, array)
    place = _PLACES.get(mode.value) if isinstance(mode, Const) else None
    if place is None and mode != _CONSTANT:
        modes = ", ".join(map(repr, ("constant", *_PLACES)))
        raise v.error(None, "PA0408", f"asc.pad has the modes {modes}", hint="gather with computed indices")
    for axis, (before, after) in enumerate(_widths(v, widths, len(value.shape))):
        if (before, after) == (ZERO, ZERO):
            continue
        if place is None:
            value = _constant_padded(v, value, axis, (before, after), constant_values)
        else:
            value = _repeated(v, value, axis, (before, after), place)
    return value


def _widths(v: Visitor, widths: Val, rank: int) -> list[tuple[Val, Val]]:
    """The elements to add before and after each axis, from the forms that NumPy takes."""
    found = widths.items if isinstance(widths, Tuple) else (widths,)
    if all(not isinstance(each, Tuple) for each in found):
        pairs = [Tuple((found[0], found[-1]))] * rank if len(found) in (1, 2) else []
    else:
        pairs = list(found) * rank if len(found) == 1 else list(found)
    result = [
        (each.items[0], each.items[-1])
        for each in pairs
        if isinstance(each, Tuple) and len(each.items) in (1, 2)
    ]
    if len(result) != rank:
        raise v.error(
            None,
            "PA0408",
            "these widths do not fit the array",
            hint="write ((before, after), ...), a pair an axis",
        )
    for each in (size for pair in result for size in pair):
        shapes.checked_shape(v, [each])
    return result


def _constant_padded(v: Visitor, value: Tensor, axis: int, widths: tuple[Val, Val], fill: Val) -> Tensor:
    parts: list[Val] = [value]
    for at_end, width in enumerate(widths):
        if width == ZERO:
            continue
        lengths = [numeric.length(v, value, k) for k in range(len(value.shape))]
        lengths[axis] = width
        block = shapes.filled(v, lengths, numeric.cast_to(v, fill, value.dtype), value.dtype)
        parts.insert(len(parts) * at_end, block)
    return numeric.as_tensor(v, shapes.concatenate(v, Tuple(tuple(parts)), Const(axis)))


Place = Callable[[Visitor, Val, Val], Val]
"""The element that stands at a place, which may be negative or behind the end, of an axis of some length."""


def _repeated(v: Visitor, value: Tensor, axis: int, widths: tuple[Val, Val], place: Place) -> Tensor:
    from pyasc.frontend.rearrange import take

    length = numeric.length(v, value, axis)
    _check_not_empty(v, length)
    total = arithmetic.binary(v, _ADD, arithmetic.binary(v, _ADD, length, widths[0]), widths[1])
    places = shapes.generate(v, [total], dtypes.i64, lambda k: arithmetic.binary(v, _SUB, k[0], widths[0]))
    return numeric.as_tensor(v, take(v, value, place(v, places, length), Const(axis)))


def _check_not_empty(v: Visitor, length: Val) -> None:
    message = "asc.pad cannot repeat elements of an empty axis"
    fits = numeric.truth(v, arithmetic.compare(v, arithmetic.COMPARE[ast.Gt], length, ZERO))
    if fits is False:
        raise v.error(None, "PA0506", message, hint="pad it with constants")
    if fits is not True:
        numeric.check(v, fits, "ValueError", message)


def _clipped(v: Visitor, place: Val, length: Val) -> Val:
    from pyasc.frontend.activations import clip

    return clip(v, place, ZERO, arithmetic.binary(v, _SUB, length, ONE))


def _wrapped(v: Visitor, place: Val, length: Val) -> Val:
    return arithmetic.binary(v, _MOD, place, length)


def _mirrored(v: Visitor, place: Val, length: Val, again: int) -> Val:
    """Forth and back; the ends come once (`again` is 0) or twice (1)."""
    there = arithmetic.binary(v, _SUB, arithmetic.binary(v, _MUL, length, Const(2)), Const(2 - 2 * again))
    period = there if again else smallest_or_largest(v, "max", (there, ONE))
    forth = arithmetic.binary(v, _MOD, place, period)
    back = arithmetic.binary(v, _SUB, arithmetic.binary(v, _SUB, there, Const(again)), forth)
    return table_function(v, "minimum", (forth, table_function(v, "maximum", (back, ZERO))))


_PLACES: dict[str, Place] = {
    "edge": _clipped,
    "reflect": lambda v, place, length: _mirrored(v, place, length, 0),
    "symmetric": lambda v, place, length: _mirrored(v, place, length, 1),
    "wrap": _wrapped,
}


def _pair(v: Visitor, value: Val, what: str) -> tuple[Val, Val]:
    items = value.items if isinstance(value, Tuple) else (value, value)
    if len(items) != 2:
        raise v.error(None, "PA0408", f"{what} is {_PAIR}", hint=f"write {what}=2 or {what}=(2, 2)")
    for each in items:
        numeric.index(v, each)
    return items[0], items[1]


def _positive(v: Visitor, pair: tuple[Val, Val], what: str) -> None:
    for each in pair:
        if isinstance(each, Const) and each.value < 1:
            raise v.error(None, "PA0506", f"{what} must be at least 1", hint="use a positive integer")
        if not isinstance(each, Const):
            raise v.error(None, "PA0307", f"{what} must be known when the kernel is compiled")


def _output_size(v: Visitor, length: Val, reach: Val, step: Val) -> Val:
    """`(length - reach) // step + 1` windows; refuses an axis that holds none."""
    free = arithmetic.binary(v, _SUB, length, reach)
    if isinstance(free, Const) and free.value < 0:
        raise v.error(
            None,
            "PA0506",
            "the window is larger than the padded array",
            hint="pad more, or use a smaller window",
        )
    count = free if step == ONE else arithmetic.binary(v, _DIV, free, step)
    return arithmetic.binary(v, _ADD, count, ONE)


def conv2d(
    v: Visitor,
    x: Val,
    w: Val,
    bias: Val = NONE,
    stride: Val = ONE,
    padding: Val = ZERO,
    dilation: Val = ONE,
    groups: Val = ONE,
) -> Val:
    """`asc.conv2d` of an (n, c, h, w) array with (f, c / groups, p, q) weights."""
    images, weights = numeric.as_tensor(v, x), numeric.as_tensor(v, w)
    if len(images.shape) != 4 or len(weights.shape) != 4:
        raise v.error(
            None,
            "PA0502",
            "asc.conv2d takes arrays of 4 dimensions",
            hint="the axes are (n, c, h, w) and (f, c, p, q)",
        )
    number = numeric.promoted(v, (images, weights))
    steps, spread = _pair(v, stride, "stride"), _pair(v, dilation, "dilation")
    _positive(v, steps, "stride")
    _positive(v, spread, "dilation")
    _positive(v, (groups, groups), "groups")
    border = _pair(v, padding, "padding")
    padded = numeric.as_tensor(
        v, pad(v, images, Tuple((Tuple((ZERO, ZERO)), Tuple((ZERO, ZERO)), *(Tuple((b, b)) for b in border))))
    )
    lengths = [[numeric.length(v, each, k) for k in range(4)] for each in (padded, weights)]
    per_group = _same_channels(v, lengths, groups)
    filters = shapes.divided(lengths[1][0], groups)
    if filters is None:
        raise v.error(
            None,
            "PA0502",
            "the number of filters is no multiple of groups",
            hint="declare it as a number, or as a multiple",
        )
    reach = [_reach(v, size, gap) for size, gap in zip(lengths[1][2:], spread, strict=True)]
    size = [_output_size(v, *each) for each in zip(lengths[0][2:], reach, steps, strict=True)]
    grouped = shapes.reshape(
        v, numeric.cast_to(v, padded, number.dtype), lengths[0][0], groups, per_group, *lengths[0][2:]
    )
    kernels = shapes.reshape(v, numeric.cast_to(v, weights, number.dtype), groups, filters, *lengths[1][1:])
    found = call_composed(
        v, composed.conv2d, grouped, kernels, Tuple(steps), Tuple(spread), Tuple(tuple(size))
    )
    result = shapes.reshape(v, found, lengths[0][0], lengths[1][0], *size)
    if bias == NONE:
        return result
    column = views.basic_view(v, shapes.base_of(v, bias), [_WHOLE, NONE, NONE])
    return arithmetic.binary(v, _ADD, result, column)


def _reach(v: Visitor, size: Val, gap: Val) -> Val:
    """From the first to the last element of a window: `(size - 1) * gap + 1`."""
    return arithmetic.binary(
        v, _ADD, arithmetic.binary(v, _MUL, arithmetic.binary(v, _SUB, size, ONE), gap), ONE
    )


def _same_channels(v: Visitor, lengths: Sequence[Sequence[Val]], groups: Val) -> Val:
    """The channels of one group, which the weights must have too."""
    wanted = arithmetic.binary(v, _MUL, lengths[1][1], groups)
    shapes.require_equal(v, lengths[0][1], wanted, "asc.conv2d: {} channels, the weights are for {}")
    return lengths[1][1]


def _windows(
    v: Visitor, x: Val, kernel_size: Val, stride: Val, padding: Val, fill: Val
) -> tuple[Tensor, list[Val], list[Val]]:
    """An array as (m, h, w), padded; the leading sizes; the window, the steps and the number of windows."""
    value = numeric.as_tensor(v, x)
    if len(value.shape) < 2:
        raise v.error(
            None,
            "PA0502",
            "pooling takes an array of at least 2 dimensions",
            hint="the last two axes are pooled",
        )
    window = _pair(v, kernel_size, "kernel_size")
    steps = window if stride == NONE else _pair(v, stride, "stride")
    _positive(v, window, "kernel_size")
    _positive(v, steps, "stride")
    border = _pair(v, padding, "padding")
    outer = [Tuple((ZERO, ZERO))] * (len(value.shape) - 2)
    padded = numeric.as_tensor(
        v, pad(v, value, Tuple((*outer, *(Tuple((b, b)) for b in border))), _CONSTANT, fill)
    )
    lengths = [numeric.length(v, padded, k) for k in range(len(padded.shape))]
    size = [_output_size(v, *each) for each in zip(lengths[-2:], window, steps, strict=True)]
    flat = shapes.reshape(v, padded, shapes.product(v, lengths[:-2]), *lengths[-2:])
    return numeric.as_tensor(v, flat), lengths[:-2], [Tuple(window), Tuple(steps), Tuple(tuple(size))]


def max_pool2d(v: Visitor, x: Val, kernel_size: Val, stride: Val = NONE, padding: Val = ZERO) -> Val:
    """`asc.max_pool2d` over the last two axes."""
    lowest = _lowest(numeric.as_tensor(v, x).dtype)
    flat, leading, how = _windows(v, x, kernel_size, stride, padding, lowest)
    found = call_composed(v, composed.max_pool2d, flat, *how, lowest)
    return shapes.reshape(v, found, *leading, *_items(how[2]))


def avg_pool2d(v: Visitor, x: Val, kernel_size: Val, stride: Val = NONE, padding: Val = ZERO) -> Val:
    """`asc.avg_pool2d` over the last two axes; padding counts as zeros. Integers are averaged in float32."""
    value = numeric.as_tensor(v, x)
    if not value.dtype.is_float:
        value = numeric.cast_to(v, value, dtypes.f32)
    flat, leading, how = _windows(v, value, kernel_size, stride, padding, ZERO)
    found = call_composed(v, composed.avg_pool2d, flat, *how)
    return shapes.reshape(v, found, *leading, *_items(how[2]))


def _items(value: Val) -> tuple[Val, ...]:
    assert isinstance(value, Tuple)
    return value.items


def _lowest(dtype: DType) -> Const:
    if dtype.is_float:
        return Const(float("-inf"))
    return Const(-(1 << (dtype.bits - 1)) if dtype.kind == "i" else 0)
