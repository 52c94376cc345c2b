# SPDX-License-Identifier: Apache-2.0
"""Integer points under linear constraints, by Fourier-Motzkin elimination.

A constraint is an affine expression that is at least 0. Iterators and symbols alike are unknown integers. A system is
said to be empty only where its rational relaxation is (tightened where coefficients have a common divisor), so that
"empty" is a proof and "not empty" is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pyasc.ir.affine import AffineExpr

MAX_ROWS = 600
"""A system that grows beyond this many constraints is taken to have points."""

Row = tuple[int, ...]
_Rows = dict[Row, int]
"""For the coefficients of a constraint its least constant: `coefficients . x + constant >= 0`."""


class _Infeasible(Exception):
    """A constraint between numbers alone that does not hold."""


class _TooLarge(Exception):
    """Elimination would take more constraints than are looked at."""


def is_empty(constraints: Sequence[AffineExpr]) -> bool:
    """Whether no integer point satisfies all constraints; False where that is not proved."""
    try:
        rows, _ = _rows(constraints)
        while rows:
            rows = _without(rows, _cheapest(rows))
    except _Infeasible:
        return True
    except _TooLarge:
        return False
    return False


def implies(constraints: Sequence[AffineExpr], expr: AffineExpr) -> bool:
    """Whether an expression is proved to be at least 0 at all integer points of the constraints."""
    return is_empty([*constraints, expr * -1 - 1])


def project(constraints: Sequence[AffineExpr], dim: int) -> list[AffineExpr] | None:
    """What holds of the other unknowns at all points, without iterator `dim`; None where that is too much to say.

    Points that satisfy the result need not be the shadow of an integer point.
    """
    try:
        rows, dims = _rows(constraints)
        made = _without(rows, dim) if dim < dims else rows
    except (_Infeasible, _TooLarge):
        return None
    return [_expr(row, constant, dims) for row, constant in made.items()]


def without_redundant(constraints: Sequence[AffineExpr], context: Sequence[AffineExpr]) -> list[AffineExpr]:
    """The constraints but for those that the context and the others imply."""
    kept = list(dict.fromkeys(constraints))
    for expr in list(kept):
        others = [each for each in kept if each is not expr]
        if implies([*context, *others], expr):
            kept = others
    return kept


def _rows(constraints: Iterable[AffineExpr]) -> tuple[_Rows, int]:
    """The constraints as rows, and how many of their columns are iterators."""
    exprs = list(constraints)
    dims = max((len(expr.dims) for expr in exprs), default=0)
    symbols = max((len(expr.symbols) for expr in exprs), default=0)
    made: _Rows = {}
    for expr in exprs:
        padded = (0,) * (dims - len(expr.dims)), (0,) * (symbols - len(expr.symbols))
        _add(made, (*expr.dims, *padded[0], *expr.symbols, *padded[1]), expr.constant)
    return made, dims


def _expr(row: Row, constant: int, dims: int) -> AffineExpr:
    return AffineExpr(row[:dims], row[dims:], constant)


def _add(rows: _Rows, row: Row, constant: int) -> None:
    """Note a constraint, tightened to integers."""
    divisor = math.gcd(*row) if row else 0
    if not divisor:
        if constant < 0:
            raise _Infeasible
        return
    if divisor > 1:
        row, constant = tuple(c // divisor for c in row), constant // divisor
    known = rows.get(row)
    if known is None or constant < known:
        opposite = rows.get(tuple(-c for c in row))
        if opposite is not None and opposite + constant < 0:
            raise _Infeasible
        rows[row] = constant
        if len(rows) > MAX_ROWS:
            raise _TooLarge


def _cheapest(rows: _Rows) -> int:
    """The unknown whose elimination leaves the fewest constraints."""
    width = len(next(iter(rows)))
    best, least = 0, None
    for column in range(width):
        up = sum(row[column] > 0 for row in rows)
        down = sum(row[column] < 0 for row in rows)
        if up + down and (least is None or up * down - up - down < least):
            best, least = column, up * down - up - down
    return best


def _without(rows: _Rows, column: int) -> _Rows:
    """The constraints on the other unknowns: from an equation where there is one, else from all pairs."""
    for row, constant in rows.items():
        opposite = rows.get(tuple(-c for c in row))
        if abs(row[column]) == 1 and opposite is not None and opposite + constant == 0:
            return _substituted(rows, column, row, constant)
    made: _Rows = {}
    lower = [(row, constant) for row, constant in rows.items() if row[column] > 0]
    upper = [(row, constant) for row, constant in rows.items() if row[column] < 0]
    for row, constant in rows.items():
        if not row[column]:
            _add(made, row, constant)
    for a, least in lower:
        for b, most in upper:
            p, q = -b[column], a[column]
            _add(made, tuple(p * x + q * y for x, y in zip(a, b, strict=True)), p * least + q * most)
    return made


def _substituted(rows: _Rows, column: int, equation: Row, value: int) -> _Rows:
    """The constraints with one unknown replaced by what an equation says it is."""
    made: _Rows = {}
    for row, constant in rows.items():
        factor = row[column] * equation[column]
        _add(
            made,
            tuple(x - factor * y for x, y in zip(row, equation, strict=True)),
            constant - factor * value,
        )
    return made
