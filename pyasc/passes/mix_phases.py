# SPDX-License-Identifier: Apache-2.0
"""Phases on cube and on vector cores become parts of one mixed kernel, with a barrier of all cores between them.

    func.launch %a, [] {callee = "attention_1"}        on cube cores
    func.launch %b, [] {callee = "attention_2"}        on vector cores

becomes one launch of

    func.func {symbol = "attention", ...} {
    ^(%q: ..., %k: ..., %scores: ..., %out: ..., %cores1: i64, %cores2: i64):
      asc.KernelType {type = "KERNEL_TYPE_MIX_AIC_1_2"}
      asc.Run %cores1, [%q, %k, %scores] {callee = "attention_1", unit = "cube"}
      asc.SyncAll {vector_only = false}
      asc.Run %cores2, [%scores, %out, %cores2] {callee = "attention_2", unit = "vector"}
      func.return
    }

A part runs on as many cores as it would have been launched on; the launch is as wide as the widest part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, asc, func
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.dtypes import i64
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.phases import FAULT, HOST_SUFFIX
from pyasc.passes.base import Context, Pass

_VECTORS = 2
"""Vector cores beside each cube core."""


@dataclass(frozen=True)
class MixPhases(Pass):
    """Merges launches that follow each other where both kinds of cores take part."""

    name = "mix-phases"

    def apply(self, module: Module, context: Context) -> bool:
        """Replace what is launched together."""
        changed = False
        for host in [each for each in module.functions if each.symbol.endswith(HOST_SUFFIX)]:
            launches = _together(host, module)
            if launches:
                _Mixed(module, host, launches).make()
                context.count("launches merged", len(launches))
                changed = True
        return changed


def _together(host: Func, module: Module) -> list[func.Launch]:
    """All launches of a host function, if one kernel can do what they do."""
    launches = [op for op in host.walk() if isinstance(op, func.Launch)]
    callees = [launch.callee for launch in launches]
    if any(launch.parent is not host.body.block for launch in launches) or len(set(callees)) < len(callees):
        return []
    parts = [module.function(callee) for callee in callees]
    kinds = {_unit(part) for part in parts}
    if kinds != {"cube", "vector"} or any(param.name == FAULT for part in parts for param in part.params):
        return []
    # Between launches there is nothing but arithmetic.
    between = host.body.block.first
    while between is not None and between is not launches[0]:
        between = between.next
    while between is not None and between is not launches[-1]:
        if not isinstance(between, func.Launch) and not between.has(PURE):
            return []
        between = between.next
    return [] if _reads_stale(parts) else launches


def _unit(part: Func) -> str:
    """The cores that a phase runs on."""
    marked = next((op.type for op in part.body.block if isinstance(op, asc.KernelType)), "")
    return "cube" if marked == "KERNEL_TYPE_AIC_ONLY" else "vector"


def _written(part: Func) -> set[str]:
    return {part.params[number].name for number in part.written}


def _reads_stale(parts: Sequence[Func]) -> bool:
    """Whether a scalar unit reads what other cores have written before, which its cache may not know of."""
    before: set[str] = set()
    for part in parts:
        for op in part.walk():
            if isinstance(op, asc.GetValue) and _array_name(op.tensor) in before:
                return True
        before |= _written(part)
    return False


def _array_name(tensor: Value) -> str:
    while isinstance(tensor.owner, (asc.SetGlobalBuffer, asc.Offset)):
        owner = tensor.owner
        tensor = owner.base if isinstance(owner, asc.SetGlobalBuffer) else owner.tensor
    return tensor.name


@dataclass
class _Mixed:
    """One kernel made of parts."""

    module: Module
    host: Func
    launches: list[func.Launch]
    arrays: dict[str, Value] = field(default_factory=lambda: dict[str, Value]())
    numbers: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    names: set[str] = field(default_factory=lambda: set[str]())

    def make(self) -> None:
        """The mixed function, and the one launch of it."""
        parts = [self.module.function(launch.callee) for launch in self.launches]
        self.region = block_of()
        at = Builder(self.region.block, loc=self.host.loc)
        at.insert(asc.KernelType(type="KERNEL_TYPE_MIX_AIC_1_2"))
        sizes = tuple(dict.fromkeys(name for part in parts for name in part.sizes))
        self.names |= {*sizes, *(param.name for part in parts for param in part.params)}
        for part in parts:
            for param in part.params:
                if isinstance(param.type, RefType) and param.name not in self.arrays:
                    self.arrays[param.name] = self.region.block.add_arg(param.type, param.name)
        runs = [self._run(launch, part) for launch, part in zip(self.launches, parts, strict=True)]
        for number, run in enumerate(runs):
            if number and not _alternatives(self.launches[number - 1], self.launches[number]):
                at.insert(asc.SyncAll(vector_only=False))
            at.insert(run)
        at.insert(func.Return())
        written = {name for part in parts for name in _written(part)}
        mixed = Func(
            symbol=self.host.symbol.removesuffix(HOST_SUFFIX),
            sizes=sizes,
            written=tuple(
                number for number, param in enumerate(self.region.block.args) if param.name in written
            ),
            body=self.region,
            loc=self.host.loc,
        )
        parent = self.host.parent
        assert parent is not None
        parent.insert_before(self.host, mixed)
        for part in parts:
            part.attrs["kernel"] = False
        self._launch(mixed)

    def _run(self, launch: func.Launch, part: Func) -> asc.Run:
        """A part, with its own number of cores in the place of the launch's."""
        cores = self._number(launch.blocks, f"{part.symbol.rpartition('_')[2]}")
        given = iter(launch.args)
        args = [
            self.arrays[param.name]
            if isinstance(param.type, RefType)
            else self._number(next(given), param.name)
            for param in part.params
        ]
        for op in list(part.walk()):
            if isinstance(op, asc.CoreNumber) and op.call == "GetBlockNum":
                part_cores = part.body.block.add_arg(ScalarType(i64), op.number.name or "blocks")
                op.replace_with([part_cores])
                args.append(cores)
        return asc.Run(callee=part.symbol, unit=_unit(part), cores=cores, args=args)

    def _number(self, value: Value, hint: str) -> Value:
        """A number that the host computes, as a parameter of the kernel."""
        if value not in self.numbers:
            name = f"cores{hint}" if hint.isdigit() else hint
            while name in self.names and hint.isdigit():
                name += "_"
            self.names.add(name)
            self.numbers[value] = self.region.block.add_arg(ScalarType(dtype_of(value.type)), name)
        return self.numbers[value]

    def _launch(self, mixed: Func) -> None:
        """As many blocks as the widest part takes; a block has two vector cores."""
        at = Builder.before(self.launches[-1])
        at.loc = self.launches[0].loc
        width = index(at, 0)
        for launch in self.launches:
            blocks = launch.blocks
            if _unit(self.module.function(launch.callee)) == "vector":
                more = at.value(arith.Elementwise(fn="add", args=[blocks, index(at, _VECTORS - 1)]))
                blocks = at.value(arith.Elementwise(fn="floordiv", args=[more, index(at, _VECTORS)]))
            if integer_of(width) == 0:
                width = blocks
            else:
                width = at.value(arith.Elementwise(fn="maximum", args=[width, blocks]))
        at.insert(func.Launch(callee=mixed.symbol, blocks=width, args=list(self.numbers)))
        for launch in self.launches:
            launch.erase()


def _alternatives(first: Operation, second: Operation) -> bool:
    """Whether one of two launches is left out whenever the other is not."""
    assert isinstance(first, func.Launch) and isinstance(second, func.Launch)
    one, other = first.blocks.op, second.blocks.op
    if not (isinstance(one, arith.Elementwise) and isinstance(other, arith.Elementwise)):
        return False
    if one.fn != "select" or other.fn != "select" or one.args[0] is not other.args[0]:
        return False
    return integer_of(one.args[2]) == 0 and integer_of(other.args[1]) == 0
