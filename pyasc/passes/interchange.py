# SPDX-License-Identifier: Apache-2.0
"""Puts the iterator innermost along which memory is contiguous.

    st.apply [%n, %m], [%x], [%zero], [%y] {iterators = ["parallel", "reduction"],
      input_maps = [affine<d1, d0>], output_maps = [affine<d0>], ...}

walks columns of a row-major matrix; it becomes

    st.apply [%n, %m], [%x], [%zero], [%y] {iterators = ["reduction", "parallel"],
      input_maps = [affine<d0, d1>], output_maps = [affine<d1>], ...}

which walks rows. Parallel and reduction iterators may change places unless the written order is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Value
from pyasc.ir.dialects import st
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import RefType
from pyasc.passes.analysis.contraction import fits_register_tile, match_contraction
from pyasc.passes.analysis.permute import permute
from pyasc.passes.base import Context, FunctionPass


class Interchange(FunctionPass):
    """Reorders the iterators of structured ops for contiguous access."""

    name = "interchange"

    def run(self, func: Func, context: Context) -> bool:
        """Look at every structured op; product-sums are left to their register tiles."""
        changed = False
        for op in func.nests():
            if isinstance(op, st.Apply) and not _gets_a_tile(op):
                order = _better_order(op)
                if order is not None:
                    permute(op, order)
                    context.count("interchanged")
                    changed = True
        return changed


def _gets_a_tile(op: st.Apply) -> bool:
    contraction = match_contraction(op)
    return contraction is not None and fits_register_tile(contraction)


def _better_order(op: st.Apply) -> list[int] | None:
    """The order with the best iterator innermost, or None when it is there already or may not move."""
    if op.rank < 2 or op.strict or set(op.iterators) - {"parallel", "reduction"}:
        return None
    if any(bound.dims for bound in (*op.lower, *op.upper)):
        return None
    scores = [
        (sum(_contiguity(ref, map_, i) for ref, map_ in _accesses(op)), _fills_output(op, i))
        for i in range(op.rank)
    ]
    last = op.rank - 1
    best = max(range(op.rank), key=lambda i: (*scores[i], i))
    if scores[best] <= scores[last]:
        return None
    return [i for i in range(op.rank) if i != best] + [best]


def _fills_output(op: st.Apply, iterator: int) -> bool:
    """Whether an iterator walks neighbouring elements of an output, so that lanes need not be combined."""
    pairs = zip(op.outputs, op.output_maps, strict=True)
    return op.iterators[iterator] == "parallel" and any(_contiguity(r, m, iterator) == 1 for r, m in pairs)


def _accesses(op: st.Apply) -> Iterator[tuple[Value, AffineMap]]:
    yield from zip(op.inputs, op.input_maps, strict=True)
    yield from zip(op.outputs, op.output_maps, strict=True)


def _contiguity(ref: Value, map_: AffineMap, iterator: int) -> int:
    """1 for neighbouring elements, 0 for one and the same, -2 for elements far apart."""
    type_ = ref.type
    assert isinstance(type_, RefType)
    if not map_.uses(iterator):
        return 0
    *outer, inner = map_.results
    far = any(e.coefficient(iterator) for e in outer) or abs(inner.coefficient(iterator)) != 1
    return -2 if far or type_.layout != "row" else 1
