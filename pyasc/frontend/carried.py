# SPDX-License-Identifier: Apache-2.0
"""What a loop carries from one iteration to the next, and the types of it.

A loop's body is visited with assumed types; when an iteration gives wider ones it is visited again. The types are
kept with the loop, so that a visit of an outer loop starts inner ones where they ended: the number of visits grows
with the number of widenings, not with the depth of nesting.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyasc.frontend import control, joins, numeric
from pyasc.frontend.carried_arrays import Slot, buffer_like, remedy
from pyasc.frontend.emit import drop_block
from pyasc.frontend.frames import RESULT, RESULT_PARTS, RETURN, LoopScope
from pyasc.frontend.joins import JoinType, convert, join_type, join_types, meeting_type, name_value
from pyasc.frontend.liveness import find_break
from pyasc.frontend.promotion import NumberType, promote
from pyasc.frontend.values import (
    FALSE,
    Array,
    Conflict,
    Const,
    Deferred,
    Parts,
    Poison,
    Scalar,
    Tensor,
    Unset,
    Val,
    is_number,
    same,
)
from pyasc.frontend.visitor import Refused, Visitor
from pyasc.ir.core import Block, Value
from pyasc.ir.diagnostics import InternalError, Related
from pyasc.ir.dialects import tensor
from pyasc.ir.location import Location
from pyasc.ir.types import ScalarType, Type

Loop = ast.For | ast.While
_MOST_VISITS = 40


@contextmanager
def scope(v: Visitor, node: Loop, number: int, watched: Sequence[str] = ()) -> Iterator[LoopScope]:
    """The innermost loop for `break` and `continue` while its body is visited."""
    found = LoopScope(node, number, len(v.frame.cursors), watched=watched)
    v.frame.loops.append(found)
    doubtful, v.frame.doubtful = v.frame.doubtful, set()
    try:
        yield found
    finally:
        v.frame.loops.pop()
        v.frame.doubtful = doubtful


def type_at_breaks(v: Visitor, name: str, at_breaks: Sequence[Mapping[str, Val | None]]) -> JoinType | None:
    """The type of a name with which a loop is left by `break`; None unless it is a number at each of them."""
    found = [values.get(name) for values in at_breaks]
    numbers = [value for value in found if value is not None and is_number(value)]
    return meeting_type(v, *numbers) if numbers and len(numbers) == len(found) else None


def end_iteration(v: Visitor) -> None:
    """Names that a jump may have left without a value have none for those who read them now."""
    for name in sorted(v.frame.doubtful):
        v.frame.env.set(
            name, Unset("when the loop jumps before it is set", v.location(v.frame.loops[-1].node))
        )
    v.frame.doubtful.clear()


class Carried:
    """The names that one loop sets, sorted by how they are carried."""

    def __init__(
        self, v: Visitor, node: Loop, runs: bool, parallel: bool = False, flags: bool = False
    ) -> None:
        self.v = v
        self.node = node
        self.loc: Location = v.emit.builder.loc
        self.runs = runs
        self.parallel = parallel
        v.serial += 1
        self.number = v.serial
        facts = v.frame.liveness.iteration(node)
        after = v.frame.liveness.body(node.orelse).reads
        self.names = sorted(facts.may_set)
        captured = v.frame.scan.captured
        self.live_in = {n for n in self.names if n in facts.reads or n in captured}
        self.live_out = {n for n in self.names if n in after or v.frame.live(n)}
        self.flags = self._flag_names() if flags else []
        self.entry = {name: self._entry(name) for name in [*self.flags, *self.names]}
        self.numbers: dict[str, JoinType] = {}
        self.guesses: dict[str, str] = {}
        self.slots: dict[str, Slot] = {}
        self.broken: dict[str, Conflict] = {}
        self.late: dict[str, JoinType] = {}
        self.late_slots: dict[str, Slot] = {}
        self.set_by_breaks: list[str] = []
        self.at_breaks: list[dict[str, Val | None]] = []
        self.finals: dict[str, Val] = {}
        self.tested: dict[str, Val] = {}
        self.condition: Value
        self.break_value: Val = FALSE
        self.reductions: list[str] = []
        self.rounds = 0
        self.mark = len(v.diagnostics)
        self._classify()

    def _flag_names(self) -> list[str]:
        leaves = [f"%break{self.number}"] if find_break(self.node.body) else []
        return [*leaves, RETURN, RESULT, *RESULT_PARTS] if self.v.facts(self.node).returns else leaves

    def _entry(self, name: str) -> Val:
        value = self.v.frame.env.get(name)
        if isinstance(value, Deferred):
            value = value.compute()
            self.v.frame.env.set(name, value)
        if value is None:
            return (
                FALSE
                if name in self.flags and not name.startswith(RESULT)
                else Unset("before this loop", self.loc)
            )
        return value

    def _classify(self) -> None:
        known = self.v.header_types.setdefault((self.v.frame.key, self.node), {})
        for name, value in self.entry.items():
            if name[0] != "%" and not (name in self.live_in or name in self.live_out):
                continue
            if self.parallel and name not in self.live_in:
                continue
            if is_number(value):
                found = join_type(self.v, value)
                memory = known.get(name)
                self.numbers[name] = join_types(found, memory) if isinstance(memory, JoinType) else found
                if isinstance(value, Scalar) and value.guess:
                    self.guesses[name] = value.guess
                elif isinstance(value, Const) and name[0] != "%":
                    self.guesses[name] = f"{name} {self.number}"
            elif isinstance(value, Tensor):
                self.slots[name] = Slot(value, buffer_like(self.v, self.loc, value))
        if self.parallel:
            self._check_parallel()

    def _check_parallel(self) -> None:
        names = [*self.numbers, *self.slots]
        for name in names:
            if name in self.slots or not is_reduction(self.node, name):
                raise self.refuse_parallel(name)
        self.reductions = names

    def refuse_parallel(self, name: str) -> Refused:
        """The error for a name that one parallel iteration would read from another."""
        place = next(
            (n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == name and _is_store(n)),
            self.node,
        )
        return self.v.error(
            place,
            "PA0601",
            f"`{name}` is carried from one iteration of a parallel loop to the next",
            "set here and read by a later iteration",
            "use range for a sequential loop, or an array with one element for each iteration",
            (Related(self.loc, "the parallel loop"),),
        )

    @property
    def types(self) -> list[Type]:
        """The types of the carried numbers, in order."""
        return [ScalarType(t.carried) for t in self.numbers.values()]

    @property
    def set_inside(self) -> list[str]:
        """Names that have a value behind the loop only because it was set inside."""
        return [name for name in (*self.late, *self.late_slots) if name[0] != "%"]

    @property
    def all_types(self) -> list[Type]:
        """The same, followed by names that only the loop itself sets."""
        return [*self.types, *(ScalarType(t.carried) for t in self.late.values())]

    def visit(self, block: Block, args: Sequence[Value], run: Callable[[], None]) -> None:
        """Visit one iteration in `block`, where the carried numbers are `args`."""
        env = self.v.frame.env
        env.begin()
        changes: dict[str, Val] = {}
        watched = [n for n in self.live_out - self.live_in if isinstance(self.entry[n], Unset)]
        try:
            with self.v.block(block), scope(self.v, self.node, self.number, watched) as loop:
                self.at_breaks = loop.at_breaks
                self._bind(args)
                for flag in (loop.break_flag, *(f for f in self.flags if not f.startswith(RESULT))):
                    env.set(flag, FALSE)
                run()
                end_iteration(self.v)
                self._resolve()
        finally:
            changes = env.end()
        self.finals = {name: changes.get(name, value) for name, value in self.entry.items()}

    def visit_test(self, block: Block, args: Sequence[Value], test: Callable[[], Val]) -> bool:
        """Visit the test of a while loop in `block`; it is not evaluated once a jump has ended the loop.

        False means that the test sets names of its own, which are carried from now on: visit it again.
        """
        env = self.v.frame.env
        env.begin()
        try:
            with self.v.block(block):
                self._bind(args)
                self.condition = self._guarded_test(test)
                self._resolve()
        finally:
            changes = env.end()
        self.tested = {name: changes.get(name, value) for name, value in self.entry.items()}
        fresh = [n for n, e in self.entry.items() if isinstance(e, Unset) and is_number(self.tested[n])]
        for name in fresh:
            self.numbers[name] = join_type(self.v, self.tested[name])
            self.entry[name] = joins.filler(self.v, self.tested[name])
        if fresh:
            drop_block(block)
        return not fresh

    def _guarded_test(self, test: Callable[[], Val]) -> Value:
        v = self.v
        flags = [name for name in self.flags if name in self.numbers and not name.startswith(RESULT)]
        node = self.node.test if isinstance(self.node, ast.While) else self.node.iter
        if not flags:
            found = numeric.truth(v, test(), node)
        else:
            going = v.emit.fn("not", control.any_flag(v, flags))
            value = control.lazily(v, going, lambda: _as_bool(v, test(), node), lambda: FALSE, node)
            found = numeric.truth(v, value, node)
        return found if isinstance(found, Value) else v.emit.constant(found, ScalarType(_BOOL))

    def _bind(self, args: Sequence[Value]) -> None:
        env = self.v.frame.env
        for (name, type_), arg in zip(self.numbers.items(), args, strict=True):
            value = type_.scalar(arg)
            if value.weak and name in self.guesses:
                value = Scalar(value.value, True, guess=self.guesses[name])
            name_value(value, name)
            env.set(name, value)
        for name, slot in (self.slots | self.late_slots).items():
            if slot.entry is not None:
                env.set(name, slot.value(self.v))
        for name, conflict in self.broken.items():
            env.set(name, conflict)

    def _resolve(self) -> None:
        for name in self.entry:
            value = self.v.frame.env.get(name)
            if isinstance(value, Deferred):
                self.v.frame.env.set(name, value.compute())

    def stable(self, *blocks: Block) -> bool:
        """Whether the iteration gives what was assumed; otherwise the blocks are dropped, to be visited again."""
        self.rounds += 1
        if self.rounds > _MOST_VISITS:
            raise InternalError("the types of a loop do not settle", self.loc)
        self.late = {}
        self.late_slots = {}
        changed = [name for name in self.entry if self._absorb(name)]
        if not changed:
            return True
        for block in reversed(blocks):
            drop_block(block)
        del self.v.diagnostics[self.mark :]
        return False

    def _absorb(self, name: str) -> bool:
        """Take in what the iteration gives for a name; whether that changes what it starts from."""
        final, entry = self.finals[name], self.entry[name]
        if isinstance(entry, Poison):
            # A mistake in front of the loop has been reported; there is no second one to find.
            return False
        if isinstance(final, (Poison, Unset, Conflict)):
            if isinstance(final, (Unset, Poison)) and isinstance(entry, Unset):
                return isinstance(final, Unset) and self._is_set_by_breaks(name)
            return self._break(name, final)
        if name in self.numbers:
            return self._absorb_number(name, final)
        if name in self.slots:
            return self._absorb_tensor(name, final)
        if isinstance(entry, Unset):
            self._absorb_late(name, final)
            return False
        if self._becomes_slot(name, entry, final):
            return True
        if same(final, entry) or name not in self.live_in | self.live_out:
            return False
        reason = f"{numeric.describe(entry)} before the loop and another value in it"
        return self._break(name, Conflict(reason, self.loc, remedy(name, entry, final)))

    def _is_set_by_breaks(self, name: str) -> bool:
        """Whether every `break` leaves the loop with a number in a name that has none before: it is carried then."""
        type_ = type_at_breaks(self.v, name, self.at_breaks)
        if type_ is None:
            return False
        self.numbers[name] = type_
        self.entry[name] = type_.scalar(self.v.emit.constant(0, type_.carried))
        self.set_by_breaks.append(name)
        return True

    def _becomes_slot(self, name: str, entry: Val, final: Val) -> bool:
        """An array that is replaced in the loop is carried in a buffer of its own, where nobody can tell."""
        if not (isinstance(entry, Array) and isinstance(final, Array)) or same(final, entry) or self.parallel:
            return False
        alike = entry.shape == final.shape and entry.dtype is final.dtype and None not in entry.shape
        if not alike or not joins.is_private(self.v, name, entry, {}) or not self._is_private(name, final):
            return False
        contents = numeric.as_tensor(self.v, entry)
        self.slots[name] = Slot(contents, buffer_like(self.v, self.loc, contents), is_array=True)
        return True

    def _is_private(self, name: str, value: Val) -> bool:
        return joins.is_private(self.v, name, value, self.finals)

    def _fits(self, name: str, slot: Slot, final: Val) -> bool:
        """Whether an array can be copied into the buffer at the end of an iteration."""
        if not isinstance(final, Array) or not self._is_private(name, final):
            return False
        return final.shape == slot.tensor.shape and final.dtype is slot.tensor.dtype

    def _absorb_number(self, name: str, final: Val) -> bool:
        tested = self.tested.get(name)
        if not is_number(final) or (tested is not None and not is_number(tested)):
            del self.numbers[name]
            reason = f"a number before the loop and {numeric.describe(final)} in it"
            return self._break(name, Conflict(reason, self.loc))
        assumed = self.numbers[name]
        found = join_types(assumed, join_type(self.v, final))
        if tested is not None:
            found = join_types(found, join_type(self.v, tested))
        if self._stays_as_it_is(name, found):
            found = joins.python_number(self.v, found)
        changed = found != assumed or self._is_refuted(name, found)
        known = self.v.header_types.setdefault((self.v.frame.key, self.node), {})
        known[name] = self.numbers[name] = found
        return changed

    def _stays_as_it_is(self, name: str, found: JoinType) -> bool:
        """Whether a Python number before the loop is one behind it, too: one that a sum starts from meets the terms."""
        if found.rounds_to is not None or found.number.weak:
            return False
        entry = self.entry[name]
        if not join_type(self.v, entry).number.weak or joins.holds(self.v, found.number.dtype, entry):
            return False
        return not is_reduction(self.node, name)

    def _is_refuted(self, name: str, found: JoinType) -> bool:
        """Whether a variable was taken for one of the type of what it meets, and is a Python number after all."""
        if not found.number.weak or name not in self.guesses:
            return False
        if self.guesses.pop(name) not in self.v.trusted_guesses:
            return False
        # What loops inside have found rests on it.
        self.v.header_types.clear()
        return True

    def _absorb_tensor(self, name: str, final: Val) -> bool:
        slot = self.slots[name]
        if slot.holds(final) or (slot.is_array and self._fits(name, slot, final)):
            return False
        if not isinstance(final, Tensor) or final.shape != slot.tensor.shape:
            del self.slots[name]
            return self._break(
                name, Conflict("arrays of different shapes before the loop and in it", self.loc)
            )
        number = promote(NumberType(final.dtype), NumberType(slot.tensor.dtype))
        if number.dtype is slot.tensor.dtype:
            return False
        assert slot.entry is not None
        slot.alloc = buffer_like(self.v, self.loc, slot.entry, number)
        return True

    def _absorb_late(self, name: str, final: Val) -> None:
        """A name that only the loop sets: it has a value behind it when the loop certainly runs."""
        if name[0] != "%" and not (self.runs and name in self.live_out and not self.parallel):
            return
        if is_number(final) and not isinstance(final, Const):
            self.late[name] = join_type(self.v, final)
        elif isinstance(final, Tensor) and None not in final.shape:
            self.late_slots[name] = Slot(None, buffer_like(self.v, self.loc, final))
        elif self._is_private(name, final) and isinstance(final, Array) and None not in final.shape:
            self.late_slots[name] = Slot(None, buffer_like(self.v, self.loc, final), is_array=True)

    def _break(self, name: str, why: Val) -> bool:
        self.numbers.pop(name, None)
        self.slots.pop(name, None)
        if name in self.broken:
            if isinstance(why, Poison):
                # Its use in the loop has been reported; there is no second mistake in one behind it.
                self.entry[name] = why
            return False
        self.broken[name] = why if isinstance(why, Conflict) else Conflict("", self.loc)
        if isinstance(why, Unset):
            self.broken[name] = Conflict(f"it may have no value {why.path}", why.loc)
        self.entry[name] = why if isinstance(why, Poison) else self.broken[name]
        return name in self.live_in

    def inits(self) -> list[Value]:
        """The carried numbers before the loop; buffers are made and filled."""
        emit = self.v.emit
        for slot in (*self.slots.values(), *self.late_slots.values()):
            emit.insert(slot.alloc)
            if slot.entry is not None:
                value = emit.cast(slot.entry.value, slot.tensor.dtype)
                emit.insert(tensor.Write(value=value, ref=slot.alloc.ref))
        values = [convert(self.v, self.entry[name], type_) for name, type_ in self.numbers.items()]
        return values + [emit.constant(0, t.carried) for t in self.late.values()]

    def yields(self, block: Block) -> list[Value]:
        """The carried numbers at the end of an iteration, the current place; buffers are written."""
        for type_ in self.late.values():
            block.add_arg(ScalarType(type_.carried))
        changed = [(n, s) for n, s in (self.slots | self.late_slots).items() if not s.holds(self.finals[n])]
        # All are read before the first is written: two arrays may have changed places.
        values = [self._contents(name, slot) for name, slot in changed]
        for (_, slot), value in zip(changed, values, strict=True):
            self.v.emit.insert(tensor.Write(value=value, ref=slot.alloc.ref))
        types = self.numbers | self.late
        return [convert(self.v, self.finals[name], type_) for name, type_ in types.items()]

    def _contents(self, name: str, slot: Slot) -> Value:
        final = numeric.as_tensor(self.v, self.finals[name])
        return self.v.emit.cast(final.value, slot.tensor.dtype)

    def forwarded(self, before: Block) -> list[Value]:
        """The carried numbers behind the test of a while loop."""
        late = [before.add_arg(ScalarType(t.carried)) for t in self.late.values()]
        return [convert(self.v, self.tested[name], t) for name, t in self.numbers.items()] + late

    def bind_results(self, results: Sequence[Value]) -> None:
        """Bind every name that the loop sets to its value behind it."""
        env = self.v.frame.env
        for (name, type_), value in zip((self.numbers | self.late).items(), results, strict=True):
            found = type_.scalar(value)
            name_value(found, name)
            env.set(name, found)
            if name == f"%break{self.number}":
                self.break_value = found
        for name in self.entry:
            if name not in self.numbers and name not in self.late:
                self._bind_other(name)

    def _bind_other(self, name: str) -> None:
        env = self.v.frame.env
        final, entry = self.finals.get(name, FALSE), self.entry[name]
        slot = self.slots.get(name) or self.late_slots.get(name)
        if slot is not None:
            ref = slot.alloc.ref
            env.set(name, Array(ref) if slot.is_array else Deferred(joins.reader(self.v, ref)))
        elif name in self.broken or isinstance(entry, Poison):
            env.set(name, entry)
        elif self.parallel and name[0] != "%":
            env.set(name, Unset("after a parallel loop, whose iterations have no order", self.loc))
        elif isinstance(final, Poison):
            env.set(name, final)
        elif isinstance(entry, Unset):
            certain = self.runs or name[0] == "%"
            known = certain and isinstance(final, (Const, Parts))
            path = "when this loop is left before it is set" if self.runs else "when this loop does not run"
            env.set(name, final if known else Unset(path, self.loc))


_BOOL = numeric.dtypes.i1


def _as_bool(v: Visitor, value: Val, node: ast.AST) -> Val:
    found = numeric.truth(v, value, node)
    return Const(found) if isinstance(found, bool) else Scalar(found, weak=True)


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def is_reduction(loop: Loop, name: str) -> bool:
    """Whether the loop uses a name in `name += ...`, `-=` and `*=` alone, so that the order does not matter."""
    updates = [
        n
        for n in ast.walk(loop)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id == name
    ]
    sums = all(isinstance(n.op, (ast.Add, ast.Sub)) for n in updates)
    products = all(isinstance(n.op, ast.Mult) for n in updates)
    mentions = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(loop))
    return mentions == len(updates) and (sums or products)
