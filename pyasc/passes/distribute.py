# SPDX-License-Identifier: Apache-2.0
"""Turns parallel loops that walk columns of memory inside out, statement by statement.

    scf.for %0, %m, %1, [] {kind = "parallel"} {
    ^(%j: i64):
      %total = mem.alloc : ref<f32, local>
      st.apply [%n, %j], [%a], [%zero], [%total] {iterators = ["reduction"], input_maps = [affine<d0, s1>], ...}
      %sum = mem.load %total, []
      %mean = arith.div %sum, %count
      mem.store %mean, %y, [%j]
    }

reads `%a` with a stride in every iteration, while neighbouring iterations read neighbouring elements. It becomes a
reduction over `parallel, reduction` and an elementwise op (see `analysis/distribute_parallel`), which later passes
interchange and vectorise. Loops that walk rows stay: what belongs to a row is done while the row is on chip.
"""

from __future__ import annotations

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Value
from pyasc.ir.dialects import scf, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import RefType
from pyasc.passes.analysis.distribute_parallel import distribute
from pyasc.passes.base import Context, FunctionPass


class Distribute(FunctionPass):
    """Distributes parallel loops over their statements where that makes accesses contiguous."""

    name = "distribute"

    def run(self, func: Func, context: Context) -> bool:
        """Look at every parallel loop, outer ones first."""
        changed = False
        for loop in [op for op in func.walk() if isinstance(op, scf.For) and op.kind == "parallel"]:
            if _walks_columns(loop) and distribute(loop):
                loop.erase()
                context.count("loops distributed")
                changed = True
        return changed


def _walks_columns(loop: scf.For) -> bool:
    """Whether an op in a loop reads with a stride what lies side by side from one iteration to the next."""
    for op in loop.body.block:
        if isinstance(op, st.Apply):
            counter = [number for number, value in enumerate(op.symbols) if value is loop.counter]
            accesses = zip(op.inputs, op.input_maps, strict=True)
            if any(_crosses(ref, map_, op.rank, counter) for ref, map_ in accesses):
                return True
    return False


def _crosses(ref: Value, map_: AffineMap, rank: int, counter: list[int]) -> bool:
    type_ = ref.type
    assert isinstance(type_, RefType)
    if not map_.results or type_.layout != "row":
        return False
    *outer, inner = map_.results
    steps = any(each.coefficient(i) for each in outer for i in range(rank))
    stays = not any(inner.coefficient(i) for i in range(rank))
    return steps and stays and any(inner.symbol_coefficient(k) for k in counter)
