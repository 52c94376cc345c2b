# SPDX-License-Identifier: Apache-2.0
"""From tiles to Ascend C calls: queues for what is copied, barriers between dependent vector calls, byte counts.

    tile.loop [%length] {tile = [7168]} {
    ^(%offset: i64, %count: i64):
      %x = tile.buffer {depth = 2} : ref<7168 x f32, ub>
      tile.copy %view, %x, [%count]
      tile.exp %x, %o, [%count]
      tile.copy %o, %out, [%count]
    }

becomes a loop over the methods CopyIn (AllocTensor, DataCopyPad, EnQue), Compute (DeQue, Exp, EnQue, FreeTensor) and
CopyOut (DeQue, DataCopyPad, FreeTensor).
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.core import Builder, block_of
from pyasc.ir.dialects import asc, tile
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.types import RefType, Type
from pyasc.passes.analysis.ascend_cube import CubeLowering
from pyasc.passes.analysis.ascend_emit import PhaseLowering
from pyasc.passes.analysis.ascend_redundant import drop_redundant_barriers
from pyasc.passes.analysis.ascend_scalar import ScalarLowering, stored
from pyasc.passes.analysis.ascend_tidy import tidy_methods
from pyasc.passes.analysis.phases import fault_function
from pyasc.passes.analysis.tile_hand_over import hand_over_directly
from pyasc.passes.base import Context, Pass


@dataclass(frozen=True)
class LowerToAscend(Pass):
    """Lowers every kernel function at the tile level; what runs on the host stays."""

    name = "lower-to-ascend"

    def apply(self, module: Module, context: Context) -> bool:
        """Replace each kernel function in place. Raises UnsupportedError."""
        phases = [each for each in module.functions if each.kernel]
        for phase in phases:
            body = block_of([_stored(p.type) for p in phase.params], [p.name for p in phase.params])
            lowered = Func(
                symbol=phase.symbol,
                sizes=phase.sizes,
                written=phase.written,
                body=body,
                loc=phase.loc,
            )
            assert phase.parent is not None
            phase.parent.insert_before(phase, lowered)
            cores = next((op for op in phase.body.block if isinstance(op, tile.Cores)), None)
            if cores is not None and cores.unit == "cube":
                CubeLowering(phase, lowered).run()
                tidy_methods(lowered)
            elif cores is not None and cores.unit != "scalar":
                hand_over_directly(phase)
                lowering = PhaseLowering(phase, lowered)
                lowering.run()
                drop_redundant_barriers(lowered, lowering.parts)
                tidy_methods(lowered)
            else:
                scalar = ScalarLowering(phase, lowered)
                scalar.run()
                for number, check in enumerate(scalar.checks, 1):
                    fault_function(phase, number, check).attach(module.body.block)
            if len(phases) > 1:
                _mark(lowered)
            phase.drop()
            phase.unlink()
        return True


def _mark(lowered: Func) -> None:
    """Say which cores run a kernel, as the compiler asks for where a file has several."""
    first = lowered.body.block.first
    assert first is not None
    if not isinstance(first, asc.KernelType):
        Builder.before(first).insert(asc.KernelType(type="KERNEL_TYPE_AIV_ONLY"))


def _stored(type_: Type) -> Type:
    """A parameter as the core sees it: a bool in memory is a byte."""
    return RefType(type_.shape, stored(type_.dtype)) if isinstance(type_, RefType) else type_
