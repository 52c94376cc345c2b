# SPDX-License-Identifier: Apache-2.0
"""Joining, splitting and picking parts of arrays, and products in Einstein notation."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyasc.frontend import arithmetic, numeric, shapes, subscripts, views
from pyasc.frontend.gather import gather
from pyasc.frontend.precision import product_operands
from pyasc.frontend.reductions import axes_of, reduce, unwrap
from pyasc.frontend.values import NONE, ZERO, Array, Const, Scalar, Slice, Tensor, Tuple, Val, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes
from pyasc.ir.dialects import tensor
from pyasc.ir.sizes import Dim
from pyasc.ir.types import ScalarType, TensorType

_ADD, _DIV, _MUL = (arithmetic.BINARY[op] for op in (ast.Add, ast.FloorDiv, ast.Mult))
_WHOLE = Slice(None, None, None)

Operand = Tensor | Scalar
"""An array, or the one number that is left of one."""


def stack(v: Visitor, arrays: Val, axis: Val = ZERO) -> Val:
    """`asc.stack`: arrays of one shape along a new axis."""
    if not isinstance(arrays, Tuple) or not arrays.items:
        raise v.error(None, "PA0402", "asc.stack takes a tuple of arrays", hint="write asc.stack((a, b))")
    parts = [numeric.as_tensor(v, each) for each in arrays.items]
    (position,) = axes_of(v, axis, len(parts[0].shape) + 1)
    index = [*[_WHOLE] * position, NONE]
    return shapes.concatenate(
        v, Tuple(tuple(views.basic_view(v, part, index) for part in parts)), Const(position)
    )


def split(v: Visitor, array: Val, count: Val, axis: Val = ZERO) -> Val:
    """`asc.split` into equal parts, whose number is known when the kernel is compiled."""
    base = shapes.base_of(v, array)
    (position,) = axes_of(v, axis, len(base.shape))
    if not isinstance(count, Const) or not isinstance(count.value, int) or count.value < 1:
        raise v.error(None, "PA0307", "the number of parts must be known when the kernel is compiled")
    size = shapes.divided(numeric.length(v, base, position), count)
    if size is None:
        raise v.error(
            None,
            "PA0506",
            f"the axis does not split into {count.value} equal parts",
            hint="declare its size as a multiple of the parts, or slice the parts",
        )
    return Tuple(tuple(_part(v, base, position, size, k) for k in range(count.value)), is_list=True)


def _part(v: Visitor, base: Array | Tensor, position: int, size: Val, k: int) -> Val:
    start = arithmetic.binary(v, _MUL, size, Const(k))
    stop = arithmetic.binary(v, _ADD, start, size)
    return views.basic_view(v, base, [*[_WHOLE] * position, Slice(start, stop, None)])


def take(v: Visitor, array: Val, indices: Val, axis: Val = NONE) -> Val:
    """`asc.take`: elements of the flattened array, or parts along an axis, at computed indices."""
    base = numeric.as_tensor(v, array)
    if axis == NONE:
        return _at(v, shapes.flatten(v, base), indices)
    rank = len(base.shape)
    (position,) = axes_of(v, axis, rank)
    moved = views.permuted(v, base, [position, *(k for k in range(rank) if k != position)])
    assert isinstance(moved, Tensor)
    found = _at(v, moved, indices)
    if is_number(indices):
        return found
    assert isinstance(found, Tensor)
    count = len(found.shape) - rank + 1
    back = [*range(count, count + position), *range(count), *range(count + position, len(found.shape))]
    return views.permuted(v, found, back)


def _at(v: Visitor, base: Tensor, indices: Val) -> Val:
    """Parts along the first axis; a number takes the axis away."""
    return subscripts.item(v, base, (indices,)) if is_number(indices) else gather(v, base, (indices,), None)


def einsum(v: Visitor, equation: Val, *operands: Val) -> Val:
    """`asc.einsum` of one or two arrays, each axis of an operand named once."""
    text = (
        equation.value.replace(" ", "")
        if isinstance(equation, Const) and isinstance(equation.value, str)
        else ""
    )
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    tensors = [numeric.as_tensor(v, each) for each in operands]
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    _check_terms(v, terms, output, tensors)
    if sorted(output) == sorted(inputs):
        # Nothing is summed: NumPy gives a view.
        return views.permuted(v, shapes.base_of(v, operands[0]), [inputs.index(c) for c in output])
    number = numeric.promoted(v, tensors).dtype
    if number is dtypes.i1:
        # True where any product is.
        counts = [Tensor(v.emit.cast(each.value, dtypes.i64)) for each in tensors]
        return numeric.cast_to(v, _einsum(v, terms, output, counts), dtypes.i1)
    return _einsum(v, terms, output, tensors)


def _einsum(v: Visitor, terms: Sequence[str], output: str, arrays: Sequence[Tensor]) -> Val:
    number = numeric.promoted(v, arrays).dtype
    terms, tensors = _without_repeated(v, terms, arrays)
    named = [(term, _others(terms, k) + output) for k, term in enumerate(terms)]
    if any(not set(term) <= set(needed) for term, needed in named):
        # What is summed before the product is summed in the product's type.
        tensors = [_operand(v, numeric.cast_to(v, each, number)) for each in tensors]
    reduced = [_summed(v, each, *words) for each, words in zip(tensors, named, strict=True)]
    if len(reduced) == 1:
        found, term = reduced[0]
        return found if not term else views.permuted(v, _tensor(v, found), [term.index(c) for c in output])
    return _product(v, reduced, output)


def _without_repeated(
    v: Visitor, terms: Sequence[str], arrays: Sequence[Tensor]
) -> tuple[Sequence[str], Sequence[Operand]]:
    """The operands without axes of extent 1 of which the other one has more: they are repeated along those.

    One that has no other axes is a number.
    """
    repeated = [
        [axis for axis, name in enumerate(term) if _is_repeated(name, array.shape[axis], terms, arrays)]
        for term, array in zip(terms, arrays, strict=True)
    ]
    words = [
        "".join(name for axis, name in enumerate(term) if axis not in gone)
        for term, gone in zip(terms, repeated, strict=True)
    ]
    made = [
        _operand(v, reduce(v, "maximum", array, gone, False)) if gone else array
        for array, gone in zip(arrays, repeated, strict=True)
    ]
    return words, made


def _is_repeated(name: str, extent: Dim, terms: Sequence[str], arrays: Sequence[Tensor]) -> bool:
    extents = [
        array.shape[term.index(name)] for term, array in zip(terms, arrays, strict=True) if name in term
    ]
    return extent == 1 and any(each != 1 for each in extents)


def _others(terms: Sequence[str], position: int) -> str:
    return "".join(term for k, term in enumerate(terms) if k != position)


def _check_terms(v: Visitor, terms: Sequence[str], output: str, tensors: Sequence[Tensor]) -> None:
    twice = next((name for term in terms for name in term if term.count(name) > 1), None)
    if twice is not None:
        raise v.error(
            None,
            "PA0509",
            f"an operand has two axes `{twice}`, whose diagonal is no view here",
            hint="take the diagonal before, as x[i, i] with i = asc.arange(n), or in a loop",
        )
    fine = 1 <= len(terms) <= 2 and len(terms) == len(tensors)
    ranks = [len(each.shape) for each in tensors]
    fine = fine and [len(term) for term in terms] == ranks
    fine = fine and all(term.isalpha() for term in terms)
    if not fine or len(set(output)) != len(output) or not set(output) <= set("".join(terms)):
        raise v.error(
            None,
            "PA0509",
            "this equation does not fit the operands",
            hint="name each axis once, such as in 'ij,jk->ik', for one or two arrays",
        )


def _operand(v: Visitor, value: Val) -> Operand:
    return value if isinstance(value, Scalar) else _tensor(v, value)


def _summed(v: Visitor, value: Operand, term: str, needed: str) -> tuple[Val, str]:
    """An operand without the axes that nothing else names."""
    gone = [axis for axis, name in enumerate(term) if name not in needed]
    if not gone or isinstance(value, Scalar):
        return value, term
    return reduce(v, "add", value, gone, False), "".join(name for name in term if name in needed)


def _tensor(v: Visitor, value: Val) -> Tensor:
    return value if isinstance(value, Tensor) else numeric.as_tensor(v, value)


def _product(v: Visitor, operands: Sequence[tuple[Val, str]], output: str) -> Val:
    (a, left), (b, right) = operands
    if not left or not right:
        term = left or right
        scaled = arithmetic.binary(v, _MUL, a, b)
        return scaled if not term else views.permuted(v, _tensor(v, scaled), [term.index(c) for c in output])
    tensors = [_tensor(v, a), _tensor(v, b)]
    number = numeric.promoted(v, tensors)
    named: dict[str, tuple[Tensor, int]] = {}
    for value, term in zip(tensors, (left, right), strict=True):
        for axis, name in enumerate(term):
            _same_size(v, name, named.setdefault(name, (value, axis)), (value, axis))
    sizes = {name: value.shape[axis] for name, (value, axis) in named.items()}
    wide = dtypes.f32 if number.dtype.is_float and number.dtype.bits < 32 else number.dtype
    first, second = product_operands(v, tensors[0], tensors[1], number.dtype)
    op = tensor.Contract(
        lhs=first,
        rhs=second,
        equation=f"{left},{right}->{output}",
        accumulate=ScalarType(wide),
        types=[TensorType(tuple(sizes[name] for name in output), number.dtype)],
    )
    return unwrap(v, v.emit.value(op))


def _same_size(v: Visitor, name: str, first: tuple[Tensor, int], second: tuple[Tensor, int]) -> None:
    """Two axes of one name are of one size, which is asked at launch where the sizes have other names."""
    sizes = [value.shape[axis] for value, axis in (first, second)]
    if sizes[0] == sizes[1] and sizes[0] is not None:
        return
    message = "the axis `" + name + "` has sizes {} and {}"
    if all(isinstance(size, int) for size in sizes):
        raise v.error(
            None, "PA0502", message.format(*sizes), hint="transpose an operand, or name its axes anew"
        )
    extents = [numeric.extent(v, value, axis) for value, axis in (first, second)]
    numeric.check(v, v.emit.fn("eq", *extents), "ValueError", f"einsum: {message}", extents)
