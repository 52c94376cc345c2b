# SPDX-License-Identifier: Apache-2.0
"""One phase of a kernel: its tiles become queues and buffers, its loops over tiles become methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, asc, func, mem, scf, tile, tile_lanes
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ascend_accumulators import has_accumulators, run_with_accumulators
from pyasc.passes.analysis.ascend_lanes import Prologue
from pyasc.passes.analysis.ascend_methods import Methods
from pyasc.passes.analysis.ascend_tables import has_tables, run_with_tables
from pyasc.passes.analysis.ascend_tensors import Holder, Resource
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.structured import extent_value
from pyasc.passes.analysis.tile_emit import binary

I64 = ScalarType(dtypes.i64)
_NUMBER_METHODS = ("LoadNumbers", "Combine", "StoreNumbers")
_BEGIN_METHODS = ("LoadNumbers", "Begin", "StoreNumbers")


@dataclass
class PhaseLowering:
    """Lowers one function at the tile level into an empty one."""

    phase: Func
    lowered: Func
    mapping: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    holders: dict[Value, Holder] = field(default_factory=lambda: dict[Value, Holder]())
    globals: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    running: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())
    pool: dict[Resource, list[Value]] = field(default_factory=lambda: dict[Resource, list[Value]]())
    parts: set[Value] = field(default_factory=lambda: set[Value]())
    prologue: Prologue = field(default_factory=Prologue)
    sealed: bool = False
    front: Builder | None = None
    outermost: scf.For | None = None

    def __post_init__(self) -> None:
        self.init = Builder(self.lowered.body.block, loc=self.phase.loc)
        self.mapping.update(zip(self.phase.params, self.lowered.params, strict=True))

    def run(self) -> None:
        """Fill the new function."""
        self.pipe = self.init.value(asc.Pipe(), "pipe")
        self.block(self.phase.body.block, self.init)
        self.init.insert(func.Return())

    def block(self, block: Block, at: Builder) -> None:
        """Lower what stands outside of loops over tiles."""
        for op in block:
            at.loc = op.loc
            self.operation(op, at)

    def operation(self, op: Operation, at: Builder) -> None:
        """Lower one operation outside of loops over tiles."""
        match op:
            case tile.Cores():
                self._cores(op, at)
            case tile.Loop():
                self._loop(op, at)
            case scf.For():
                self._for(op, at)
            case mem.View() if isinstance(op.ref.owner, (Block, tile.Flatten)):
                self._view(op, at)
            case mem.Load():
                self._load(op, at)
            case tile.Flatten() | tile.Merge() | tile.Yield() | func.Return() | scf.Yield():
                pass
            case _ if not op.regions:
                at.insert(op.clone(self.mapping))
            case _:
                raise refuse(f"{op.name} between tiles", op.loc)

    def _cores(self, op: tile.Cores, at: Builder) -> None:
        inner = op.body.block
        self.mapping[inner.args[0]] = at.value(asc.CoreNumber(call="GetBlockIdx"), "id")
        if not isinstance(op.count.owner, arith.Constant):
            self.mapping[op.count] = at.value(asc.CoreNumber(call="GetBlockNum"), "blocks")
        if has_tables(list(inner)):
            run_with_tables(self, list(inner), at)
            return
        if any(isinstance(each, tile.Buffer) for each in inner):
            marker = at.insert(asc.Method(method="", body=block_of()))
            self.front = Builder.before(marker)
            if has_accumulators(list(inner)):
                run_with_accumulators(self, list(inner), at)
            else:
                self._rounds(list(inner), at)
            # In front of the first loop or method, so that what Init can compute stands before it.
            first = marker.next
            while first is not None and not isinstance(first, (scf.For, asc.Method)):
                first = first.next
            self.prologue.emit(self.front if first is None else Builder.before(first))
            self.front = None
            marker.erase()
            return
        self.block(inner, at)

    def value(self, value: Value) -> Value:
        """The lowered form of a value."""
        return self.mapping.get(value, value)

    def _load(self, op: mem.Load, at: Builder) -> None:
        """One element of an array in global memory, by the scalar unit."""
        base = self.value(op.ref)
        tensor = at.value(asc.SetGlobalBuffer(base=base, offset=index(at, 0), types=[base.type]), op.ref.name)
        where = self.linear(at, op.ref, op.indices)
        self.mapping[op.value] = at.value(asc.GetValue(tensor=tensor, index=where), op.value.name)

    def _view(self, op: mem.View, at: Builder) -> None:
        """What a core walks of an array."""
        source = op.ref
        flat = source.owner
        if isinstance(flat, tile.Flatten):
            source, offset = flat.ref, self.value(op.offsets[0])
        else:
            offset = self.linear(at, source, op.offsets)
        length = [self.value(op.sizes[axis]) for axis in op.axes] if len(op.axes) == 1 else []
        base = self.value(source)
        type_ = RefType((None,), dtype_of(base.type))
        made = asc.SetGlobalBuffer(base=base, offset=offset, length=length, types=[type_])
        self.mapping[op.view] = at.value(made, op.ref.name)

    def linear(self, at: Builder, ref: Value, indices: Sequence[Value]) -> Value:
        """The number of an element in a dense array."""
        assert isinstance(ref.type, RefType)
        total = index(at, 0)
        for dim, where in zip(ref.type.shape, indices, strict=True):
            total = binary(at, "mul", total, extent_value(at, dim))
            total = binary(at, "add", total, self.value(where))
        return total

    def global_of(self, ref: Value) -> Value:
        """The GlobalTensor on all of a parameter."""
        if ref not in self.globals:
            assert self.front is not None
            source = ref.owner.ref if isinstance(ref.owner, (tile.Flatten, tile.Merge)) else ref
            base = self.value(source)
            type_ = RefType((None,), dtype_of(base.type))
            zero = index(self.front, 0)
            made = asc.SetGlobalBuffer(base=base, offset=zero, types=[type_])
            self.globals[ref] = self.front.value(made, ref.name)
        return self.globals[ref]

    def _loop(self, op: tile.Loop, at: Builder) -> None:
        """A loop over the tiles of one axis."""
        extent = self.value(op.extents[0])
        step = at.value(arith.Constant.of(op.tile[0], dtypes.i64), "TILE")
        loop = at.insert(
            scf.For(lower=index(at, 0), upper=extent, step=step, types=[], body=block_of([I64], ["offset"]))
        )
        inner = self._enter(loop)
        left = binary(inner, "sub", extent, loop.counter, "left")
        self.mapping[op.body.block.args[0]] = loop.counter
        count = inner.value(arith.Elementwise(fn="minimum", args=[left, step]), "count")
        self.mapping[op.body.block.args[1]] = count
        Methods(self, inner).run(list(op.body.block))
        self._leave(loop, inner)

    def _for(self, op: scf.For, at: Builder) -> None:
        """A loop over pieces of work; the innermost holds the tiles."""
        bounds = [self.value(each) for each in (op.lower, op.upper, op.step)]
        body = block_of([I64], [op.counter.name])
        loop = at.insert(scf.For(lower=bounds[0], upper=bounds[1], step=bounds[2], types=[], body=body))
        self.mapping[op.counter] = loop.counter
        inner = self._enter(loop)
        inside = list(op.body.block)
        tiles = any(isinstance(each, tile.Buffer) for each in inside)
        if tiles and any(isinstance(each, scf.For) for each in inside):
            if has_accumulators(inside):
                run_with_accumulators(self, inside, inner)
            else:
                self._rounds(inside, inner)
        elif tiles:
            Methods(self, inner).run(inside)
        else:
            self.block(op.body.block, inner)
        self._leave(loop, inner)

    def _rounds(self, ops: Sequence[Operation], at: Builder) -> None:
        """Sweeps over a row, and before, between and behind them what is done to its numbers."""
        pending: list[Operation] = []
        self.sealed = True
        for op in ops:
            if isinstance(op, tile.Flatten):
                continue
            if _is_line_view(op):
                self._numbers(pending, at)
                pending = []
                self._view(op, at)
                continue
            if not isinstance(op, scf.For):
                pending.append(op)
                continue
            self._numbers(pending, at)
            pending = []
            self._for(op, at)
        self._numbers(pending, at)
        self.sealed = False

    def _numbers(self, ops: Sequence[Operation], at: Builder) -> None:
        if any(op.name.startswith("tile.") and not isinstance(op, tile.Yield) for op in ops):
            ends = any(isinstance(op, (tile.Reduce, tile_lanes.Totals)) for op in ops)
            Methods(self, at, _NUMBER_METHODS if ends else _BEGIN_METHODS).run(ops)
            return
        for op in ops:
            if not isinstance(op, (tile.Yield, scf.Yield, mem.View)):
                at.insert(op.clone(self.mapping))

    def _enter(self, loop: scf.For) -> Builder:
        """The inside of a loop; what it needs from before stands in front of the outermost one."""
        if self.front is None:
            self.front = Builder.before(loop)
            self.outermost = loop
        return Builder(loop.body.block, loc=loop.loc)

    def _leave(self, loop: scf.For, inner: Builder) -> None:
        inner.insert(scf.Yield())
        if self.outermost is loop:
            assert self.front is not None
            self.prologue.emit(self.front)
            self.front = None


def _is_line_view(op: Operation) -> TypeGuard[mem.View]:
    """Whether an operation is what a core walks of an array as one axis."""
    return isinstance(op, mem.View) and len(op.axes) == 1 and isinstance(op.ref.owner, (Block, tile.Flatten))
