# SPDX-License-Identifier: Apache-2.0
"""The greedy worklist driver: applies local patterns until none fires, and drops what becomes dead on the way.

Dead loops and branches are left to `dce`, which knows what all of them contain.

A pattern is a function of an operation and the rewriter that either leaves both alone and returns False, or
changes the IR through the rewriter and returns True.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, OpT, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dialects.func import Size
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import ScalarType, Type
from pyasc.passes.analysis.affine import materialise_polynomial
from pyasc.passes.analysis.effects import is_silent

Pattern = Callable[[Operation, "Rewriter"], bool]

MAX_REWRITES_PER_OPERATION = 64
"""A bound on the work, against patterns that undo each other."""


class Rewriter:
    """Edits the IR and keeps the worklist of what may have become rewritable."""

    def __init__(self, root: Operation) -> None:
        self.root = root
        self.counts: dict[str, int] = {}
        self._worklist: list[Operation] = []
        self._queued: set[Operation] = set()
        self._constants: dict[tuple[str, Type], Value] = {}
        self._extents: dict[SizeExpr, Value] = {}

    def push(self, op: Operation) -> None:
        """Look at the operation (again)."""
        if op not in self._queued:
            self._queued.add(op)
            self._worklist.append(op)

    def push_users(self, value: Value) -> None:
        """Look at every user of a value again."""
        for user in value.uses:
            self.push(user)

    def insert_before(self, anchor: Operation, op: OpT) -> OpT:
        """Insert an operation before `anchor`, with its location unless it has one."""
        self.push(op)
        return Builder.before(anchor).insert(op)

    def value_before(self, anchor: Operation, op: Operation) -> Value:
        """Insert an operation with one result and return the result."""
        return self.insert_before(anchor, op).results[0]

    def constant(self, value: bool | int | float, type_: Type) -> Value:
        """A constant at the start of the function, shared by all who ask for the same one."""
        key = (repr(value), type_)
        known = self._constants.get(key)
        if known is None or known.op is None or known.op.parent is None:
            block = self.root.regions[0].block
            op = arith.Constant(value=value, types=[type_])
            block.insert_before(block.first, op)
            known = self._constants[key] = op.results[0]
        return known

    def extent(self, extent: int | SizeExpr) -> Value:
        """The value of an extent, at the start of the function, shared by all who ask for the same one."""
        block = self.root.regions[0].block
        if isinstance(extent, int):
            return self.constant(extent, ScalarType(dtypes.i64))
        known = self._extents.get(extent)
        if known is None or known.op is None or known.op.parent is None:
            known = materialise_polynomial(extent, self._size, Builder(block, block.first, self.root.loc))
            self._extents[extent] = known
        return known

    def _size(self, name: str) -> Value:
        block = self.root.regions[0].block
        size = Size(symbol=name)
        block.insert_before(block.first, size)
        size.results[0].name = name
        return size.results[0]

    def replace(self, op: Operation, values: Sequence[Value]) -> None:
        """Replace the results of `op` and erase it."""
        for old in op.results:
            self.push_users(old)
        self._push_definers(op)
        op.replace_with(values)
        self._forget(op)

    def erase(self, op: Operation) -> None:
        """Erase an operation without used results."""
        self._push_definers(op)
        op.erase()
        self._forget(op)

    def changed(self, op: Operation) -> None:
        """Say that the operation was changed in place: it, its users and what it used are looked at again."""
        self.push(op)
        for result in op.results:
            self.push_users(result)

    def inline_block(self, block: Block, before: Operation, args: Sequence[Value]) -> list[Value]:
        """Move a block's operations before `before`, give its arguments values, and return what it yielded."""
        for arg, value in zip(block.args, args, strict=True):
            self.push_users(arg)
            arg.replace_uses(value)
        terminator = block.terminator
        yielded = list(terminator.operands)
        assert before.parent is not None
        for op in block:
            if op is terminator:
                self.erase(op)
            else:
                before.parent.insert_before(before, op)
                self.push(op)
        return yielded

    def _push_definers(self, op: Operation) -> None:
        for each in op.walk():
            for value in each.operands:
                if isinstance(value.owner, Operation):
                    self.push(value.owner)
                elif value.block is not None and value.block.parent_op is not None:
                    self.push(value.block.parent_op)

    def _forget(self, op: Operation) -> None:
        for each in op.walk():
            self._queued.discard(each)

    def run(
        self, patterns: Mapping[type[Operation], Sequence[Pattern]], seeds: Iterable[Operation] | None = None
    ) -> bool:
        """Apply the patterns for each operation's class everywhere under `root` until none fires.

        With `seeds`, only to these and to what a rewrite leads to.
        Raises RuntimeError when the patterns keep undoing each other.
        """
        self._worklist = self.root.nested()[:0:-1] if seeds is None else list(seeds)[::-1]
        self._queued = set(self._worklist)
        budget = MAX_REWRITES_PER_OPERATION * (len(self._worklist) + 64)
        changed = False
        while self._worklist:
            op = self._worklist.pop()
            if op not in self._queued:
                continue
            self._queued.discard(op)
            if op.parent is not None and self._visit(op, patterns.get(type(op), ())):
                changed = True
                budget -= 1
                if budget < 0:
                    raise RuntimeError(f"rewriting does not end at {op.name}, {op.loc}")
        return changed

    def _visit(self, op: Operation, patterns: Sequence[Pattern]) -> bool:
        uses = 0
        for result in op.results:
            uses += len(result.uses)
        if not uses and not op.regions and is_silent(op):
            self.erase(op)
            self._count("dead operation")
            return True
        for pattern in patterns:
            if pattern(op, self):
                self._count(pattern.__name__.strip("_").replace("_", " "))
                return True
        return False

    def _count(self, event: str) -> None:
        self.counts[event] = self.counts.get(event, 0) + 1
