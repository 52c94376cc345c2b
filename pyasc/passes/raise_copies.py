# SPDX-License-Identifier: Apache-2.0
"""Copies between buffers as structured ops on the arrays behind their views, so that they are tiled like any other.

    %last = mem.view %p, [%0, %k], [%n, %1], [%1, %1] {axes = [0]} : ref<N x f32, gm, strided>
    mem.copy %row, %last

becomes

    st.apply [%n, %k], [%row], [], [%p] {iterators = ["parallel"], input_maps = [affine<d0>],
      output_maps = [affine<d0, s1>], ...}
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import mem
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import extent_operand
from pyasc.passes.analysis.raising_views import look_through_views
from pyasc.passes.analysis.structured import Output, apply_over, extent_value
from pyasc.passes.base import Context, FunctionPass


class RaiseCopies(FunctionPass):
    """Makes every copy a structured op."""

    name = "raise-copies"

    def run(self, func: Func, context: Context) -> bool:
        """Replace the copies, then let structured ops name whole arrays."""
        copies = [op for op in func.walk() if isinstance(op, mem.Copy)]
        for op in copies:
            _raise(op)
        if not copies:
            return False
        context.count("copies raised", len(copies))
        look_through_views(func)
        return True


def _raise(op: mem.Copy) -> None:
    at = Builder.before(op)
    type_ = op.target.type
    assert isinstance(type_, RefType)
    extents = [extent_value(at, dim, extent_operand(op.target, axis)) for axis, dim in enumerate(type_.shape)]
    axes = tuple(range(len(extents)))

    def body(inner: Builder, point: list[Value]) -> list[Value]:
        return [inner.value(mem.Load(ref=op.source, indices=point))]

    apply_over(at, extents, ["parallel"] * len(extents), [Output(op.target, "write", axes)], body)
    op.erase()
