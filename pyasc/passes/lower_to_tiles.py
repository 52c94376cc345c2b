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
      func.launch %blocks, [] {callee = "scale"}
      func.return
    }

A kernel of several phases becomes `scale_1`, `scale_2`, ..., to be launched one after the other; a sequential loop
around such work is one of the host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from pyasc.ir.affine import const
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, mem, py, scf, st, tile
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.location import Location
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.ascend_scalar import can_run
from pyasc.passes.analysis.direct_results import write_directly
from pyasc.passes.analysis.distribute_parallel import distribute_nest
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.held_numbers import HeldNumbers
from pyasc.passes.analysis.histograms import match_histogram
from pyasc.passes.analysis.hoist_numbers import hoist_numbers
from pyasc.passes.analysis.launch_plan import Phase, Repeat, Step, host_function, phases_of
from pyasc.passes.analysis.not_vector import ANYWHERE, TAKES_CALLS, NotVector, refuse
from pyasc.passes.analysis.op_extremes import writes_in_range
from pyasc.passes.analysis.phases import (
    Cut,
    PhaseFunction,
    UsedLater,
    add_fault,
    changes_what_it_starts_from,
    cut,
    depends_on_data,
    free_values,
    hoist_buffers,
    is_work,
    keep_in_memory,
    name_workspaces,
    needed,
    phase_function,
    takes_detours,
    unused,
)
from pyasc.passes.analysis.scalar_cores import deal_to_cores
from pyasc.passes.analysis.soc import DEFAULT_SOC, Soc, soc_named
from pyasc.passes.analysis.split_checks import only_tells_which
from pyasc.passes.analysis.structured import combining_function
from pyasc.passes.analysis.tile_phase import bytes_for_bools, lower_phase, product_of
from pyasc.passes.analysis.tile_products import lower_products
from pyasc.passes.analysis.tile_scan_columns import lower_scanned_columns, scans_rows
from pyasc.passes.analysis.tile_scans import is_scan, lower_line_totals, lower_scan
from pyasc.passes.analysis.tile_totals import is_total, lower_parts, lower_whole
from pyasc.passes.analysis.walks import gathers
from pyasc.passes.base import Context, Pass
from pyasc.passes.forward import Forward
from pyasc.passes.lower_structured import LowerStructured

HINT = "elementwise operations and reductions along rows that lie side by side run on the vector unit"


@dataclass(frozen=True)
class LowerToTiles(Pass):
    """Cuts kernels into phases and lowers each to tiles of the SoC `soc`, for all of its cores or for fewer."""

    name = "lower-to-tiles"

    soc: str = DEFAULT_SOC
    cores: int = 0

    def apply(self, module: Module, context: Context) -> bool:
        """Replace every kernel. Raises UnsupportedError for what is not lowered."""
        soc = soc_named(self.soc)
        soc = soc.limited(self.cores) if self.cores else soc
        for kernel in [each for each in module.functions if each.kernel]:
            for made in lower_kernel(kernel, soc, context):
                made.attach(module.body.block)
            kernel.drop()
            kernel.unlink()
        return True


def lower_kernel(kernel: Func, soc: Soc, context: Context) -> list[Func]:
    """The functions of a kernel's phases, then the one for the host."""
    return _Lowering(kernel, soc, context, HeldNumbers(kernel)).run()


class _Divided(Exception):
    """The kernel has other work than before, which is to be planned anew."""


