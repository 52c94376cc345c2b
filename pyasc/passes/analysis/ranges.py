# SPDX-License-Identifier: Apache-2.0
"""Symbolic bounds of i64 values, and proofs of inequalities from them.

A proof shows that a polynomial is not negative: it replaces one name after the other, the last defined first, by
a bound of it (the lower one where its coefficient is positive), until only sizes with nonnegative coefficients
are left. Bounds come from loops, `min` and `max`, remainders, quotients, widening casts, carried values that
only grow or fall, and from the conditions of the branches and loops around the place of the question.

Arithmetic wraps at 64 bits and the polynomials do not. A bound is only taken from an expression that cannot have
wrapped: one name alone, or a short sum of names whose magnitude is limited (`_tame`). Sizes, and the products of
sizes that a kernel uses as bounds, are below 2**62, since they count elements in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pyasc.ir import sizes
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, func, py, scf
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, ScalarType, TensorType
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.bounds import MAX_CONSTANT, MAX_STEP, ZERO, Bound, Bounds, define, is_tame

MAX_STEPS = 48
"""Replacements that one proof may try."""

MAX_DEPTH = 64
"""Nested definitions that a question about magnitude follows."""


@dataclass(slots=True)
class _Scope:
    """What the branches and loops around a block say about names, on top of what holds outside."""

    outer: _Scope | None
    facts: dict[str, Bounds]

    def of(self, name: str) -> Iterator[Bounds]:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.facts:
                yield scope.facts[name]
            scope = scope.outer


class Ranges:
    """Bounds and proofs for the values of one function, as it stands when the object is made."""

    def __init__(self, function: func.Func, polynomials: Polynomials | None = None) -> None:
        self.polynomials = Polynomials() if polynomials is None else polynomials
        self._function = function
        self._positions: dict[Value, int] = {}
        self._bounds: dict[str, Bounds] = {}
        self._scopes: dict[Block, _Scope] = {}
        self._tame: dict[Value, bool] = {}
        self._depth = 0
        self._opaque: dict[Value, SizeExpr] = {}
        self._proofs: dict[tuple[SizeExpr, Block], bool] = {}
        self._number_values()

    def _number_values(self) -> None:
        """Number values in program order: what bounds a value has a smaller number."""
        number = 0
        for op in self._function.nested():
            for value in op.results:
                self._positions[value] = number = number + 1
            for region in op.regions:
                for block in region.blocks:
                    for value in block.args:
                        self._positions[value] = number = number + 1

    def proves(self, value: Value, relation: str, bound: Value | SizeExpr | int, at: Block) -> bool:
        """Whether `value relation bound` holds whenever control is in the block `at`.

        `relation` is one of lt, le, gt, ge, eq and ne; raises ValueError for another.
        """
        left = self.exact(value)
        right = self.exact(bound) if isinstance(bound, Value) else sizes.lift(bound)
        match relation:
            case "ge":
                return self.nonnegative(left - right, at)
            case "gt":
                return self.nonnegative(left - right - 1, at)
            case "le":
                return self.nonnegative(right - left, at)
            case "lt":
                return self.nonnegative(right - left - 1, at)
            case "eq":
                return left == right
            case "ne":
                return self.nonnegative(left - right - 1, at) or self.nonnegative(right - left - 1, at)
            case _:
                raise ValueError(f"no relation is named {relation!r}")

    def nonnegative(self, expr: SizeExpr, at: Block) -> bool:
        """Whether the polynomial is at least 0 whenever control is in the block `at`."""
        key = (expr, at)
        if key not in self._proofs:
            self._proofs[key] = Proof(self, at).shows(expr)
        return self._proofs[key]

    def exact(self, value: Value) -> SizeExpr:
        """The polynomial of a value where it cannot have wrapped, else a name for the value itself."""
        expr = self.polynomials.of(value)
        if expr.as_name is not None or expr.as_constant is not None or self._cannot_wrap(expr):
            return expr
        if value not in self._opaque:
            self._opaque[value] = self.polynomials.atom(value)
        return self._opaque[value]

    def _cannot_wrap(self, expr: SizeExpr) -> bool:
        for monomial, coefficient in expr.terms:
            atoms = [name for name in monomial if name in self.polynomials.atoms]
            if abs(coefficient) > (MAX_STEP if monomial else MAX_CONSTANT) or (atoms and len(monomial) > 2):
                return False
            if any(not self.tame(self.polynomials.atoms[name]) for name in atoms):
                return False
        return True

    def small(self, value: Value) -> bool:
        """Whether a value is a short sum of tame ones, so that it cannot have wrapped."""
        return self._cannot_wrap(self.polynomials.of(value))

    def tame(self, value: Value) -> bool:
        """Whether the magnitude of a value is limited, to 2**40 or so: by its type, by a size, or because a
        program would run for years until it got there by counting."""
        known = self._tame.get(value)
        if known is None:
            # Until the answer is in, a value that depends on itself does not count as tame.
            self._tame[value] = False
            self._depth += 1
            known = self._depth < MAX_DEPTH and is_tame(value, self)
            self._tame[value] = known
            self._depth -= 1
        return known

    def difference(self, left: Value, right: Value) -> int | None:
        """`left - right` where that is a constant."""
        return (self.polynomials.of(left) - self.polynomials.of(right)).as_constant

    def holds_by_induction(self, name: Value, claim: Bounds, goals: tuple[SizeExpr, ...], at: Block) -> bool:
        """Whether the goals are at least 0 in a block, given the claim about a value.

        What was found about other values on the way rests on the claim, and goes when the claim does not hold.
        """
        key = str(self.polynomials.of(name))
        known, proofs = len(self._bounds), len(self._proofs)
        before = self._bounds.get(key)
        self._bounds[key] = Bounds(*([*a, *b] for a, b in _zip_bounds(before, claim)))
        holds = all(Proof(self, at).shows(goal) for goal in goals)
        if before is not None:
            self._bounds[key] = before
        if not holds:
            _truncate(self._bounds, known)
            _truncate(self._proofs, proofs)
        return holds

    def position(self, name: str) -> int:
        """Where a name is defined in program order; sizes come first."""
        value = self.polynomials.atoms.get(name)
        return -1 if value is None else self._positions.get(value, 1 << 60)

    def is_opaque(self, name: str) -> bool:
        """Whether a name is that of a value, and no size, which is never negative."""
        return name in self.polynomials.atoms

    def bounds(self, name: str, at: Block) -> Iterator[Bounds]:
        """What is known of a name in a block, from its definition and then from the scopes around."""
        value = self.polynomials.atoms.get(name)
        if value is not None:
            known = self._bounds.get(name)
            if known is None:
                # Entered first: what is defined by itself knows nothing of itself yet, except by induction.
                known = self._bounds[name] = Bounds()
                define(known, value, self)
            yield known
        yield from self._scope(at).of(name)

    def _scope(self, block: Block) -> _Scope:
        known = self._scopes.get(block)
        if known is None:
            known = self._scopes[block] = self._make_scope(block)
        return known

    def _make_scope(self, block: Block) -> _Scope:
        parent = block.parent_op
        if parent is None or isinstance(parent, func.Func):
            return _Scope(None, _collect(_extent_facts(block), self.polynomials))
        assert parent.parent is not None
        outer = self._scope(parent.parent)
        facts = list(self._facts_inside(parent, block))
        if isinstance(parent.parent.parent_op, func.Func):
            facts += self._launch_facts(parent.parent)
        return _Scope(outer, _collect(facts, self.polynomials)) if facts else outer

    def _launch_facts(self, block: Block) -> Iterator[SizeExpr]:
        """What the checks at the start of the function have made sure of, for the regions after them.

        It does not hold in the function's own block, where the checks themselves stand.
        """
        for op in block:
            if op.regions:
                return
            if isinstance(op, py.Check) and op.launch:
                yield from self.facts_of(op.condition, True)

    def _facts_inside(self, op: Operation, block: Block) -> Iterator[SizeExpr]:
        match op:
            case scf.For():
                step = integer_of(op.step)
                if step is not None:
                    first, last = self.exact(op.lower), self.exact(op.upper)
                    yield (last - first if step > 0 else first - last) - 1
            case scf.If():
                yield from self.facts_of(op.condition, block is op.then.block)
            case scf.While() if block is op.after.block:
                yield from self.facts_of(op.before.block.terminator.operands[0], True)
            case _:
                return

    def facts_of(self, condition: Value, holds: bool) -> Iterator[SizeExpr]:
        """Polynomials that are at least 0 when a condition has the given truth value."""
        match condition.owner:
            case arith.Elementwise(fn="not") as op:
                yield from self.facts_of(op.operands[0], not holds)
            case arith.Elementwise(fn=("and" | "or") as fn) as op:
                if (fn == "and") == holds:
                    for part in op.operands:
                        yield from self.facts_of(part, holds)
            case arith.Elementwise(fn=fn) as op if fn in _FACTS:
                yield from self._comparison(op, holds)
            case scf.If() as op:
                yield from self._short_circuit(op, condition.index, holds)
            case _:
                return

    def _comparison(self, op: arith.Elementwise, holds: bool) -> Iterator[SizeExpr]:
        left, right = op.operands
        if isinstance(left.type, ScalarType) and left.type.dtype.name == "i64":
            fn = op.fn if holds else NEGATED[op.fn]
            yield from _FACTS[fn](self.exact(left), self.exact(right))

    def _short_circuit(self, op: scf.If, index: int, holds: bool) -> Iterator[SizeExpr]:
        """`a and b` is `a ? b : false`, and `a or b` is `a ? true : b`."""
        for branch, other in ((op.then, op.otherwise), (op.otherwise, op.then)):
            constant = other.block.terminator.operands[index].owner
            if isinstance(constant, arith.Constant) and constant.value is not holds:
                yield from self.facts_of(op.condition, branch is op.then)
                yield from self.facts_of(branch.block.terminator.operands[index], holds)


_FACTS: dict[str, Callable[[SizeExpr, SizeExpr], tuple[SizeExpr, ...]]] = {
    "lt": lambda a, b: (b - a - 1,),
    "le": lambda a, b: (b - a,),
    "gt": lambda a, b: (a - b - 1,),
    "ge": lambda a, b: (a - b,),
    "eq": lambda a, b: (a - b, b - a),
    "ne": lambda a, b: (),
}
NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


class Names(Protocol):
    """What a proof asks about the names in polynomials."""

    def is_opaque(self, name: str) -> bool:
        """Whether a name is that of a value, and no size, which is never negative."""
        ...

    def position(self, name: str) -> int:
        """Where it is defined in program order."""
        ...

    def bounds(self, name: str, at: Block) -> Iterator[Bounds]:
        """What is known of it in a block."""
        ...


class Proof:
    """One search for a chain of replacements, with a limit on its length."""

    def __init__(self, names: Names, at: Block) -> None:
        self.names = names
        self.at = at
        self.steps = 0

    def shows(self, expr: SizeExpr, replaced: frozenset[str] = frozenset()) -> bool:
        """Whether the polynomial is at least 0, with each name replaced at most once on the way."""
        negative, last = False, -1
        opaque: str | None = None
        for monomial, coefficient in expr.terms:
            negative |= coefficient < 0
            for name in monomial:
                if self.names.is_opaque(name) and (position := self.names.position(name)) > last:
                    opaque, last = name, position
        if opaque is not None:
            return self._replace(expr, opaque, replaced)
        return not negative or any(self._replace(expr, name, replaced) for name in expr.names)

    def _replace(self, expr: SizeExpr, name: str, replaced: frozenset[str]) -> bool:
        split = None if name in replaced else split_linear(expr, name)
        sign = 0 if split is None else self._sign(split[0])
        if split is None or sign == 0:
            return False
        factor, rest = split
        replaced = replaced | {name}
        for bounds in self.names.bounds(name, self.at):
            for bound in bounds.lower if sign > 0 else bounds.upper:
                self.steps += 1
                if self.steps > MAX_STEPS:
                    return False
                # A whole number is not negative where `scale` times it is above `-scale`.
                spare = rest * bound.scale + (bound.scale - 1)
                if all(self.shows(factor * each + spare, replaced) for each in bound.any_of):
                    return True
        return False

    def _sign(self, factor: SizeExpr) -> int:
        number = factor.as_constant
        if number is not None:
            return 1 if number > 0 else -1
        if self.shows(factor):
            return 1
        return -1 if self.shows(factor * -1) else 0


def _zip_bounds(before: Bounds | None, claim: Bounds) -> Iterator[tuple[list[Bound], list[Bound]]]:
    known = Bounds() if before is None else before
    yield known.lower, claim.lower
    yield known.upper, claim.upper


def _truncate(entries: dict[Any, Any], length: int) -> None:
    """Forget the entries that were made after there were `length` of them."""
    while len(entries) > length:
        entries.popitem()


def split_linear(expr: SizeExpr, name: str) -> tuple[SizeExpr, SizeExpr] | None:
    """`(f, r)` with `expr == f * name + r` and `name` in neither, or None when it occurs squared."""
    factor, rest = ZERO, ZERO
    inside: list[SizeExpr] = []
    outside: list[SizeExpr] = []
    for monomial, coefficient in expr.terms:
        times = monomial.count(name)
        if times > 1:
            return None
        if times:
            at = monomial.index(name)
            inside.append(SizeExpr(((monomial[:at] + monomial[at + 1 :], coefficient),)))
        else:
            outside.append(SizeExpr(((monomial, coefficient),)))
    for part in inside:
        factor = factor + part
    for part in outside:
        rest = rest + part
    return factor, rest


def _collect(facts: Iterable[SizeExpr], polynomials: Polynomials) -> dict[str, Bounds]:
    """Bounds of each name that stands alone with factor 1 or -1 in a fact `polynomial >= 0`."""
    found: dict[str, Bounds] = {}
    for fact in facts:
        for monomial, coefficient in fact.terms:
            if len(monomial) != 1:
                continue
            (name,) = monomial
            if sum(name in other for other, _ in fact.terms) == 1:
                alone = SizeExpr(((monomial, coefficient),))
                bounds = found.setdefault(name, Bounds())
                if coefficient > 0:
                    bounds.lower.append(Bound(coefficient, ((fact - alone) * -1,)))
                else:
                    bounds.upper.append(Bound(-coefficient, (fact - alone,)))
    return found


def _extent_facts(block: Block) -> Iterator[SizeExpr]:
    """Extents of parameters are not negative, which says something where they are expressions like `H - 2`."""
    for arg in block.args:
        if isinstance(arg.type, (RefType, TensorType)):
            for extent in arg.type.shape:
                if isinstance(extent, SizeExpr) and any(c < 0 for _, c in extent.terms):
                    yield extent
