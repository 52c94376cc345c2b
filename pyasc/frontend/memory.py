# SPDX-License-Identifier: Apache-2.0
"""Local buffers, block copies and atomic updates."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.frontend import numeric, subscripts
from pyasc.frontend.sharing import buffer_of, need_buffers
from pyasc.frontend.values import NONE, Array, Const, Row, Tensor, Tuple, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir.dialects import mem, py, tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import Dim
from pyasc.ir.types import RefType
from pyasc.language import dtypes
from pyasc.language.dtypes import ElementType

_FLOAT32 = Const(dtypes.float32)
_CACHE_LINE = Const(64)


def shape_list(v: Visitor, shape: Val) -> list[Val]:
    """The sizes of a shape argument: an int, or a tuple of ints."""
    return list(shape.items) if isinstance(shape, Tuple) else [shape]


def checked_shape(v: Visitor, sizes: Sequence[Val]) -> tuple[Dim, ...]:
    """The extents as a type has them. Refuses what is not an integer, and known negative sizes."""
    for size in sizes:
        numeric.index(v, size)
        if isinstance(size, Const) and size.value < 0:
            raise v.error(
                None, "PA0506", f"a size cannot be negative: {size.value}", hint="a size is 0 or more"
            )
    return tuple(numeric.dim_of(size) for size in sizes)


def element_type(v: Visitor, dtype: Val) -> DType:
    """The element type that a dtype argument names."""
    if isinstance(dtype, Const):
        if isinstance(dtype.value, ElementType):
            return dtype.value.ir
        name = getattr(dtype.value, "__name__", dtype.value)
        by_name = {"float": "float32", "int": "int64", "bool": "bool"}
        found = numeric.dtypes.BY_NUMPY.get(by_name.get(name, name)) if isinstance(name, str) else None
        if found is not None:
            return found
    raise v.error(
        None, "PA0401", f"{numeric.describe(dtype)} is not an element type", hint="such as asc.float32"
    )


def allocate(
    v: Visitor, sizes: Sequence[Val], dtype: DType, alignment: int = 64, purpose: str = "temporary"
) -> Array:
    """A fresh buffer."""
    shape = checked_shape(v, sizes)
    opened = numeric.open_sizes(v, shape, sizes)
    type_ = RefType(shape, dtype, "local")
    return Array(v.emit.value(mem.Alloc(sizes=opened, alignment=alignment, purpose=purpose, types=[type_])))


def new_array(v: Visitor, value: Tensor) -> Array:
    """A buffer that holds a tensor."""
    sizes = [numeric.length(v, value, axis) for axis in range(len(value.shape))]
    array = allocate(v, sizes, value.dtype)
    v.copies.add(v.emit.insert(tensor.Write(value=value.value, ref=array.ref)))
    return array


def shared_memory(v: Visitor, shape: Val, dtype: Val = _FLOAT32) -> Val:
    """`asc.shared_memory`."""
    return allocate(v, shape_list(v, shape), element_type(v, dtype), purpose="shared")


def aligned_alloc(v: Visitor, shape: Val, dtype: Val = _FLOAT32, alignment: Val = _CACHE_LINE) -> Val:
    """`asc.aligned_alloc`."""
    value = alignment.value if isinstance(alignment, Const) else None
    if not isinstance(value, int) or value <= 0 or value & (value - 1):
        raise v.error(
            None, "PA0507", "an alignment is a power of two that is known when the kernel is compiled"
        )
    return allocate(v, shape_list(v, shape), element_type(v, dtype), alignment=value, purpose="shared")


def empty(v: Visitor, shape: Val, dtype: Val = _FLOAT32) -> Val:
    """`asc.empty`."""
    return allocate(v, shape_list(v, shape), element_type(v, dtype))


def copy(v: Visitor, src: Val, dst: Val) -> Val:
    """`asc.copy`: a block copy between buffers, or an assignment of anything that broadcasts."""
    if not isinstance(dst, (Array, Row)):
        need_buffers(v, dst)
        raise v.error(
            None, "PA0410", f"cannot copy into {numeric.describe(dst)}", hint="copy into an array or a slice"
        )
    target = subscripts.row_view(v, dst) if isinstance(dst, Row) else dst
    source = subscripts.row_view(v, src) if isinstance(src, Row) else src
    if isinstance(source, Array) and _is_block(source, target):
        subscripts.mark_written(v, target.ref)
        v.emit.insert(mem.Copy(source=source.ref, target=target.ref))
        return NONE
    subscripts.write_whole(v, target, source)
    return NONE


def _is_block(source: Array, target: Array) -> bool:
    """Whether the copy is between two buffers of one type and one known shape."""
    alike = source.dtype is target.dtype and source.shape == target.shape
    return alike and None not in source.shape and buffer_of(source.ref) is not buffer_of(target.ref)


def atomic(v: Visitor, fn: str, array: Val, index: Val, value: Val) -> Val:
    """`asc.atomic_add` and its like."""
    if not isinstance(array, (Array, Row)):
        need_buffers(v, array)
        raise v.error(None, "PA0410", f"cannot update an element of {numeric.describe(array)}")
    base, prefix = (array.array, array.indices) if isinstance(array, Row) else (array, ())
    indices = (*prefix, *subscripts.index_list(index))
    if len(indices) != len(base.shape):
        rank = numeric.plural(len(base.shape), "dimension")
        raise v.error(None, "PA0505", f"{len(indices)} indices for an array of {rank}")
    places = subscripts.element_indices(v, [numeric.operand(v, each) for each in indices])
    element = subscripts.element_value(v, value, base.dtype)
    subscripts.mark_written(v, base.ref)
    v.emit.insert(py.Atomic(value=element, ref=base.ref, indices=places, fn=fn))
    return NONE


def atomic_add(v: Visitor, array: Val, index: Val, value: Val) -> Val:
    """`asc.atomic_add`."""
    return atomic(v, "add", array, index, value)


def atomic_max(v: Visitor, array: Val, index: Val, value: Val) -> Val:
    """`asc.atomic_max`."""
    return atomic(v, "maximum", array, index, value)


def atomic_min(v: Visitor, array: Val, index: Val, value: Val) -> Val:
    """`asc.atomic_min`."""
    return atomic(v, "minimum", array, index, value)
