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
from pyasc.ir.dialects import arith, func, mem, py, scf, st
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.dtypes import i1, i64, u8
from pyasc.ir.types import RefType
from pyasc.passes.analysis.ascend_scalar import can_run
from pyasc.passes.analysis.phases import (
    HOST_SUFFIX,
    add_fault,
    check_loads,
    cut,
    hoist_buffers,
    needed,
    phase_function,
    workspace_names,
)
from pyasc.passes.analysis.product import is_product, match_product
from pyasc.passes.analysis.soc import DEFAULT_SOC, Soc, soc_named
from pyasc.passes.analysis.tile_columns import lower_columns, reduces_rows
from pyasc.passes.analysis.tile_flat import is_flat, lower_flat
from pyasc.passes.analysis.tile_legalise import NotVector, refuse
from pyasc.passes.analysis.tile_matmul import lower_product
from pyasc.passes.analysis.tile_rows import of_apply, of_loop
from pyasc.passes.analysis.tile_rows_emit import lower_rows
from pyasc.passes.analysis.writeback import plain
from pyasc.passes.base import Context, Pass
from pyasc.passes.forward import Forward
from pyasc.passes.lower_structured import LowerStructured

HINT = "elementwise operations and reductions along rows that lie side by side run on the vector unit"


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
    made: list[Phase] = []
    slow: list[Operation] = []
    for work in parts.work:
        phase = phase_function(kernel, [work], kernel.symbol, names)
        try:
            made_phase = Phase(phase, lower_phase(phase, soc))
        except NotVector as error:
            _remark(context, work, error)
            slow.append(work)
            continue
        made += _scalar_phases(kernel, slow, names, context)
        slow = []
        made += _with_variant(kernel, made_phase, work, names, context)
    made += _scalar_phases(kernel, slow, names, context)
    _number(made, kernel.symbol)
    context.count("phases", len(made))
    tiled = [each.function for each in made if each.blocks is not None]
    limits = [op for function in tiled for op in function.body.block if isinstance(op, py.Check)]
    host = host_function(kernel, [*parts.checks, *limits], made)
    for limit in limits:
        limit.erase()
    return [*(each.function for each in made), host]


@dataclass(frozen=True)
class Phase:
    """A function and how many cores it takes: a value in it, or one core.

    A phase that takes part only where `fits` holds (or fails, with `otherwise`) takes no core in other launches.
    """

    function: Func
    blocks: Value | None
    fits: Value | None = None
    otherwise: bool = False


def _scalar_phases(
    kernel: Func, work: Sequence[Operation], names: dict[Value, str], context: Context
) -> list[Phase]:
    """One launch of one core for work that no tile fits, as loops over single elements."""
    if not work:
        return []
    phase = phase_function(kernel, work, kernel.symbol, names)
    LowerStructured().run(phase, context)
    Forward().run(phase, context)
    hoist_buffers(phase, set(names.values()) | {param.name for param in kernel.params} | set(kernel.sizes))
    if any(isinstance(op, py.Check) for op in phase.walk()):
        add_fault(phase)
    return [Phase(phase, None)]


def _with_variant(
    kernel: Func, phase: Phase, work: Operation, names: dict[Value, str], context: Context
) -> list[Phase]:
    """A phase, and where its tiles hold some sizes alone, one that takes its place for the others."""
    limit = next((op for op in phase.function.body.block if isinstance(op, py.Check)), None)
    if limit is None:
        return [phase]
    (slow,) = _scalar_phases(kernel, [work], names, context)
    if not can_run(slow.function):
        return [phase]
    fits = limit.condition
    limit.erase()
    context.remark(work.loc, "rows that do not fit on chip run on the scalar unit", HINT)
    return [
        Phase(phase.function, phase.blocks, fits),
        Phase(slow.function, None, fits, otherwise=True),
    ]


