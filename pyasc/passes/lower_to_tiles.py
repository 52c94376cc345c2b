# SPDX-License-Identifier: Apache-2.0
"""From structured ops to tiles: a function for each phase of a kernel, and one for what the host does before them.

    func.func {symbol = "scale", sizes = ["N"]} {
    ^(%x: ref<N x f32>, %y: ref<N x f32>):
      st.apply [%N], [%x], [], [%y] {iterators = ["parallel"], ...}
    }

becomes `scale` with a `tile.cores` (see `tile_flat`), and

    func.func {symbol = "scale_host", kernel = false, sizes = ["N"]} {
      %N = func.size {symbol = "N"}
      ...
      func.return %blocks
    }

A kernel of several phases becomes `scale_1`, `scale_2`, ..., to be launched one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import func, mem, py, st
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.dtypes import i1, u8
from pyasc.ir.types import RefType
from pyasc.passes.analysis.phases import (
    HOST_SUFFIX,
    check_loads,
    cut,
    needed,
    phase_function,
    workspace_names,
)
from pyasc.passes.analysis.soc import DEFAULT_SOC, Soc, soc_named
from pyasc.passes.analysis.tile_flat import is_flat, lower_flat
from pyasc.passes.analysis.tile_legalise import refuse
from pyasc.passes.base import Context, Pass


@dataclass(frozen=True)
class LowerToTiles(Pass):
    """Cuts kernels into phases and lowers each to tiles of the SoC `soc`."""

    name = "lower-to-tiles"

    soc: str = DEFAULT_SOC

    def apply(self, module: Module, context: Context) -> bool:
        """Replace every kernel. Raises UnsupportedError for what is not lowered."""
        soc = soc_named(self.soc)
        for kernel in [each for each in module.functions if each.kernel]:
            for made in lower_kernel(kernel, soc, context):
                made.attach(module.body.block)
            kernel.drop()
            kernel.unlink()
        return True


def lower_kernel(kernel: Func, soc: Soc, context: Context) -> list[Func]:
    """The functions of a kernel's phases, then the one for the host."""
    parts = cut(kernel)
    check_loads(kernel, parts.loads)
    names = workspace_names(kernel, parts.buffers)
    several = len(parts.work) > 1
    phases: list[Func] = []
    for number, work in enumerate(parts.work, 1):
        symbol = f"{kernel.symbol}_{number}" if several else kernel.symbol
        phases.append(phase_function(kernel, [work], symbol, names))
    counts = [lower_phase(phase, soc) for phase in phases]
    context.count("phases", len(phases))
    return [*phases, host_function(kernel, parts.checks, counts)]


def lower_phase(phase: Func, soc: Soc) -> Value:
    """Lower the one piece of work of a phase; how many cores it takes."""
    work = next(op for op in phase.body.block if _is_work(op))
    if isinstance(work, st.Apply) and is_flat(work):
        blocks = lower_flat(work, soc)
    else:
        raise refuse(_why_not(work), work.loc)
    for param in phase.params:
        if isinstance(param.type, RefType) and param.type.dtype is i1:
            param.type = RefType(param.type.shape, u8)
    return blocks


def _is_work(op: Operation) -> bool:
    return bool(op.regions) or isinstance(op, (mem.Store, mem.Copy, mem.Atomic))


def _why_not(op: Operation) -> str:
    if isinstance(op, st.Apply):
        return "this loop does not walk its arrays in memory order, or it reduces"
    return f"{op.name} outside of a parallel loop over elements"


def host_function(kernel: Func, checks: Sequence[py.Check], counts: Sequence[Value]) -> Func:
    """Checks of sizes and scalars, then the cores of each phase."""
    scalars = [param for param in kernel.params if not isinstance(param.type, RefType)]
    region = block_of([param.type for param in scalars], [param.name for param in scalars])
    mapping: dict[Value, Value] = dict(zip(scalars, region.block.args, strict=True))
    at = Builder(region.block)
    for check in checks:
        _copy_scalars(needed(check.operands), mapping, at)
        at.insert(check.clone(mapping))
    results: list[Value] = []
    for count in counts:
        # The count was computed in a phase, from that phase's own parameters.
        _copy_scalars(needed([count]), mapping, at)
        results.append(mapping.get(count, count))
    at.insert(func.Return(values=results))
    return Func(symbol=kernel.symbol + HOST_SUFFIX, kernel=False, sizes=kernel.sizes, body=region, loc=kernel.loc)


def _copy_scalars(ops: Sequence[Operation], mapping: dict[Value, Value], at: Builder) -> None:
    for op in ops:
        if isinstance(op, mem.Load):
            raise refuse("a check, or an amount of work, that depends on data", op.loc)
        if op.results[0] not in mapping:
            at.insert(op.clone(mapping))
