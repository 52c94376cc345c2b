# SPDX-License-Identifier: Apache-2.0
"""Functions composed of others: activations and normalisations, in the type of their operand.

float16 and bfloat16 are computed in float32 and rounded once.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from pyasc.frontend import arithmetic, numeric
from pyasc.frontend.elementwise import table_function
from pyasc.frontend.reductions import axes_of, max_, mean, sum_
from pyasc.frontend.values import MINUS_ONE, NONE, TRUE, Const, Val, is_number
from pyasc.frontend.visitor import Visitor
from pyasc.ir import dtypes

_ADD, _SUB, _MUL, _DIV = (arithmetic.BINARY[op] for op in (ast.Add, ast.Sub, ast.Mult, ast.Div))
_LAYER_EPS = Const(1e-5)
_RMS_EPS = Const(1e-6)


def _in_float32(v: Visitor, x: Val, compute: Callable[[Val], Val]) -> Val:
    """Compute on a float operand, narrow floats in float32."""
    value = numeric.operand(v, x)
    number = numeric.number_type(v, value)
    if not number.dtype.is_float:
        value = numeric.cast_to(v, value, dtypes.f32, weak=number.weak)
        return compute(value)
    if number.dtype.bits >= 32:
        return compute(value)
    return numeric.cast_to(v, compute(numeric.cast_to(v, value, dtypes.f32)), number.dtype)


def relu(v: Visitor, x: Val) -> Val:
    """`asc.relu`: NaN stays, as in NumPy's maximum; bools are what they are."""
    value = numeric.operand(v, x)
    if numeric.number_type(v, value).dtype.is_bool:
        return value
    return table_function(v, "maximum", (x, Const(0)))


def clip(v: Visitor, x: Val, low: Val, high: Val) -> Val:
    """`asc.clip`; either bound may be None."""
    x = numeric.operand(v, x)
    if low != NONE:
        x = table_function(v, "maximum", (x, low))
    return x if high == NONE else table_function(v, "minimum", (x, high))


def square(v: Visitor, x: Val) -> Val:
    """`asc.square`."""
    return arithmetic.binary(v, _MUL, x, x)


def reciprocal(v: Visitor, x: Val) -> Val:
    """`asc.reciprocal`."""
    return arithmetic.binary(v, _DIV, Const(1.0), x)


def sigmoid(v: Visitor, x: Val) -> Val:
    """`asc.sigmoid`."""
    return _in_float32(v, x, lambda value: _sigmoid(v, value))


def _sigmoid(v: Visitor, x: Val) -> Val:
    denominator = arithmetic.binary(v, _ADD, Const(1.0), table_function(v, "exp", (arithmetic.negate(v, x),)))
    return arithmetic.binary(v, _DIV, Const(1.0), denominator)


def silu(v: Visitor, x: Val) -> Val:
    """`asc.silu`."""
    return _in_float32(v, x, lambda value: arithmetic.binary(v, _MUL, value, _sigmoid(v, value)))


def gelu(v: Visitor, x: Val) -> Val:
    """`asc.gelu`, with the error function."""

    def compute(value: Val) -> Val:
        scaled = table_function(v, "erf", (arithmetic.binary(v, _MUL, value, Const(math.sqrt(0.5))),))
        factor = arithmetic.binary(v, _ADD, Const(1.0), scaled)
        return arithmetic.binary(v, _MUL, arithmetic.binary(v, _MUL, value, factor), Const(0.5))

    return _in_float32(v, x, compute)


def _axis(v: Visitor, value: Val, axis: Val) -> Val:
    if is_number(value):
        raise v.error(None, "PA0402", "expected an array, found a number")
    return Const(axes_of(v, axis, len(numeric.shape_of(value)))[0])


def softmax(v: Visitor, x: Val, axis: Val = MINUS_ONE) -> Val:
    """`asc.softmax`: shifted by the maximum, so that nothing overflows."""

    def compute(value: Val) -> Val:
        along = _axis(v, value, axis)
        shifted = arithmetic.binary(v, _SUB, value, max_(v, value, along, TRUE))
        powers = table_function(v, "exp", (shifted,))
        return arithmetic.binary(v, _DIV, powers, sum_(v, powers, along, TRUE))

    return _in_float32(v, x, compute)


def log_softmax(v: Visitor, x: Val, axis: Val = MINUS_ONE) -> Val:
    """`asc.log_softmax`."""

    def compute(value: Val) -> Val:
        along = _axis(v, value, axis)
        shifted = arithmetic.binary(v, _SUB, value, max_(v, value, along, TRUE))
        total = sum_(v, table_function(v, "exp", (shifted,)), along, TRUE)
        return arithmetic.binary(v, _SUB, shifted, table_function(v, "log", (total,)))

    return _in_float32(v, x, compute)


def layer_norm(v: Visitor, x: Val, weight: Val = NONE, bias: Val = NONE, eps: Val = _LAYER_EPS) -> Val:
    """`asc.layer_norm` over the last axis."""

    def compute(value: Val) -> Val:
        along = _axis(v, value, MINUS_ONE)
        centred = arithmetic.binary(v, _SUB, value, mean(v, value, along, TRUE))
        scaled = _normalised(v, centred, centred, along, eps)
        scaled = scaled if weight == NONE else arithmetic.binary(v, _MUL, scaled, weight)
        return scaled if bias == NONE else arithmetic.binary(v, _ADD, scaled, bias)

    return _in_float32(v, x, compute)


def rms_norm(v: Visitor, x: Val, weight: Val = NONE, eps: Val = _RMS_EPS) -> Val:
    """`asc.rms_norm` over the last axis."""

    def compute(value: Val) -> Val:
        scaled = _normalised(v, value, value, _axis(v, value, MINUS_ONE), eps)
        return scaled if weight == NONE else arithmetic.binary(v, _MUL, scaled, weight)

    return _in_float32(v, x, compute)


def _normalised(v: Visitor, value: Val, squared: Val, along: Val, eps: Val) -> Val:
    """`value / sqrt(mean(squared ** 2) + eps)`."""
    square = mean(v, arithmetic.binary(v, _MUL, squared, squared), along, TRUE)
    root = table_function(v, "sqrt", (arithmetic.binary(v, _ADD, square, eps),))
    return arithmetic.binary(v, _DIV, value, root)
