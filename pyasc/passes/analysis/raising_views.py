# SPDX-License-Identifier: Apache-2.0
"""Structured ops on views become ops on the buffers that the views were made from, at other indices.

    %row = mem.view %x, [%i, %0], [%1, %n], [%1, %2] {axes = [1]} : ref<N x f32, gm, strided>
    st.apply [%n], [%row], ... {input_maps = [affine<d0>], ...}

becomes

    st.apply [%n, %i, %0], [%x], ... {input_maps = [affine<s1, 2*d0 + s2>], ...}
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import mem, st
from pyasc.passes.analysis.affine import integer_of


def look_through_views(root: Operation) -> int:
    """Rewrite every structured op under `root`; returns how many changed."""
    return sum(_look_through(op) for op in root.walk() if isinstance(op, st.Apply))


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
    for axis, (offset, step) in enumerate(zip(view.offsets, view.steps, strict=True)):
        factor = integer_of(step)
        assert factor is not None
        start = _symbol(op, offset)
        walked = view.axes.index(axis) if axis in view.axes else None
        results.append(start if walked is None else map_.results[walked] * factor + start)
    return AffineMap(tuple(results))


def _symbol(op: st.Apply, value: Value) -> AffineExpr:
    number = integer_of(value)
    if number is not None:
        return affine.const(number)
    symbols: Sequence[Value] = op.symbols
    if value not in symbols:
        op.set_operands("symbols", [*symbols, value])
    return affine.symbol(op.symbols.index(value))
