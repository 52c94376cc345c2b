# SPDX-License-Identifier: Apache-2.0
"""Functions of Python's `math` that are loops, written in the kernel language itself; see `composed`.

Arguments are Python ints, or floats where the names are x and y; they are in the function's domain.
"""

from __future__ import annotations

from pyasc.language.math import absolute, copysign, isfinite, isinf, trunc

_STEP = 60
_POWER = float(1 << _STEP)


def gcd(a, b):
    """The greatest common divisor, never negative: Euclid's algorithm."""
    a = absolute(a)
    b = absolute(b)
    while b != 0:
        a, b = b, a % b
    return a


def lcm(a, b):
    """The least common multiple, never negative."""
    result = 0
    if a != 0 and b != 0:
        result = absolute(a // gcd(a, b) * b)
    return result


def isqrt(n):
    """The integer part of the square root, one bit at a time."""
    root = 0
    bit = 1 << 62
    while bit > n:
        bit >>= 2
    while bit != 0:
        if n >= root + bit:
            n -= root + bit
            root = (root >> 1) + bit
        else:
            root >>= 1
        bit >>= 2
    return root


def factorial(n):
    """N! for n that is not negative."""
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def perm(n, k):
    """The number of ways to choose k of n in order."""
    result = 0
    if k <= n:
        result = 1
        for i in range(k):
            result *= n - i
    return result


def comb(n, k):
    """The number of ways to choose k of n. No product is larger than the result."""
    result = 0
    if k <= n:
        result = 1
        for i in range(min(k, n - k)):
            part = i + 1
            common = gcd(result, part)
            result = result // common * ((n - i) // (part // common))
    return result


def ldexp(x, exponent):
    """X * 2**exponent, rounded once: the short step comes first."""
    count = min(max(exponent, -20 * _STEP), 20 * _STEP)
    steps = absolute(count) // _STEP
    factor = float(1 << (absolute(count) % _STEP))
    if count >= 0:
        x = x * factor
        for _ in range(steps):
            x = x * _POWER
    else:
        x = x / factor
        for _ in range(steps):
            x = x / _POWER
    return x


def frexp(x):
    """(m, e) with x = m * 2**e and 0.5 <= |m| < 1; zeros, infinities and NaN have e = 0."""
    exponent = 0
    if isfinite(x) and x != 0:
        while absolute(x) >= 1:
            x = x * 0.5
            exponent += 1
        while absolute(x) < 0.5:
            x = x * 2.0
            exponent -= 1
    return x, exponent


def modf(x):
    """The fraction and the integer part, both with the sign of x."""
    fraction = x - trunc(x)
    if isinf(x):
        fraction = 0.0
    return copysign(fraction, x), trunc(x)


def remainder(x, y):
    """The rest of x / y to the nearest quotient, ties to the even one; exact."""
    size = absolute(y)
    rest = _rest(absolute(x), size)
    other = size - rest
    if rest < other:
        found = rest
    elif rest > other:
        found = -other
    else:
        found = rest - 2.0 * _rest(0.5 * (absolute(x) - rest), size)
    return copysign(1.0, x) * found


def _rest(x, y):
    """Fmod of numbers that are not negative, by subtracting y times powers of two: each difference is exact."""
    rest = x
    if isinf(x) or y == 0 or y != y:
        rest = x * 0.0 / (x * 0.0)
    elif isfinite(y):
        part = y
        while part <= rest * 0.5:
            part = part * 2.0
        while part >= y:
            if rest >= part:
                rest = rest - part
            part = part * 0.5
    return rest


def isclose(x, y, rel_tol, abs_tol):
    """Whether two numbers are as close as the tolerances ask for; infinities are close to themselves alone."""
    distance = absolute(x - y)
    near = distance <= rel_tol * absolute(x) or distance <= rel_tol * absolute(y) or distance <= abs_tol
    return x == y or (not isinf(x) and not isinf(y) and near)