@dataclass
class _Lowering:
    """One kernel on its way to a plan of launches."""

    kernel: Func
    soc: Soc
    context: Context
    held: HeldNumbers
    names: dict[Value, str] = field(default_factory=lambda: dict[Value, str]())
    workspaces: set[str] = field(default_factory=lambda: set[str]())

    def run(self) -> list[Func]:
        """The functions of the phases, then the one for the host."""
        write_directly(self.kernel)
        hoist_numbers(self.kernel)
        lower_products(self.kernel, self.soc)
        parts, steps = self._plan()
        phases = phases_of(steps)
        _number(phases, self.kernel.symbol)
        self.context.count("phases", len(phases))
        host = host_function(self.kernel, parts.checks, steps)
        for phase in phases:
            for limit in phase.limits:
                limit.erase()
        return [*(each.function for each in phases), host]

    def _plan(self) -> tuple[Cut, list[Step]]:
        """The launches of the whole kernel; all over again where a result has to go through memory to be used."""
        while True:
            context = Context(current=self.context.current)
            attempt = _Lowering(self.kernel, self.soc, context, HeldNumbers(self.kernel))
            try:
                parts = cut(self.kernel.body.block)
                steps = attempt.steps(self.kernel.body.block, parts)
            except UsedLater as found:
                keep_in_memory(found.op)
                continue
            except _Divided:
                continue
            self.names, self.workspaces = attempt.names, attempt.workspaces
            self.context.remarks += attempt.context.remarks
            self.context.counts.update(attempt.context.counts)
            return parts, steps

    def steps(self, block: Block, parts: Cut) -> list[Step]:
        """Launches for the work of a block. What no tile fits is gathered into launches of one core."""
        lost = self.held.lost(block, parts.loads, is_work)
        if lost is not None:
            raise UsedLater(lost)
        name_workspaces(self.kernel, parts.buffers, self.names)
        made: list[Step] = []
        slow: list[Operation] = []
        for work in parts.work:
            # One element is not worth a launch of its own where there is one that can compute it too.
            fast = [] if slow and _is_one_element(work) else self._fast(work)
            if not fast and self._divide(work):
                raise _Divided
            if fast:
                made += [*self._scalar(slow), *fast]
                slow = []
            else:
                slow.append(work)
        return made + self._scalar(slow)

    def _fast(self, work: Operation) -> list[Step]:
        """Launches that use the vector or cube unit, or none and a remark that says why."""
        if isinstance(work, mem.Store) and isinstance(work.ref.owner, mem.Alloc) and _is_taken(work.value):
            # It only keeps what the work in front of it results in, or one number.
            return []
        if only_tells_which(work):
            return []
        extremes = _python_extremes(work)
        try:
            made = self._tiled(work)
        except NotVector as error:
            steps = self._repeated(work)
            if not steps:
                _remark(self.context, work, error)
            return steps
        on_cube = isinstance(work, tile.Cores) or (
            isinstance(work, st.Apply) and product_of(work) is not None
        )
        self._hold_numbers(work)
        self.context.remark(work.loc, f"runs on the {'cube' if on_cube else 'vector'} unit")
        for loc, name in extremes:
            message = f"`{name}` keeps Python's rule for NaN, which takes several instructions"
            self.context.remark(loc, message, f"asc.{name}imum is one instruction; it propagates NaN")
        return [*made]

    def _divide(self, work: Operation) -> bool:
        """Put one op for each statement of a parallel loop in its place, if all of them run on tiles."""
        if not isinstance(work, scf.For) or work.kind != "parallel":
            return False
        copy = work.clone()
        assert isinstance(copy, scf.For)
        Builder.before(work).insert(copy)
        made = distribute_nest(copy)
        copy.erase()
        if made and all(self._fits(op) for op in made if isinstance(op, st.Apply)):
            work.erase()
            return True
        for op in reversed(made):
            op.erase()
        return False

    def _fits(self, work: st.Apply) -> bool:
        try:
            self._tiled(work)
        except NotVector:
            return False
        except UsedLater:
            pass
        return True

    def _hold_numbers(self, work: Operation) -> None:
        """Raises UsedLater for a number that every core reads from an array that others of them write."""
        changed = self.held.changed_by(work)
        if changed is not None:
            raise UsedLater(changed)

    def _tiled(self, work: Operation) -> list[Phase]:
        """The launch of one piece of work on tiles, with what takes its place at other sizes. Raises NotVector."""
        for op in work.walk():
            if isinstance(op, st.Apply) and _keeps_order(op):
                raise refuse("a sum in its written order", op.loc)
            # Tiles are read and written whole, also where the guard fails.
            if isinstance(op, st.Apply) and op.guarded and not writes_in_range(self.held.ranges, op):
                raise refuse("a store to a place that only its condition keeps inside of the array", op.loc)
        if isinstance(work, st.Apply) and _is_single(work) and _reads_its_output(work):
            raise refuse("one element that is made of a number of its array", work.loc)
        if isinstance(work, st.Apply) and is_total(work):
            return self._total(work)
        if isinstance(work, st.Apply) and (is_scan(work) or scans_rows(work)):
            return self._scan(work)
        made = self._beside_tiles(work)
        return self._with_variant(
            Phase(made, _known_before(lower_phase(made.function, self.soc), work)), work
        )

    def _function(self, work: Sequence[Operation]) -> PhaseFunction:
        return phase_function(self.kernel, work, self.kernel.symbol, self.names)

    def _beside_tiles(self, work: Operation) -> PhaseFunction:
        """The function of work on tiles. Raises UsedLater for a number beside it that takes calls on one element.

        Raises NotVector where the work is to keep such a number.
        """
        for op in needed(free_values(work)):
            if takes_detours(op) and depends_on_data(needed(op.results)):
                raise refuse(TAKES_CALLS, op.loc) if isinstance(work, mem.Store) else UsedLater(op)
        return self._function([work])

    def _total(self, work: st.Apply) -> list[Phase]:
        """Numbers of whole arrays: a launch for one of each core, and one that combines them."""
        parts, whole = self._beside_tiles(work), self._beside_tiles(work)
        names = [self._unused(f"{ref.name or 'total'}Parts") for ref in work.outputs]
        blocks = lower_parts(_apply_of(parts.function), self.soc, names)
        lower_whole(_apply_of(whole.function), self.soc, names)
        bytes_for_bools(parts.function)
        bytes_for_bools(whole.function)
        return [Phase(parts, _known_before(blocks, work)), Phase(whole)]

    def _scan(self, work: st.Apply) -> list[Phase]:
        """Running values: of lines dealt to cores, or of one that all cores share."""
        made = self._beside_tiles(work)
        if scans_rows(work):
            blocks = lower_scanned_columns(_apply_of(made.function), self.soc)
        elif work.rank > 1:
            blocks = lower_scan(_apply_of(made.function), self.soc)
        else:
            return self._line_scan(work, made)
        bytes_for_bools(made.function)
        return [Phase(made, _known_before(blocks, work))]

    def _line_scan(self, work: st.Apply, made: PhaseFunction) -> list[Phase]:
        """Running values of one line: each core first folds its run, and starts from those before it."""
        totals = self._beside_tiles(work)
        name = self._unused(f"{work.outputs[0].name or 'running'}Parts")
        first = _known_before(lower_line_totals(_apply_of(totals.function), self.soc, name), work)
        blocks = lower_scan(_apply_of(made.function), self.soc, name)
        bytes_for_bools(totals.function)
        bytes_for_bools(made.function)
        return [Phase(totals, first), Phase(made, blocks)]

    def _unused(self, name: str) -> str:
        taken = {*self.names.values(), *self.kernel.sizes, *(param.name for param in self.kernel.params)}
        made = unused(name, taken | self.workspaces)
        self.workspaces.add(made)
        return made

    def _repeated(self, work: Operation) -> list[Step]:
        """A loop for the host to run: one that carries nothing, around launches on tiles."""
        if not isinstance(work, scf.For) or work.kind != "sequential" or work.inits:
            return []
        if changes_what_it_starts_from(work):
            return []
        context = Context(current=self.context.current)
        inside = _Lowering(self.kernel, self.soc, context, self.held, dict(self.names), self.workspaces)
        try:
            parts = cut(work.body.block)
            steps = inside.steps(work.body.block, parts)
        except NotVector:
            return []
        phases = phases_of(steps)
        # What a launch needs of its sizes has to be known before the first one.
        if not any(phase.tiled for phase in phases) or any(phase.limits for phase in phases):
            return []
        self.names.update(inside.names)
        self.context.remarks += inside.context.remarks
        return [Repeat(work, parts.checks, steps)]

    def _scalar(self, work: Sequence[Operation]) -> list[Phase]:
        """Launches for work that no tile fits: loops over all cores where they may be dealt, else one core for all."""
        made: list[Phase] = []
        together: list[Operation] = []
        for op in work:
            dealt = self._dealt(op)
            if dealt is None:
                together.append(op)
            else:
                made += [*self._on_one_core(together), dealt]
                together = []
        return made + self._on_one_core(together)

    def _dealt(self, work: Operation) -> Phase | None:
        if not isinstance(work, (st.Apply, scf.For)):
            return None
        (alone,) = self._on_one_core([work])
        blocks = deal_to_cores(alone.function, self.soc.vector_cores)
        if blocks is None:
            return None
        self._hold_numbers(work)
        return replace(alone, blocks=blocks)

    def _on_one_core(self, work: Sequence[Operation]) -> list[Phase]:
        """One launch of one core, as loops over single elements."""
        if not work:
            return []
        made = self._function(work)
        phase = made.function
        LowerStructured().run(phase, self.context)
        Forward().run(phase, self.context)
        taken = {*self.names.values(), *self.kernel.sizes, *(param.name for param in self.kernel.params)}
        hoist_buffers(phase, taken | {param.name for param in phase.params})
        if any(isinstance(op, py.Check) for op in phase.walk()):
            add_fault(phase)
        return [Phase(made)]

    def _with_variant(self, phase: Phase, work: Operation) -> list[Phase]:
        """A phase, and where its tiles hold some sizes alone, one that takes its place for the others."""
        limits = [each for each in phase.limits if each.error == "LaunchError"]
        if not limits:
            return [phase]
        other = self._function([work])
        try:
            variant = Phase(other, lower_phase(other.function, self.soc, lines=True))
        except NotVector:
            (variant,) = self._scalar([work])
            if not can_run(variant.function):
                return [phase]
            what = "elements of a table" if isinstance(work, st.Apply) and gathers(work) else "rows"
            what = "histograms" if isinstance(work, scf.For) and match_histogram(work) is not None else what
            self.context.remark(work.loc, f"{what} that do not fit on chip run on the scalar unit", HINT)
        fits = _all_of(limits)
        for limit in limits:
            limit.erase()
        return [replace(phase, fits=fits), replace(variant, fits=fits, otherwise=True)]


