# SPDX-License-Identifier: Apache-2.0
"""Reductions that keep an extreme and where it first was, told by what their combiner does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, st
from pyasc.ir.dtypes import DType, bf16, f32
from pyasc.ir.numbers_eval import carried, evaluate
from pyasc.ir.numbers_half import Array, carrier
from pyasc.ir.types import dtype_of

_VALUES = (float("nan"), float("-inf"), -1.0, -0.0, 0.0, 1.0, float("inf"))
_Wins = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class ArgExtreme:
    """The function, and whether NaN is an extreme (as NumPy has it) or never larger nor smaller (as Python has it)."""

    fn: str
    nan_wins: bool


_RULES: tuple[tuple[ArgExtreme, _Wins], ...] = (
    (ArgExtreme("maximum", False), lambda old, new: new > old),
    (ArgExtreme("minimum", False), lambda old, new: new < old),
    (ArgExtreme("maximum", True), lambda old, new: (new > old) | (np.isnan(new) & ~np.isnan(old))),
    (ArgExtreme("minimum", True), lambda old, new: (new < old) | (np.isnan(new) & ~np.isnan(old))),
)


def arg_extreme(op: st.Apply) -> ArgExtreme | None:
    """What an op of two results is, if its combiner keeps one of two values and the number that belongs to it.

    The combiner is run on all pairs of values that it may tell apart, earlier numbers first.
    """
    block = op.combine.block if op.combined else None
    if len(op.combined) != 2 or len(op.outputs) != 2 or op.guarded or block is None:
        return None
    types = [dtype_of(arg.type) for arg in block.args]
    if types[0].name not in ("f32", "f16", "bf16") or types[1].name not in ("i64", "i32"):
        return None
    if not all(isinstance(each, (arith.Elementwise, arith.Constant)) for each in list(block)[:-1]):
        return None
    old: Array = np.repeat(_VALUES, len(_VALUES))
    new: Array = np.tile(_VALUES, len(_VALUES))
    numbers = [np.full(old.shape, number) for number in (3, 5)]
    made = _run(block, [old, numbers[0], new, numbers[1]])
    for rule, wins in _RULES:
        chosen = wins(old, new)
        same = np.array_equal(made[0], np.where(chosen, new, old), equal_nan=True)
        if same and np.array_equal(made[1], np.where(chosen, numbers[1], numbers[0])):
            return rule
    return None


def _run(block: Block, given: list[Array]) -> list[Array]:
    known: dict[Value, Array] = {
        arg: np.asarray(array, carrier(_dtype(arg))) for arg, array in zip(block.args, given, strict=True)
    }
    for op in block:
        if isinstance(op, arith.Constant):
            known[op.result] = carried(op.value, _dtype(op.result))
        elif isinstance(op, arith.Elementwise):
            args = [known[arg] for arg in op.args]
            known[op.result] = evaluate(op.fn, *args, dtype=_dtype(op.args[-1]))
    return [known[value] for value in block.terminator.operands]


def _dtype(value: Value) -> DType:
    """What a value is computed in here: bfloat16 has the values of the trial, and their order, from float32."""
    dtype = dtype_of(value.type)
    return f32 if dtype is bf16 else dtype
