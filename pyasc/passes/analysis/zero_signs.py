# SPDX-License-Identifier: Apache-2.0
"""Whether 0.0 and -0.0 may stand for each other."""

from __future__ import annotations

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import constant_of

_BLIND_TO_ZERO_SIGN = frozenset((*"lt gt le ge eq ne".split(), "abs", "exp", "cos", "cosh", "isnan"))


def zeros_are_alike(op: Operation | None) -> bool:
    """Whether nothing tells 0.0 and -0.0 as results of an operation apart, or -0.0 never is among its operands."""
    if op is None:
        return False
    uses = [user for result in op.results for user in result.uses]
    if uses and all(_is_blind(user) for user in uses):
        return True
    return any(_is_never_minus_zero(value) for value in op.operands[:1])


def _is_blind(user: Operation) -> bool:
    if isinstance(user, arith.Cast):
        return not dtype_of(user.result.type).is_float
    if not isinstance(user, arith.Elementwise):
        return False
    other = [number for value in user.operands if (number := constant_of(value)) is not None]
    return user.fn in _BLIND_TO_ZERO_SIGN or (
        user.fn in ("add", "sub") and any(number != 0 for number in other)
    )


def _is_never_minus_zero(value: Value) -> bool:
    op = value.op
    if not isinstance(op, arith.Elementwise):
        return False
    if op.fn in ("abs", "exp", "cosh") or (op.fn == "mul" and op.operands[0] is op.operands[1]):
        return True
    numbers = [number for each in op.operands if (number := constant_of(each)) is not None]
    return op.fn in ("add", "sub") and any(number != 0 for number in numbers)
