# SPDX-License-Identifier: Apache-2.0
"""Measures the errors of the kernel runtime's float32 functions and writes docs/math-accuracy.md.

Each function is compared with its float64 counterpart of NumPy or SciPy on every STRIDE-th float32. An
error is given in units in the last place of the exact result: 0.5 is a correctly rounded function.
"""

from __future__ import annotations

import argparse
import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rt_shim import Loop, Shim
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Doubles = NDArray[np.float64]

PAGE = Path(__file__).parents[1] / "docs" / "math-accuracy.md"
CHUNK = 1 << 18
PAIRS = 1 << 22
# Ends of ranges, switches between branches, and points near zeros of the functions.
SPECIAL = np.array(
    """0 inf 1e-45 1.1754944e-38 3.4028235e38 1e30 1.9e38 1e-20 0.1 0.33333334 0.5 0.9999999 1 1.0000001 1.5 2 3 5
    7 9 10 10.05 13 17.5 20 87.33655 88.72283 88.72284 89.41599 103.97208 126 127.99999 128 149 150 367.5 0.7853982
    1.5707964 3.1415927 6.2831855 8388607.5 8388608 16777216 33554432 2147483648""".split(),
    np.float32,
)


@dataclass(frozen=True)
class Function:
    """A runtime function of one float32 argument, its float64 reference and the bound it promises."""

    name: str
    reference: Callable[[Doubles], Doubles]
    bound: float
    note: str = ""


def _gelu_tanh(x: Doubles) -> Doubles:
    """0.5 x (1 + tanh u) as x / (1 + exp(-2u)), which does not cancel for negative x."""
    return x * special.expit(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))


FUNCTIONS = (
    Function("exp", np.exp, 1.25),
    Function("exp2", np.exp2, 1.25),
    Function("expm1", np.expm1, 1.5),
    Function("log", np.log, 1.0),
    Function("log2", np.log2, 2.0),
    Function("log10", np.log10, 2.0),
    Function("log1p", np.log1p, 2.0),
    Function("sqrt", np.sqrt, 0.5, "correctly rounded"),
    Function("rsqrt", lambda x: 1 / np.sqrt(x), 1.5),
    Function("sin", np.sin, 2.0),
    Function("cos", np.cos, 2.0),
    Function("tan", np.tan, 4.0),
    Function("asin", np.arcsin, 3.0),
    Function("acos", np.arccos, 3.0),
    Function("atan", np.arctan, 3.0),
    Function("tanh", np.tanh, 2.0),
    Function("sinh", np.sinh, 3.0),
    Function("cosh", np.cosh, 3.0),
    Function("asinh", np.arcsinh, 4.0),
    Function("acosh", np.arccosh, 4.0),
    Function("atanh", np.arctanh, 4.0),
    Function("erf", special.erf, 2.0),
    Function("erfc", special.erfc, 4.0),
    Function("sigmoid", special.expit, 3.0),
    Function("silu", lambda x: x * special.expit(x), 4.0),
    Function("gelu", lambda x: x * special.ndtr(x), 5.0, "the form with erf"),
    Function("gelu_tanh", _gelu_tanh, 4.0, "the form with tanh"),
    Function("cbrt", np.cbrt, 1.0),
)


@dataclass(frozen=True)
class BinaryFunction:
    """A runtime function of two float32 arguments, its float64 reference and the bound it promises."""

    name: str
    reference: Callable[[Doubles, Doubles], Doubles]
    bound: float


BINARY_FUNCTIONS = (
    BinaryFunction("pow", np.power, 1.0),
    BinaryFunction("atan2", np.arctan2, 2.0),
    BinaryFunction("hypot", np.hypot, 1.0),
)


def make_shim(flags: tuple[str, ...] = ("-march=native",)) -> Shim:
    """Compile one simd loop per function."""
    loops = [Loop(f.name, f"pa_{f.name}(a)", ("f32",), "f32") for f in FUNCTIONS]
    loops += [Loop(f.name, f"pa_{f.name}(a, b)", ("f32", "f32"), "f32") for f in BINARY_FUNCTIONS]
    return Shim(loops, flags)


