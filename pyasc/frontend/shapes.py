# SPDX-License-Identifier: Apache-2.0
"""Creation of arrays and changes of their shape."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pyasc.frontend import arithmetic, numeric, precision, snapshots, views
from pyasc.frontend.memory import checked_shape, element_type, shape_list
from pyasc.frontend.reductions import axes_of
from pyasc.frontend.values import (
    MINUS_ONE,
    NONE,
    ONE,
    ZERO,
    Array,
    Const,
    Row,
    Scalar,
    SizeVal,
    Tensor,
    Tuple,
    Val,
    is_number,
)
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Block, Region, Value
from pyasc.ir.dialects import tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.types import ScalarType, TensorType
from pyasc.language.dtypes import float32

_FLOAT32 = Const(float32)
_I64 = ScalarType(dtypes.i64)
_ADD, _SUB, _MUL, _DIV = (arithmetic.BINARY[op] for op in (ast.Add, ast.Sub, ast.Mult, ast.Div))


def filled(v: Visitor, sizes: Sequence[Val], value: Val, dtype: DType) -> Val:
    """A tensor with one number everywhere."""
    shape = checked_shape(v, sizes)
    if not shape:
        return numeric.cast_to(v, value, dtype)
    type_ = TensorType(shape, dtype)
    if isinstance(value, Const) and None not in shape:
        return Tensor(v.emit.constant(value.value, type_))
    opened = numeric.open_sizes(v, shape, sizes)
    return Tensor(
        v.emit.value(tensor.Splat(value=numeric.scalar(v, value, dtype), sizes=opened, types=[type_]))
    )


def zeros(v: Visitor, shape: Val, dtype: Val = _FLOAT32) -> Val:
    """`asc.zeros`."""
    return filled(v, shape_list(v, shape), ZERO, element_type(v, dtype))


def ones(v: Visitor, shape: Val, dtype: Val = _FLOAT32) -> Val:
    """`asc.ones`."""
    return filled(v, shape_list(v, shape), ONE, element_type(v, dtype))


def full(v: Visitor, shape: Val, value: Val, dtype: Val = NONE) -> Val:
    """`asc.full`."""
    found = numeric.operand(v, value)
    if not is_number(found):
        what = f"asc.full takes a number, found {numeric.describe(found)}"
        raise v.error(None, "PA0402", what, hint="use asc.broadcast_to for arrays")
    type_ = numeric.number_type(v, found).dtype if dtype == NONE else element_type(v, dtype)
    return filled(v, shape_list(v, shape), found, type_)


def _like(v: Visitor, array: Val, value: Val, dtype: Val) -> Val:
    base = base_of(v, array)
    return filled(v, _lengths(v, base), value, _type_like(v, base, dtype))


def _lengths(v: Visitor, base: Array | Tensor) -> list[Val]:
    return [numeric.length(v, base, axis) for axis in range(len(base.shape))]


def _type_like(v: Visitor, base: Array | Tensor, dtype: Val) -> DType:
    return base.dtype if dtype == NONE else element_type(v, dtype)


def zeros_like(v: Visitor, array: Val, dtype: Val = NONE) -> Val:
    """`asc.zeros_like`."""
    return _like(v, array, ZERO, dtype)


def ones_like(v: Visitor, array: Val, dtype: Val = NONE) -> Val:
    """`asc.ones_like`."""
    return _like(v, array, ONE, dtype)


def full_like(v: Visitor, array: Val, value: Val, dtype: Val = NONE) -> Val:
    """`asc.full_like`."""
    return _like(v, array, numeric.operand(v, value), dtype)


def empty_like(v: Visitor, array: Val, dtype: Val = NONE) -> Val:
    """`asc.empty_like`."""
    from pyasc.frontend.memory import allocate

    base = base_of(v, array)
    return allocate(v, _lengths(v, base), _type_like(v, base, dtype))


def base_of(v: Visitor, array: Val) -> Array | Tensor:
    """An operand with axes. Refuses numbers."""
    from pyasc.frontend.subscripts import row_view

    base = row_view(v, array) if isinstance(array, Row) else array
    if not isinstance(base, (Array, Tensor)):
        raise v.error(None, "PA0402", f"expected an array, found {numeric.describe(array)}")
    return base


def arange(v: Visitor, start: Val, stop: Val = NONE, step: Val = ONE, dtype: Val = NONE) -> Val:
    """`asc.arange`."""
    from pyasc.frontend.iteration import trips
    from pyasc.frontend.values import Range

    first, last = (ZERO, start) if stop == NONE else (start, stop)
    bounds = [numeric.operand(v, each) for each in (first, last, step)]
    for each in bounds:
        if not is_number(each):
            raise v.error(None, "PA0404", f"expected a number, found {numeric.describe(each)}")
    if any(numeric.number_type(v, each).dtype.is_float for each in bounds):
        return _float_range(v, bounds, dtype)
    if step == ZERO:
        raise v.error(None, "PA0503", "the step of asc.arange must not be 0")
    type_ = dtypes.i64 if dtype == NONE else element_type(v, dtype)
    count = trips(v, Range(first, last, step))

    def element(k: Sequence[Val]) -> Val:
        return arithmetic.binary(v, _ADD, first, arithmetic.binary(v, _MUL, k[0], step))

    return generate(v, [_exact(v, first, last, step, count)], type_, element)


def _float_range(v: Visitor, bounds: Sequence[Val], dtype: Val) -> Val:
    """Floats from `first` on, as NumPy makes them: the step is what lies between the first two when rounded."""
    type_ = numeric.weak_float(v).dtype if dtype == NONE else element_type(v, dtype)
    if not type_.is_float:
        raise v.error(None, "PA0404", f"asc.arange of floats in {type_.numpy}", hint="convert the result")
    first, last, step = bounds
    count = _float_count(v, first, last, step)
    start = numeric.cast_to(v, first, type_)
    second = numeric.cast_to(v, arithmetic.binary(v, _ADD, first, step), type_)
    delta = arithmetic.binary(v, _SUB, second, start)

    def element(k: Sequence[Val]) -> Val:
        return arithmetic.binary(
            v, _ADD, start, arithmetic.binary(v, _MUL, numeric.cast_to(v, k[0], type_), delta)
        )

    return generate(v, [count], type_, element)


def _float_count(v: Visitor, first: Val, last: Val, step: Val) -> Val:
    """`max(0, ceil((last - first) / step))`."""
    from pyasc.frontend.elementwise import integral

    if isinstance(step, Const):
        if not step.value:
            raise v.error(None, "PA0503", "the step of asc.arange must not be 0")
    else:
        fine = numeric.truth(v, arithmetic.compare(v, arithmetic.COMPARE[ast.NotEq], step, ZERO))
        assert isinstance(fine, Value)
        numeric.check(v, fine, "ValueError", "the step of asc.arange must not be 0")
    span = arithmetic.binary(v, _DIV, arithmetic.binary(v, _SUB, last, first), step)
    count = integral(v, "ceil", span)
    if isinstance(count, Const):
        return Const(max(0, count.value))
    return Scalar(v.emit.fn("maximum", numeric.index(v, count), v.emit.index(0)), weak=True)


def _exact(v: Visitor, first: Val, last: Val, step: Val, count: Val) -> Val:
    """`asc.arange(N)` has the extent N, which types can name; sizes are never negative."""
    return (
        last if isinstance(last, SizeVal) and last.expr.as_name and first == ZERO and step == ONE else count
    )


def generate(
    v: Visitor, sizes: Sequence[Val], dtype: DType, element: Callable[[Sequence[Val]], Val]
) -> Tensor:
    """A tensor computed from indices: `element` gives a number for one weak int an axis."""
    shape = checked_shape(v, sizes)
    opened = numeric.open_sizes(v, shape, sizes)
    block = Block([_I64] * len(shape))
    with v.block(block):
        result = element([Scalar(arg, weak=True) for arg in block.args])
        v.emit.insert(tensor.Yield(value=numeric.scalar(v, result, dtype)))
    op = tensor.Generate(sizes=opened, types=[TensorType(shape, dtype)], body=Region([block]))
    return Tensor(v.emit.value(op))


def eye(v: Visitor, n: Val, m: Val = NONE, dtype: Val = _FLOAT32) -> Val:
    """`asc.eye`."""
    equal = arithmetic.COMPARE[ast.Eq]
    return generate(
        v,
        [n, n if m == NONE else m],
        element_type(v, dtype),
        lambda k: arithmetic.compare(v, equal, k[0], k[1]),
    )


def transpose(v: Visitor, array: Val, *axes: Val) -> Val:
    """`asc.transpose(x, axes)` and `x.transpose(...)`: all axes reversed by default."""
    base = base_of(v, array)
    rank = len(base.shape)
    if len(axes) == 1 and isinstance(axes[0], Tuple):
        axes = axes[0].items
    if not axes or axes == (NONE,):
        return views.permuted(v, base, range(rank)[::-1])
    order = [axes_of(v, axis, rank)[0] for axis in axes]
    if sorted(order) != list(range(rank)):
        raise v.error(None, "PA0509", f"an array of {rank} dimensions needs each axis once")
    return views.permuted(v, base, order)


def flatten(v: Visitor, value: Tensor) -> Tensor:
    """All elements along one axis."""
    return _reshaped(v, value, [MINUS_ONE])


def flattened(v: Visitor, array: Val) -> Val:
    """`x.flatten()`: a copy, as in NumPy."""
    return flatten(v, numeric.as_tensor(v, snapshots.detached(v, array)))


def ravel(v: Visitor, array: Val) -> Val:
    """`x.ravel()`."""
    return snapshots.note(v, array, flatten(v, numeric.as_tensor(v, array)), "ravel")


def reshape(v: Visitor, array: Val, *shape: Val) -> Val:
    """`asc.reshape(x, shape)` and `x.reshape(...)`; one size may be -1."""
    sizes = list(shape[0].items) if len(shape) == 1 and isinstance(shape[0], Tuple) else list(shape)
    return snapshots.note(v, array, _reshaped(v, numeric.as_tensor(v, array), sizes), "reshape")


def _reshaped(v: Visitor, value: Tensor, sizes: list[Val]) -> Tensor:
    from pyasc.frontend.objects import count_elements

    total = count_elements(v, value)
    minus = [k for k, size in enumerate(sizes) if size == MINUS_ONE]
    if len(minus) > 1:
        raise v.error(None, "PA0506", "only one size may be -1")
    if minus:
        sizes[minus[0]] = _remaining(v, total, [s for k, s in enumerate(sizes) if k != minus[0]])
    else:
        _check_count(v, total, sizes)
    target = checked_shape(v, sizes)
    opened = numeric.open_sizes(v, target, sizes)
    return Tensor(
        v.emit.value(tensor.Reshape(value=value.value, sizes=opened, types=[TensorType(target, value.dtype)]))
    )


def product(v: Visitor, sizes: Sequence[Val]) -> Val:
    """The product of sizes."""
    total: Val = ONE
    for size in sizes:
        total = arithmetic.binary(v, _MUL, total, size)
    return total


def _remaining(v: Visitor, total: Val, others: Sequence[Val]) -> Val:
    known = product(v, others)
    if known == ONE:
        return total
    div, mod = (arithmetic.BINARY[op] for op in (ast.FloorDiv, ast.Mod))
    if known == ZERO:
        raise v.error(None, "PA0506", "-1 beside a size of 0 stands for any number")
    rest = arithmetic.binary(v, mod, total, known)
    require_equal(v, rest, ZERO, "cannot reshape: {} elements are left over")
    quotient = divided(total, known)
    return arithmetic.binary(v, div, total, known) if quotient is None else quotient


def divided(total: Val, by: Val) -> Val | None:
    """The quotient of polynomials where dividing every term by one monomial is exact."""
    a, b = numeric.size_polynomial(total), numeric.size_polynomial(by)
    if a is None or b is None or len(b.terms) != 1:
        return None
    (names, factor), terms = b.terms[0], []
    for monomial, coefficient in a.terms:
        left = list(monomial)
        for name in names:
            if name not in left:
                return None
            left.remove(name)
        if coefficient % factor:
            return None
        terms.append((tuple(left), coefficient // factor))
    return arithmetic.size_val(type(a)(tuple(terms)))


def _check_count(v: Visitor, total: Val, sizes: Sequence[Val]) -> None:
    require_equal(v, product(v, sizes), total, "cannot reshape: {} elements asked for, {} there")


def require_equal(v: Visitor, found: Val, wanted: Val, message: str, code: str = "PA0506") -> None:
    equal = arithmetic.compare(v, arithmetic.COMPARE[ast.Eq], found, wanted)
    condition = numeric.truth(v, equal)
    if condition is True:
        return
    if condition is False:
        shown = [
            str(each.value) if isinstance(each, Const) else str(getattr(each, "expr", "?"))
            for each in (found, wanted)
        ]
        raise v.error(None, code, message.format(*shown))
    values = [numeric.index(v, each) for each in (found, wanted)][: message.count("{}")]
    numeric.check(v, condition, "ValueError", message, values)


def broadcast_to(v: Visitor, array: Val, shape: Val) -> Val:
    """`asc.broadcast_to`."""
    sizes = shape_list(v, shape)
    target = checked_shape(v, sizes)
    value = numeric.operand(v, array)
    if is_number(value):
        return filled(v, sizes, value, numeric.number_type(v, value).dtype)
    assert isinstance(value, Tensor)
    if len(value.shape) > len(target):
        raise v.error(None, "PA0502", "broadcasting cannot drop axes")
    for axis in range(-len(value.shape), 0):
        if value.shape[axis] != 1:
            require_equal(
                v,
                numeric.length(v, value, len(value.shape) + axis),
                sizes[axis],
                "cannot broadcast size {} to {}",
                "PA0502",
            )
    opened = numeric.open_sizes(v, target, sizes)
    type_ = TensorType(target, value.dtype)
    made = Tensor(v.emit.value(tensor.Broadcast(value=value.value, sizes=opened, types=[type_])))
    return snapshots.note(v, array, made, "broadcast_to")


def concatenate(v: Visitor, arrays: Val, axis: Val = ZERO) -> Val:
    """`asc.concatenate`."""
    if not isinstance(arrays, Tuple) or not arrays.items:
        hint = "write asc.concatenate((a, b))"
        raise v.error(None, "PA0402", "asc.concatenate takes a tuple of arrays", hint=hint)
    parts = [numeric.as_tensor(v, each) for each in arrays.items]
    number = numeric.promoted(v, parts)
    rank = len(parts[0].shape)
    if any(len(part.shape) != rank for part in parts):
        raise v.error(None, "PA0502", "arrays of different numbers of dimensions cannot be joined")
    (position,) = axes_of(v, axis, rank)
    _same_elsewhere(v, parts, position)
    total: Val = ZERO
    for part in parts:
        total = arithmetic.binary(v, _ADD, total, numeric.length(v, part, position))
    shape = list(parts[0].shape)
    shape[position] = numeric.dim_of(total)
    values = [v.emit.cast(part.value, number.dtype) for part in parts]
    type_ = TensorType(tuple(shape), number.dtype)
    return Tensor(v.emit.value(tensor.Concat(values=values, axis=position, types=[type_])))


def _same_elsewhere(v: Visitor, parts: Sequence[Tensor], position: int) -> None:
    for part in parts[1:]:
        for axis in range(len(part.shape)):
            if axis != position:
                lengths = [numeric.length(v, each, axis) for each in (part, parts[0])]
                require_equal(v, lengths[0], lengths[1], "cannot join: size {} against {}", "PA0502")


def astype(v: Visitor, array: Val, dtype: Val) -> Val:
    """`x.astype(dtype)`."""
    target = element_type(v, dtype)
    unrounded = precision.unrounded(v, array, target)
    return numeric.cast_to(v, array, target) if unrounded is None else unrounded


def copy_of(v: Visitor, array: Val) -> Val:
    """`x.copy()`."""
    return snapshots.detached(v, array)
