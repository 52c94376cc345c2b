# SPDX-License-Identifier: Apache-2.0
"""Signs of integers, as the way they are computed tells them: C++ divides as Python does where nothing is negative."""

from __future__ import annotations

from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, asc, asc_cube, func, scf

_GROWING = frozenset(("add", "mul", "minimum", "maximum", "floordiv", "mod"))


def nonnegative(value: Value, depth: int = 12) -> bool:
    """Whether an i64 is told to be no less than zero by how it is computed, so that C++ divides as Python does."""
    if isinstance(value.owner, Block):
        loop = value.owner.parent_op
        if value.name.startswith(func.ADDED):
            # A number of cores, of which there is at least one where this runs.
            return True
        return isinstance(loop, scf.For) and value.index == 0 and nonnegative(loop.lower)
    match value.owner:
        case arith.Constant(value=number):
            return number >= 0
        case func.Size() | asc.CoreNumber() | asc_cube.RoundUp():
            return True
        case arith.Elementwise(fn="sub", args=[whole, Value(owner=arith.Constant(value=1))]) if depth:
            return _positive(whole, depth - 1)
        case arith.Elementwise(fn="maximum", args=args) if depth:
            return any(nonnegative(arg, depth - 1) for arg in args)
        case arith.Elementwise(fn="sub", args=[whole, Value(owner=Block()) as counter]):
            loop = counter.block.parent_op if counter.block is not None else None
            return isinstance(loop, scf.For) and counter.index == 0 and loop.upper is whole
        case arith.Elementwise(fn="select", args=args) if depth:
            return all(nonnegative(arg, depth - 1) for arg in args[1:])
        case arith.Elementwise(fn=fn, args=args) if fn in _GROWING and depth:
            return all(nonnegative(arg, depth - 1) for arg in args)
        case _:
            return False


def divides(op: arith.Elementwise) -> bool:
    """Whether the divisor cannot be zero: it is no size, or a loop up to that size is around the division.

    Divisors that the lowering makes of sizes are positive wherever there is work.
    """
    divisor = op.args[1]
    if isinstance(divisor.op, arith.Constant):
        return divisor.op.value > 0
    for loop in op.ancestors():
        if isinstance(loop, scf.For) and loop.upper is divisor and nonnegative(loop.lower):
            return True
    return nonnegative(divisor) and not _of_sizes(divisor)


def _of_sizes(value: Value, depth: int = 12) -> bool:
    """Whether a value is a size, or a sum or product of sizes, as a kernel spells it."""
    match value.owner:
        case func.Size():
            return True
        case arith.Elementwise(fn="add" | "mul", args=args) if depth:
            return any(_of_sizes(arg, depth - 1) for arg in args)
        case _:
            return False


def _positive(value: Value, depth: int) -> bool:
    """Whether an i64 is told to be no less than one by how it is computed."""
    match value.owner:
        case arith.Constant(value=number):
            return number >= 1
        case arith.Elementwise(fn="maximum", args=args) if depth:
            return any(_positive(arg, depth - 1) for arg in args)
        case arith.Elementwise(fn="minimum", args=args) if depth:
            return all(_positive(arg, depth - 1) for arg in args)
        case arith.Elementwise(fn="add", args=args) if depth:
            signs = [_positive(arg, depth - 1) for arg in args]
            return any(signs) and all(
                s or nonnegative(a, depth - 1) for s, a in zip(signs, args, strict=True)
            )
        case _:
            return False
