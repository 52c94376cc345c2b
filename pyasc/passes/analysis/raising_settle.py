# SPDX-License-Identifier: Apache-2.0
"""What a loop does with the results of the structured op in it, brought into the op itself.

mem.store %zero, %y, [%i]                      an element set first is the start of what is added to it
st.apply ... [%y] (adds to y[i])

st.apply ... [%zero], [%cell]                  a reduced value that is stored is reduced into its place
%v = mem.load %cell, []
mem.store %v, %y, [%i]

st.apply ... [%carried], [%cell]               a running value that is stored every time is a scan
%v = mem.load %cell, []
mem.store %v, %y, [%i]
scf.yield %v
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, mem, scf, st
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import Nest, integer_of
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.raising import (
    CannotRaise,
    copy_into,
    is_plain,
    is_same_each_time,
    reads_of,
    slice_of,
)


class Running(Record):
    """A value that the loop carries (number `slot`) through the op's inits `numbers`.

    `cell` holds it at the end; None when nothing needs it.
    """

    slot: int
    numbers: tuple[int, ...]
    cell: Value | None


def settle(loop: scf.For, op: st.Apply, nest: Nest) -> list[Running]:
    """Bring the results into the op. Raises CannotRaise, having changed the loop, when more is done with them."""
    return _Settling(loop, op, nest).run()


def cast(value: Value, dtype: DType, at: Builder) -> Value:
    """The value in another dtype."""
    return value if dtype_of(value.type) is dtype else at.value(arith.Cast.to(value, dtype))


class _Settling:
    def __init__(self, loop: scf.For, op: st.Apply, nest: Nest) -> None:
        self.loop = loop
        self.op = op
        self.nest = nest
        self.block = loop.body.block
        self.yielded = list(self.block.terminator.operands)
        self.running: list[Running] = []

    def run(self) -> list[Running]:
        self._fold_initial_store()
        for number, k in enumerate(self.op.combined if self.op.inits else ()):
            self._output(number, k)
        self._check_carried()
        return self.running

    def _is_cell(self, ref: Value) -> bool:
        return isinstance(ref.op, mem.Alloc) and ref.op.parent is self.block and ref.type == cell_type(ref)

    def _output(self, number: int, k: int) -> None:
        ref = self.op.outputs[k]
        if not self._is_cell(ref):
            self._make_init_invariant(number)
            return
        values = self._values_of(ref)
        slots = [slot for slot, value in enumerate(self.yielded) if value in values]
        stores = self._stores_of(values)
        slot = self._carried_slot(self.op.inits[number])
        if slot is not None:
            if slots != [slot] or len(stores) > 1:
                raise CannotRaise(self.op.loc, "a running value is used in more than one way", quiet=True)
            self._pass_on(slot, number, k, stores)
            return
        if len(stores) == 1 and not slots and self._starts_from_target(number, stores[0]):
            self._retarget(k, stores[0])
            return
        self._make_init_invariant(number)
        if slots or len(stores) > 1:
            raise CannotRaise(self.op.loc, "a reduced value is carried to the next iteration", quiet=True)
        if stores:
            self._retarget(k, stores[0])

    def _starts_from_target(self, number: int, store: mem.Store) -> bool:
        """Whether the sum starts from what is in the element that it is stored to; then it needs no init."""
        load = self.op.inits[number].op
        if (
            not isinstance(load, mem.Load)
            or not isinstance(store.value.op, mem.Load)
            or len(self.op.inits) != 1
        ):
            return False
        if load.ref is not store.ref or set(load.value.uses) != {self.op}:
            return False
        here, there = self.nest.map(load.indices), self.nest.map(store.indices)
        if here is None or here != there or load.parent is not self.block:
            return False
        self.op.set_operands("inits", ())
        load.erase()
        return True

    def _values_of(self, cell: Value) -> list[Value]:
        """The loads of a cell, and the same rounded to the dtype of the loop's own values."""
        values: list[Value] = []
        for user in cell.uses:
            if isinstance(user, mem.Load) and user.parent is self.block:
                values.append(user.value)
            elif user is not self.op:
                raise CannotRaise(user.loc, "a reduced value is used in an inner loop", quiet=True)
        for value in list(values):
            values += [user.result for user in value.uses if isinstance(user, arith.Cast)]
        return values

    def _stores_of(self, values: Sequence[Value]) -> list[mem.Store]:
        stores: list[mem.Store] = []
        for user in (user for value in values for user in value.uses):
            if isinstance(user, mem.Store) and user.parent is self.block:
                stores.append(user)
            elif user is not self.block.last and not (isinstance(user, arith.Cast) and user.result in values):
                raise CannotRaise(
                    user.loc, "a reduced value is used further in the same iteration", quiet=True
                )
        return stores

    def _carried_slot(self, init: Value) -> int | None:
        base = init.op.value if isinstance(init.op, arith.Cast) else init
        carried = self.loop.carried
        return carried.index(base) if base in carried else None

    def _pass_on(self, slot: int, number: int, k: int, stores: Sequence[mem.Store]) -> None:
        cell = self.op.outputs[k]
        if not stores:
            self.running.append(Running(slot, (number,), cell))
            return
        if stores[0].value.op is None or not isinstance(stores[0].value.op, mem.Load):
            raise CannotRaise(stores[0].loc, "a running value is rounded each time it is stored", quiet=True)
        if self.op.combined != (k,):
            raise CannotRaise(stores[0].loc, "one of several running values is stored", quiet=True)
        self._retarget(k, stores[0])
        self.op.roles = tuple("scan" if i == k else role for i, role in enumerate(self.op.roles))
        if not self.loop.values[slot].uses:
            self.running.append(Running(slot, (number,), None))
            return
        _add_final(self.op, cell)
        self.running.append(Running(slot, (0, 1), cell))

    def _retarget(self, k: int, store: mem.Store) -> None:
        """Reduce into the element that the result is stored to."""
        if not isinstance(store.value.op, mem.Load):
            raise CannotRaise(store.loc, "the reduced value is rounded before it is stored", quiet=True)
        self._check_early(store, k)
        map_ = self._add_map(store.indices)
        outputs = list(self.op.outputs)
        outputs[k] = store.ref
        self.op.set_operands("outputs", outputs)
        self.op.output_maps = tuple(map_ if i == k else old for i, old in enumerate(self.op.output_maps))
        store.erase()

    def _check_early(self, store: mem.Store, k: int) -> None:
        """The store may happen within the op: nothing in the op or between them touches the same memory."""
        touched = [ref for ref, _ in reads_of(self.op)]
        touched += [ref for i, ref in enumerate(self.op.outputs) if i != k]
        for op in self.block:
            if isinstance(op, mem.Load) or (isinstance(op, mem.Store) and op is not store):
                touched.append(op.ref)
        if any(may_alias(store.ref, ref) for ref in touched):
            raise CannotRaise(store.loc, "the loop reads the memory that the result is stored to", quiet=True)

    def _add_map(self, indices: Sequence[Value]) -> AffineMap:
        """A map over new symbols, one for each index."""
        symbols = list(self.op.symbols)
        results: list[AffineExpr] = []
        for value in indices:
            number = integer_of(value)
            results.append(affine.symbol(len(symbols)) if number is None else affine.const(number))
            if number is None:
                symbols.append(value)
        self.op.set_operands("symbols", symbols)
        return AffineMap(tuple(results))

    def _make_init_invariant(self, number: int) -> None:
        """An init that is the same in every iteration is computed before the loop."""
        init = self.op.inits[number]
        if self.nest.is_invariant(init):
            return
        if not is_same_each_time(init, self.block):
            raise CannotRaise(self.op.loc, "each iteration starts from another value", quiet=True)
        mapping: dict[Value, Value] = {}
        copy_into(slice_of([init], self.block), Builder.before(self.loop), mapping)
        inits = list(self.op.inits)
        inits[number] = mapping[init]
        self.op.set_operands("inits", inits)

    def _fold_initial_store(self) -> None:
        """An element that is set right before a reduction adds to it is the reduction's start."""
        op = self.op
        if op.inits or op.roles != ("reduce",) or any(expr.dims for expr in op.output_maps[0].results):
            return
        for store in [each for each in self.block if isinstance(each, mem.Store)]:
            if store.ref is op.outputs[0] and self._is_at_output(store) and _comes_before(store, op):
                self._check_early(store, 0)
                op.set_operands("inits", [store.value])
                store.erase()
                return

    def _is_at_output(self, store: mem.Store) -> bool:
        map_ = self.op.output_maps[0]
        symbols = [self.nest.expr(value) for value in self.op.symbols]
        for expr, value in zip(map_.results, store.indices, strict=True):
            total: AffineExpr | None = affine.const(expr.constant)
            for part, factor in zip(symbols, expr.symbols, strict=False):
                if factor:
                    total = None if part is None or total is None else total + part * factor
            if total is None or total != self.nest.expr(value):
                return False
        return True

    def _check_carried(self) -> None:
        """Every carried value runs through the op and nowhere else."""
        known = {each.slot for each in self.running}
        for slot, value in enumerate(self.loop.carried):
            users = [user for user in value.uses if user is not self.op and not _feeds(user, self.op)]
            if slot not in known or any(_is_needed(user, self.block.terminator) for user in users):
                name = value.name or "a value"
                raise CannotRaise(self.op.loc, f"{name!r} is carried past the inner loop", quiet=True)