def _remark(context: Context, work: Operation, error: NotVector) -> None:
    (diagnostic,) = error.diagnostics
    reason = diagnostic.message.removeprefix("not lowered to Ascend C: ")
    context.remark(
        diagnostic.loc if diagnostic.loc.known else work.loc, f"runs on the scalar unit: {reason}", HINT
    )


def _number(phases: Sequence[Phase], symbol: str) -> None:
    if len(phases) > 1:
        for number, phase in enumerate(phases, 1):
            phase.function.attrs["symbol"] = f"{symbol}_{number}"


def lower_phase(phase: Func, soc: Soc) -> Value:
    """Lower the one piece of work of a phase to tiles; how many cores it takes. Raises NotVector."""
    work = next(op for op in phase.body.block if _is_work(op))
    at = Builder.before(work)
    at.loc = work.loc
    if isinstance(work, st.Apply) and is_product(work):
        blocks = lower_product(match_product(work), plain(work), soc)
        work.drop()
        work.unlink()
    elif isinstance(work, st.Apply) and is_flat(work):
        blocks = lower_flat(work, soc)
    elif isinstance(work, st.Apply) and reduces_rows(work):
        blocks = lower_columns(work, soc)
    elif isinstance(work, st.Apply):
        blocks = lower_rows(work, of_apply(work, at), soc)
    elif isinstance(work, scf.For):
        blocks = lower_rows(work, of_loop(work, at), soc)
    else:
        checks = isinstance(work, py.Check)
        what = (
            "a check that depends on data"
            if checks
            else f"{work.name} outside of a parallel loop over elements"
        )
        raise refuse(what, work.loc)
    _bytes_for_bools(phase)
    return blocks


def _bytes_for_bools(phase: Func) -> None:
    """A bool in memory is a byte."""
    for param in phase.params:
        if isinstance(param.type, RefType) and param.type.dtype is i1:
            param.type = RefType(param.type.shape, u8)


def _is_work(op: Operation) -> bool:
    return bool(op.regions) or isinstance(op, (mem.Store, mem.Copy, mem.Atomic, py.Check))


def host_function(kernel: Func, checks: Sequence[py.Check], phases: Sequence[Phase]) -> Func:
    """Checks of sizes and scalars, then the cores of each phase."""
    scalars = [param for param in kernel.params if not isinstance(param.type, RefType)]
    region = block_of([param.type for param in scalars], [param.name for param in scalars])
    mapping: dict[Value, Value] = dict(zip(scalars, region.block.args, strict=True))
    at = Builder(region.block)
    for check in checks:
        _copy_scalars(needed(check.operands), mapping, at)
        at.insert(check.clone(mapping))
    results: list[Value] = []
    for phase in phases:
        results.append(_count(phase, mapping, at))
    at.insert(func.Return(values=results))
    return Func(
        symbol=kernel.symbol + HOST_SUFFIX, kernel=False, sizes=kernel.sizes, body=region, loc=kernel.loc
    )


def _count(phase: Phase, mapping: dict[Value, Value], at: Builder) -> Value:
    """The cores of one phase, computed from what its own function computes them from."""
    count = at.value(arith.Constant.of(1, i64))
    if phase.blocks is not None:
        _copy_scalars(needed([phase.blocks]), mapping, at)
        count = mapping.get(phase.blocks, phase.blocks)
    if phase.fits is None:
        return count
    _copy_scalars(needed([phase.fits]), mapping, at)
    fits, none = mapping[phase.fits], at.value(arith.Constant.of(0, i64))
    choice = [fits, none, count] if phase.otherwise else [fits, count, none]
    return at.value(arith.Elementwise(fn="select", args=choice))


def _copy_scalars(ops: Sequence[Operation], mapping: dict[Value, Value], at: Builder) -> None:
    for op in ops:
        if isinstance(op, mem.Load):
            raise refuse("a check, or an amount of work, that depends on data", op.loc)
        if op.results[0] not in mapping:
            at.insert(op.clone(mapping))
