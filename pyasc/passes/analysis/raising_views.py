# SPDX-License-Identifier: Apache-2.0
"""Accesses and structured ops on views become ones on the buffers that the views were made from, at other indices.

    %row = mem.view %x, [%i, %0], [%1, %n], [%1, %2] {axes = [1]} : ref<N x f32, gm, strided>
    st.apply [%n], [%row], ... {input_maps = [affine<d0>], ...}

becomes

    st.apply [%n, %i, %0], [%x], ... {input_maps = [affine<s1, 2*d0 + s2>], ...}
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, st
from pyasc.passes.analysis.affine import integer_of, materialise


def look_through_views(root: Operation) -> int:
    """Rewrite every access and structured op under `root`; returns how many changed."""
    changed = 0
    for op in root.nested():
        if isinstance(op, st.Apply):
            changed += _look_through(op)
        elif isinstance(op, (mem.Load, mem.Store)):
            changed += _look_through_access(op)
    return changed


def _look_through_access(op: mem.Load | mem.Store) -> bool:
    changed = False
    while (view := _affine_view(op.ref)) is not None:
        at = Builder.before(op)
        maps = [_index(view, axis) for axis in range(len(view.offsets))]
        values = [materialise(expr, op.indices, view.offsets, at) for expr in maps]
        op.set_operands("indices", values)
        op.set_operands("ref", [view.ref])
        changed = True
    return changed


def _index(view: mem.View, axis: int) -> AffineExpr:
    """The index on one axis of the source, over the view's dimensions and its offsets as symbols."""
    offset = integer_of(view.offsets[axis])
    start = affine.symbol(axis) if offset is None else affine.const(offset)
    factor = integer_of(view.steps[axis])
    assert factor is not None
    return affine.dim(view.axes.index(axis)) * factor + start if axis in view.axes else start


def _look_through(op: st.Apply) -> bool:
    changed = False
    for field in ("inputs", "outputs"):
        refs: list[Value] = list(getattr(op, field))
        maps: list[AffineMap] = list(getattr(op, field[:-1] + "_maps"))
        for k in range(len(refs)):
            while (view := _affine_view(refs[k])) is not None:
                maps[k] = _through(op, view, maps[k])
                refs[k] = view.ref
                changed = True
        op.set_operands(field, refs)
        setattr(op, field[:-1] + "_maps", tuple(maps))
    return changed


def _affine_view(ref: Value) -> mem.View | None:
    """The view that made a ref, when its steps are constants."""
    view = ref.op
    if not isinstance(view, mem.View) or any(integer_of(step) is None for step in view.steps):
        return None
    return view


def _through(op: st.Apply, view: mem.View, map_: AffineMap) -> AffineMap:
    """The map into the source of a view."""
    results: list[AffineExpr] = []
    for axis in range(len(view.offsets)):
        index = _index(view, axis)
        total = affine.const(index.constant)
        if index.symbols:
            total = total + _symbol(op, view.offsets[axis])
        for dimension, factor in enumerate(index.dims):
            if factor:
                total = total + map_.results[dimension] * factor
        results.append(total)
    return AffineMap(tuple(results))


def _symbol(op: st.Apply, value: Value) -> AffineExpr:
    symbols: Sequence[Value] = op.symbols
    if value not in symbols:
        op.set_operands("symbols", [*symbols, value])
    return affine.symbol(op.symbols.index(value))
