# SPDX-License-Identifier: Apache-2.0
"""Functions of float32 that no unit of arch 2201 has, spelt in those that it has.

Each recipe takes `Number`s, whose operators append operations, and keeps the bound that the number table states for
its function, given that `exp`, `log` and `sqrt` are within one unit in the last place. The identities for small
arguments of `expm1` and `log1p` are Kahan's (the rounding of `1 + x` divides out); polynomials are minimax fits of
relative error, made by weighted least squares in float64 for this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import f32, i1
from pyasc.ir.types import dtype_of, with_dtype

_INFINITY = math.inf
_LARGE = 1e15
"""Beyond its square root's square nothing is left of an added 1."""
_HALF_PI_PARTS = (1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.563344151594519e-12)
"""pi / 2 as a sum; products of all parts but the last with whole numbers below 2**13 are exact."""
_REDUCIBLE = 12000.0
"""Angles up to here keep their accuracy when multiples of pi / 2 are taken away."""
_ATAN = (
    -0.33333315505533295,
    0.19998489451375698,
    -0.14243848988425334,
    0.10596003232111213,
    -0.06083457247622624,
)
_SIN = (-0.16666654943817502, 0.008332178152059475, -0.00019517299658355097)
_COS = (0.04166664686624739, -0.0013887367507814192, 2.4438450813032967e-05)


@dataclass(frozen=True)
class Number:
    """A value under construction: operators append operations at `at`."""

    at: Builder
    value: Value

    def call(self, fn: str, *others: Number | float) -> Number:
        """A function of the number table."""
        args = [self.value, *(self.constant(each).value for each in others)]
        return Number(self.at, self.at.value(arith.Elementwise(fn=fn, args=args)))

    def constant(self, number: Number | float) -> Number:
        """A number as it is, or a constant of this one's type."""
        if isinstance(number, Number):
            return number
        dtype = dtype_of(self.value.type)
        value = float(number) if dtype.is_float else int(number)
        made = arith.Constant(value=value, types=[with_dtype(self.value.type, f32 if dtype is i1 else dtype)])
        return Number(self.at, self.at.value(made))

    def __add__(self, other: Number | float) -> Number:
        return self.call("add", other)

    def __sub__(self, other: Number | float) -> Number:
        return self.call("sub", other)

    def __mul__(self, other: Number | float) -> Number:
        return self.call("mul", other)

    def __truediv__(self, other: Number | float) -> Number:
        return self.call("div", other)

    def __neg__(self) -> Number:
        return self.call("neg")

    def __abs__(self) -> Number:
        return self.call("abs")

    def __lt__(self, other: Number | float) -> Number:
        return self.call("lt", other)

    def __gt__(self, other: Number | float) -> Number:
        return self.call("gt", other)

    def __ge__(self, other: Number | float) -> Number:
        return self.call("ge", other)

    def equals(self, other: Number | float) -> Number:
        """Whether both are the same number."""
        return self.call("eq", other)

    def __and__(self, other: Number) -> Number:
        return self.call("and", other)

    def __or__(self, other: Number) -> Number:
        return self.call("or", other)

    def where(self, then: Number, otherwise: Number | float) -> Number:
        """One of two numbers, by a condition."""
        return self.call("select", then, then.constant(otherwise))

    def exp(self) -> Number:
        """E to this power."""
        return self.call("exp")

    def log(self) -> Number:
        """The natural logarithm."""
        return self.call("log")

    def sqrt(self) -> Number:
        """The square root."""
        return self.call("sqrt")


