# SPDX-License-Identifier: Apache-2.0
"""Which names a statement may read before it sets them, sets for certain, or may set: per statement and per list.

The facts of a statement do not depend on what follows it, so each is computed once and the whole analysis is linear.
Jumps are covered by calling a name certainly set only where no `break`, `continue` or `return` can skip it.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyasc.frontend.scan import children
from pyasc.ir.record import Record

_NOTHING: frozenset[str] = frozenset()
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Facts(Record):
    """Names read before they are set, set on every path that falls through, and set on some path.

    `jumps` says that what follows may be skipped, `returns` that a `return` stands inside.
    """

    reads: frozenset[str] = _NOTHING
    sets: frozenset[str] = _NOTHING
    may_set: frozenset[str] = _NOTHING
    jumps: bool = False
    returns: bool = False


@dataclass(slots=True)
class _Events:
    """For each name, where in a list it is touched and whether that reads it first; where a jump may leave the list."""

    positions: dict[str, list[int]] = field(default_factory=dict)
    reading: dict[str, list[bool]] = field(default_factory=dict)
    jumps: list[int] = field(default_factory=list)


class Liveness:
    """The facts of the statements of one function, computed on demand and kept."""

    def __init__(self) -> None:
        self._facts: dict[ast.AST, Facts] = {}
        self._lists: dict[int, Facts] = {}
        self._events: dict[int, _Events] = {}

    def statement(self, node: ast.stmt) -> Facts:
        """The facts of one statement."""
        found = self._facts.get(node)
        if found is None:
            found = self._facts[node] = self._compute(node)
        return found

    def body(self, statements: Sequence[ast.stmt]) -> Facts:
        """The facts of a list of statements."""
        found = self._lists.get(id(statements))
        if found is None:
            found = self._lists[id(statements)] = self._sequence([self.statement(s) for s in statements])
        return found

    def first_touch(self, statements: Sequence[ast.stmt], start: int, name: str) -> str:
        """What happens to `name` first from position `start` on: `"read"`, `"set"` or `""`.

        `"skipped"` is a setting that a jump before it may leave out.
        """
        events = self._events_of(statements)
        positions = events.positions.get(name)
        if positions is None:
            return ""
        at = bisect_left(positions, start)
        if at == len(positions):
            return ""
        if events.reading[name][at]:
            return "read"
        jump = bisect_left(events.jumps, start)
        may_skip = jump < len(events.jumps) and events.jumps[jump] < positions[at]
        return "skipped" if may_skip else "set"

    def _events_of(self, statements: Sequence[ast.stmt]) -> _Events:
        events = self._events.get(id(statements))
        if events is None:
            events = self._events[id(statements)] = _Events()
            for i, statement in enumerate(statements):
                facts = self.statement(statement)
                if facts.jumps:
                    events.jumps.append(i)
                for name in facts.reads | facts.sets:
                    events.positions.setdefault(name, []).append(i)
                    events.reading.setdefault(name, []).append(name in facts.reads)
        return events

    def _sequence(self, parts: Iterable[Facts]) -> Facts:
        reads: set[str] = set()
        falling: set[str] = set()
        certain: set[str] = set()
        may_set: set[str] = set()
        jumped = returns = False
        for part in parts:
            reads |= part.reads - falling
            falling |= part.sets
            may_set |= part.may_set
            # After a possible jump nothing is certain for those who come from the jump.
            if not jumped:
                certain |= part.sets
            jumped = jumped or part.jumps
            returns = returns or part.returns
        return Facts(frozenset(reads), frozenset(certain), frozenset(may_set), jumped, returns)

    def iteration(self, node: ast.For | ast.While) -> Facts:
        """The facts of one iteration: the target or the test, then the body."""
        head = expression_facts(node.target if isinstance(node, ast.For) else node.test)
        return self._sequence([head, self.body(node.body)])

    def _compute(self, node: ast.stmt) -> Facts:
        match node:
            case ast.If(test=test):
                return self._branch(expression_facts(test), self.body(node.body), self.body(node.orelse))
            case ast.For(iter=iterator):
                return self._loop(expression_facts(iterator), node)
            case ast.While():
                return self._loop(_EMPTY, node)
            case ast.With(items=items):
                return self._sequence([*map(expression_facts, items), self.body(node.body)])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Facts(_free_names(node), frozenset({node.name}), frozenset({node.name}))
            case ast.Break() | ast.Continue():
                return Facts(jumps=True)
            case ast.Return():
                inner = expression_facts(node)
                return Facts(inner.reads, inner.sets, inner.may_set, True, True)
            case ast.AugAssign(target=ast.Name(id=name)):
                inner = expression_facts(node.value)
                target = frozenset({name})
                return Facts(inner.reads | target, inner.sets | target, inner.may_set | target)
            case ast.Assign(value=value, targets=targets):
                return self._sequence([expression_facts(value), *map(expression_facts, targets)])
            case _:
                return expression_facts(node)

    def _branch(self, test: Facts, then: Facts, otherwise: Facts) -> Facts:
        reads = test.reads | ((then.reads | otherwise.reads) - test.sets)
        both = test.sets | (then.sets & otherwise.sets)
        may_set = test.may_set | then.may_set | otherwise.may_set
        return Facts(reads, both, may_set, then.jumps or otherwise.jumps, then.returns or otherwise.returns)

    def _loop(self, before: Facts, node: ast.For | ast.While) -> Facts:
        orelse, inner = self.body(node.orelse), self.iteration(node)
        reads = before.reads | inner.reads | orelse.reads
        may_set = before.may_set | inner.may_set | orelse.may_set
        # The body may not run at all, and a jump in it may be a return.
        returns = inner.returns or orelse.returns
        return Facts(reads, before.sets, may_set, returns or orelse.jumps, returns)


_EMPTY = Facts()


def find_break(statements: Sequence[ast.stmt]) -> ast.Break | None:
    """The first `break` in a loop's body that leaves this loop: the `else` of an inner loop belongs to it."""
    for node in statements:
        if isinstance(node, ast.Break):
            return node
        inner: list[ast.stmt] = []
        if isinstance(node, (ast.If, ast.For, ast.While)):
            inner = node.orelse if not isinstance(node, ast.If) else [*node.body, *node.orelse]
        elif isinstance(node, ast.With):
            inner = node.body
        found = find_break(inner)
        if found is not None:
            return found
    return None


def expression_facts(node: ast.AST) -> Facts:
    """Facts of a node without statements: names are read, and set where they are targets."""
    if isinstance(node, ast.Name):
        name = frozenset({node.id})
        return Facts(reads=name) if isinstance(node.ctx, ast.Load) else Facts(sets=name, may_set=name)
    if isinstance(node, (ast.Constant, ast.operator, ast.expr_context)):
        return _EMPTY
    reads: set[str] = set()
    sets: set[str] = set()
    if isinstance(node, ast.Lambda):
        return Facts(_free_names(node))
    for child in children(node):
        part = expression_facts(child)
        reads |= part.reads
        sets |= part.may_set
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
        return Facts(frozenset(reads - sets))
    if not reads and not sets:
        return _EMPTY
    return Facts(frozenset(reads), frozenset(sets), frozenset(sets))


def _free_names(node: ast.AST) -> frozenset[str]:
    """Every name that a nested function reads; some may be its own, which does no harm."""
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
