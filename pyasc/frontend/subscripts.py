# SPDX-License-Identifier: Apache-2.0
"""`x[...]` read, assigned and updated: elements, rows, slices, new axes, gathers and masks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pyasc.frontend import arithmetic, numeric, views
from pyasc.frontend.emit import convert_number
from pyasc.frontend.numeric import describe
from pyasc.frontend.sharing import buffer_of, need_buffers
from pyasc.frontend.values import (
    Array,
    Const,
    Row,
    Scalar,
    Slice,
    Tensor,
    Tuple,
    Val,
    is_array,
    is_number,
)
from pyasc.frontend.visitor import Refused, Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dialects import py, tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim


def slice_expression(v: Visitor, node: ast.Slice) -> Val:
    """`start:stop:step`."""
    return Slice(*(None if part is None else v.expr(part) for part in (node.lower, node.upper, node.step)))


def subscript(v: Visitor, node: ast.Subscript) -> Val:
    """`owner[index]` as a value."""
    owner = v.expr(node.value)
    if isinstance(owner, Const):
        return _annotation_or_string(v, node, owner)
    indices = index_list(v.expr(node.slice))
    if isinstance(owner, Tuple):
        return _tuple_item(v, node, owner, indices)
    if not is_array(owner):
        raise _no_elements(v, node, owner)
    return item(v, owner, indices, node)


def index_list(value: Val) -> tuple[Val, ...]:
    """The indices of a subscript; one that is a tuple of values is several."""
    return value.items if isinstance(value, Tuple) and not value.is_list else (value,)


def _annotation_or_string(v: Visitor, node: ast.Subscript, owner: Const) -> Val:
    index = v.expr(node.slice)
    if isinstance(owner.value, str) and isinstance(index, Const) and isinstance(index.value, int):
        if not -len(owner.value) <= index.value < len(owner.value):
            raise v.error(node.slice, "PA0504", f"index {index.value} of a text of {len(owner.value)}")
        return Const(owner.value[index.value])
    raise _no_elements(v, node, owner)


def _no_elements(v: Visitor, node: ast.Subscript, owner: Val) -> Refused:
    hint = "index an array or a tuple"
    return v.error(node.value, "PA0505", f"{describe(owner)} has no elements to index", hint=hint)


def _tuple_item(v: Visitor, node: ast.Subscript, owner: Tuple, indices: Sequence[Val]) -> Val:
    index = indices[0]
    if owner.once:
        raise _no_elements(v, node, owner)
    if len(indices) == 1 and isinstance(index, Const) and isinstance(index.value, int):
        if not -len(owner.items) <= index.value < len(owner.items):
            raise v.error(node.slice, "PA0504", f"index {index.value} of a tuple of {len(owner.items)}")
        return owner.items[index.value]
    parts = (index.start, index.stop, index.step) if isinstance(index, Slice) else ()
    if len(indices) == 1 and parts and all(_is_known_bound(part) for part in parts):
        known = [part.value if isinstance(part, Const) else None for part in parts]
        if known[2] == 0:
            raise v.error(node.slice, "PA0503", "the step of a slice is 0")
        return Tuple(owner.items[slice(*known)], owner.is_list)
    raise v.error(
        node.slice,
        "PA0504",
        "a tuple is indexed at compile time",
        hint="put the values into an array, or use asc.unroll",
    )


def _is_known_bound(part: Val | None) -> bool:
    return part is None or (isinstance(part, Const) and isinstance(part.value, (int, type(None))))


def rank(value: Val) -> int:
    """The number of axes."""
    if isinstance(value, Row):
        return len(value.array.shape) - len(value.indices)
    return len(numeric.shape_of(value))


def item(v: Visitor, owner: Val, indices: Sequence[Val], node: ast.Subscript | None = None) -> Val:
    """The element, row or view at some indices."""
    _count(v, owner, indices, node)
    if _all_integers(v, indices):
        return _integers(v, owner, tuple(indices), node)
    base = row_view(v, owner) if isinstance(owner, Row) else owner
    assert isinstance(base, (Array, Tensor))
    if any(_is_index_array(v, index) for index in indices):
        from pyasc.frontend.gather import gather_mixed

        return gather_mixed(v, numeric.as_tensor(v, base), indices, node)
    return views.basic_view(v, base, indices)


def _count(v: Visitor, owner: Val, indices: Sequence[Val], node: ast.Subscript | None) -> None:
    count = sum(1 for index in indices if not (isinstance(index, Const) and index.value in (None, ...)))
    if count > rank(owner):
        raise v.error(
            None if node is None else node.slice,
            "PA0505",
            f"{count} indices for an array of {numeric.plural(rank(owner), 'dimension')}",
        )


def _all_integers(v: Visitor, indices: Sequence[Val]) -> bool:
    return all(is_number(index) or (is_array(index) and not rank(index)) for index in indices)


def _is_index_array(v: Visitor, index: Val) -> bool:
    return (is_array(index) and rank(index) > 0) or (isinstance(index, Tuple) and index.is_list)


def _integers(v: Visitor, owner: Val, indices: tuple[Val, ...], node: ast.Subscript | None) -> Val:
    indices = tuple(numeric.operand(v, index) for index in indices)
    places = _index_nodes(node, len(indices))
    if isinstance(owner, Tensor):
        return _from_tensor(v, owner, indices, places)
    array, prefix = (owner.array, owner.indices) if isinstance(owner, Row) else (owner, ())
    assert isinstance(array, Array)
    complete = (
        *prefix,
        *(_checked(v, array, len(prefix) + k, index, places[k]) for k, index in enumerate(indices)),
    )
    if len(complete) < len(array.shape):
        return Row(array, complete)
    return Scalar(v.emit.value(py.Load(ref=array.ref, indices=element_indices(v, complete))))


def _index_nodes(node: ast.Subscript | None, count: int) -> list[ast.AST | None]:
    if node is None:
        return [None] * count
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == count:
        return list(node.slice.elts)
    return [node.slice] * count


def _checked(v: Visitor, array: Val, axis: int, index: Val, node: ast.AST | None) -> Val:
    """An index, with constants in range of a known extent and counted from the front."""
    numeric.refuse_bool_index(v, index, node)
    numeric.index(v, index, node)
    extent = numeric.shape_of(array)[axis]
    if not (isinstance(index, Const) and isinstance(extent, int)):
        return index
    number = int(index.value)
    if extent == 0 and v.known_sizes:
        return index  # the launch gave the size; a loop around may have no iteration
    if not -extent <= number < extent:
        raise v.error(node, "PA0504", f"index {number} is out of range", f"axis {axis} has size {extent}")
    return Const(number + extent if number < 0 else number)


def element_indices(v: Visitor, indices: Sequence[Val]) -> list[Value]:
    """Indices as i64."""
    return [numeric.index(v, index) for index in indices]


def _from_tensor(v: Visitor, owner: Tensor, indices: tuple[Val, ...], places: list[ast.AST | None]) -> Val:
    checked = [_checked(v, owner, axis, index, places[axis]) for axis, index in enumerate(indices)]
    if len(checked) < len(owner.shape):
        return views.basic_view(v, owner, checked)
    found = [views.in_range(v, index, numeric.length(v, owner, axis)) for axis, index in enumerate(checked)]
    return Scalar(v.emit.value(tensor.Extract(tensor=owner.value, indices=found)))


def row_view(v: Visitor, row: Row) -> Array:
    """A partly indexed array as an array of its own."""
    view = views.basic_view(v, row.array, row.indices)
    assert isinstance(view, Array)
    return view


def store(v: Visitor, target: ast.Subscript, value: Val) -> None:
    """`owner[index] = value`."""
    owner, indices = _target(v, target)
    if _all_integers(v, indices) and len(indices) == rank(owner):
        array, complete = _element(v, owner, indices, target)
        element = element_value(v, value, array.dtype)
        v.emit.builder.loc = v.location(target)
        store_element(v, array, element_indices(v, complete), Scalar(element))
        return
    if len(indices) == 1 and _is_mask(v, indices[0]):
        _store_masked(v, owner, indices[0], value)
        return
    if any(_is_index_array(v, index) for index in indices):
        from pyasc.frontend.gather import scatter

        scatter(v, _whole(v, owner), indices, value, target)
        return
    write_whole(v, _part(v, owner, indices, target), value, target)


def _part(v: Visitor, owner: Val, indices: Sequence[Val], target: ast.Subscript) -> Val:
    """What is assigned to; a mistake in the indices is blamed on them."""
    outer, v.emit.builder.loc = v.emit.builder.loc, v.location(target.slice)
    view = item(v, owner, indices, target)
    v.emit.builder.loc = outer
    return view


def _target(v: Visitor, target: ast.Subscript) -> tuple[Val, tuple[Val, ...]]:
    owner = v.expr(target.value)
    indices = index_list(v.expr(target.slice))
    need_buffers(v, owner)
    if not isinstance(owner, (Array, Row)):
        hint = "make a new tuple" if isinstance(owner, Tuple) else "bind it to a name first"
        raise v.error(target.value, "PA0505", f"cannot assign to an element of {describe(owner)}", hint=hint)
    _count(v, owner, indices, target)
    return owner, indices


def _element(
    v: Visitor, owner: Val, indices: Sequence[Val], target: ast.Subscript
) -> tuple[Array, tuple[Val, ...]]:
    array, prefix = (owner.array, owner.indices) if isinstance(owner, Row) else (owner, ())
    assert isinstance(array, Array)
    places = _index_nodes(target, len(indices))
    checked = [
        _checked(v, array, len(prefix) + k, numeric.operand(v, index), places[k])
        for k, index in enumerate(indices)
    ]
    return array, (*prefix, *checked)


def store_element(v: Visitor, array: Array, indices: list[Value], value: Val) -> None:
    """Write one element, converted to the array's type."""
    element = element_value(v, value, array.dtype)
    mark_written(v, array.ref)
    v.emit.insert(py.Store(value=element, ref=array.ref, indices=indices))