def polynomial(square: Number, coefficients: Sequence[float]) -> Number:
    """`square * (c0 + square * (c1 + ...))`, by Horner's rule."""
    total = square.constant(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * square + coefficient
    return total * square


def sign(x: Number) -> Number:
    """-1, 0 or 1; NaN stays. Of integers, what lies between -1 and 1 is its own sign."""
    dtype = dtype_of(x.value.type)
    if dtype.is_integer and dtype is not i1:
        limited = x.call("minimum", 1.0)
        return limited if dtype.kind == "u" else limited.call("maximum", -1.0)
    zero = x.constant(0.0)
    if dtype_of(x.value.type).kind == "u":
        return (x > 0).where(x.constant(1.0), zero)
    return (x > 0.0).where(x.constant(1.0), (x < 0.0).where(x.constant(-1.0), x.equals(0.0).where(zero, x)))


def signbit(x: Number) -> Number:
    """Negative numbers and -0, whose inverse is negative; NaN counts as positive."""
    return (x < 0.0) | (x.equals(0.0) & (x.constant(1.0) / x < 0.0))


def copysign(x: Number, y: Number) -> Number:
    """The magnitude of one with the sign of the other."""
    size = abs(x)
    return signbit(y).where(-size, size)


def isinf(x: Number) -> Number:
    """The magnitude is infinite."""
    return abs(x).equals(_INFINITY)


def isfinite(x: Number) -> Number:
    """The magnitude is less than infinity, which it is not for NaN."""
    return abs(x) < _INFINITY


def expm1(x: Number) -> Number:
    """exp(x) - 1, with the rounding of exp(x) divided out by its own logarithm."""
    power = x.exp()
    less = power - 1.0
    scaled = less * (x / power.log())
    rough = power.equals(_INFINITY) | less.equals(-1.0) | (abs(x) > 17.5)
    return power.equals(1.0).where(x, rough.where(less, scaled))


def log1p(x: Number) -> Number:
    """log(1 + x), with the rounding of 1 + x divided out."""
    more = x + 1.0
    scaled = more.log() * (x / (more - 1.0))
    whole = more.equals(_INFINITY) | more.equals(0.0)
    return more.equals(1.0).where(x, whole.where(more.log(), scaled))


def log2(x: Number) -> Number:
    """The natural logarithm times 1 / ln 2."""
    return x.log() * (1 / math.log(2))


def log10(x: Number) -> Number:
    """The natural logarithm times 1 / ln 10."""
    return x.log() * (1 / math.log(10))


def cbrt(x: Number) -> Number:
    """A power by exponential and logarithm, then one step of Newton's method; the sign is kept."""
    size = abs(x)
    root = (size.log() * (1 / 3)).exp()
    better = root - (root - size / (root * root)) * (1 / 3)
    plain = size.equals(0.0) | size.equals(_INFINITY)
    return copysign(plain.where(size, better), x)


def hypot(x: Number, y: Number) -> Number:
    """The larger side times sqrt(1 + ratio ** 2); an infinity wins over NaN."""
    a, b = abs(x), abs(y)
    large, small = (a > b).where(a, b), (a > b).where(b, a)
    ratio = small / large
    length = large * (ratio * ratio + 1.0).sqrt()
    length = large.equals(0.0).where(large, length)
    infinite = a.equals(_INFINITY) | b.equals(_INFINITY)
    return infinite.where(x.constant(_INFINITY), length)


def sinh(x: Number) -> Number:
    """By expm1; half a power where the other one vanishes, squared from halves so that it does not overflow early."""
    size = abs(x)
    part = expm1(size)
    near = (part + part / (part + 1.0)) * 0.5
    return copysign((size > 20.0).where(_half_power(size), near), x)


def cosh(x: Number) -> Number:
    """The mean of both powers."""
    size = abs(x)
    power = size.exp()
    near = (power + size.constant(1.0) / power) * 0.5
    return (size > 20.0).where(_half_power(size), near)


def _half_power(size: Number) -> Number:
    """exp(size) / 2 without overflow before the result has it."""
    root = (size * 0.5).exp()
    return (root * 0.5) * root


def asinh(x: Number) -> Number:
    """log1p(a + a*a / (1 + sqrt(a*a + 1))), and log(a) + ln 2 for large a."""
    size = abs(x)
    square = size * size
    near = log1p(size + square / ((square + 1.0).sqrt() + 1.0))
    return copysign((size > _LARGE).where(size.log() + math.log(2), near), x)


def acosh(x: Number) -> Number:
    """log1p(t + sqrt(2t + t*t)) of t = x - 1."""
    above = x - 1.0
    near = log1p(above + (above * 2.0 + above * above).sqrt())
    near = (above < 0.0).where(x.constant(math.nan), near)
    return (x > _LARGE).where(x.log() + math.log(2), near)


def atanh(x: Number) -> Number:
    """log1p(2a / (1 - a)) / 2 with the sign of x."""
    size = abs(x)
    return copysign(log1p(size * 2.0 / (size.constant(1.0) - size)) * 0.5, x)


def _small_atan(t: Number) -> Number:
    """For |t| up to tan(pi / 8)."""
    return t + t * polynomial(t * t, _ATAN)


def _positive_atan(a: Number) -> Number:
    """For a >= 0, turned into the range of the polynomial by a quarter or an eighth of the circle."""
    steep, middle = a > math.tan(3 * math.pi / 8), a > math.tan(math.pi / 8)
    turned = a.constant(-1.0) / a
    shifted = a.equals(_INFINITY).where(a.constant(1.0), (a - 1.0) / (a + 1.0))
    reduced = steep.where(turned, middle.where(shifted, a))
    begin = steep.where(a.constant(math.pi / 2), middle.where(a.constant(math.pi / 4), 0.0))
    return begin + _small_atan(reduced)


def atan(x: Number) -> Number:
    """The angle of a slope."""
    return copysign(_positive_atan(abs(x)), x)


def asin(x: Number) -> Number:
    """The angle whose tangent is x / sqrt((1 - x)(1 + x))."""
    one = x.constant(1.0)
    slope = x / ((one - x) * (one + x)).sqrt()
    return atan(slope)


def acos(x: Number) -> Number:
    """Twice the angle whose tangent is sqrt((1 - x) / (1 + x))."""
    one = x.constant(1.0)
    return _positive_atan(((one - x) / (one + x)).sqrt()) * 2.0


def atan2(y: Number, x: Number) -> Number:
    """The angle of a point, by the slope of its magnitudes; of two zeros or two infinities by their signs."""
    tall, wide = abs(y), abs(x)
    same = tall.equals(wide) & (tall.equals(0.0) | tall.equals(_INFINITY))
    level = tall.equals(0.0).where(tall, 1.0)
    angle = _positive_atan(same.where(level, tall / wide))
    left = (x.constant(math.pi) - angle) - 8.742277657347586e-08
    return copysign(signbit(x).where(left, angle), y)


def _turned(x: Number) -> tuple[Number, Number]:
    """The quarter turns in an angle, and what is left of it; NaN where it is too large to tell."""
    turns = (x * (2 / math.pi)).call("rint")
    rest = x
    for part in _HALF_PI_PARTS:
        rest = rest - turns * part
    known = abs(x) < _REDUCIBLE
    return turns, known.where(rest, math.nan)


def _sin_and_cos(rest: Number) -> tuple[Number, Number]:
    square = rest * rest
    sine = rest + rest * polynomial(square, _SIN)
    cosine = (square * -0.5 + 1.0) + square * polynomial(square, _COS)
    return sine, cosine


def _modulo(turns: Number, count: float) -> Number:
    return turns - (turns * (1 / count)).call("floor") * count


def sin(x: Number) -> Number:
    """By quarter turns; NaN beyond angles of 12000."""
    turns, rest = _turned(x)
    sine, cosine = _sin_and_cos(rest)
    quarter = _modulo(turns, 4.0)
    odd = _modulo(turns, 2.0).equals(1.0)
    value = odd.where(cosine, sine)
    return x.equals(0.0).where(x, (quarter > 1.5).where(-value, value))


def cos(x: Number) -> Number:
    """By quarter turns; NaN beyond angles of 12000."""
    turns, rest = _turned(x)
    sine, cosine = _sin_and_cos(rest)
    quarter = _modulo(turns, 4.0)
    odd = _modulo(turns, 2.0).equals(1.0)
    value = odd.where(sine, cosine)
    negative = quarter.equals(1.0) | quarter.equals(2.0)
    return negative.where(-value, value)


def tan(x: Number) -> Number:
    """The quotient of sine and cosine; NaN beyond angles of 12000."""
    turns, rest = _turned(x)
    sine, cosine = _sin_and_cos(rest)
    odd = _modulo(turns, 2.0).equals(1.0)
    value = odd.where(-cosine / sine, sine / cosine)
    return x.equals(0.0).where(x, value)


def exp2(x: Number) -> Number:
    """A power of two by squares for the whole part, times the exponential of the rest."""
    inside = x.call("minimum", 200.0).call("maximum", -200.0)
    whole = inside.call("rint")
    first = (whole * 0.5).call("trunc")
    rest = ((inside - whole) * math.log(2)).exp()
    return times_power(times_power(rest, first), whole - first)


def times_power(x: Number, exponent: Number) -> Number:
    """X times two to a whole number of magnitude at most 127, exactly."""
    left, power = abs(exponent), x.constant(1.0)
    for bit in (64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0):
        taken = left >= bit
        power = taken.where(power * 2.0**bit, power)
        left = taken.where(left - bit, left)
    return (exponent < 0.0).where(x / power, x * power)


FUNCTIONS: dict[str, Callable[..., Number]] = {
    each.__name__: each
    for each in (
        *(sign, signbit, copysign, isinf, isfinite, expm1, log1p, log2, log10, cbrt, hypot, exp2),
        *(sinh, cosh, asinh, acosh, atanh, atan, asin, acos, atan2, sin, cos, tan),
    )
}
"""By the name of the function in the number table."""
