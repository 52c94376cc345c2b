# SPDX-License-Identifier: Apache-2.0
"""The least and the greatest that an affine form gives over the points of a structured op."""

from __future__ import annotations

from pyasc.ir.affine import AffineExpr
from pyasc.ir.dialects import st
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.passes.analysis.ranges import Ranges


def extreme(ranges: Ranges, op: st.Apply, expr: AffineExpr, sign: int) -> SizeExpr:
    """No point of the op gives less than this, or no point more, as `sign` says."""
    total = _outside(ranges, op, expr)
    factors = [expr.coefficient(i) for i in range(op.rank)]
    for i in reversed(range(op.rank)):
        factor = factors[i]
        if factor:
            bound = op.upper[i] + -1 if factor * sign > 0 else op.lower[i]
            total = total + _outside(ranges, op, bound) * factor
            factors[:i] = [each + factor * bound.coefficient(k) for k, each in enumerate(factors[:i])]
    return total


def writes_in_range(ranges: Ranges, op: st.Apply) -> bool:
    """Whether every point of the op, whatever its guard says, has a place in each array that the op writes."""
    assert op.parent is not None
    for ref, map_ in zip(op.outputs, op.output_maps, strict=True):
        for axis, expr in enumerate(map_.results):
            extent = ranges.polynomials.extent(ref, axis)
            if extent is None or not ranges.nonnegative(extreme(ranges, op, expr, -1), op.parent):
                return False
            if not ranges.nonnegative(extent - extreme(ranges, op, expr, 1) - 1, op.parent):
                return False
    return True


def _outside(ranges: Ranges, op: st.Apply, expr: AffineExpr) -> SizeExpr:
    """An affine form without its iterators."""
    total = constant(expr.constant)
    for number, factor in enumerate(expr.symbols):
        if factor:
            total = total + ranges.exact(op.symbols[number]) * factor
    return total
