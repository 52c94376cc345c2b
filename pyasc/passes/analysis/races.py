# SPDX-License-Identifier: Apache-2.0
"""What goes wrong for certain, and what is a running update, in a loop whose iterations run in any order."""

from __future__ import annotations

from collections.abc import Iterator

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.effects import is_local, root_of
from pyasc.passes.analysis.structure import is_inside

ASSOCIATIVE = frozenset(("add", "mul", "minimum", "maximum", "pymin", "pymax", "and", "or", "xor"))
"""Functions whose running combination may be made in any order (floats: within the bound of reductions)."""


class Race(Record):
    """Two accesses that touch one element in different iterations. `distance` is how many iterations apart."""

    first: mem.Load | mem.Store
    second: mem.Load | mem.Store
    distance: int


class Update(Record):
    """`ref[indices] = fn(ref[indices], value)`: a load and the store that puts its combination back."""

    load: mem.Load
    store: mem.Store
    associative: bool


def updates(loop: scf.For, polynomials: Polynomials) -> Iterator[Update]:
    """The read-modify-write pairs of a loop: what a store puts back was computed from the same element."""
    for store in _stores(loop):
        for load in _loads_of(store.value, loop):
            if load.ref is store.ref and _equal(load, store, polynomials):
                combined = store.value.op
                simple = (
                    isinstance(combined, arith.Elementwise)
                    and combined.fn in ASSOCIATIVE
                    and list(load.value.uses) == [combined]
                    and list(combined.args).count(load.value) == 1
                    and list(store.value.uses) == [store]
                )
                yield Update(load, store, simple)


def certain_race(loop: scf.For, polynomials: Polynomials) -> Race | None:
    """Two unconditional accesses that meet in different iterations whatever the data, running updates apart."""
    if trip_count(loop) in (0, 1):
        return None
    exempt = {part for u in updates(loop, polynomials) if u.associative for part in (u.load, u.store)}
    accesses = [
        op for op in loop.nested() if isinstance(op, (mem.Load, mem.Store)) and _always_runs(op, loop)
    ]
    shared = [op for op in accesses if not is_private(op.ref, loop)]
    for i, first in enumerate(shared):
        for second in shared[i:]:
            if first.ref is not second.ref or (isinstance(first, mem.Load) and isinstance(second, mem.Load)):
                continue
            if first in exempt and second in exempt:
                continue
            distance = _distance(first, second, loop, polynomials)
            if distance is not None and _far_enough(loop, distance):
                return Race(first, second, distance)
    return None


def _stores(loop: scf.For) -> Iterator[mem.Store]:
    return (op for op in loop.nested() if isinstance(op, mem.Store) and not is_private(op.ref, loop))


def is_private(ref: Value, loop: scf.For) -> bool:
    """Whether each iteration has the memory for itself."""
    root = root_of(ref)
    return is_local(root) and root.op is not None and loop in root.op.ancestors()


def _loads_of(value: Value, loop: scf.For) -> Iterator[mem.Load]:
    """The loads inside the loop that a value is computed from."""
    seen: set[Value] = set()
    stack = [value]
    while stack:
        each = stack.pop()
        op = each.op
        if each in seen or op is None or loop not in op.ancestors():
            continue
        seen.add(each)
        if isinstance(op, mem.Load):
            yield op
        elif not op.regions:
            stack += op.operands


def _equal(load: mem.Load, store: mem.Store, polynomials: Polynomials) -> bool:
    pairs = zip(load.indices, store.indices, strict=True)
    return all(polynomials.of(a) == polynomials.of(b) for a, b in pairs)


def _always_runs(op: Operation, loop: scf.For) -> bool:
    """Whether nothing but counted loops stands between the operation and the loop."""
    for parent in op.ancestors():
        if parent is loop:
            return True
        if not isinstance(parent, scf.For):
            return False
    return False


def _distance(
    first: mem.Load | mem.Store, second: mem.Load | mem.Store, loop: scf.For, polynomials: Polynomials
) -> int | None:
    """How many iterations of the loop apart the two touch one element; None when that is not certain."""
    step = integer_of(loop.step)
    counter = polynomials.of(loop.counter).as_name
    if step is None or counter is None:
        return None
    found: int | None = None
    for a, b in zip(first.indices, second.indices, strict=True):
        left, right = polynomials.of(a), polynomials.of(b)
        inner = [
            *_inner_names(left, loop, polynomials, counter),
            *_inner_names(right, loop, polynomials, counter),
        ]
        if inner:
            # A loop inside walks the same range in every iteration, so equal indices do meet.
            if left != right or _factor(left, counter) != 0:
                return None
            if not all(_walks_the_same(value, loop, polynomials, counter) for value in inner):
                return None
            continue
        factor = _factor(left, counter)
        offset = (right - left).as_constant
        if factor is None or factor != _factor(right, counter) or offset is None:
            return None
        if factor == 0:
            if offset:
                return None
            continue
        if offset % (factor * step) or found not in (None, offset // (factor * step)):
            return None
        found = offset // (factor * step)
    if found is None:
        # No index depends on the counter: every iteration touches this element.
        return 1 if isinstance(first, mem.Store) or isinstance(second, mem.Store) else None
    return found or None


def _factor(expr: SizeExpr, name: str) -> int | None:
    """The constant that a name is multiplied by; None when it occurs in another way."""
    total = 0
    for monomial, coefficient in expr.terms:
        if monomial == (name,):
            total = coefficient
        elif name in monomial:
            return None
    return total


def _inner_names(expr: SizeExpr, loop: scf.For, polynomials: Polynomials, counter: str) -> list[Value]:
    """The values computed inside the loop that enter, its counter apart."""
    values = [polynomials.atoms.get(name) for name in expr.names if name != counter]
    return [value for value in values if value is not None and not _is_invariant(value, loop)]


def _is_invariant(value: Value, loop: scf.For) -> bool:
    """Whether a value is the same in every iteration: it stands outside, or follows from what does."""
    if not is_inside(value, loop):
        return True
    op = value.op
    pure = isinstance(op, (arith.Constant, arith.Elementwise, arith.Cast, mem.Dim))
    return pure and all(_is_invariant(operand, loop) for operand in op.operands)


def _walks_the_same(value: Value, loop: scf.For, polynomials: Polynomials, counter: str) -> bool:
    """Whether a value is the counter of an inner loop whose range is the same in every iteration of the loop."""
    inner = value.block.parent_op if value.op is None and value.block is not None else None
    if not isinstance(inner, scf.For) or value is not inner.counter:
        return False
    bounds = [polynomials.of(v) for v in (inner.lower, inner.upper, inner.step)]
    return not any(counter in b.names or _inner_names(b, loop, polynomials, counter) for b in bounds)


def trip_count(loop: scf.For) -> int | None:
    """How often a loop runs, where that is a number."""
    numbers = [integer_of(v) for v in (loop.lower, loop.upper, loop.step)]
    known = [n for n in numbers if n is not None]
    return len(range(*known)) if len(known) == 3 else None


def _far_enough(loop: scf.For, distance: int) -> bool:
    trips = trip_count(loop)
    return trips is None or abs(distance) < trips
