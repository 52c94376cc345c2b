# SPDX-License-Identifier: Apache-2.0
"""Loops that update elements of a small table at computed places get tables of their own for each task.

    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %k = mem.load %x, [%i]
      %old = mem.load %counts, [%k]
      %new = arith.add %old, %one
      mem.store %new, %counts, [%k]
      scf.yield
    }

becomes a parallel loop over tasks. Each clears some tables on its stack, updates them in turn (so that equal
neighbours do not wait for each other's stores) and adds them up; the sums of all tasks are added to the shared table
afterwards. That changes no bit of an integer; loops that update floats stay as they are, and the loop as written
serves where it has few iterations.
"""

from __future__ import annotations

from collections.abc import Callable

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.record import Record
from pyasc.ir.traits import CHECKS, PURE, TERMINATOR
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.effects import is_local, may_alias, root_of
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.tensor_kernels import neutral
from pyasc.passes.base import Context, FunctionPass

Body = Callable[[Emitter, list[Value], Value], None]

COMBINING = frozenset(("add", "maximum", "minimum", "pymax", "pymin", "and", "or", "xor"))
"""What may be combined in any order on integers."""


class Privatise(FunctionPass):
    """Private tables for loops of at least `few` iterations, `task` iterations a task.

    All tables of a task together take at most `table_bytes`, and there are at most `tables` of them.
    """

    name = "privatise"
    task: int = 1 << 18
    few: int = 1 << 12
    tables: int = 8
    table_bytes: int = 1 << 14

    def run(self, func: Func, context: Context) -> bool:
        """Work on every innermost loop that fits."""
        loops = [op for op in func.nests() if isinstance(op, scf.For) and integer_of(op.step) == 1]
        changed = False
        for loop in loops:
            update = find_update(loop)
            if update is not None and update.elements * update.dtype.bytes <= self.table_bytes:
                _Writer(loop, update, self).write()
                context.count("private tables")
                changed = True
        return changed


class Update(Record):
    """What a loop does to its table: `table[indices] = fn(table[indices], value)`, by these operations."""

    ref: Value
    indices: tuple[Value, ...]
    fn: str
    value: Value
    ops: tuple[Operation, ...]

    @property
    def dtype(self) -> dtypes.DType:
        """The table's element type."""
        return dtype_of(self.ref.type)

    @property
    def extents(self) -> tuple[int, ...]:
        """The table's extents."""
        assert isinstance(self.ref.type, RefType)
        return tuple(extent for extent in self.ref.type.shape if isinstance(extent, int))

    @property
    def elements(self) -> int:
        """How many elements the table has."""
        count = 1
        for extent in self.extents:
            count *= extent
        return count


def find_update(loop: scf.For) -> Update | None:
    """The one update of a loop that does nothing else to memory, when a private table can take it."""
    if loop.inits or any(isinstance(op, scf.For) for op in loop.ancestors()):
        return None
    block = loop.body.block
    update = next((found for op in block if (found := _update_of(op)) is not None), None)
    if update is None or not _is_small_table(update) or not dtype_of(update.ref.type).is_integer:
        return None
    moves = any(_is_inside(index, loop) for index in update.indices)
    return update if moves and all(_keeps_to(op, update, loop) for op in block) else None


def _update_of(op: Operation) -> Update | None:
    if isinstance(op, mem.Atomic):
        return Update(op.ref, tuple(op.indices), op.fn, op.value, (op,))
    if not isinstance(op, mem.Store):
        return None
    new = op.value.op
    if not isinstance(new, arith.Elementwise) or new.fn not in COMBINING or list(new.result.uses) != [op]:
        return None
    for old, value in (new.args, new.args[::-1]):
        load = old.op
        if not isinstance(load, mem.Load) or load.ref is not op.ref or list(load.indices) != list(op.indices):
            continue
        if list(load.value.uses) == [new] and new.args.count(old) == 1:
            return Update(op.ref, tuple(op.indices), new.fn, value, (load, new, op))
    return None


def _is_small_table(update: Update) -> bool:
    type_ = update.ref.type
    assert isinstance(type_, RefType)
    known = all(isinstance(extent, int) for extent in type_.shape) and type_.layout == "row"
    return known and not is_local(root_of(update.ref)) and update.fn in COMBINING


def _keeps_to(op: Operation, update: Update, loop: scf.For) -> bool:
    """Whether an operation of the body may be copied into tasks: the update's own, arithmetic, other loads."""
    if op in update.ops or TERMINATOR in op.spec.traits:
        return True
    if isinstance(op, mem.Load):
        return not may_alias(op.ref, update.ref)
    if CHECKS in op.spec.traits:
        # One thread alone fails at the first wrong index.
        return loop.kind == "parallel"
    return PURE in op.spec.traits and not op.regions


def _is_inside(value: Value, loop: scf.For) -> bool:
    return value.block is loop.body.block