def cell_type(ref: Value) -> RefType:
    """The type of a local buffer for one element of the dtype of `ref`."""
    return RefType((), dtype_of(ref.type), "local")


def _feeds(user: Operation, op: st.Apply) -> bool:
    return isinstance(user, arith.Cast) and set(user.result.uses) == {op}


def _is_needed(user: Operation, terminator: Operation) -> bool:
    return user is terminator or not is_plain(user) or any(value.uses for value in user.results)


def _comes_before(op: Operation, other: Operation) -> bool:
    following = op.next
    while following is not None and following is not other:
        following = following.next
    return following is other


def _add_final(op: st.Apply, cell: Value) -> None:
    """Give a scan of one value a second result: the last running value."""
    (value, *guard) = op.body.block.terminator.operands
    op.body.block.terminator.operands = [value, value, *guard]
    op.body.block.terminator.segments = (2 + len(guard),)
    op.set_operands("inits", [*op.inits, *op.inits])
    op.set_operands("outputs", [*op.outputs, cell])
    op.output_maps = (*op.output_maps, AffineMap(()))
    op.roles = (*op.roles, "reduce")
    op.regions[1] = _twice(op.combine)
    op.regions[1].parent = op


def _twice(region: Region) -> Region:
    """A combiner of one value that combines two, each on its own."""
    block = region.block
    old, new = block.args
    made = block_of([old.type, old.type, new.type, new.type])
    at = Builder(made.block)
    results: list[Value] = []
    for i in range(2):
        mapping: dict[Value, Value] = {old: made.block.args[i], new: made.block.args[2 + i]}
        copy_into([op for op in block if op is not block.last], at, mapping)
        results += [mapping.get(value, value) for value in block.terminator.operands]
    at.insert(st.Yield(values=results))
    return made
