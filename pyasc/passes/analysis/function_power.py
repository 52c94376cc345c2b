# SPDX-License-Identifier: Apache-2.0
"""`x ** y` of float32, by a logarithm that carries twice the digits.

The error of `y * log(x)` is the relative error of the power, so that a float32 logarithm loses seven bits where the
power is large. Sums and products are therefore kept as a rounded value and what its rounding left (Dekker, 1971).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.function_recipes import Number, polynomial, times_power

_LN2 = 0.693145751953125
_LN2_REST = 1.42860682030941723e-06
"""ln 2 as a part of 15 bits, whose product with an exponent is exact, and the rest."""
_THIRD = (0.3333333432674408, -9.934107481068821e-09)
_SERIES = (1 / 5, 1 / 7, 1 / 9, 1 / 11, 1 / 13)
_HUGE_EXPONENT = 1e20
_SCALE = 2.0**64


def integer_power(x: Number, y: Number) -> Number:
    """X ** y of integers by squaring; it wraps, and a negative exponent gives 0."""
    dtype = dtype_of(y.value.type)
    known = constant_of(y.value)
    bits = dtype.bits - (dtype.kind == "i") if known is None else max(int(known), 0).bit_length()
    total, base = x.constant(1), x
    for bit in range(bits):
        taken = (y & y.constant(1 << bit)).call("ne", 0)
        total = taken.where(total * base, total)
        base = base * base
    return (y < 0).where(x.constant(0), total)


@dataclass(frozen=True)
class Pair:
    """A number as the sum of a rounded value and a small rest."""

    high: Number
    low: Number


def _halves(x: Number) -> tuple[Number, Number]:
    """A number as a sum of two with twelve bits each."""
    scaled = x * 4097.0
    high = scaled - (scaled - x)
    return high, x - high


def _product(x: Number, y: Number) -> Pair:
    """The product and what its rounding left, exactly."""
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return Pair(product, ((a * c - product) + a * d + b * c) + b * d)


def _sum(x: Number, y: Number) -> Pair:
    """The sum and what its rounding left, exactly."""
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def _log_of_mantissa(m: Number) -> Pair:
    """log(m) of m near one, as 2 atanh(s) of s = (m - 1) / (m + 1)."""
    above, below = m - 1.0, _sum(m, m.constant(1.0))
    s = above / below.high
    back = _product(s, below.high)
    s_low = (((above - back.high) - back.low) - s * below.low) / below.high
    square = _product(s, s)
    square_low = square.low + s * s_low * 2.0
    third = _product(square.high, m.constant(_THIRD[0]))
    tail = square.high * polynomial(square.high, _SERIES)
    rest = square.high * _THIRD[1] + square_low * _THIRD[0] + tail + third.low
    twice = s * 2.0
    part = _product(twice, third.high)
    total = _sum(twice, part.high)
    # What is left of s counts once in s itself and once more in the third of its cube.
    low = s_low * 2.0 * (third.high + 1.0)
    return _sum(total.high, total.low + part.low + low + twice * rest)


def _log(a: Number) -> Pair:
    """The logarithm of a positive finite number."""
    moved = (a < 1.2e-38).where(a.constant(24.0), (a > 1e30).where(a.constant(-24.0), 0.0))
    scaled = times_power(a, moved)
    exponent = (scaled.log() * (1 / math.log(2))).call("rint")
    mantissa = _log_of_mantissa(times_power(scaled, -exponent))
    exponent = exponent - moved
    total = _sum(exponent * _LN2, mantissa.high)
    return _sum(total.high, total.low + mantissa.low + exponent * _LN2_REST)


def _positive_power(a: Number, y: Number) -> Number:
    """A ** y of a positive finite a."""
    logarithm = _log(a)
    huge = abs(y) > _HUGE_EXPONENT
    exponent = huge.where(y * (1 / _SCALE), y)
    high = huge.where(logarithm.high * _SCALE, logarithm.high)
    low = huge.where(logarithm.low * _SCALE, logarithm.low)
    rough = exponent * high
    outside = abs(rough) > 200.0
    scaled = _product(outside.where(a.constant(0.0), exponent), high)
    power = scaled.high.exp()
    inside = power + power * (scaled.low + exponent * low)
    plain = power.equals(math.inf) | power.equals(0.0)
    limit = (rough > 0.0).where(a.constant(math.inf), 0.0)
    return outside.where(limit, plain.where(power, inside))


def power(x: Number, y: Number) -> Number:
    """X ** y with the special values of C's pow."""
    one, a = x.constant(1.0), abs(x)
    whole = y.call("trunc").equals(y)
    half = y * 0.5
    odd = whole & half.call("trunc").call("ne", half)
    edge = a.equals(0.0) | a.equals(math.inf)
    usual = _positive_power(edge.where(one, a), y)
    zero = a.equals(0.0).call("xor", y < 0.0)
    size = edge.where(zero.where(x.constant(0.0), math.inf), usual)
    size = a.equals(1.0).where(one, size)
    negative = (x < 0.0) | (x.equals(0.0) & (one / x < 0.0))
    signed = (negative & odd).where(-size, size)
    invented = (x < 0.0) & (a < math.inf) & (abs(y) < math.inf) & whole.call("not")
    result = invented.where(x.constant(math.nan), signed)
    missing = x.call("isnan") | y.call("isnan")
    result = missing.where(x.constant(math.nan), result)
    return (y.equals(0.0) | x.equals(1.0)).where(one, result)
