# SPDX-License-Identifier: Apache-2.0
"""The straight-line body of a loop as one structured op without iterators.

    %x = mem.load %a, [%i]
    %c = arith.gt %x, %zero
    scf.if %c { %e = arith.exp %x; mem.store %e, %b, [%i] } { }

becomes, still inside the loop,

    st.apply [%i], [%a], [], [%b] {iterators = [], guarded = true, output_maps = [affine<s0>], ...} {
    ^(%x: f32):
      %e = arith.exp %x
      %c = arith.gt %x, %zero
      st.yield %e, %c
    }

Stores become outputs. A recognised recurrence becomes an output into a fresh element that starts from the
carried value and is loaded again for the yield; a store of the running value stays behind the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, mem, scf, st
from pyasc.ir.dtypes import DType, bf16, f16, f32
from pyasc.ir.types import RefType, Type, dtype_of
from pyasc.passes.analysis.affine import Nest
from pyasc.passes.analysis.raising import CannotRaise, Proofs, captured, copy_into, slice_of, sweep
from pyasc.passes.analysis.raising_flatten import Flattening, Store
from pyasc.passes.analysis.raising_recurrences import Recurrence, Recurrences, call, merged, neutral
from pyasc.passes.analysis.structured import combiner, loads_to_inputs


def seed(loop: scf.For, proofs: Proofs, strict: bool) -> st.Apply:
    """Turn the body of an innermost loop into one op. Raises CannotRaise, having changed the loop, if it cannot."""
    flat = Flattening(loop, proofs)
    flat.run()
    block = loop.body.block
    recurrences = Recurrences(block, loop.carried, block.terminator.operands, strict)
    groups = recurrences.find()
    running = dict.fromkeys(recurrences.yielded)
    scans = [each for each in flat.stores if each.value in running and each.value in recurrences.dependent]
    stores = [each for each in flat.stores if each not in scans]
    if not stores and not groups:
        raise CannotRaise(loop.loc, "the loop does nothing", quiet=True)
    return _Seed(loop, recurrences, groups, stores, scans, strict).build()


@dataclass
class _Seed:
    """The parts of the op to be built."""

    loop: scf.For
    recurrences: Recurrences
    groups: list[Recurrence]
    stores: list[Store]
    scans: list[Store]
    strict: bool

    def build(self) -> st.Apply:
        """The op, before the loop's terminator and the stores of running values."""
        block = self.loop.body.block
        terminator = block.terminator
        at = Builder(block, terminator, self.loop.loc)
        if any(each.guard is not None for each in self.scans):
            raise CannotRaise(self.scans[0].op.loc, "a running value is stored under a condition")
        guard, neutralised = self._guard()
        news = [value for group in self.groups for value in self._news(group, neutralised, at)]
        values = [each.value for each in self.stores] + news + ([] if guard is None else [guard])
        self._check_independent(values)
        op = self._apply(at, values, guard is not None)
        self._load_running(op, terminator)
        return op

    def _guard(self) -> tuple[Value | None, bool]:
        """The op's guard, and whether the guards of recurrences become neutral elements instead."""
        conditions = list(dict.fromkeys(each.guard for each in self.stores))
        if len(conditions) > 1:
            raise CannotRaise(
                self.stores[-1].op.loc,
                "it writes under different conditions",
                "write in both branches, or in loops of their own",
            )
        runs = list(dict.fromkeys(group.guard for group in self.groups))
        if len(runs) == 1 and (not conditions or conditions == runs) and (conditions or not self._neutral()):
            return runs[0], False
        if conditions and conditions[0] is not None and self.groups:
            raise CannotRaise(self.stores[0].op.loc, "it writes and sums under different conditions")
        if not self._neutral():
            raise CannotRaise(self.loop.loc, "values are reduced under different conditions")
        return conditions[0] if conditions else None, True

    def _neutral(self) -> bool:
        return all(group.guard is None or self._neutral_of(group) is not None for group in self.groups)

    def _neutral_of(self, group: Recurrence) -> bool | int | float | None:
        return neutral(group.fn, dtype_of(self._slot_type(group.slots[0]))) if group.fn else None

    def _slot_type(self, slot: int) -> Type:
        return self.loop.carried[slot].type

    def _news(self, group: Recurrence, neutralised: bool, at: Builder) -> list[Value]:
        values = group.emit_new(at)
        if group.guard is not None and neutralised:
            number = self._neutral_of(group)
            assert number is not None
            rest = at.value(arith.Constant(value=number, types=[values[0].type]))
            values = [call(at, "select", group.guard, values[0], rest)]
        return [widened(value, group.fn, self.strict, at) for value in values]

    def _check_independent(self, values: Sequence[Value]) -> None:
        """Nothing that the op computes may rest on running values."""
        for op in slice_of(values, self.loop.body.block):
            if any(value in self.recurrences.dependent for value in (*op.operands, *captured(op))):
                raise CannotRaise(op.loc, "a value computed from a running one is used in the same iteration")
        for store in (*self.stores, *self.scans):
            if any(value in self.recurrences.dependent for value in store.op.indices):
                raise CannotRaise(
                    store.op.loc, "the index depends on a value carried from iteration to iteration"
                )
        if any(value in self.recurrences.dependent for value in values):
            raise CannotRaise(self.loop.loc, "it stores a value of the iteration before")

    def _apply(self, at: Builder, values: Sequence[Value], guarded: bool) -> st.Apply:
        nest = Nest((), self.loop.body.block.terminator)
        maps = [_map(nest, each.op) for each in self.stores]
        slots = self._slots()
        types = [value.type for value in values[len(maps) : len(maps) + len(slots)]]
        cells = [self._cell(slot, type_, at) for slot, type_ in zip(slots, types, strict=True)]
        starts = [self.loop.carried[slot] for slot in slots]
        op = st.Apply(
            symbols=nest.symbols,
            inits=[_cast(start, dtype_of(type_), at) for start, type_ in zip(starts, types, strict=True)],
            outputs=[*(each.op.ref for each in self.stores), *cells],
            iterators=(),
            lower=(),
            upper=(),
            input_maps=(),
            output_maps=(*maps, *(AffineMap(()) for _ in cells)),
            roles=("write",) * len(maps) + ("reduce",) * len(cells),
            guarded=guarded,
            strict=self.strict,
            body=self._body(values),
            combine=self._combiner(types),
            loc=self.stores[0].op.loc if self.stores else self.loop.loc,
        )
        at.insert(op)
        loads_to_inputs(op)
        for each in self.stores:
            each.op.erase()
        return op

    def _slots(self) -> list[int]:
        return [slot for group in self.groups for slot in group.slots]

    def _cell(self, slot: int, type_: Type, at: Builder) -> Value:
        cell = mem.Alloc(types=[RefType((), dtype_of(type_), "local")])
        return at.value(cell, self.loop.carried[slot].name)

    def _combiner(self, types: Sequence[Type]) -> Region:
        """All groups side by side; running values keep the names that they have in the loop."""
        if not types:
            return Region()
        region = combiner(types, merged(self.groups))
        for arg, slot in zip(region.block.args, self._slots(), strict=False):
            arg.name = self.loop.carried[slot].name
        return region

    def _body(self, values: Sequence[Value]) -> Region:
        region = block_of()
        mapping: dict[Value, Value] = {}
        inner = Builder(region.block, loc=self.loop.loc)
        copy_into(slice_of(values, self.loop.body.block), inner, mapping)
        inner.insert(st.Yield(values=[mapping.get(value, value) for value in values]))
        return region

    def _load_running(self, op: st.Apply, terminator: Operation) -> None:
        """Load the running values behind the op; they are yielded, and stored where they were."""
        at = Builder(self.loop.body.block, terminator, op.loc)
        for slot, k in zip(self._slots(), op.combined, strict=True):
            old = self.recurrences.yielded[slot]
            loaded = at.value(mem.Load(ref=op.outputs[k], indices=()), self.loop.carried[slot].name)
            new = _cast(loaded, dtype_of(old.type), at)
            for each in self.scans:
                if each.value is old:
                    at.insert(mem.Store(value=new, ref=each.op.ref, indices=each.op.indices, loc=each.op.loc))
            operands = list(terminator.operands)
            operands[slot] = new
            terminator.operands = operands
        for each in self.scans:
            each.op.erase()
        sweep(self.loop.body.block)


def _map(nest: Nest, store: mem.Store) -> AffineMap:
    map_ = nest.map(store.indices)
    assert map_ is not None, "every value outside of a nest is affine in it"
    return map_


def _cast(value: Value, dtype: DType, at: Builder) -> Value:
    return value if dtype_of(value.type) is dtype else at.value(arith.Cast.to(value, dtype))


def widened(value: Value, fn: str, strict: bool, at: Builder) -> Value:
    """Sums and products of halves run in f32 and are rounded once; so do the products in a sum, unless strict."""
    half = value.op.value if isinstance(value.op, arith.Cast) and dtype_of(value.type) is f32 else value
    if fn not in ("add", "mul") or dtype_of(half.type) not in (f16, bf16):
        return value
    product = half.op
    if fn == "add" and not strict and isinstance(product, arith.Elementwise) and product.fn == "mul":
        return call(at, "mul", *(_cast(arg, f32, at) for arg in product.args))
    return _cast(value, f32, at)
