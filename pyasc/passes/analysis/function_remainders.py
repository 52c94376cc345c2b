# SPDX-License-Identifier: Apache-2.0
"""`//` and `%` of floats as Python and NumPy define them, spelt in the remainder of C.

All of it is float32: the remainder is exact there, and each step behind it is rounded as the `cpu` rounds it. A
remainder by a power of two is spelt out; any other stays `fmod`, which the cores subtract bit by bit.
"""

from __future__ import annotations

import math

from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.function_recipes import Number

_EXACT_WHOLE = 2.0**24
"""From here on all float32 numbers are whole and even."""
_LARGEST_EXPONENT = 126
"""Powers of two up to here have a reciprocal that is no subnormal number."""


def remainder(a: Number, b: Number) -> Number:
    """What is left of a division rounded towards zero; it has the sign of `a`."""
    power = _power_of_two(b)
    if power is None:
        return a.call("fmod", b)
    # A product with a power of two is exact while it stays in range. Below the range the quotient is less than 1, and
    # so is what it is rounded to; above it, and from 2**24 on, `a` is a multiple of the power. `a * 0.0` is a zero with
    # the sign of `a`, and NaN where `a` is infinite.
    quotient = a * (1.0 / power)
    zero = a * 0.0
    rest = a - quotient.call("trunc") * power
    broken = abs(quotient) < _EXACT_WHOLE
    return (broken & rest.call("ne", 0.0)).where(rest, zero)


def _power_of_two(b: Number) -> float | None:
    """The magnitude of a known divisor, where it is a power of two."""
    known = constant_of(b.value)
    if not isinstance(known, float) or not math.isfinite(known) or known == 0.0:
        return None
    mantissa, exponent = math.frexp(abs(known))
    return abs(known) if mantissa == 0.5 and abs(exponent - 1) <= _LARGEST_EXPONENT else None


def _signs_differ(rest: Number, b: Number) -> Number:
    """Whether a remainder that is no zero has another sign than the divisor."""
    one = b.constant(1.0)
    return rest * (b < 0.0).where(-one, one) < 0.0


def floor_modulo(a: Number, b: Number) -> Number:
    """What is left of a division rounded down; it has the sign of `b`."""
    rest = remainder(a, b)
    moved = _signs_differ(rest, b).where(rest + b, rest)
    zero = (b < 0.0).where(b.constant(-0.0), 0.0)
    return rest.equals(0.0).where(zero, moved)


def floor_divide(a: Number, b: Number) -> Number:
    """The quotient rounded down, as NumPy has it: (a - rest) / b, which is whole but for rounding."""
    rest = remainder(a, b)
    quotient = (a - rest) / b
    quotient = _signs_differ(rest, b).where(quotient - 1.0, quotient)
    whole = quotient.call("floor")
    whole = (quotient - whole > 0.5).where(whole + 1.0, whole)
    plain = a / b
    # The plain quotient is less than 1 there, so that this is a zero with its sign.
    made = quotient.equals(0.0).where(plain * 0.0, whole)
    return b.equals(0.0).where(plain, made)


def integer_remainder(a: Number, b: Number) -> Number:
    """Of integers: the floor modulo, moved to the sign of `a`."""
    rest = a.call("mod", b)
    differ = (a < 0).call("xor", b < 0)
    return (differ & rest.call("ne", 0)).where(rest - b, rest)
