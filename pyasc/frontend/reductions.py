# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans over axes of arrays."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyasc.frontend import arithmetic, numeric
from pyasc.frontend.promotion import promote
from pyasc.frontend.values import FALSE, NONE, ONE, ZERO, Const, Scalar, Tensor, Tuple, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dialects import tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim
from pyasc.ir.types import TensorType

_DIV, _SUB, _MUL = (arithmetic.BINARY[op] for op in (ast.Div, ast.Sub, ast.Mult))


def axes_of(v: Visitor, axis: Val, rank: int) -> tuple[int, ...]:
    """The axes that an `axis` argument names, counted from the front, in order."""
    if axis == NONE:
        return tuple(range(rank))
    found = axis.items if isinstance(axis, Tuple) else (axis,)
    numbers: list[int] = []
    for each in found:
        if not isinstance(each, Const) or not isinstance(each.value, int):
            raise v.error(
                None, "PA0509", "an axis must be an integer that is known when the kernel is compiled"
            )
        if not -rank <= each.value < rank:
            raise v.error(
                None, "PA0509", f"axis {each.value} of an array of {numeric.plural(rank, 'dimension')}"
            )
        numbers.append(each.value % rank)
    if len(set(numbers)) != len(numbers):
        raise v.error(None, "PA0509", "an axis is named twice")
    return tuple(sorted(numbers))


def known_bool(v: Visitor, value: Val) -> bool:
    """A flag argument."""
    if isinstance(value, Const):
        return bool(value.value)
    raise v.error(
        None, "PA0307", "`keepdims` must be known when the kernel is compiled", hint="write keepdims=True"
    )


def _array(v: Visitor, value: Val) -> Tensor | None:
    """The operand as a tensor, or None for a single number."""
    found = numeric.operand(v, value)
    return found if isinstance(found, Tensor) else None


def _reduced_shape(shape: tuple[Dim, ...], axes: Sequence[int], keepdims: bool) -> tuple[Dim, ...]:
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in axes)


def unwrap(v: Visitor, value: Value) -> Val:
    """A tensor result; one without axes is a number."""
    assert isinstance(value.type, TensorType)
    if value.type.shape:
        return Tensor(value)
    return Scalar(v.emit.value(tensor.Extract(tensor=value, indices=[])))


def reduce(v: Visitor, fn: str, value: Tensor, axes: Sequence[int], keepdims: bool) -> Val:
    """One `tensor.reduce`."""
    type_ = TensorType(_reduced_shape(value.shape, axes, keepdims), value.dtype)
    numeric.remark_width(v, value.dtype)
    op = tensor.Reduce(value=value.value, fn=fn, axes=tuple(axes), keepdims=keepdims, types=[type_])
    return unwrap(v, v.emit.value(op))


def _wide(dtype: DType) -> DType:
    """NumPy's type of a sum: integers and bools in 64 bits."""
    if dtype.kind == "u":
        return dtypes.u64
    return dtypes.i64 if dtype.kind in "ib" else dtype


def _wide_number(v: Visitor, value: Val) -> Val:
    """The sum of one number: itself, in the type of a sum."""
    found = numeric.number_type(v, value)
    if found.weak and not found.dtype.is_bool:
        return value
    return numeric.cast_to(v, value, _wide(found.dtype), found.weak)


def _sum_like(v: Visitor, fn: str, array: Val, axis: Val, keepdims: Val) -> Val:
    value = _array(v, array)
    if value is None:
        return _wide_number(v, array)
    value = Tensor(v.emit.cast(value.value, _wide(value.dtype)))
    return reduce(v, fn, value, axes_of(v, axis, len(value.shape)), known_bool(v, keepdims))


