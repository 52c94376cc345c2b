# SPDX-License-Identifier: Apache-2.0
"""Recognising recurrences: how a loop's carried values follow from the ones before.

A recurrence that is an associative function of the running values and of values that do not depend on them is
a reduction:

    yield add(acc, v)                                       sums, products, minimum, maximum, and, or, xor
    yield add(add(acc, v), w)                               the sum of v + w
    yield sub(acc, v)                                       the sum of -v
    yield select(c, add(acc, v), acc)                       the same where c holds
    yield select(gt(v, best), v, best), select(.., i, at)   argmax: the condition compares with one running value
    m' = max(m, v); s' = s * exp(m - m') + w * exp(v - m')  the online softmax
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.raising import CannotRaise, captured
from pyasc.passes.analysis.tensor_kernels import identity

CHAINED = frozenset(("add", "mul", "minimum", "maximum", "and", "or", "xor"))
"""Associative functions whose operands may be combined in any grouping."""
FIRST_ONLY = frozenset(("pymin", "pymax"))
"""Associative from the left: a NaN is passed over unless it is the first of all."""
PYTHON_EXTREMES = {"gt": "pymax", "lt": "pymin"}
COMPARISONS = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}
"""Orders and what they are with the operands swapped."""

Combine = Callable[[Builder, list[Value], list[Value]], list[Value]]
"""Emits the combination of running values and new ones."""


class Recurrence(Record):
    """A group of carried values that follow from each other.

    `slots` numbers them. `emit_new` computes, outside of the recurrence, one new value for each slot; `combine`
    combines running and new values; `fn` is its name when it is one function. `guard` is the condition under
    which the point counts, as a value of the loop's body.
    """

    slots: tuple[int, ...]
    emit_new: Callable[[Builder], list[Value]]
    combine: Combine
    fn: str = ""
    guard: Value | None = None


class Recurrences:
    """How values that a block starts with follow from each other: `yielded` are their next values.

    With `strict`, no chain is put into another order.
    """

    def __init__(
        self, block: Block, carried: Sequence[Value], yielded: Sequence[Value], strict: bool = False
    ) -> None:
        self.block = block
        self.strict = strict
        self.carried = list(carried)
        self.slot = {value: i for i, value in enumerate(self.carried)}
        self.yielded = list(yielded)
        self.dependent = self._dependent()

    def _dependent(self) -> set[Value]:
        """Everything in the body that depends on a carried value."""
        found: set[Value] = set(self.carried)
        for op in self.block:
            if any(value in found for value in (*op.operands, *captured(op))):
                found.update(op.results)
        return found

    def find(self) -> list[Recurrence]:
        """A recurrence for each carried value. Raises CannotRaise for one that is not recognised."""
        found: list[Recurrence] = []
        taken: set[int] = set()
        for i in range(len(self.carried)):
            if i not in taken:
                made = self._match(i)
                if made is None:
                    raise self._unknown(i)
                taken.update(made.slots)
                found.append(made)
        return found

    def match_all(self) -> list[Recurrence] | None:
        """The same, with None in place of the error."""
        try:
            return self.find()
        except CannotRaise:
            return None

    def _unknown(self, slot: int) -> CannotRaise:
        value = self.yielded[slot]
        loc = value.op.loc if value.op is not None else self.block.terminator.loc
        name = self.carried[slot].name or "a value"
        return CannotRaise(
            loc,
            f"{name!r} depends on the iteration before in a way that is not a known reduction",
            "write it as a sum, product, minimum or maximum, or a comparison that keeps the better value",
        )

    def _match(self, slot: int) -> Recurrence | None:
        return self._match_simple(slot) or self._match_best(slot) or self._match_softmax(slot)

    def _match_simple(self, slot: int) -> Recurrence | None:
        value, acc = self.yielded[slot], self.carried[slot]
        guard, value = self._unguarded(value, acc)
        if guard is not None and set(_negated(guard)) & self.dependent:
            return None
        terms = self._terms(value, acc)
        if terms is None or not self._contained(slot, value, guard):
            return None
        fn, parts = terms
        return Recurrence((slot,), lambda at: [_joined(fn, parts, at)], single(fn), fn, guard)

    def _unguarded(self, value: Value, acc: Value) -> tuple[Value | None, Value]:
        """`select(c, new, acc)`, or the same the other way round, as the condition and what it lets through."""
        op = _as(value, "select")
        if op is not None and op.args[2] is acc:
            return op.args[0], op.args[1]
        if op is not None and op.args[1] is acc:
            return call(Builder.before(op), "not", op.args[0]), op.args[2]
        return None, value

    def _terms(self, value: Value, acc: Value) -> tuple[str, list[tuple[Value, bool]]] | None:
        """The function and the new values, in order, each with whether it is negated first."""
        parts: list[tuple[Value, bool]] = []
        fn = ""
        while value is not acc:
            op = value.op
            if not isinstance(op, arith.Elementwise) or value.type != acc.type:
                return None
            step = self._short_circuit(op) if op.fn == "select" else self._step(op)
            if step is None or (fn and step[0] != fn) or (parts and step[0] in FIRST_ONLY):
                return None
            fn, value, new, negated = step
            parts.append((new, negated))
        ordered = self.strict and len(parts) > 1 and dtype_of(acc.type).is_float
        return (fn, parts[::-1]) if parts and not ordered else None

    def _step(self, op: arith.Elementwise) -> tuple[str, Value, Value, bool] | None:
        """One link of a chain: function, the running side, the new side, whether that is negated."""
        if len(op.args) != 2:
            return None
        left, right = op.args
        if op.fn == "sub" and left in self.dependent and right not in self.dependent:
            return "add", left, right, True
        if op.fn in CHAINED or op.fn in FIRST_ONLY:
            if left in self.dependent and right not in self.dependent:
                return op.fn, left, right, False
            swaps = op.fn in CHAINED or not dtype_of(left.type).is_float
            if swaps and right in self.dependent and left not in self.dependent:
                return op.fn, right, left, False
        return None

    def _short_circuit(self, op: arith.Elementwise) -> tuple[str, Value, Value, bool] | None:
        """`acc or new`, and `acc and new`, of truth values as choices."""
        condition, yes, no = op.args
        if condition not in self.dependent:
            return None
        for fn, fixed, new in (("or", yes, no), ("and", no, yes)):
            if new not in self.dependent and _is_truth(fixed, fn == "or"):
                return fn, condition, new, False
        return None

    def _contained(self, slot: int, value: Value, guard: Value | None) -> bool:
        """Whether running values are used by the recurrence alone: each step of a chain once, the end anywhere."""
        acc, last = self.carried[slot], self.yielded[slot]
        if last is not value and sum(value.uses.values()) != 1:
            return False
        if sum(acc.uses.values()) != (1 if guard is None else 2):
            return False
        while value is not acc:
            op = value.op
            assert isinstance(op, arith.Elementwise)
            value = next(arg for arg in op.args if arg in self.dependent)
            if value is not acc and sum(value.uses.values()) != 1:
                return False
        return True

    def _match_best(self, slot: int) -> Recurrence | None:
        """Values kept together by one comparison of a new value with the running one."""
        chosen = self.yielded[slot].op
        if not isinstance(chosen, arith.Elementwise) or chosen.fn != "select":
            return None
        condition = chosen.args[0]
        group = [i for i, value in enumerate(self.yielded) if _chooses_by(value, condition)]
        test = condition.op
        if not isinstance(test, arith.Elementwise) or test.fn not in COMPARISONS:
            return None
        fn, new, old = test.fn, test.args[0], test.args[1]
        if new in self.dependent:
            fn, new, old = COMPARISONS[fn], old, new
        if new in self.dependent or old not in self.slot or self.slot[old] not in group:
            return None
        news = [self._new_of(i) for i in group]
        if any(value is None for value in news) or news[group.index(self.slot[old])] is not new:
            return None
        if condition.uses.keys() - {self.yielded[i].op for i in group} or not self._only_chosen(group, test):
            return None
        key = group.index(self.slot[old])
        values = [value for value in news if value is not None]
        if len(group) == 1 and fn in PYTHON_EXTREMES:
            extreme = PYTHON_EXTREMES[fn]
            return Recurrence((slot,), lambda _: values, single(extreme), extreme)
        return Recurrence(tuple(group), lambda _: values, _keep_better(fn, key))

    def _new_of(self, slot: int) -> Value | None:
        """What a select lets through instead of the running value."""
        op = self.yielded[slot].op
        assert isinstance(op, arith.Elementwise)
        if op.args[2] is not self.carried[slot] or op.args[1] in self.dependent:
            return None
        return op.args[1]

    def _only_chosen(self, group: Sequence[int], test: Operation) -> bool:
        allowed = {test, *(self.yielded[i].op for i in group)}
        return all(not (self.carried[i].uses.keys() - allowed) for i in group)

    def _match_softmax(self, slot: int) -> Recurrence | None:
        """A running maximum and a sum of exponentials relative to it."""
        top = self.yielded[slot].op
        acc = self.carried[slot]
        if (
            not isinstance(top, arith.Elementwise)
            or top.fn not in ("maximum", "pymax")
            or acc not in top.args
        ):
            return None
        new = top.args[1] if top.args[0] is acc else top.args[0]
        if new in self.dependent or (top.fn == "pymax" and top.args[0] is not acc):
            return None
        for other, total in enumerate(self.yielded):
            weight = self._softmax_weight(total, other, acc, top.results[0], new)
            if other != slot and weight is not None:
                return _softmax((slot, other), new, weight[0], top.fn)
        return None

    def _softmax_weight(
        self, total: Value, slot: int, old: Value, top: Value, new: Value
    ) -> tuple[Value | None] | None:
        """The factor of the new exponential in a sum (None for 1), or None when it is no such sum."""
        sum_ = _as(total, "add")
        if sum_ is None:
            return None
        for kept, added in (sum_.args, sum_.args[::-1]):
            scaled = _factors(kept, _exp_of_difference, old, top)
            fresh = _factors(added, _exp_of_difference, new, top)
            if scaled == (self.carried[slot],) and fresh is not None:
                uses = (old.uses, top.uses, self.carried[slot].uses)
                if [sum(each.values()) for each in uses] == [2, 3, 1]:
                    weight = fresh[0]
                    if weight is None or weight not in self.dependent:
                        return (weight,)
        return None


def _negated(value: Value) -> list[Value]:
    """A condition and, where it negates another one, that one."""
    op = _as(value, "not")
    return [value] if op is None else [value, op.args[0]]


def _is_truth(value: Value, truth: bool) -> bool:
    op = value.op
    return isinstance(op, arith.Constant) and op.value is truth


def _as(value: Value | None, fn: str) -> arith.Elementwise | None:
    op = value.op if value is not None else None
    return op if isinstance(op, arith.Elementwise) and op.fn == fn else None


def _exp_of_difference(value: Value, a: Value, b: Value) -> bool:
    """Whether the value is `exp(a - b)`."""
    exp = _as(value, "exp")
    difference = _as(exp.args[0], "sub") if exp is not None else None
    return difference is not None and list(difference.args) == [a, b]


def _factors(
    value: Value, test: Callable[[Value, Value, Value], bool], a: Value, b: Value
) -> tuple[Value | None] | None:
    """The other factor of a product with what `test` holds for; `(None,)` when it is that value alone."""
    if test(value, a, b):
        return (None,)
    product = _as(value, "mul")
    if product is not None:
        for factor, other in (product.args, product.args[::-1]):
            if test(other, a, b):
                return (factor,)
    return None


def _softmax(slots: tuple[int, int], new: Value, weight: Value | None, fn: str) -> Recurrence:
    def emit_new(at: Builder) -> list[Value]:
        one = at.value(arith.Constant.of(1.0, dtype_of(new.type))) if weight is None else weight
        return [new, one]

    def combine(at: Builder, old: list[Value], fresh: list[Value]) -> list[Value]:
        top = call(at, fn, old[0], fresh[0])
        terms = [
            call(at, "mul", side[1], call(at, "exp", call(at, "sub", side[0], top))) for side in (old, fresh)
        ]
        return [top, call(at, "add", *terms)]

    return Recurrence(slots, emit_new, combine)


def call(at: Builder, fn: str, *args: Value) -> Value:
    """Apply an elementwise function."""
    return at.value(arith.Elementwise(fn=fn, args=list(args)))


def single(fn: str) -> Combine:
    """The combination that is one function."""
    return lambda at, old, new: [call(at, fn, old[0], new[0])]


def _joined(fn: str, parts: Sequence[tuple[Value, bool]], at: Builder) -> Value:
    """All new values of a chain as one, in their order."""
    total: Value | None = None
    for value, negated in parts:
        if total is None:
            total = call(at, "neg", value) if negated else value
        else:
            total = call(at, "sub" if negated else fn, total, value)
    assert total is not None
    return total


def _chooses_by(value: Value, condition: Value) -> bool:
    op = value.op
    return isinstance(op, arith.Elementwise) and op.fn == "select" and op.args[0] is condition


def _keep_better(fn: str, key: int) -> Combine:
    def combine(at: Builder, old: list[Value], new: list[Value]) -> list[Value]:
        better = call(at, fn, new[key], old[key])
        return [call(at, "select", better, n, o) for n, o in zip(new, old, strict=True)]

    return combine


def neutral(fn: str, dtype: DType) -> bool | int | float | None:
    """The value that changes no running value when combined by `fn`, down to the sign of zero, if there is one."""
    name = {"pymin": "minimum", "pymax": "maximum"}.get(fn, fn)
    if name == "add" and dtype.is_float:
        return -0.0
    if dtype.is_bool:
        return {"and": True, "or": False, "xor": False, "minimum": True, "maximum": False}.get(name)
    if name == "and":
        return -1 if dtype.is_signed else (1 << dtype.bits) - 1
    if name in ("or", "xor"):
        return 0
    return identity(name, dtype) if name in ("add", "mul", "minimum", "maximum") else None


def merged(groups: Sequence[Recurrence]) -> Combine:
    """The combination of several groups side by side."""

    def combine(at: Builder, old: list[Value], new: list[Value]) -> list[Value]:
        result: list[Value] = []
        for group in groups:
            start, count = len(result), len(group.slots)
            result += group.combine(at, old[start : start + count], new[start : start + count])
        return result

    return combine
