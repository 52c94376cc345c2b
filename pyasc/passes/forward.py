# SPDX-License-Identifier: Apache-2.0
"""Keeps in registers what would go through memory.

A load takes the value that was last stored to (or loaded from) its element, when no write that may touch it comes
between. A store that another one overwrites before anything can see it is dropped. And an element that a loop
updates in each iteration is carried in a register: loaded before the loop, stored after it.

Before:

    scf.for %0, %k, %1, [] {kind = "sequential"} {
    ^(%p: i64):
      %2 = mem.load %a, [%i, %p]
      %3 = mem.load %c, [%i, %j]
      %4 = arith.add %3, %2
      mem.store %4, %c, [%i, %j]
      scf.yield
    }

After:

    %3 = mem.load %c, [%i, %j]
    %5 = scf.for %0, %k, %1, [%3] : f32 {
    ^(%p: i64, %6: f32):
      %2 = mem.load %a, [%i, %p]
      %4 = arith.add %6, %2
      scf.yield %4
    }
    mem.store %5, %c, [%i, %j]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import BRANCH, PURE
from pyasc.passes.analysis.dependence import Access, accesses_of, compare
from pyasc.passes.analysis.effects import Effects, EffectTable, may_alias, root_of
from pyasc.passes.analysis.promotion import find_promotable, promote
from pyasc.passes.analysis.ranges import Ranges
from pyasc.passes.base import Context, FunctionPass

MAX_KNOWN = 8
"""Elements of one array that are remembered at a time."""


class Forward(FunctionPass):
    """Store-to-load forwarding, dead store elimination and scalar promotion; each can be turned off."""

    name = "forward"
    promote: bool = True

    def run(self, func: Func, context: Context) -> bool:
        """Forward values in one function, then promote elements in its loops, inner loops first."""
        watched = watched_roots(func)
        if not watched:
            return False
        changed = forward_values(func, context, watched)
        if self.promote and promote_elements(func, context):
            changed = True
            forward_values(func, context, watched)
        return changed


def watched_roots(func: Func) -> set[Value]:
    """Memory of which an element may be read after it was stored, or stored twice; `cse` sees to repeated reads."""
    loaded: dict[Value, None] = {}
    stored: Counter[Value] = Counter()
    for op in func.nested():
        if PURE in op.spec.traits:
            continue
        if isinstance(op, mem.Load):
            loaded[root_of(op.ref)] = None
        elif isinstance(op, mem.Store):
            stored[root_of(op.ref)] += 1
    found = {root for root, times in stored.items() if times > 1}
    for root in stored:
        others = [other for other in (*loaded, *stored) if other is not root and may_alias(root, other)]
        if others or root in loaded:
            found.update((root, *others))
    return found


def forward_values(func: Func, context: Context, watched: set[Value]) -> bool:
    """Replace loads of known elements of the watched memory and drop overwritten stores."""
    forwarder = _Forwarder(func, context, watched)
    forwarder.visit(func.body.block, _Contents())
    return forwarder.changed


def promote_elements(func: Func, context: Context) -> bool:
    """Carry elements that loops update in registers."""
    changed = False
    ranges = Ranges(func)
    for op in func.nests_inner_first():
        if isinstance(op, scf.For) and op.kind != "parallel":
            while (found := find_promotable(op, ranges)) is not None:
                promote(op, found, ranges)
                context.count("elements promoted")
                changed = True
    return changed


@dataclass(slots=True, eq=False)
class _Known:
    """The value of one element. `store` is the store it came from, while nothing can have seen its effect."""

    access: Access
    value: Value
    store: mem.Store | None = None


@dataclass(slots=True)
class _Contents:
    """Known elements by ref, oldest first."""

    known: dict[Value, list[_Known]] = field(default_factory=lambda: dict[Value, list[_Known]]())

    def inside(self, effects: Effects | None) -> _Contents:
        """What is known at the start of a region: nothing that `effects` may write, and no store to drop."""
        return _Contents(
            {
                ref: [_Known(each.access, each.value) for each in entries]
                for ref, entries in self.known.items()
                if effects is None or not effects.may_write(ref)
            }
        )

    def after(self, effects: Effects) -> None:
        """Account for everything an operation may read and write."""
        for ref in list(self.known):
            if effects.may_write(ref):
                del self.known[ref]
            elif effects.checks or effects.effect or effects.may_read(ref):
                for each in self.known[ref]:
                    each.store = None

    def overlapping(self, access: Access, ranges: Ranges) -> list[tuple[_Known, bool]]:
        """Known elements that an access may touch, each with whether it is exactly that one."""
        found: list[tuple[_Known, bool]] = []
        for ref, entries in self.known.items():
            if may_alias(ref, access.ref):
                for each in entries:
                    meeting = compare(each.access, access, ranges)
                    if meeting != "distinct":
                        found.append((each, meeting == "same"))
        return found

    def add(self, entry: _Known) -> None:
        """Remember an element."""
        entries = self.known.setdefault(entry.access.ref, [])
        entries.append(entry)
        if len(entries) > MAX_KNOWN:
            del entries[0]

    def forget(self, entry: _Known) -> None:
        """Forget an element."""
        self.known[entry.access.ref].remove(entry)


class _Forwarder:
    def __init__(self, func: Func, context: Context, watched: set[Value]) -> None:
        self.func = func
        self.context = context
        self.watched = watched
        self.changed = False
        self.effects = EffectTable()

    @cached_property
    def ranges(self) -> Ranges:
        """Bounds, made when two elements are first compared: forwarding changes none."""
        return Ranges(self.func)

    def visit(self, block: Block, contents: _Contents) -> None:
        for op in block:
            if op.regions:
                self._visit_regions(op, contents)
            elif isinstance(op, mem.Load):
                self._load(op, contents)
            elif isinstance(op, mem.Store):
                self._store(op, contents)
            elif contents.known and PURE not in op.spec.traits:
                contents.after(self.effects.of(op))

    def _visit_regions(self, op: Operation, contents: _Contents) -> None:
        effects = None if BRANCH in op.spec.traits or not contents.known else self.effects.of(op)
        for region in op.regions:
            for block in region.blocks:
                self.visit(block, contents.inside(effects))
        if contents.known:
            contents.after(self.effects.of(op))

    def _load(self, op: mem.Load, contents: _Contents) -> None:
        if root_of(op.ref) not in self.watched:
            return
        (access,) = accesses_of(op)
        overlapping = contents.overlapping(access, self.ranges)
        for entry, same in overlapping:
            if same and entry.value.type == op.value.type:
                op.replace_with([entry.value])
                self._count("loads forwarded")
                return
        for entry, _ in overlapping:
            entry.store = None
        contents.add(_Known(access, op.value))

    def _store(self, op: mem.Store, contents: _Contents) -> None:
        (access,) = accesses_of(op)
        for entry, same in contents.overlapping(access, self.ranges):
            contents.forget(entry)
            if same and entry.store is not None and entry.store.parent is op.parent:
                entry.store.erase()
                self._count("stores dropped")
        contents.add(_Known(access, op.value, op))

    def _count(self, event: str) -> None:
        self.changed = True
        self.context.count(event)
