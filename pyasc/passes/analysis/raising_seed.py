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
from pyasc.ir.location import Location
from pyasc.ir.traits import CHECKS
from pyasc.ir.types import RefType, Type, dtype_of
from pyasc.passes.analysis.affine import Nest
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.raising import CannotRaise, Proofs, copy_into, is_plain, slice_of, sweep
from pyasc.passes.analysis.raising_recurrences import Recurrence, Recurrences, call, merged, neutral
from pyasc.passes.analysis.structured import combiner, loads_to_inputs


@dataclass
class _Store:
    """A store with the condition under which it happens."""

    op: mem.Store
    value: Value
    guard: Value | None


def seed(loop: scf.For, proofs: Proofs, strict: bool) -> st.Apply:
    """Turn the body of an innermost loop into one op. Raises CannotRaise, having changed the loop, if it cannot."""
    flat = _Flattening(loop, proofs)
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


class _Flattening:
    """Moves everything out of the branches of a loop's body but the stores, which keep their conditions."""

    def __init__(self, loop: scf.For, proofs: Proofs) -> None:
        self.block = loop.body.block
        self.proofs = proofs
        self.stores: list[_Store] = []
        self.loads: list[mem.Load] = [op for op in self.block if isinstance(op, mem.Load)]

    def run(self) -> None:
        """Flatten the whole body."""
        for op in self.block:
            if op is not self.block.last:
                self._visit(op, None)

    def _visit(self, op: Operation, guard: Value | None) -> None:
        match op:
            case mem.Store():
                self._store(op, guard)
            case mem.Load():
                self._load(op, guard)
            case scf.If():
                self._branch(op, guard)
            case _ if is_plain(op):
                return
            case _:
                raise refusal(op)

    def _branch(self, op: scf.If, guard: Value | None) -> None:
        at = Builder.before(op)
        for region in op.regions:
            if region.block.first is region.block.last:
                continue
            condition = op.condition if region is op.then else call(at, "not", op.condition)
            if guard is not None:
                condition = call(at, "and", guard, condition)
            for inner in region.block:
                if inner is not region.block.last:
                    at.insert(inner)
                    self._visit(inner, condition)
        yields = [region.block.terminator.operands for region in op.regions]
        chosen = [
            yes if yes is no else call(at, "select", op.condition, yes, no)
            for yes, no in zip(*yields, strict=True)
        ]
        op.replace_with(chosen)

    def _load(self, op: mem.Load, guard: Value | None) -> None:
        for store in reversed(self.stores):
            same = self._same_element(store.op, op, op.loc)
            if same and store.guard not in (None, guard):
                raise CannotRaise(op.loc, "it reads what it may have written under another condition")
            if same:
                self.loads = [load for load in self.loads if load is not op]
                op.replace_with([store.value])
                return
        if guard is not None and not self._is_safe(op):
            raise CannotRaise(
                op.loc,
                "the element read under this condition may be out of range without it",
                "narrow the loop's range so that the index is in range in every iteration",
            )

    def _is_safe(self, op: mem.Load) -> bool:
        """Whether a load that stands under a condition may happen in every iteration."""
        for other in self.loads:
            if other.ref is op.ref and self.proofs.distance(other.indices, op.indices):
                return True
        return self.proofs.in_range(op, self.block)

    def _same_element(self, store: mem.Store, op: mem.Load | mem.Store, loc: Location) -> bool:
        """Whether both touch one element; False when they surely do not."""
        if not may_alias(store.ref, op.ref):
            return False
        same = self.proofs.distance(store.indices, op.indices) if store.ref is op.ref else None
        if same is None:
            raise CannotRaise(loc, "it may touch an element that the same iteration wrote before")
        return same

    def _store(self, op: mem.Store, guard: Value | None) -> None:
        made = _Store(op, op.value, guard)
        for earlier in list(self.stores):
            if self._same_element(earlier.op, op, op.loc):
                self._overwrite(earlier, made)
        self.stores.append(made)

    def _overwrite(self, earlier: _Store, later: _Store) -> None:
        self.stores.remove(earlier)
        earlier.op.erase()
        if later.guard is None or later.guard is earlier.guard:
            return
        if earlier.guard is not None and not _opposite(earlier.guard, later.guard):
            raise CannotRaise(later.op.loc, "one element is written under several conditions")
        chosen = arith.Elementwise(fn="select", args=[later.guard, later.value, earlier.value])
        later.value = Builder.before(later.op).value(chosen)
        later.guard = None


def refusal(op: Operation) -> CannotRaise:
    """Why an operation in a loop keeps it a loop."""
    if op.has(CHECKS):
        return CannotRaise(
            op.loc,
            "a check stands in the loop",
            "make the index provably in range, for example by looping over the array's own size",
        )
    if isinstance(op, (scf.While, scf.For)):
        return CannotRaise(op.loc, "a loop inside of it stays a loop", quiet=True)
    if isinstance(op, mem.Atomic):
        return CannotRaise(op.loc, "atomic updates are made one by one")
    return CannotRaise(op.loc, f"{op.name} stands in the loop", quiet=True)


def _opposite(a: Value, b: Value) -> bool:
    """Whether one condition is the negation of the other."""
    return any(
        isinstance(x.op, arith.Elementwise) and x.op.fn == "not" and x.op.args[0] is y
        for x, y in ((a, b), (b, a))
    )


@dataclass
class _Seed:
    """The parts of the op to be built."""

    loop: scf.For
    recurrences: Recurrences
    groups: list[Recurrence]
    stores: list[_Store]
    scans: list[_Store]
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
        return [_widened(value, group.fn, at) for value in values]

    def _check_independent(self, values: Sequence[Value]) -> None:
        """Nothing that the op computes may rest on running values."""
        for op in slice_of(values, self.loop.body.block):
            if any(value in self.recurrences.dependent for value in op.operands):
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
        slots = [slot for group in self.groups for slot in group.slots]
        new_types = [value.type for value in values[len(self.stores) : len(self.stores) + len(slots)]]
        names = [self.loop.carried[slot].name for slot in slots]
        cells = [
            at.value(mem.Alloc(types=[RefType((), dtype_of(type_), "local")]), name)
            for type_, name in zip(new_types, names, strict=True)
        ]
        inits = [
            _cast(self.loop.carried[slot], dtype_of(type_), at)
            for slot, type_ in zip(slots, new_types, strict=True)
        ]
        op = st.Apply(
            symbols=nest.symbols,
            inputs=(),
            inits=inits,
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
            combine=combiner(new_types, merged(self.groups)) if slots else Region(),
            loc=self.stores[0].op.loc if self.stores else self.loop.loc,
        )
        for running, name in zip(op.combine.block.args if slots else (), names, strict=False):
            running.name = name
        at.insert(op)
        loads_to_inputs(op)
        for each in self.stores:
            each.op.erase()
        return op

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
        slots = [slot for group in self.groups for slot in group.slots]
        for slot, k in zip(slots, op.combined, strict=True):
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


def _widened(value: Value, fn: str, at: Builder) -> Value:
    """Sums and products of halves run in f32 and are rounded once."""
    return _cast(value, f32, at) if fn in ("add", "mul") and dtype_of(value.type) in (f16, bf16) else value
