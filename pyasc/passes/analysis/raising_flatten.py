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

from dataclasses import dataclass

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.dtypes import DType
from pyasc.ir.location import Location
from pyasc.ir.traits import CHECKS
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.raising import CannotRaise, Proofs, is_plain
from pyasc.passes.analysis.raising_recurrences import call


@dataclass
class Store:
    """A store with the condition under which it happens."""

    op: mem.Store
    value: Value
    guard: Value | None


class Flattening:
    """Moves everything out of the branches of a loop's body but the stores, which keep their conditions."""

    def __init__(self, loop: scf.For, proofs: Proofs) -> None:
        self.block = loop.body.block
        self.proofs = proofs
        self.stores: list[Store] = []
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
            _read_where(guard, op)

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
        made = Store(op, op.value, guard)
        for earlier in list(self.stores):
            if self._same_element(earlier.op, op, op.loc):
                self._overwrite(earlier, made)
        self.stores.append(made)

    def _overwrite(self, earlier: Store, later: Store) -> None:
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
