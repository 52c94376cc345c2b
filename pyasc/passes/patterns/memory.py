# SPDX-License-Identifier: Apache-2.0
"""Rewrites of accesses to memory: extents that are known, views that can be seen through, checks that hold."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem, py, tensor
from pyasc.ir.types import RefType, TensorType
from pyasc.passes.analysis.affine import constant_of, extent_operand
from pyasc.passes.rewriter import Rewriter


def resolve_extent(op: Operation, rewriter: Rewriter) -> bool:
    """An extent that the type or the defining operation says."""
    assert isinstance(op, (mem.Dim, tensor.Dim))
    source = op.operands[0]
    assert isinstance(source.type, (RefType, TensorType))
    extent = source.type.shape[op.axis]
    value = extent_operand(source, op.axis) if extent is None else rewriter.extent(extent)
    if value is None:
        return False
    rewriter.replace(op, [value])
    return True


def look_through_view(op: Operation, rewriter: Rewriter) -> bool:
    """An access through a view is one to the memory it was made from, at other indices."""
    assert isinstance(op, (mem.Load, mem.Store, mem.Atomic))
    view = op.ref.op
    if not isinstance(view, mem.View):
        return False
    indices = _source_indices(op, view, op.indices, rewriter)
    op.set_operands("ref", [view.ref])
    op.set_operands("indices", indices)
    rewriter.push(view)
    rewriter.changed(op)
    return True


def _source_indices(
    op: Operation, view: mem.View, indices: Sequence[Value], rewriter: Rewriter
) -> list[Value]:
    made: list[Value] = []
    for axis, (offset, step) in enumerate(zip(view.offsets, view.steps, strict=True)):
        index = offset
        if axis in view.axes:
            index = indices[view.axes.index(axis)]
            if constant_of(step) != 1:
                index = rewriter.value_before(op, arith.Elementwise(fn="mul", args=[index, step]))
            if constant_of(offset) != 0:
                index = rewriter.value_before(op, arith.Elementwise(fn="add", args=[index, offset]))
        made.append(index)
    return made


def drop_whole_view(op: Operation, rewriter: Rewriter) -> bool:
    """A view of everything in order is the ref itself."""
    assert isinstance(op, mem.View)
    source = op.ref
    if op.view.type != source.type or op.axes != tuple(range(len(op.offsets))):
        return False
    if any(constant_of(v) != 0 for v in op.offsets) or any(constant_of(v) != 1 for v in op.steps):
        return False
    assert isinstance(source.type, RefType)
    if any(extent is None for extent in source.type.shape):
        return False
    rewriter.replace(op, [source])
    return True


def drop_held_check(op: Operation, rewriter: Rewriter) -> bool:
    """A check of what always holds does nothing."""
    assert isinstance(op, py.Check)
    if constant_of(op.condition) not in (True, 1):
        return False
    rewriter.erase(op)
    return True
