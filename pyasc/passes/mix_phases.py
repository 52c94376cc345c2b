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
            for launches in _together(host, module):
                _Mixed(module, host, launches).make()
                context.count("launches merged", len(launches))
                changed = True
        return changed


def _together(host: Func, module: Module) -> list[list[func.Launch]]:
    """Launches that follow each other, on both kinds of cores, and that one kernel can do."""
    everywhere = [op.callee for op in host.walk() if isinstance(op, func.Launch)]
    runs: list[list[func.Launch]] = [[]]
    for op in host.body.block:
        if isinstance(op, func.Launch):
            part = module.function(op.callee)
            if everywhere.count(op.callee) > 1 or any(param.name == FAULT for param in part.params):
                runs.append([])
                continue
            before = {name for each in runs[-1] for name in _written(module.function(each.callee))}
            if _reads_stale(part, before):
                runs.append([])
            runs[-1].append(op)
        elif not op.has(PURE):
            runs.append([])
    both = {"cube", "vector"}
    return [run for run in runs if {_unit(module.function(each.callee)) for each in run} == both]


def _unit(part: Func) -> str:
    """The cores that a phase runs on."""
    marked = next((op.type for op in part.body.block if isinstance(op, asc.KernelType)), "")
    return "cube" if marked == "KERNEL_TYPE_AIC_ONLY" else "vector"


def _written(part: Func) -> set[str]:
    return {part.params[number].name for number in part.written}


def _reads_stale(part: Func, before: set[str]) -> bool:
    """Whether a scalar unit reads what other cores have written before, which its cache may not know of."""
    return any(isinstance(op, asc.GetValue) and _array_name(op.tensor) in before for op in part.walk())


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
            symbol=self._symbol(),
            sizes=sizes,
            written=tuple(
                number for number, param in enumerate(self.region.block.args) if param.name in written
            ),
            body=self.region,
            loc=self.host.loc,
        )
        # Functions stand in the order in which they are launched.
        parent = parts[-1].parent
        assert parent is not None
        parent.insert_before(parts[-1].next, mixed)
        for part in parts:
            part.attrs["kernel"] = False
        self._launch(mixed)

    def _symbol(self) -> str:
        """The name of the kernel, with the numbers of the first and the last phase where there are others."""
        kernel = self.host.symbol.removesuffix(HOST_SUFFIX)
        if sum(isinstance(op, func.Launch) for op in self.host.walk()) == len(self.launches):
            return kernel
        first, last = (launch.callee.rpartition("_")[2] for launch in (self.launches[0], self.launches[-1]))
        return f"{kernel}_{first}_{last}"

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
                part_cores = part.body.block.add_arg(ScalarType(i64), f"{func.ADDED}blocks")
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
