# SPDX-License-Identifier: Apache-2.0
"""The branches of a loop's body taken apart: everything moves out of them but the stores, which keep a condition.

scf.if %c {                                 %e = mem.load %x, [%i]          // read in every iteration anyway
  %e = mem.load %x, [%i]                    %f = scf.if %c : f32 {          // may be out of range elsewhere
  %f = mem.load %x, [%before]        =>       %g = mem.load %x, [%before]
  %s = arith.add %e, %f                       scf.yield %g
  mem.store %s, %y, [%i]                    } { scf.yield %zero }
  scf.yield                                 %s = arith.add %e, %f
} { scf.yield }                             mem.store %s, %y, [%i]          // where %c holds
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.dtypes import DType
from pyasc.ir.location import Location
from pyasc.ir.traits import CHECKS
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.raising import CannotRaise, Proofs, is_plain, sweep
from pyasc.passes.analysis.raising_recurrences import call


@dataclass
class Store:
    """A store with the condition under which it happens."""

    op: mem.Store
    value: Value
    guard: Value | None


@dataclass
class _Scope:
    """The stores of one branch so far; `guard` is the condition under which the branch runs."""

    guard: Value | None
    stores: list[Store] = field(default_factory=lambda: list[Store]())


class Flattening:
    """Moves everything out of the branches of a loop's body but the stores, which keep their conditions."""

    def __init__(self, loop: scf.For, proofs: Proofs) -> None:
        self.block = loop.body.block
        self.proofs = proofs
        self.scopes = [_Scope(None)]
        self.loads: list[mem.Load] = [op for op in self.block if isinstance(op, mem.Load)]

    @property
    def stores(self) -> list[Store]:
        """The stores of the body, at most one for each element."""
        return self.scopes[0].stores

    def run(self) -> None:
        """Flatten the whole body."""
        for op in self.block:
            if op is not self.block.last:
                self._visit(op)
        # Conditions were made for all branches, and a use of a running value that is dead would count as one.
        sweep(self.block, {value for store in self.stores for value in (store.value, store.guard) if value})

    def _visit(self, op: Operation) -> None:
        match op:
            case mem.Store():
                self._store(Store(op, op.value, self.scopes[-1].guard), Builder.before(op))
            case mem.Load():
                self._load(op)
            case scf.If():
                self._branch(op)
            case _ if is_plain(op):
                return
            case _:
                raise refusal(op)

    def _branch(self, op: scf.If) -> None:
        at = Builder.before(op)
        sides = [self._side(op, region.block, at) for region in op.regions]
        yields = [region.block.terminator.operands for region in op.regions]
        chosen = [
            yes if yes is no else call(at, "select", op.condition, yes, no)
            for yes, no in zip(*yields, strict=True)
        ]
        for store in self._joined(op.condition, sides[0], sides[1], at):
            self._store(store, at)
        op.replace_with(chosen)

    def _side(self, op: scf.If, block: Block, at: Builder) -> _Scope:
        """Move what one branch holds before the branch; its stores are returned."""
        if block.first is block.last:
            return _Scope(None)
        guard = op.condition if block is op.then.block else call(at, "not", op.condition)
        outer = self.scopes[-1].guard
        self.scopes.append(_Scope(guard if outer is None else call(at, "and", outer, guard)))
        for inner in block:
            if inner is not block.last:
                at.insert(inner)
                self._visit(inner)
        return self.scopes.pop()

    def _joined(self, condition: Value, then: _Scope, otherwise: _Scope, at: Builder) -> list[Store]:
        """The stores of both branches; two to one element that both surely make become one that chooses."""
        first = list(then.stores)
        second: list[Store] = []
        for store in otherwise.stores:
            twin = next((each for each in first if self._same_element(each.op, store.op, store.op.loc)), None)
            if twin is not None and twin.guard is then.guard and store.guard is otherwise.guard:
                first.remove(twin)
                twin.op.erase()
                store.value = call(at, "select", condition, twin.value, store.value)
                store.guard = self.scopes[-1].guard
            second.append(store)
        return first + second

    def _load(self, op: mem.Load) -> None:
        for scope in reversed(self.scopes):
            for store in reversed(scope.stores):
                if self._same_element(store.op, op, op.loc):
                    self._forward(store, op)
                    return
        guard = self.scopes[-1].guard
        if guard is not None and not self._is_safe(op):
            _read_where(guard, op)

    def _forward(self, store: Store, op: mem.Load) -> None:
        """A load gives what was stored to its element, where the store has surely happened."""
        if all(store.guard is not scope.guard for scope in self.scopes):
            raise CannotRaise(op.loc, "it reads what it may have written under another condition")
        self.loads = [load for load in self.loads if load is not op]
        op.replace_with([store.value])

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

    def _store(self, made: Store, at: Builder) -> None:
        """Add a store to the branch; an earlier one to its element goes into it."""
        scope = self.scopes[-1]
        for earlier in list(scope.stores):
            if self._same_element(earlier.op, made.op, made.op.loc):
                scope.stores.remove(earlier)
                earlier.op.erase()
                self._combine(earlier, made, scope.guard, at)
        scope.stores.append(made)

    def _combine(self, earlier: Store, later: Store, guard: Value | None, at: Builder) -> None:
        """What two stores to one element leave there."""
        if later.guard is None or later.guard is guard or later.guard is earlier.guard:
            return
        later.value = call(at, "select", later.guard, later.value, earlier.value)
        if earlier.guard is None or earlier.guard is guard:
            later.guard = earlier.guard
        else:
            later.guard = call(at, "or", earlier.guard, later.guard)


def refusal(op: Operation) -> CannotRaise:
    """Why an operation in a loop keeps it a loop."""
    if op.has(CHECKS):
        return CannotRaise(
            op.loc,
            "a check stands in the loop",
            "bound the index by min and max, loop over the array's own size, or give unchecked=True",
        )
    if isinstance(op, (scf.While, scf.For)):
        return CannotRaise(op.loc, "a loop inside of it stays a loop", quiet=True)
    if isinstance(op, mem.Atomic):
        return CannotRaise(op.loc, "atomic updates are made one by one")
    return CannotRaise(op.loc, f"{op.name} stands in the loop", quiet=True)


def _read_where(condition: Value, load: mem.Load) -> None:
    """Read the element where the condition holds; zero stands for it elsewhere."""
    branch = scf.If(
        condition=condition, types=[load.value.type], then=block_of(), otherwise=block_of(), loc=load.loc
    )
    Builder.before(load).insert(branch)
    load.value.replace_uses(branch.values[0])
    then, otherwise = (Builder(region.block, loc=load.loc) for region in branch.regions)
    then.insert(load)
    then.insert(scf.Yield(values=[load.value]))
    zero = otherwise.value(arith.Constant.of(_zero(dtype_of(load.value.type)), dtype_of(load.value.type)))
    otherwise.insert(scf.Yield(values=[zero]))


def _zero(dtype: DType) -> bool | int | float:
    return False if dtype.is_bool else 0.0 if dtype.is_float else 0
