# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes: integer polynomials over named sizes, in a normal form that makes equality structural."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pyasc.ir.record import Record

Monomial = tuple[str, ...]


# Made by the thousand, and a frozen dataclass takes three times as long to make.
@dataclass(slots=True, unsafe_hash=True)
class SizeExpr:
    """A polynomial such as `2*N + H*W - 2`; `terms` maps sorted name products to nonzero coefficients.

    The empty product is the constant term. Build it with `size`, `constant` and the operators, never directly,
    and never change it.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def as_constant(self) -> int | None:
        """The value when no name occurs, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def as_name(self) -> str | None:
        """The name when the expression is exactly one name, else None."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that occurs, sorted."""
        return tuple(sorted({name for monomial, _ in self.terms for name in monomial}))

    def __add__(self, other: SizeExpr | int) -> SizeExpr:
        right = other if isinstance(other, SizeExpr) else constant(other)
        if not right.terms or not self.terms:
            return self if self.terms else right
        total = dict(self.terms)
        for monomial, coefficient in right.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return _normal(total)

    def __sub__(self, other: SizeExpr | int) -> SizeExpr:
        return self + lift(other) * -1

    def __mul__(self, other: SizeExpr | int) -> SizeExpr:
        if isinstance(other, int):
            return SizeExpr(tuple([(m, c * other) for m, c in self.terms])) if other else ZERO
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                monomial = tuple(sorted(left + right)) if left and right else left or right
                total[monomial] = total.get(monomial, 0) + a * b
        return _normal(total)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value under `values`; raises KeyError for a name that is not bound."""
        total = 0
        for monomial, coefficient in self.terms:
            for name in monomial:
                coefficient *= values[name]
            total += coefficient
        return total

    def substitute(self, known: Mapping[str, int]) -> SizeExpr:
        """The polynomial with numbers in place of the known names."""
        total = ZERO
        for monomial, coefficient in self.terms:
            term = constant(coefficient)
            for name in monomial:
                term = term * (constant(known[name]) if name in known else size(name))
            total = total + term
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for monomial, coefficient in self.terms:
            body = "*".join(monomial)
            if not body:
                part = str(abs(coefficient))
            else:
                part = body if abs(coefficient) == 1 else f"{abs(coefficient)}*{body}"
            if text:
                text += (" - " if coefficient < 0 else " + ") + part
            else:
                text = ("-" if coefficient < 0 else "") + part
        return text


ZERO = SizeExpr(())


def _normal(total: Mapping[Monomial, int]) -> SizeExpr:
    terms = [term for term in total.items() if term[1]]
    # Longest products first and the constant last, so that printing reads like a polynomial.
    if len(terms) > 1:
        terms.sort(key=_place)
    return SizeExpr(tuple(terms))


def _place(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    return -len(term[0]), term[0]


@lru_cache(maxsize=1024)
def constant(value: int) -> SizeExpr:
    """The constant polynomial."""
    return SizeExpr((((), value),)) if value else ZERO


def size(name: str) -> SizeExpr:
    """The polynomial that is one named size."""
    return SizeExpr((((name,), 1),))


def lift(value: SizeExpr | int) -> SizeExpr:
    """An int as a constant polynomial; a polynomial as it is."""
    return value if isinstance(value, SizeExpr) else constant(value)


_OPERATORS: dict[type[ast.operator], Callable[[SizeExpr, SizeExpr], SizeExpr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}


def parse_size(text: str) -> SizeExpr:
    """Read a polynomial in Python syntax (`+ - *`, names, integers). Raises ValueError for anything else."""
    try:
        return _from_ast(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"not a size expression: {text!r}") from error


def _from_ast(node: ast.expr) -> SizeExpr:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return constant(value)
        case ast.Name(id=name):
            return size(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _from_ast(operand) * -1
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return _OPERATORS[type(operator)](_from_ast(left), _from_ast(right))
        case _:
            raise ValueError(f"not a size expression: {ast.unparse(node)!r}")


class Assumptions(Record):
    """What has to be true of the sizes of a launch for the IR to mean what Python does.

    Where a slice reaches beyond its axis, or two extents that are not known to be equal are not, a compilation for
    exactly those sizes knows what to cut and what to repeat. None of `not_negative` may be below 0; the two of each
    of `equal` may differ if neither is 1.
    """

    not_negative: tuple[SizeExpr, ...] = ()
    equal: tuple[tuple[SizeExpr, SizeExpr], ...] = ()

    def hold(self, sizes: Mapping[str, int]) -> bool:
        """Whether they hold for these sizes."""
        if any(each.evaluate(sizes) < 0 for each in self.not_negative):
            return False
        pairs = [(a.evaluate(sizes), b.evaluate(sizes)) for a, b in self.equal]
        return all(a == b or 1 not in (a, b) for a, b in pairs)


Dim = int | SizeExpr | None
"""One extent of a shape: known, symbolic, or (None) known only at run time."""


def simplify(dim: Dim) -> Dim:
    """The same extent as an int where it is constant."""
    if isinstance(dim, SizeExpr):
        value = dim.as_constant
        return dim if value is None else value
    return dim


def print_dim(dim: Dim) -> str:
    """The text form of an extent: `4`, `N`, `(H - 2)` or `?`."""
    if dim is None:
        return "?"
    if isinstance(dim, SizeExpr) and dim.as_name is None:
        return f"({dim})"
    return str(dim)