def element_value(v: Visitor, value: Val, dtype: DType) -> Value:
    """A number as an element of an array: floats go into integer arrays without their fraction."""
    found = numeric.operand(v, value)
    if not is_number(found):
        raise v.error(None, "PA0410", f"an element cannot hold {describe(found)}")
    return numeric.scalar(v, found, dtype)


def update(v: Visitor, target: ast.Subscript, op: arithmetic.Operator, node: ast.expr) -> None:
    """`owner[index] op= value`."""
    owner, indices = _target(v, target)
    if len(indices) == 1 and _is_mask(v, indices[0]):
        _update_masked(v, owner, indices[0], op, v.expr(node), target)
        return
    if not (_all_integers(v, indices) and len(indices) == rank(owner)):
        view = _part(v, owner, indices, target)
        if isinstance(view, Tensor):
            _update_places(v, owner, indices, view, op, v.expr(node), target)
        else:
            update_whole(v, view, op, v.expr(node), target)
        return
    array, complete = _element(v, owner, indices, target)
    found = element_indices(v, complete)
    outer = v.emit.builder.loc
    v.emit.builder.loc = v.location(target)
    old = Scalar(v.emit.value(py.Load(ref=array.ref, indices=found)))
    v.emit.builder.loc = outer
    store_element(v, array, found, arithmetic.binary(v, op, old, v.expr(node)))


