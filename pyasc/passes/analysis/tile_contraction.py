# SPDX-License-Identifier: Apache-2.0
"""Which kind of tiled nest a product-sum gets on a host processor."""

from __future__ import annotations

from pyasc.passes.analysis.contraction import Contraction, fits_register_tile
from pyasc.passes.analysis.direct_tiles import DirectTiles
from pyasc.passes.analysis.packed_tiles import PackedTiles
from pyasc.passes.analysis.register_tiles import Machine


def tile_contraction(c: Contraction, machine: Machine) -> bool:
    """Replace a product-sum by its tiled nest. Returns False, changing nothing, when no tile fits its maps."""
    if not fits_register_tile(c):
        return False
    if c.is_projection and len(c.sums) == 1:
        PackedTiles(c, machine).emit()
    else:
        DirectTiles(c, machine).emit()
    c.op.drop()
    c.op.unlink()
    return True
