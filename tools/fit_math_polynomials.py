# SPDX-License-Identifier: Apache-2.0
"""Fits the polynomials of the kernel runtime's functions and prints them as C++ literals.

A fit minimises the largest weighted error over an interval with the exchange algorithm of Remez, in a
Chebyshev basis; its coefficients are then rounded to the format of the function, and those of float32 moved by
a few units in the last place as long as that lowers the error. Deterministic: the output is what stands
in pyasc/codegen/cpp/include.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.polynomial import polyval
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

LN2 = np.log(np.longdouble(2))
TINY = np.longdouble(1e-9)
GRID = 3000


@dataclass(frozen=True)
class Fit:
    """A function to approximate on an interval, and the weight that turns an error into a relative one."""

    name: str
    function: Callable[[Array], Array]
    weight: Callable[[Array], Array]
    low: float
    high: float
    degree: int
    single: bool = True

    def nodes(self, count: int) -> tuple[Array, Array]:
        """Chebyshev points in [-1, 1], and where they fall in the interval."""
        t = np.cos(np.linspace(np.pi, 0, count))
        return t, (self.low + self.high) / 2 + (self.high - self.low) / 2 * t


def remez(fit: Fit) -> Array:
    """Return the coefficients, constant term first, of the minimax polynomial on a fine grid."""
    t, x = fit.nodes(GRID)
    f, w = sample(fit, x)
    basis = chebvander(t, fit.degree)
    count = fit.degree + 2
    alternation = [int(np.argmin(abs(t - c))) for c in np.cos(np.linspace(np.pi, 0, count))]
    solution = np.zeros(count)
    for _ in range(30):
        signs = (-1.0) ** np.arange(count) / w[alternation]
        solution = np.linalg.solve(np.hstack([basis[alternation], signs[:, None]]), f[alternation])
        found = extrema(w * (f - basis @ solution[:-1]), count)
        if len(found) < count or found == alternation:
            break
        alternation = found
    return Chebyshev(solution[:-1], [fit.low, fit.high]).convert(kind=Polynomial).coef


def extrema(error: Array, count: int) -> list[int]:
    """The largest error of each run of one sign, the weaker end dropped until `count` are left."""
    edges = [0, *(np.flatnonzero(np.diff(np.sign(error))) + 1), len(error)]
    tops = [a + int(np.argmax(abs(error[a:b]))) for a, b in itertools.pairwise(edges)]
    while len(tops) > count:
        tops.pop(0 if abs(error[tops[0]]) < abs(error[tops[-1]]) else -1)
    return tops


def sample(fit: Fit, x: Array) -> tuple[Array, Array]:
    """The function and its weight at points, computed in extended and returned in double precision."""
    wide = x.astype(np.longdouble)
    return fit.function(wide).astype(np.float64), fit.weight(wide).astype(np.float64)


def rounded(fit: Fit, coefficients: Array) -> tuple[list[float], float]:
    """Coefficients in the format of the function, with the weighted error they reach."""
    _, x = fit.nodes(1200)
    f, w = sample(fit, x)

    def error(c: list[float]) -> float:
        return float(np.abs(w * (f - polyval(x, c))).max())

    if not fit.single:
        best = [float(c) for c in coefficients]
        return best, error(best)
    best = [float(np.float32(c)) for c in coefficients]
    while (better := nudged(best, error)) is not None:
        best = better
    return best, error(best)


def nudged(start: list[float], error: Callable[[list[float]], float]) -> list[float] | None:
    """Move up to three of the leading coefficients by a unit; return an improvement or None."""
    best, lowest = start, error(start) * 0.9999
    for many in (1, 2, 3):
        for which in itertools.combinations(range(min(6, len(start))), many):
            for ways in itertools.product((-np.inf, np.inf), repeat=many):
                moved = list(start)
                for i, way in zip(which, ways, strict=True):
                    moved[i] = float(np.nextafter(np.float32(moved[i]), np.float32(way)))
                if (e := error(moved)) < lowest:
                    best, lowest = moved, e
    return None if best is start else best


def literal(value: float, single: bool) -> str:
    """A hexadecimal C++ literal without trailing zeros."""
    mantissa, exponent = value.hex().split("p")
    digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{digits}p{int(exponent)}" + ("f" if single else "")


def away_from_zero(x: Array) -> Array:
    """x, with numbers too near to 0 for a quotient replaced by a small one."""
    return np.where(abs(x) < 1e-7, np.longdouble(1e-7), x)


def odd_tail(function: Callable[[Array], Array], leading: float) -> Callable[[Array], Array]:
    """(function(r) - r) / r^3 as a function of z = r^2, which tends to `leading`."""

    def tail(z: Array) -> Array:
        r = np.sqrt(np.maximum(z, TINY))
        return np.where(z < 1e-7, leading, (function(r) - r) / r**3)

    return tail


def odd_weight(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The weight r^3 / function(r) of an odd tail."""
    return lambda z: np.maximum(z, TINY) ** 1.5 / function(np.sqrt(np.maximum(z, TINY)))