def _update_places(
    v: Visitor,
    owner: Val,
    indices: Sequence[Val],
    old: Tensor,
    op: arithmetic.Operator,
    term: Val,
    target: ast.Subscript,
) -> None:
    """`owner[places] op= term`: of a place that stands there twice, NumPy updates what was there before, once."""
    from pyasc.frontend.gather import scatter

    array = _whole(v, owner)
    result = arithmetic.binary(v, op, old, term)
    numeric.refuse_other_kind(v, target, numeric.number_type(v, result).dtype, array.dtype)
    scatter(v, array, indices, result, target)


def _update_masked(
    v: Visitor, owner: Val, mask: Val, op: arithmetic.Operator, term: Val, target: ast.Subscript
) -> None:
    """`x[mask] op= number`."""
    _need_number(v, term)
    array = _whole(v, owner)
    result = arithmetic.binary(v, op, array, term)
    numeric.refuse_other_kind(v, target, numeric.number_type(v, result).dtype, array.dtype)
    write_whole(v, array, _chosen(v, array, mask, result))


def update_whole(v: Visitor, array: Val, op: arithmetic.Operator, term: Val, node: ast.AST) -> None:
    """`array op= term` in the memory of the array."""
    result = arithmetic.binary(v, op, array, term)
    if is_array(result):
        numeric.refuse_other_kind(v, node, numeric.number_type(v, result).dtype, _whole(v, array).dtype)
    write_whole(v, array, result)


