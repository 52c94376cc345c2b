# SPDX-License-Identifier: Apache-2.0
"""In debug builds, finds the operation that makes the first NaN, or the first infinity, out of other numbers.

Before:

    %r = arith.div %a, %b

After, with `nan`:

    %r = arith.div %a, %b
    %made = arith.isnan %r
    %0 = arith.isnan %a
    %1 = arith.isnan %b
    %2 = arith.or %0, %1
    %3 = arith.not %made
    %fine = arith.or %2, %3
    py.check %fine, [%a, %b] {error = "FloatingPointError", message = "{} / {} is NaN"}

With `overflow` the same of results that are infinite where all operands are finite.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, py
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.base import Context, FunctionPass

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**"}
_HANDS_ON = frozenset("neg abs select minimum maximum pymin pymax copysign floor ceil trunc rint".split())
"""Functions whose result is an operand, or as finite as it."""


class WatchFloats(FunctionPass):
    """Checks results of floats for NaN and for infinities, each if asked."""

    name = "watch-floats"

    nan: bool = False
    overflow: bool = False

    def run(self, func: Func, context: Context) -> bool:
        """Look at every operation on floats."""
        if not (self.nan or self.overflow):
            return False
        found = [op for op in func.nested() if _makes_floats(op)]
        for op in found:
            self._watch(op)
        context.count("operations watched", len(found))
        return bool(found)

    def _watch(self, op: Operation) -> None:
        at = Emitter(Builder.after(op))
        operands = [each for each in op.operands if dtype_of(each.type).is_float]
        if self.nan and not isinstance(op, arith.Cast):
            _check(at, op, _unless(at, "isnan", op.results[0], operands), "NaN")
        if self.overflow:
            finite = [at.call("not", at.call("isfinite", each)) for each in operands]
            made = at.call("not", at.call("isinf", op.results[0]))
            _check(at, op, _any(at, [made, *finite]), "infinite")


def _makes_floats(op: Operation) -> bool:
    if not isinstance(op, (arith.Elementwise, arith.Cast)) or not isinstance(op.results[0].type, ScalarType):
        return False
    if not dtype_of(op.results[0].type).is_float or not isinstance(op.operands[0].type, ScalarType):
        return False
    return not isinstance(op, arith.Elementwise) or op.fn not in _HANDS_ON


def _unless(at: Emitter, test: str, result: Value, operands: Sequence[Value]) -> Value:
    """Whether a result does not pass a test, or an operand does already."""
    return _any(at, [at.call("not", at.call(test, result)), *(at.call(test, each) for each in operands)])


def _any(at: Emitter, conditions: Sequence[Value]) -> Value:
    result = conditions[0]
    for each in conditions[1:]:
        result = at.call("or", result, each)
    return result


def _check(at: Emitter, op: Operation, fine: Value, what: str) -> None:
    message = f"{_shown(op)} is {what}"
    at.insert(
        py.Check(condition=fine, values=op.operands, error="FloatingPointError", message=message, loc=op.loc)
    )


def _shown(op: Operation) -> str:
    """The operation over `{}` for each operand."""
    if isinstance(op, arith.Elementwise) and op.fn in _SIGNS:
        return f"{{}} {_SIGNS[op.fn]} {{}}"
    name = op.fn if isinstance(op, arith.Elementwise) else dtype_of(op.results[0].type).numpy
    return f"{name}({', '.join(['{}'] * len(op.operands))})"
