# SPDX-License-Identifier: Apache-2.0
"""Which kind of tiled nest a product-sum gets on a host processor."""

from __future__ import annotations

from pyasc.ir import dtypes
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.contraction import Contraction
from pyasc.passes.analysis.direct_tiles import DirectTiles
from pyasc.passes.analysis.packed_tiles import PackedTiles
from pyasc.passes.analysis.register_tiles import Machine


def tile_contraction(c: Contraction, machine: Machine) -> bool:
    """Replace a product-sum by its tiled nest. Returns False, changing nothing, when no tile fits its maps."""
    if c.row is None or c.dtype not in (dtypes.f32, dtypes.f64):
        return False
    if any(bound.constant or bound.symbols for bound in c.op.lower):
        return False
    if c.is_projection and len(c.sums) == 1:
        PackedTiles(c, machine).emit()
    elif c.has_unit_stride and dtype_of(c.op.inputs[c.vector].type) is c.dtype:
        DirectTiles(c, machine).emit()
    else:
        return False
    c.op.drop()
    c.op.unlink()
    return True
