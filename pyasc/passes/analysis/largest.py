# SPDX-License-Identifier: Apache-2.0
"""The most that an extent can be, as a polynomial of the kernel's sizes: `%i + 1` inside of a loop up to `N` is `N`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, scf
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.ranges import split_linear

_DEPTH = 12
"""Of values that are bounded by others."""


def largest(value: Value, polynomials: Polynomials) -> SizeExpr | None:
    """A bound of a value that holds wherever it is computed, or None where no sizes give one."""
    return _Limits(polynomials).of(polynomials.of(value), True, _DEPTH)


class _Limits:
    """Bounds from above, or from below."""

    def __init__(self, polynomials: Polynomials) -> None:
        self.polynomials = polynomials

    def of(self, expr: SizeExpr, upper: bool, depth: int) -> SizeExpr | None:
        """The bound of an expression, in sizes alone."""
        atom = next((name for name in expr.names if name in self.polynomials.atoms), None)
        if atom is None:
            return expr
        parts = split_linear(expr, atom)
        factor = parts and parts[0].as_constant
        if parts is None or factor is None or not depth:
            return None
        for end in self._ends(self.polynomials.atoms[atom], (factor > 0) is upper, depth - 1):
            found = self.of(parts[1] + end * factor, upper, depth - 1)
            if found is not None:
                return found
        return None

    def _ends(self, value: Value, upper: bool, depth: int) -> Iterator[SizeExpr]:
        """Bounds of what is no polynomial: a counter, the lesser or greater of two, one of two, a quotient."""
        block = value.owner
        loop = block.parent_op if isinstance(block, Block) else None
        match value.op:
            case arith.Elementwise(fn="minimum" | "pymin" | "maximum" | "pymax" as fn, args=args):
                if ("min" in fn) is upper:
                    yield from map(self.polynomials.of, args)
                else:
                    yield from self._beyond_all(args, upper, depth)
            case arith.Elementwise(fn="select", args=args):
                yield from self._beyond_all(args[1:], upper, depth)
            case arith.Elementwise(fn="floordiv", args=args) if (integer_of(args[1]) or 0) > 0:
                # A quotient lies between zero and what is divided.
                yield from self._beyond_all(args[:1], upper, depth)
            case None if isinstance(loop, scf.For) and value is loop.counter:
                step = integer_of(loop.step)
                if step is not None and step > 0:
                    end = self.polynomials.of(loop.upper if upper else loop.lower)
                    yield end + -1 if upper else end
            case _:
                pass

    def _beyond_all(self, values: Sequence[Value], upper: bool, depth: int) -> Iterator[SizeExpr]:
        """What is no less, or no more, than each of several values: the sum of those of their terms that say so."""
        total = constant(0)
        for value in values:
            found = self.of(self.polynomials.of(value), upper, depth)
            if found is None:
                return
            for monomial, coefficient in found.terms:
                if (coefficient > 0) is upper:
                    total = total + SizeExpr(((monomial, coefficient),))
        yield total
