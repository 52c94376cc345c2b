# SPDX-License-Identifier: Apache-2.0
"""Computes operations on constants, in one walk in program order, and nothing else.

The number table says what each function gives on each dtype, so that a folded value has the bits that the kernel
would compute. `canonicalize` folds as well; this pass is for looking at one thing at a time.

Before:

    %0 = arith.constant {value = 6} : i64
    %1 = arith.constant {value = 7} : i64
    %2 = arith.mul %0, %1
    %3 = arith.cast %2 : f32

After (the operands are dead):

    %0 = arith.constant {value = 6} : i64
    %1 = arith.constant {value = 7} : i64
    %2 = arith.constant {value = 42} : i64
    %3 = arith.constant {value = 42.0} : f32
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Operation
from pyasc.ir.dialects import arith
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.constants import fold_operation
from pyasc.passes.base import Context, FunctionPass


class Fold(FunctionPass):
    """Constant folding."""

    name = "fold"

    def run(self, func: Func, context: Context) -> bool:
        """Fold the operations of one function."""
        folded = sum(_fold(op) for op in func.walk())
        context.count("operations folded", folded)
        return folded > 0


def _fold(op: Operation) -> bool:
    if not isinstance(op, (arith.Elementwise, arith.Cast)):
        return False
    numbers = [number for number in map(constant_of, op.operands) if number is not None]
    result = fold_operation(op, numbers) if len(numbers) == len(op.operands) else None
    if result is None:
        return False
    constant = arith.Constant(value=result, types=[op.results[0].type])
    op.replace_with([Builder.before(op).value(constant)])
    return True