def exp_tail(r: Array) -> Array:
    r = away_from_zero(r)
    return (np.expm1(r) - r) / (r * r)


def log_tail(base: np.longdouble) -> Callable[[Array], Array]:
    """(log(1 + f) - f) / f^2 in a base."""

    def tail(f: Array) -> Array:
        f = away_from_zero(f)
        return (np.log1p(f) - f) / (f * f) / base

    return tail


def cos_tail(z: Array) -> Array:
    """(cos r - 1 + r^2/2) / r^4, through 1 - cos r = 2 sin^2(r/2) to keep digits."""
    z = np.maximum(z, np.longdouble(1e-5))
    s = np.sin(np.sqrt(z) / 2)
    return (z / 2 - 2 * s * s) / (z * z)


def erfc_scaled_tail(t: Array) -> Array:
    a = 3 * (1 + t) / (1 - t)
    return special.erfcx(a.astype(np.float64)) * (a + 3)


def erf_of(x: Array) -> Array:
    return special.erf(np.maximum(x, TINY).astype(np.float64))


def root(z: Array) -> Array:
    return np.sqrt(np.maximum(z, TINY))


HALF_LN2 = float(LN2) / 2 * 1.01
QUARTER_PI_SQUARED = (np.pi / 4 * 1.001) ** 2
LOG_LOW, LOG_HIGH = 0.5**0.5 - 1 - 1e-6, 2**0.5 - 1 + 1e-6


def log_fit(name: str, base: np.longdouble, low: float = LOG_LOW, high: float = LOG_HIGH) -> Fit:
    """The tail of a logarithm over one octave around 1."""
    return Fit(name, log_tail(base), lambda f: base * f * f / abs(np.log1p(away_from_zero(f))), low, high, 8)


def exp2_fit(name: str, high: float, single: bool) -> Fit:
    """(2^r - 1) / r."""
    return Fit(
        name,
        lambda r: np.expm1(away_from_zero(r) * LN2) / away_from_zero(r),
        lambda r: abs(r) / np.exp2(r) + TINY,
        -high,
        high,
        6,
        single,
    )


FITS = (
    Fit("exp", exp_tail, lambda r: r * r / np.exp(r) + TINY, -HALF_LN2, HALF_LN2, 4),
    Fit("expm1", exp_tail, lambda r: abs(r * r / np.expm1(away_from_zero(r))) + TINY, -HALF_LN2, HALF_LN2, 5),
    exp2_fit("exp2", 0.505, True),
    exp2_fit("exp2, wide", 0.5, False),
    log_fit("log", np.longdouble(1), -0.25, 0.5),
    log_fit("log1p", np.longdouble(1)),
    log_fit("log2", LN2),
    log_fit("log10", np.log(np.longdouble(10))),
    Fit(
        "log2, wide",
        lambda f: np.log1p(away_from_zero(f)) / away_from_zero(f) / LN2,
        lambda f: away_from_zero(f) / np.log1p(away_from_zero(f)) * LN2,
        LOG_LOW,
        LOG_HIGH,
        12,
        single=False,
    ),
    Fit("sin", odd_tail(np.sin, -1 / 6), odd_weight(np.sin), 0, QUARTER_PI_SQUARED, 2),
    Fit("cos", cos_tail, lambda z: z * z / np.cos(np.sqrt(z)) + TINY, 0, QUARTER_PI_SQUARED, 2),
    Fit("atan", odd_tail(np.arctan, -1 / 3), odd_weight(np.arctan), 0, 1, 8),
    Fit("asin", odd_tail(np.arcsin, 1 / 6), odd_weight(np.arcsin), 0, 0.2505, 4),
    Fit(
        "erf, inner",
        lambda z: erf_of(root(z)) / root(z) - 1,
        lambda z: root(z) / erf_of(root(z)),
        0,
        0.92**2,
        5,
    ),
    Fit(
        "-log erfc",
        lambda t: -np.log(special.erfc(t.astype(np.float64))),
        lambda t: special.erfc(t.astype(np.float64)) / erf_of(t),
        0.92,
        3.93,
        6,
    ),
    Fit("erfc, scaled", erfc_scaled_tail, lambda t: 1 / erfc_scaled_tail(t), -1, 7.06 / 13.06, 9),
)


def main() -> None:
    """Print every fit with its error before and after rounding."""
    for fit in FITS:
        exact = remez(fit)
        _, x = fit.nodes(GRID)
        f, w = sample(fit, x)
        smallest = np.abs(w * (f - polyval(x, exact))).max()
        coefficients, error = rounded(fit, exact)
        print(f"{fit.name}: error 2^{np.log2(smallest):.2f}, rounded 2^{np.log2(error):.2f}")
        print("    " + ", ".join(literal(c, fit.single) for c in coefficients))


if __name__ == "__main__":
    main()