def sum_(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.sum`."""
    return _sum_like(v, "add", array, axis, keepdims)


def prod(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.prod`."""
    return _sum_like(v, "mul", array, axis, keepdims)


def _extreme(v: Visitor, fn: str, array: Val, axis: Val, keepdims: Val) -> Val:
    value = _array(v, array)
    if value is None:
        return array
    axes = axes_of(v, axis, len(value.shape))
    _not_empty(v, value, axes)
    if value.dtype.is_bool:
        fn = "or" if fn == "maximum" else "and"
    return reduce(v, fn, value, axes, known_bool(v, keepdims))


def _not_empty(v: Visitor, value: Tensor, axes: Sequence[int]) -> None:
    """The extreme of nothing is refused, as NumPy refuses it."""
    for axis in axes:
        found = value.shape[axis]
        if found == 0:
            raise v.error(None, "PA0510", "the minimum or maximum of an empty axis")
        if isinstance(found, int):
            continue
        size = numeric.extent(v, value, axis)
        fine = v.emit.fn("gt", size, v.emit.index(0))
        numeric.check(v, fine, "ValueError", "zero-size array to reduction operation which has no identity")


def max_(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.max`."""
    return _extreme(v, "maximum", array, axis, keepdims)


def min_(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.min`."""
    return _extreme(v, "minimum", array, axis, keepdims)


def least_or_greatest(v: Visitor, name: str, array: Val) -> Val:
    """Builtin `min` or `max` of an array: a NaN counts where it is the first element, and nowhere else."""
    from pyasc.frontend.elementwise import table_function, where
    from pyasc.frontend.subscripts import item

    value = numeric.as_tensor(v, array)
    if len(value.shape) > 1:
        hint = f"use asc.{name}(x), or asc.{name} over an axis"
        raise v.error(None, "PA0405", f"`{name}` of an array of several dimensions", hint=hint)
    if value.dtype.is_float:
        _not_empty(v, value, (0,))
        value = where(v, table_function(v, "isnan", (value,)), item(v, value, (ZERO,)), value)
    return (min_ if name == "min" else max_)(v, value)


def added_up(v: Visitor, array: Val, start: Val) -> Val:
    """Builtin `sum` of an array, without its start: one addition after the other, in the type of the elements."""
    total = sum_(v, array, ZERO)
    number = promote(numeric.number_type(v, start), numeric.number_type(v, array))
    narrow = number.dtype.is_integer and not number.weak and number.dtype.bits < 64
    return numeric.cast_to(v, total, number.dtype) if narrow else total


def _count(v: Visitor, value: Tensor, axes: Sequence[int]) -> Val:
    total: Val = Const(1)
    for axis in axes:
        total = arithmetic.binary(v, _MUL, total, numeric.length(v, value, axis))
    return total


def mean(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.mean`: of integers, in float32; of float16, computed in float32 and rounded once."""
    value = _array(v, array)
    if value is None:
        return arithmetic.binary(v, _DIV, array, Const(1))
    axes = axes_of(v, axis, len(value.shape))
    dtype = value.dtype if value.dtype.is_float else dtypes.f32
    wide = dtypes.f32 if dtype.bits < 32 else dtype
    total = reduce(v, "add", Tensor(v.emit.cast(value.value, wide)), axes, known_bool(v, keepdims))
    quotient = arithmetic.binary(v, _DIV, total, _count(v, value, axes))
    return numeric.cast_to(v, quotient, dtype)


def var(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.var`: the mean of squared distances from the mean."""
    value = _array(v, array)
    if value is None:
        return Const(0.0)
    dtype = value.dtype if value.dtype.is_float else dtypes.f32
    wide = Tensor(v.emit.cast(value.value, dtypes.f32 if dtype.bits < 32 else dtype))
    centred = arithmetic.binary(v, _SUB, wide, mean(v, wide, axis, Const(True)))
    return numeric.cast_to(v, mean(v, arithmetic.binary(v, _MUL, centred, centred), axis, keepdims), dtype)


def std(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.std`: the square root of the variance."""
    from pyasc.frontend.elementwise import table_function

    return table_function(v, "sqrt", (var(v, array, axis, keepdims),))


def _arg(v: Visitor, fn: str, array: Val, axis: Val, keepdims: Val) -> Val:
    value = numeric.as_tensor(v, array)
    keep = known_bool(v, keepdims)
    if axis == NONE and len(value.shape) != 1:
        from pyasc.frontend.shapes import flatten, reshape

        found = _arg(v, fn, flatten(v, value), ZERO, keepdims)
        return reshape(v, found, *[ONE] * len(value.shape)) if keep else found
    (position,) = (0,) if axis == NONE else axes_of(v, axis, len(value.shape))
    _not_empty(v, value, (position,))
    type_ = TensorType(_reduced_shape(value.shape, (position,), keep), dtypes.i64)
    op = tensor.ArgReduce(value=value.value, fn=fn, axis=position, keepdims=keep, types=[type_])
    return unwrap(v, v.emit.value(op))


def argmax(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.argmax`."""
    return _arg(v, "maximum", array, axis, keepdims)


def argmin(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.argmin`."""
    return _arg(v, "minimum", array, axis, keepdims)


def _logical(v: Visitor, fn: str, array: Val, axis: Val, keepdims: Val) -> Val:
    value = _array(v, array)
    if value is None:
        found = numeric.truth(v, array)
        return Const(found) if isinstance(found, bool) else Scalar(found)
    mask = Tensor(v.emit.nonzero(value.value))
    return reduce(v, fn, mask, axes_of(v, axis, len(value.shape)), known_bool(v, keepdims))


def any_(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.any`."""
    return _logical(v, "or", array, axis, keepdims)


def all_(v: Visitor, array: Val, axis: Val = NONE, keepdims: Val = FALSE) -> Val:
    """`asc.all`."""
    return _logical(v, "and", array, axis, keepdims)


def _scan(v: Visitor, fn: str, array: Val, axis: Val) -> Val:
    value = numeric.as_tensor(v, array)
    value = Tensor(v.emit.cast(value.value, _wide(value.dtype)))
    if axis == NONE and len(value.shape) != 1:
        from pyasc.frontend.shapes import flatten

        value = flatten(v, value)
    (position,) = (0,) if axis == NONE else axes_of(v, axis, len(value.shape))
    return Tensor(v.emit.value(tensor.Scan(value=value.value, fn=fn, axis=position)))


def cumsum(v: Visitor, array: Val, axis: Val = NONE) -> Val:
    """`asc.cumsum`."""
    return _scan(v, "add", array, axis)


def cumprod(v: Visitor, array: Val, axis: Val = NONE) -> Val:
    """`asc.cumprod`."""
    return _scan(v, "mul", array, axis)
