# SPDX-License-Identifier: Apache-2.0
"""Conditions such as `i < n and (c := x[i]) > 0`, whose later parts set names that the branch or the body reads.

What comes behind the first such part becomes a condition of its own, inside of the first, so that the names have a
value wherever the code that reads them runs.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

_MOST_COPIED = 12
"""How many statements an `else` may have that is written twice."""


def nest_conditions(node: ast.AST) -> None:
    """Take the conditions in a function apart, in place."""
    _Nesting().visit(node)


class _Nesting(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.stmt:
        """`if a and (b := c): ... else: ...` as two, one in the other."""
        self.generic_visit(node)
        parts = _parts(node.test)
        if len(parts) == 1 or _statements(node.orelse) > _MOST_COPIED:
            return node
        node.test = parts[-1]
        for part in reversed(parts[:-1]):
            node = ast.copy_location(ast.If(part, [node], copy.deepcopy(node.orelse)), node)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        """`while a and (b := c):` as a loop while `a` that is left where the rest does not hold."""
        self.generic_visit(node)
        parts = _parts(node.test)
        leaves = any(isinstance(each, ast.Break | ast.Continue) for each in _walk(node.orelse))
        if len(parts) > 1 and not leaves and _statements(node.orelse) <= _MOST_COPIED:
            node.test = parts[0]
            node.body = [*(_left_unless(part, node.orelse) for part in parts[1:]), *node.body]
        return node


def _parts(test: ast.expr) -> list[ast.expr]:
    """The operands of `and`, those before the first that sets a name taken together; else the condition alone."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return [test]
    first = next((k for k, each in enumerate(test.values) if k and _sets_names(each)), None)
    if first is None:
        return [test]
    before = test.values[:first]
    joined = before[0] if first == 1 else ast.copy_location(ast.BoolOp(test.op, before), before[0])
    return [joined, *test.values[first:]]


def _sets_names(node: ast.expr) -> bool:
    return any(isinstance(each, ast.NamedExpr) for each in ast.walk(node))


def _walk(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)


def _statements(body: Sequence[ast.stmt]) -> int:
    return sum(isinstance(each, ast.stmt) for each in _walk(body))


def _left_unless(condition: ast.expr, otherwise: list[ast.stmt]) -> ast.stmt:
    """The end of a loop where a condition does not hold, by way of its `else`."""
    negated = ast.copy_location(ast.UnaryOp(ast.Not(), condition), condition)
    leave = ast.copy_location(ast.Break(), condition)
    return ast.copy_location(ast.If(negated, [*copy.deepcopy(otherwise), leave], []), condition)
