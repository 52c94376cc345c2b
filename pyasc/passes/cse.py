# SPDX-License-Identifier: Apache-2.0
"""Computes the same thing once: an operation equal to an earlier one that dominates it takes its results.

Pure operations are merged wherever the earlier one is visible. Reads are merged when no write to memory that may
overlap comes between, around loops as well. A repeated check is dropped.

Before:

    %0 = arith.add %a, %b
    %1 = arith.add %b, %a
    %2 = mem.load %x, [%i]
    %3 = mem.load %x, [%i]
    mem.store %0, %x, [%j]
    %4 = mem.load %x, [%i]

After:

    %0 = arith.add %a, %b
    %2 = mem.load %x, [%i]
    mem.store %0, %x, [%j]
    %4 = mem.load %x, [%i]
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import BRANCH, CHECKS, CONSTANT, EFFECT, PURE, READS, WRITES
from pyasc.passes.analysis.effects import Effects, EffectTable, may_alias, read_refs, root_of, written_refs
from pyasc.passes.analysis.equality import key_of
from pyasc.passes.base import Context, FunctionPass


class Cse(FunctionPass):
    """Common subexpression elimination."""

    name = "cse"
    cleans = True
    # The operation that stays has the operands of the one that goes, so that nothing becomes dead.
    keeps = frozenset(("canonicalize", "dce"))

    def run(self, func: Func, context: Context) -> bool:
        """Merge equal operations of one function."""
        return merge_equal_operations(func, context)


def merge_equal_operations(func: Func, context: Context) -> bool:
    """Merge equal operations of the function."""
    merger = _Merger(context)
    merger.visit_block(func.body.block, _Reads(None))
    return merger.changed


@dataclass
class _Reads:
    """What is known about memory in a scope: results of reads by root, and what was written since it began."""

    outer: _Reads | None
    known: dict[Value, dict[Hashable, Operation]] = field(
        default_factory=lambda: dict[Value, dict[Hashable, Operation]]()
    )
    written: dict[Value, None] = field(default_factory=lambda: dict[Value, None]())
    opaque: bool = False
    _changed: dict[Value, bool] = field(default_factory=lambda: dict[Value, bool]())

    def find(self, roots: list[Value], key: Hashable) -> Operation | None:
        """An equal read whose memory has not been written since."""
        scope: _Reads | None = self if roots else None
        while scope is not None:
            known = scope.known.get(roots[0])
            if known is not None and key in known:
                return known[key]
            for root in roots:
                if scope.may_have_changed(root):
                    return None
            scope = scope.outer
        return None

    def may_have_changed(self, root: Value) -> bool:
        """Whether something in this scope may have written memory of the root."""
        if self.opaque or not self.written:
            return self.opaque
        found = self._changed.get(root)
        if found is None:
            found = self._changed[root] = any(may_alias(root, other) for other in self.written)
        return found

    def add(self, roots: list[Value], key: Hashable, op: Operation) -> None:
        """Remember a read."""
        self.known.setdefault(roots[0], {})[key] = op

    def kill(self, effects: Effects) -> None:
        """Forget what an operation with regions may have changed."""
        if effects.opaque:
            self.opaque = True
            self.known.clear()
            self._changed.clear()
        for root in effects.writes:
            self.kill_root(root)

    def kill_root(self, root: Value) -> None:
        """Forget what a write to memory of the root may have changed."""
        if root not in self.written:
            self.written[root] = None
            self._changed.clear()
        for other in [known for known in self.known if may_alias(root, known)]:
            del self.known[other]


class _Merger:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.changed = False
        self.effects = EffectTable()
        self.pure: dict[Hashable, Operation] = {}

    def visit_block(self, block: Block, reads: _Reads) -> None:
        added: list[Hashable] = []
        for op in block:
            traits = op.spec.traits
            if PURE in traits and not op.regions:
                self._visit_pure(op, added)
            elif op.regions:
                self._visit_regions(op, reads)
            elif READS in traits and WRITES not in traits and EFFECT not in traits:
                self._visit_read(op, reads)
            elif traits == _ONLY_CHECKS:
                self._visit_pure(op, added)
            elif WRITES in traits or EFFECT in traits:
                for ref in written_refs(op):
                    reads.kill_root(root_of(ref))
        for key in added:
            del self.pure[key]

    def _visit_pure(self, op: Operation, added: list[Hashable]) -> None:
        key = key_of(op)
        earlier = self.pure.setdefault(key, op)
        if earlier is op:
            added.append(key)
        else:
            self._merge(op, earlier)

    def _visit_read(self, op: Operation, reads: _Reads) -> None:
        roots = [root_of(ref) for ref in read_refs(op)]
        key = key_of(op)
        earlier = reads.find(roots, key)
        if earlier is not None:
            self._merge(op, earlier)
        elif len(roots) == 1:
            reads.add(roots, key, op)

    def _visit_regions(self, op: Operation, reads: _Reads) -> None:
        effects = self.effects.of(op)
        for region in op.regions:
            for block in region.blocks:
                inner = _Reads(reads)
                if BRANCH not in op.spec.traits:
                    # What an iteration reads at its start may have been written by the one before.
                    inner.kill(effects)
                self.visit_block(block, inner)
        reads.kill(effects)

    def _merge(self, op: Operation, earlier: Operation) -> None:
        self._touch_users(op)
        op.replace_with(earlier.results)
        self.changed = True
        self.context.count("operations merged")

    def _touch_users(self, op: Operation) -> None:
        """Have those looked at again that see another operand now, and those that look through them."""
        users = [user for result in op.results for user in result.uses]
        self.context.touch(users)
        if CONSTANT not in op.spec.traits:
            # Who looks through a user at a constant sees the same number as before.
            self.context.touch([each for user in users for result in user.results for each in result.uses])


_ONLY_CHECKS = frozenset((CHECKS,))
