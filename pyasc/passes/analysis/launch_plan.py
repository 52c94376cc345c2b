# SPDX-License-Identifier: Apache-2.0
"""What the host does for one launch of a kernel: checks, then its phases in order, some of them in loops.

    func.func {symbol = "heat_host", kernel = false, sizes = ["N"]} {
    ^(%steps: i64):
      py.check ...
      scf.for %0, %steps, %1, [] {
      ^(%t: i64):
        func.launch %blocks, [%t] {callee = "heat_1"}
        func.launch %blocks, [%t] {callee = "heat_2"}
        scf.yield
      }
      func.return
    }

A loop that carries numbers only the cores know cannot be one of the host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, func, py, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import i64
from pyasc.ir.types import RefType
from pyasc.passes.analysis.copy_pitches import check_pitches
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.phases import HOST_SUFFIX, PhaseFunction, depends_on_data, needed
from pyasc.passes.analysis.scalar_cores import is_scalar


@dataclass(frozen=True)
class Phase:
    """A function of the cores, and how many of them it takes: a value in it, or one core.

    A phase that takes part only where `fits` holds (or fails, with `otherwise`) takes no core in other launches.
    """

    made: PhaseFunction
    blocks: Value | None = None
    fits: Value | None = None
    otherwise: bool = False

    @property
    def function(self) -> Func:
        """The function."""
        return self.made.function

    @property
    def tiled(self) -> bool:
        """Whether it runs on tiles, and not on the scalar unit."""
        return self.blocks is not None and not any(map(is_scalar, self.function.body.block))

    @property
    def limits(self) -> list[py.Check]:
        """What sizes have to satisfy for its tiles to fit on chip."""
        return [op for op in self.function.body.block if self.tiled and isinstance(op, py.Check)]


@dataclass(frozen=True)
class Repeat:
    """A loop of the kernel that the host runs: checks, then launches, in each iteration."""

    loop: scf.For
    checks: Sequence[py.Check]
    steps: Sequence[Step]


Step = Phase | Repeat


def phases_of(steps: Sequence[Step]) -> list[Phase]:
    """The phases of a plan in order, those in loops once."""
    return [
        phase for step in steps for phase in ([step] if isinstance(step, Phase) else phases_of(step.steps))
    ]


def host_function(kernel: Func, checks: Sequence[py.Check], steps: Sequence[Step]) -> Func:
    """Checks of sizes and scalars, then the launches. Raises UnsupportedError for what depends on data."""
    scalars = [param for param in kernel.params if not isinstance(param.type, RefType)]
    region = block_of([param.type for param in scalars], [param.name for param in scalars])
    mapping: dict[Value, Value] = dict(zip(scalars, region.block.args, strict=True))
    at = Builder(region.block)
    _checks(checks, mapping, at)
    for phase in phases_of(steps):
        _checks(phase.limits, _arguments(phase, mapping, at) if phase.limits else mapping, at)
    at.loc = kernel.loc

    def known(value: Value) -> Value:
        _copy_scalars(needed([value]), mapping, at)
        return mapping.get(value, value)

    check_pitches(at, [phase.function for phase in phases_of(steps)], known)
    _steps(steps, mapping, at)
    at.insert(func.Return())
    return Func(
        symbol=kernel.symbol + HOST_SUFFIX, kernel=False, sizes=kernel.sizes, body=region, loc=kernel.loc
    )


def _checks(checks: Sequence[py.Check], mapping: dict[Value, Value], at: Builder) -> None:
    for check in checks:
        _copy_scalars(needed(check.operands), mapping, at)
        at.insert(check.clone(mapping))


def _steps(steps: Sequence[Step], mapping: dict[Value, Value], at: Builder) -> None:
    for step in steps:
        at.loc = step.loop.loc if isinstance(step, Repeat) else step.function.loc
        if isinstance(step, Repeat):
            _repeat(step, mapping, at)
        else:
            _launch(step, mapping, at)


def _repeat(step: Repeat, mapping: dict[Value, Value], at: Builder) -> None:
    loop = step.loop
    _copy_scalars(needed([loop.lower, loop.upper, loop.step]), mapping, at)
    lower, upper, by = (mapping.get(value, value) for value in (loop.lower, loop.upper, loop.step))
    made = at.insert(scf.For(lower=lower, upper=upper, step=by, types=[], body=block_of([loop.counter.type])))
    made.counter.name = loop.counter.name
    inside = Builder(made.body.block, loc=loop.loc)
    # What is computed in one iteration is not there behind the loop.
    nested = {**mapping, loop.counter: made.counter}
    _checks(step.checks, nested, inside)
    _steps(step.steps, nested, inside)
    inside.insert(scf.Yield())


def _launch(phase: Phase, mapping: dict[Value, Value], at: Builder) -> None:
    """One launch; its scalars, and its cores, computed from what its own function computes them from."""
    inner = _arguments(phase, mapping, at)
    count = at.value(arith.Constant.of(1, i64))
    if phase.blocks is not None:
        _copy_scalars(needed([phase.blocks]), inner, at)
        count = inner.get(phase.blocks, phase.blocks)
    if phase.fits is not None:
        _copy_scalars(needed([phase.fits]), inner, at)
        none = at.value(arith.Constant.of(0, i64))
        choice = [none, count] if phase.otherwise else [count, none]
        count = at.value(arith.Elementwise(fn="select", args=[inner[phase.fits], *choice]))
    args = [inner[param] for param in phase.made.params]
    at.insert(func.Launch(callee=phase.function.symbol, blocks=count, args=args))


def _arguments(phase: Phase, mapping: dict[Value, Value], at: Builder) -> dict[Value, Value]:
    """What the host knows, and the scalars of a phase by its own parameters too."""
    _copy_scalars(needed(phase.made.scalars), mapping, at)
    return {
        **mapping,
        **{param: mapping[value] for param, value in zip(phase.made.params, phase.made.scalars, strict=True)},
    }


def _copy_scalars(ops: Sequence[Operation], mapping: dict[Value, Value], at: Builder) -> None:
    for op in ops:
        if depends_on_data([op]):
            raise refuse("a check, or an amount of work, that depends on data", op.loc)
        if op.results[0] not in mapping:
            at.insert(op.clone(mapping))