def _whole(v: Visitor, owner: Val) -> Array:
    array = row_view(v, owner) if isinstance(owner, Row) else owner
    assert isinstance(array, Array)
    return array


def _is_mask(v: Visitor, index: Val) -> bool:
    return is_array(index) and numeric.number_type(v, index).dtype is dtypes.i1 and rank(index) > 0


def _store_masked(v: Visitor, owner: Val, mask: Val, value: Val) -> None:
    """`x[mask] = number`: a choice by element."""
    _need_number(v, value)
    array = _whole(v, owner)
    write_whole(v, array, _chosen(v, array, mask, _as_element(v, value, array.dtype)))


def _need_number(v: Visitor, value: Val) -> None:
    """What goes where a mask says so is one value for all."""
    if not is_number(value):
        raise v.error(
            None,
            "PA0205",
            "a mask selects a number of elements that only the run time knows",
            hint="use x[...] = asc.where(mask, value, x)",
        )


def _chosen(v: Visitor, array: Array, mask: Val, value: Val) -> Val:
    """The value where the mask says so, else the array's own element."""
    from pyasc.frontend.elementwise import where

    missing = len(array.shape) - rank(mask)
    # A mask of fewer dimensions stands for the leading axes.
    mask = item(v, mask, (Const(...), *[Const(None)] * missing)) if missing else mask
    return where(v, mask, value, array)


def _as_element(v: Visitor, value: Val, dtype: DType) -> Val:
    if isinstance(value, Const):
        numeric.scalar(v, value, dtype)
        return Const(convert_number(value.value, dtype))
    return numeric.cast_to(v, value, dtype)


def write_whole(v: Visitor, target: Val, value: Val, node: ast.AST | None = None) -> None:
    """Fill an array from a number or an array that broadcasts to it; `node` is where that is said."""
    array = _whole(v, target)
    if not array.shape:
        store_element(v, array, [], value)
        return
    found = numeric.operand(v, value)
    if not (is_number(found) or is_array(found)):
        raise v.error(None, "PA0410", f"cannot fill an array from {describe(found)}")
    if is_number(found):
        found = Scalar(numeric.scalar(v, found, array.dtype))
    shape = numeric.shape_of(found)
    if len(shape) > len(array.shape):
        raise _does_not_fit(v, shape, array)
    _fits_into(v, found, array)
    data = numeric.elements(v, found, array.dtype, array.shape, (array,))
    mark_written(v, array.ref)
    op = v.emit.insert(tensor.Write(value=data, ref=array.ref))
    if node is not None:
        op.loc = v.location(node)
    v.stores.add(op)


def _fits_into(v: Visitor, value: Val, array: Array) -> None:
    """NumPy repeats the value, never the array that is filled."""
    shape = numeric.shape_of(value)
    for have, want in zip(reversed(shape), reversed(array.shape), strict=False):
        if have == 1 or have == want:
            continue
        if want == 1 or (isinstance(have, int) and isinstance(want, int)):
            raise _does_not_fit(v, shape, array)
    numeric.common_shape(v, (array, value))


def _does_not_fit(v: Visitor, shape: Sequence[Dim], array: Array) -> Refused:
    into = numeric.shape_text(array.shape)
    message = f"an array of shape {numeric.shape_text(shape)} does not fit into one of shape {into}"
    return v.error(None, "PA0502", message)


def mark_written(v: Visitor, ref: Value) -> None:
    """Note that the memory behind a ref is written."""
    v.written.add(buffer_of(ref))
    v.writes += 1