def _all_of(checks: Sequence[py.Check]) -> Value:
    """Whether all conditions of checks hold, in front of the last one."""
    at = Builder.before(checks[-1])
    conditions = [each.condition for each in checks]
    return reduce(lambda a, b: at.value(arith.Elementwise(fn="and", args=[a, b])), conditions)


def _is_taken(value: Value) -> bool:
    """Whether a number is the result of work, is loaded, or takes calls of its own."""
    op = value.op
    return op is not None and (bool(op.regions) or isinstance(op, mem.Load) or takes_detours(op))


def _is_one_element(work: Operation) -> bool:
    """Whether work is one element, of functions that the scalar unit has."""
    if not isinstance(work, st.Apply) or work.combined or any(map(takes_detours, work.walk())):
        return False
    return _is_single(work)


def _is_single(op: st.Apply) -> bool:
    """Whether an op has one iteration."""
    return all((upper - lower) == const(1) for lower, upper in zip(op.lower, op.upper, strict=True))


def _reads_its_output(op: st.Apply) -> bool:
    """Whether an array that is written has a number read from it: the write must come after, which no queue sees to."""
    rank = len(op.iterators)
    numbers = [
        ref
        for ref, map_ in zip(op.inputs, op.input_maps, strict=True)
        if not any(map_.uses(each) for each in range(rank))
    ]
    return any(may_alias(ref, out) for ref in numbers for out in op.outputs)