def float32_chunks(stride: int) -> Iterator[Floats]:
    """Yield every stride-th float32 in the order of its bits, and first the special values of both signs."""
    yield np.concatenate([SPECIAL, -SPECIAL, np.array([np.nan], np.float32)])
    for start in range(stride // 2, 1 << 32, stride * CHUNK):
        bits = np.arange(start, min(start + stride * CHUNK, 1 << 32), stride, dtype=np.uint64)
        yield bits.astype(np.uint32).view(np.float32)


@dataclass(frozen=True)
class Worst:
    """The largest finite error seen, where it was, and inputs whose special result is wrong."""

    ulps: float
    at: float
    wrong: tuple[tuple[float, float, float], ...] = ()

    def merge(self, other: Worst) -> Worst:
        """Return the worse of two findings with the wrong results of both."""
        top = max(self, other, key=lambda w: w.ulps)
        return Worst(top.ulps, top.at, (self.wrong + other.wrong)[:8])


def compare(x: Floats, got: Floats, exact: Doubles) -> Worst:
    """Measure float32 results against float64 ones.

    Where the exact result rounds to a finite, nonzero float32 the error counts in ulps; NaN, infinities and
    zeros (with their signs) must be met exactly, and a finite result must not be NaN.
    """
    with np.errstate(all="ignore"):
        error = np.abs(got - exact) / _unit(exact)
        alike = np.signbit(got) == np.signbit(exact)
        measurable = np.isfinite(error) & (exact != 0) & alike
    bad: tuple[tuple[float, float, float], ...] = ()
    if not measurable.all():
        error = np.where(measurable, error, 0)
        wrong = ~(measurable | _as_special(got, exact))
        bad = tuple((float(x[j]), float(got[j]), float(exact[j])) for j in np.flatnonzero(wrong)[:8])
    i = int(np.argmax(error))
    return Worst(float(error[i]), float(x[i]), bad)


def _unit(exact: Doubles) -> Doubles:
    """The distance of neighbouring float32 numbers at each number: its power of two, that of the least one included."""
    power = (exact.view(np.int64) & (0x7FF << 52)).view(np.float64)
    return np.maximum(power, 2.0**-126) * 2.0**-23


def _as_special(got: Floats, exact: Doubles) -> NDArray[np.bool_]:
    """Where a result that has no error in ulps is what it has to be."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
    alike = np.signbit(got) == np.signbit(rounded)
    same = (got == rounded) & alike | np.isnan(got) & np.isnan(rounded)
    # The largest float32 may come out as infinity, an error within any bound.
    return same | np.isfinite(exact) & (np.abs(rounded) >= np.finfo(np.float32).max) & np.isinf(got) & alike


def measure(shim: Shim, function: Function, stride: int) -> Worst:
    """Return the worst error of one function over the sampled float32 numbers."""
    worst = Worst(0.0, 0.0)
    for x in float32_chunks(stride):
        with np.errstate(all="ignore"):
            exact = np.asarray(function.reference(x.astype(np.float64)))
        worst = worst.merge(compare(x, shim(function.name, x), exact))
    return worst


def edge_pairs() -> tuple[Floats, Floats]:
    """All pairs of special values of both signs."""
    a, b = np.meshgrid(*[next(float32_chunks(1 << 31))] * 2)
    return a.ravel(), b.ravel()


def random_pairs(name: str, count: int) -> tuple[Floats, Floats]:
    """Pairs of any two bit patterns, and as many whose result is neither too large nor too small."""
    rng = np.random.default_rng(17)
    a, b = rng.integers(0, 1 << 32, (2, count), dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        x = np.abs(a)
        exponent = np.where(np.isfinite(x) & (x > 0) & (x != 1), np.log2(x.astype(np.float64)), 1.0)
        scale = np.exp(rng.uniform(-10, 10, count))
        near = rng.uniform(-150, 130, count) / exponent if name == "pow" else a * scale
        return np.concatenate([a, x]), np.concatenate([b, near.astype(np.float32)])


def measure_pairs(shim: Shim, function: BinaryFunction, a: Floats, b: Floats) -> Worst:
    """Return the worst error of a function of two arguments; `at` is the first of them."""
    with np.errstate(all="ignore"):
        exact = np.asarray(function.reference(a.astype(np.float64), b.astype(np.float64)))
    return compare(a, shim(function.name, a, b), exact)


def table(stride: int) -> str:
    """Measure every function and return the page."""
    shim = make_shim()
    # NumPy and the loops of the shim let other threads run.
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda f: measure(shim, f, stride), FUNCTIONS)
        rows = [(f.name, f.bound, f.note, worst) for f, worst in zip(FUNCTIONS, found, strict=True)]
    note = f"on {PAIRS:,} pairs; the first argument is shown"
    for f in BINARY_FUNCTIONS:
        worst = measure_pairs(shim, f, *edge_pairs())
        worst = worst.merge(measure_pairs(shim, f, *random_pairs(f.name, PAIRS // 2)))
        rows.append((f.name, f.bound, note, worst))
    outside = [f"{name}: {w}, bound {bound}" for name, bound, _, w in rows if w.wrong or w.ulps > bound]
    if outside:
        raise SystemExit("\n".join(outside))
    lines = [
        f"| `{name}` | {w.ulps:.3f} | `{w.at!r}` | {bound:g} | {note} |" for name, bound, note, w in rows
    ]
    head = HEAD.format(count=(1 << 32) // stride, machine=platform.machine())
    return head + "\n".join(lines) + "\n"


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0; written by tools/math_accuracy.py -->
# Accuracy of the `cpu` device's functions

Errors of the float32 functions in `pyasc/codegen/cpp/include`, in units in the last place of the exact result
(a correctly rounded function has 0.5), measured on {count:,} float32 numbers of all exponents and both signs
({machine}, with fused multiply-add). The bound is what pyasc promises and its tests check, with and without
fused multiply-add. Special values (NaN, infinities, zeros with their signs, overflow, subnormal
arguments and results) are NumPy's. float64 functions are those of the C library.

| function | largest error (ulp) | at | bound (ulp) | note |
| --- | --- | --- | --- | --- |
"""


def main() -> None:
    """Write the page from a long measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--stride", type=int, default=127, help="measure every STRIDE-th float32 (odd; 1: all of them)"
    )
    PAGE.write_text(table(parser.parse_args().stride))


if __name__ == "__main__":
    main()
