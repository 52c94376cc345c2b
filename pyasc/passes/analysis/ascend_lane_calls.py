# SPDX-License-Identifier: Apache-2.0
"""Tile operations that are more than one call for each element where it stands, by the module that lowers each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyasc.ir.core import Operation
from pyasc.ir.dialects import tile, tile_lanes
from pyasc.passes.analysis.ascend_histograms import tally, totals
from pyasc.passes.analysis.ascend_lanes import gather, pick, turn, weave
from pyasc.passes.analysis.ascend_remainders import remainders
from pyasc.passes.analysis.ascend_scans import scan

if TYPE_CHECKING:
    from pyasc.passes.analysis.ascend_methods import Methods
    from pyasc.passes.analysis.ascend_tensors import TensorMap


def lane_call(methods: Methods, tensors: TensorMap, op: Operation) -> bool:
    """Lower an operation, if it is such a one."""
    match op:
        case tile_lanes.Pick():
            pick(methods, tensors, op)
        case tile_lanes.Weave():
            weave(methods, tensors, op)
        case tile_lanes.Scan():
            scan(methods, tensors, op)
        case tile_lanes.Tally():
            tally(methods, tensors, op)
        case tile_lanes.Totals():
            totals(methods, tensors, op)
        case tile.Elementwise(fn="fmod"):
            remainders(methods, tensors, op)
        case tile.Gather():
            gather(tensors, op, methods.count_of(tensors.at, op))
        case tile.Transpose():
            turn(methods, tensors, op)
        case _:
            return False
    return True
