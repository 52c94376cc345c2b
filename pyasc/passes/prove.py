# SPDX-License-Identifier: Apache-2.0
"""Decides what symbolic bounds decide: comparisons, minima and maxima, remainders and quotients of indices.

A guard such as `if i < N` inside a loop that ends at N is always taken, and `i % N` is `i` there. `canonicalize`
removes the branches and checks that are then known.

Before:

    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %2 = arith.lt %i, %n
      %3 = arith.mod %i, %n
      %4 = arith.pymax %i, %0
      ...
    }

After (uses of `%2`, `%3` and `%4` are `true`, `%i` and `%i`):

    %true = arith.constant {value = true} : i1
    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      ...
    }
"""

from __future__ import annotations

from collections.abc import Callable

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dialects.func import Func
from pyasc.ir.sizes import constant
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.ranges import NEGATED, Ranges
from pyasc.passes.base import Context, FunctionPass

MAX_ROUNDS = 3


class Prove(FunctionPass):
    """Simplification by symbolic bounds."""

    name = "prove"

    def run(self, func: Func, context: Context) -> bool:
        """Replace what bounds decide in one function."""
        return replace_decided(func, context)


def replace_decided(func: Func, context: Context) -> bool:
    """Replace index arithmetic whose result follows from bounds, until a round decides no index."""
    total = 0
    for _ in range(MAX_ROUNDS):
        decided = _decide(func)
        total += len(decided)
        if all(dtype_of(value.type).is_bool for value in decided):
            break
    context.count("operations decided", total)
    return total > 0


def _decide(func: Func) -> list[Value]:
    """One round: the values that took the place of operations."""
    ranges = Ranges(func)
    decided: dict[Value, Value] = {}
    for op in func.walk():
        if isinstance(op, arith.Elementwise) and op.fn in _DECIDE and _is_on_indices(op):
            value = _DECIDE[op.fn](op, ranges)
            if value is not None:
                decided[op.result] = decided.get(value, value)
    # Replaced only now: the bounds are those of the function as it was.
    for old, new in decided.items():
        assert old.op is not None
        old.op.replace_with([new])
    return list(decided.values())


def _is_on_indices(op: arith.Elementwise) -> bool:
    type_ = op.operands[0].type
    return isinstance(type_, ScalarType) and type_.dtype is dtypes.i64


def _comparison(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    left, right = op.operands
    assert op.parent is not None
    for relation, truth in ((op.fn, True), (NEGATED[op.fn], False)):
        if ranges.proves(left, relation, right, op.parent):
            return Builder.before(op).value(arith.Constant.of(truth, dtypes.i1))
    return None


def _minimum(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    return _smaller(op, ranges)


def _maximum(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    left, right = op.operands
    smaller = _smaller(op, ranges)
    return None if smaller is None else right if smaller is left else left


def _smaller(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    left, right = op.operands
    assert op.parent is not None
    if ranges.proves(left, "le", right, op.parent):
        return left
    return right if ranges.proves(right, "le", left, op.parent) else None


def _remainder(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    return op.operands[0] if _is_less(op, ranges) else None


def _quotient(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    return Builder.before(op).value(arith.Constant.of(0, dtypes.i64)) if _is_less(op, ranges) else None


def _is_less(op: arith.Elementwise, ranges: Ranges) -> bool:
    dividend, divisor = op.operands
    assert op.parent is not None
    return ranges.proves(dividend, "ge", constant(0), op.parent) and ranges.proves(
        dividend, "lt", divisor, op.parent
    )


def _magnitude(op: arith.Elementwise, ranges: Ranges) -> Value | None:
    assert op.parent is not None
    return op.operands[0] if ranges.proves(op.operands[0], "ge", constant(0), op.parent) else None


_DECIDE: dict[str, Callable[[arith.Elementwise, Ranges], Value | None]] = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _comparison),
    **dict.fromkeys(("minimum", "pymin"), _minimum),
    **dict.fromkeys(("maximum", "pymax"), _maximum),
    "mod": _remainder,
    "floordiv": _quotient,
    "abs": _magnitude,
}
