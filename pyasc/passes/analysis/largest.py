# SPDX-License-Identifier: Apache-2.0
"""The most that an extent can be, as a polynomial of the kernel's sizes: `%i + 1` inside of a loop up to `N` is `N`."""

from __future__ import annotations

from collections.abc import Iterator

from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, scf
from pyasc.ir.sizes import SizeExpr
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.ranges import split_linear

_DEPTH = 8
"""Of counters that are bounded by others."""


def largest(value: Value, polynomials: Polynomials) -> SizeExpr | None:
    """A bound of a value that holds wherever it is computed, or None where no sizes give one."""
    return _bounded(polynomials.of(value), polynomials, _DEPTH)


def _bounded(expr: SizeExpr, polynomials: Polynomials, depth: int) -> SizeExpr | None:
    atom = next((name for name in _names(expr) if name in polynomials.atoms), None)
    if atom is None:
        return expr
    parts = split_linear(expr, atom)
    factor = parts and parts[0].as_constant
    if parts is None or factor is None or not depth:
        return None
    for bound in _ends(polynomials.atoms[atom], factor > 0, polynomials):
        found = _bounded(parts[1] + bound * factor, polynomials, depth - 1)
        if found is not None:
            return found
    return None


def _names(expr: SizeExpr) -> Iterator[str]:
    for monomial, _ in expr.terms:
        yield from monomial


def _ends(value: Value, upper: bool, polynomials: Polynomials) -> Iterator[SizeExpr]:
    """Bounds from above, or from below, of what is no polynomial: a counter, or the lesser or greater of two."""
    block = value.owner
    loop = block.parent_op if isinstance(block, Block) else None
    match value.op:
        case arith.Elementwise(fn="minimum" | "pymin", args=args) if upper:
            yield from map(polynomials.of, args)
        case arith.Elementwise(fn="maximum" | "pymax", args=args) if not upper:
            yield from map(polynomials.of, args)
        case None if isinstance(loop, scf.For) and value is loop.counter:
            step = integer_of(loop.step)
            if step is not None and step > 0:
                yield polynomials.of(loop.upper) + -1 if upper else polynomials.of(loop.lower)
        case _:
            pass