def _keeps_order(op: st.Apply) -> bool:
    """Whether floats are combined in an order that tiles do not keep."""
    floats = any(dtype_of(op.outputs[k].type).is_float for k in op.combined)
    return op.strict and floats and combining_function(op) not in ("maximum", "minimum")


def _python_extremes(work: Operation) -> list[tuple[Location, str]]:
    """Where builtin `min` and `max` of floats stand."""
    found = [op for op in work.walk() if isinstance(op, arith.Elementwise) and op.fn in ("pymin", "pymax")]
    places = [(op.loc, op.fn[2:]) for op in found if dtype_of(op.args[0].type).is_float]
    return list(dict.fromkeys(places))


def _remark(context: Context, work: Operation, error: NotVector) -> None:
    (diagnostic,) = error.diagnostics
    reason = diagnostic.message.removeprefix("not lowered to Ascend C: ")
    loc = diagnostic.loc if diagnostic.loc.known else work.loc
    hint = HINT if diagnostic.hint == ANYWHERE else diagnostic.hint
    context.remark(loc, f"runs on the scalar unit: {reason}", hint)


def _number(phases: Sequence[Phase], symbol: str) -> None:
    if len(phases) > 1:
        for number, phase in enumerate(phases, 1):
            phase.function.attrs["symbol"] = f"{symbol}_{number}"


def _apply_of(function: Func) -> st.Apply:
    return next(op for op in function.body.block if isinstance(op, st.Apply))


def _known_before(blocks: Value, work: Operation) -> Value:
    """A number of cores that the host can tell. Raises NotVector for one that is read from an array."""
    if any(isinstance(op, mem.Load) for op in needed([blocks])):
        raise refuse("an amount of work that depends on data", work.loc)
    return blocks
