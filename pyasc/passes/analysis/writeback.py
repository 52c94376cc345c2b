# SPDX-License-Identifier: Apache-2.0
"""What the cube unit does on the way out: a row of start values, a clamp at zero, a conversion."""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Value
from pyasc.ir.dialects import st


@dataclass(frozen=True)
class Bias:
    """A row of the accumulator's dtype, walked by the columns."""

    ref: Value
    map: AffineMap


@dataclass(frozen=True)
class Writeback:
    """Where the block goes, through a map over the product's iterators."""

    target: Value
    map: AffineMap
    relu: bool = False
    bias: Bias | None = None


def plain(op: st.Apply) -> Writeback:
    """A product that is stored as it is."""
    return Writeback(op.outputs[0], op.output_maps[0])