class _Writer:
    def __init__(self, loop: scf.For, update: Update, options: Privatise) -> None:
        self.loop = loop
        self.update = update
        self.options = options
        size = update.elements * update.dtype.bytes
        fitting = max(1, options.table_bytes // size)
        self.tables = min(options.tables, 1 << fitting.bit_length() - 1)

    def write(self) -> None:
        """Both variants under a test of the number of iterations."""
        e = Emitter(Builder.before(self.loop))
        count = e.sub(self.loop.upper, self.loop.lower)
        e.branch(e.call("ge", count, e.index(self.options.few)), self._private, self._plain)
        self.loop.drop()
        self.loop.unlink()

    def _plain(self, e: Emitter) -> None:
        copy = self.loop.clone()
        e.insert(copy)

    def _private(self, e: Emitter) -> None:
        lower, upper, length = self.loop.lower, self.loop.upper, self.options.task
        update = self.update
        tasks = e.ceildiv(e.sub(upper, lower), length)
        partial = e.alloc([tasks, update.elements], update.dtype, "partial")

        def task(inner: Emitter, number: Value, _: list[Value]) -> None:
            low = inner.add(lower, inner.mul(number, length))
            high = inner.minimum(inner.add(low, length), upper)
            self._task(inner, low, high, lambda i, total, k: i.store(total, partial, [number, k]))

        e.loop(0, tasks, task, kind="parallel", name="task")
        loop = e.builder.block.last
        assert isinstance(loop, scf.For)
        loop.grain = 1

        def merge(inner: Emitter, number: Value, _: list[Value]) -> None:
            def element(deeper: Emitter, place: list[Value], k: Value) -> None:
                old, new = deeper.load(update.ref, place), deeper.load(partial, [number, k])
                deeper.store(deeper.call(update.fn, old, new), update.ref, place)

            self._over(inner, list(update.extents), [], element)

        e.loop(0, tasks, merge, name="task")

    def _task(
        self, e: Emitter, low: Value, high: Value, keep: Callable[[Emitter, Value, Value], None]
    ) -> None:
        """Clear the tables, update them, and keep what they add up to."""
        update = self.update
        private = e.alloc([self.tables * update.elements], update.dtype, "private")
        start = e.constant(neutral(update.fn, update.dtype), update.value.type)

        def clear(inner: Emitter, k: Value, _: list[Value]) -> None:
            inner.store(start, private, [k])

        def add_up(inner: Emitter, k: Value, _: list[Value]) -> None:
            total = inner.load(private, [k])
            for table in range(1, self.tables):
                other = inner.load(private, [inner.add(k, table * update.elements)])
                total = inner.call(update.fn, total, other)
            keep(inner, total, k)

        e.loop(0, self.tables * update.elements, clear, kind="parallel", name="k")
        whole = e.sub(high, e.mod(e.sub(high, low), self.tables))
        self._updates(e, low, whole, self.tables, private)
        self._updates(e, whole, high, 1, private)
        e.loop(0, update.elements, add_up, kind="parallel", name="k")

    def _updates(self, e: Emitter, low: Value, high: Value, step: int, private: Value) -> None:
        def several(inner: Emitter, i: Value, _: list[Value]) -> None:
            # All places first: a load of the next one would wait for a store that might be to the same page offset.
            found = [self._places(inner, inner.add(i, table), table) for table in range(step)]
            for place, value in found:
                new = inner.call(self.update.fn, inner.load(private, [place]), value)
                inner.store(new, private, [place])

        e.loop(low, high, several, step=step, name=self.loop.counter.name)

    def _places(self, e: Emitter, counter: Value, table: int) -> tuple[Value, Value]:
        """Where in the private tables an iteration updates, and with what."""
        mapping = {self.loop.counter: counter}
        for op in self.loop.body.block:
            if op not in self.update.ops and TERMINATOR not in op.spec.traits:
                e.insert(op.clone(mapping))
        place = e.add(self._place(e, mapping), table * self.update.elements)
        return place, mapping.get(self.update.value, self.update.value)

    def _place(self, e: Emitter, mapping: dict[Value, Value]) -> Value:
        place = e.index(0)
        for index, extent in zip(self.update.indices, self.update.extents, strict=True):
            place = e.add(e.mul(place, extent), self._index(e, index, extent, mapping))
        return place

    def _index(self, e: Emitter, index: Value, extent: int, mapping: dict[Value, Value]) -> Value:
        """The index; one that counts from the end where it is negative needs no choice below a power of two."""
        counted = wrapped_index(index, extent)
        if counted is None or extent & extent - 1:
            return mapping.get(index, index)
        return e.call("and", mapping.get(counted, counted), e.index(extent - 1))

    def _over(self, e: Emitter, extents: list[int], place: list[Value], body: Body) -> None:
        """A loop over each extent around `body`, which takes the indices and the place in the flat table."""
        if not extents:
            flat = e.index(0)
            for index, extent in zip(place, self.update.extents, strict=True):
                flat = e.add(e.mul(flat, extent), index)
            body(e, place, flat)
            return
        e.loop(
            0,
            extents[0],
            lambda i, k, _: self._over(i, extents[1:], [*place, k], body),
            kind="parallel",
            name="bin",
        )


def wrapped_index(index: Value, extent: int) -> Value | None:
    """The k of `k + extent if k < 0 else k`."""
    op = index.op
    if not isinstance(op, arith.Elementwise) or op.fn != "select":
        return None
    test, wrapped, plain = (arg.op if n < 2 else arg for n, arg in enumerate(op.args))
    if not isinstance(test, arith.Elementwise) or not isinstance(wrapped, arith.Elementwise):
        return None
    assert isinstance(plain, Value)
    below = test.fn == "lt" and test.args[0] is plain and integer_of(test.args[1]) == 0
    added = wrapped.fn == "add" and wrapped.args[0] is plain and integer_of(wrapped.args[1]) == extent
    return plain if below and added else None
