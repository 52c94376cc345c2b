# SPDX-License-Identifier: Apache-2.0
"""Spells functions that arch 2201 has no instruction for in those that it has.

    %y = arith.isinf %x

becomes

    %size = arith.abs %x
    %inf = arith.constant {value = inf} : f32
    %y = arith.eq %size, %inf

float16 and bfloat16 are computed in float32 and rounded once. What of it is the same for all elements goes in front of
the loop: the host computes it, or else the scalar unit once.
"""

from __future__ import annotations

from pyasc.ir.core import Block, Builder, Value
from pyasc.ir.dialects import arith, scf, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import bf16, f16, f32
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.function_power import integer_power, power
from pyasc.passes.analysis.function_recipes import FUNCTIONS, Number, sign
from pyasc.passes.analysis.function_remainders import floor_divide, floor_modulo, integer_remainder, remainder
from pyasc.passes.base import Context, FunctionPass

RECIPES = {**FUNCTIONS, "pow": power, "fmod": remainder, "mod": floor_modulo, "floordiv": floor_divide}
"""By the name of the function in the number table."""


INTEGERS = {"pow": integer_power, "sign": sign, "fmod": integer_remainder}
"""Those that integers have too."""


class ExpandFunctions(FunctionPass):
    """Replaces functions of the number table by their recipes."""

    name = "expand-functions"

    def run(self, func: Func, context: Context) -> bool:
        """Look at every elementwise operation."""
        found = [op for op in func.walk() if isinstance(op, arith.Elementwise) and _has_recipe(op)]
        for op in found:
            block = op.parent
            assert block is not None
            _expand(op)
            context.count("functions spelt out")
            _hoist(block)
        return bool(found)


def _hoist(block: Block) -> None:
    """Move what a block computes from outside alone in front of the loops around it."""
    around = block.parent_op
    while isinstance(around, (st.Apply, scf.For)) and around.parent is not None:
        inside = set(block.args)
        for op in [each for each in block if not isinstance(each, arith.Constant)]:
            if isinstance(op, (arith.Elementwise, arith.Cast)) and inside.isdisjoint(op.operands):
                constants = [
                    value.op for value in op.operands if value.op is not None and value.block is block
                ]
                for each in (*dict.fromkeys(constants), op):
                    around.parent.insert_before(around, each)
            else:
                inside.update(op.results)
        block, around = around.parent, around.parent.parent_op


def _has_recipe(op: arith.Elementwise) -> bool:
    dtype = dtype_of(op.args[0].type)
    return (op.fn in RECIPES and dtype in (f32, f16, bf16)) or (op.fn in INTEGERS and dtype.is_integer)


def _expand(op: arith.Elementwise) -> None:
    at = Builder.before(op)
    dtype = dtype_of(op.args[0].type)
    if dtype.is_integer:
        op.replace_with([INTEGERS[op.fn](*(Number(at, arg) for arg in op.args)).value])
        return
    numbers = [Number(at, _converted(at, arg)) for arg in op.args]
    made = RECIPES[op.fn](*numbers).value
    if dtype is not f32 and dtype_of(made.type) is f32:
        made = at.value(arith.Cast.to(made, dtype))
    made.name = op.result.name
    op.replace_with([made])


def _converted(at: Builder, value: Value) -> Value:
    return value if dtype_of(value.type) is f32 else at.value(arith.Cast.to(value, f32))
