# SPDX-License-Identifier: Apache-2.0
"""Checks the hand-written baselines on awkward sizes and measures the error of their exp and log.

`python -m benchmarks.check_baselines` exits with 1 if a result is outside its case's bound, or if exp or log is off by
more than 2 units in the last place.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import handwritten
from benchmarks.cases import BY_NAME, Arguments

ULP_BOUND = 2.0
STRIDE = 61  # every 61st float32 is tried; coprime to 2, so all exponents and low bits occur
LENGTHS = (1, 15, 16, 17, 31, 1000, 8191, 8193, 100_003)
MATRICES = ((1, 1), (3, 7), (33, 77), (5, 1), (7, 1000), (3, 9001), (300, 48))
IMAGES = ((1, 1, 3, 3, 1), (2, 3, 9, 20, 5), (1, 4, 10, 90, 13), (1, 2, 5, 18, 7))
PRODUCTS = ((1, 1, 1), (3, 5, 7), (100, 70, 90), (14, 32, 32), (30, 1100, 2100), (29, 512, 33))


def awkward(rng: np.random.Generator) -> Iterator[tuple[str, Arguments]]:
    """Case names with arguments whose sizes do not fit vectors, blocks or panels."""

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    for n in LENGTHS:
        yield "saxpy", {"a": 1.5, "x": normal(n), "y": normal(n)}
        yield "fused_chain", {"a": normal(n), "b": normal(n), "c": normal(n), "y": normal(n)}
        yield "prefix_sum_f32", {"x": rng.uniform(0, 1, n).astype(np.float32), "y": normal(n)}
        whole = rng.integers(-(2**31), 2**31, n).astype(np.int32)
        yield "prefix_sum_i32", {"x": whole, "y": np.zeros_like(whole)}
        bins = rng.integers(0, 256, n, dtype=np.int32)
        yield "histogram", {"x": bins, "counts": np.zeros(256, np.int32)}
        prices = BY_NAME["black_scholes"].make(rng)
        yield (
            "black_scholes",
            {k: v[:n].copy() if isinstance(v, np.ndarray) else v for k, v in prices.items()},
        )
    for m, n in MATRICES:
        yield "softmax", {"x": normal(m, n), "y": normal(m, n)}
        yield "column_sum", {"x": normal(m, n), "y": normal(n)}
        tensors = {"x": normal(m, n), "gain": normal(n), "bias": normal(n), "y": normal(m, n)}
        yield "layer_norm", {**tensors, "epsilon": 1e-5}
        if min(m, n) > 2:
            yield "stencil", {"x": normal(m, n), "y": normal(m, n), "centre": 0.5, "side": 0.125}
        plane = {"x0": -2.0, "y0": -1.25, "dx": 2.5 / n, "dy": 2.5 / m, "limit": 50}
        yield "mandelbrot", {**plane, "steps": np.zeros((m, n), np.int32)}
    for n, c, h, w, f in IMAGES:
        yield "conv3x3", {"x": normal(n, c, h, w), "w": normal(f, c, 3, 3), "y": normal(n, f, h - 2, w - 2)}
    for m, k, n in PRODUCTS:
        yield "matmul", {"a": normal(m, k), "b": normal(k, n), "c": normal(m, n)}


def wrong_results(baselines: handwritten.Baselines) -> list[str]:
    """A line for every result outside its bound."""
    found = []
    for name, arguments in awkward(np.random.default_rng(2)):
        case = BY_NAME[name]
        expected = case.reference(arguments)
        baselines.call(case, arguments)()
        for output, reference in expected.items():
            if not case.tolerance.holds(np.asarray(arguments[output]), reference):
                found.append(f"{name}, {output} of shape {reference.shape}: outside the bound")
    return found


def worst_ulp(library: ctypes.CDLL, name: str, exact: Callable[[np.ndarray], np.ndarray]) -> float:
    """The largest error over a sample of all float32, in units in the last place; infinite if a special is wrong."""
    function = getattr(library, f"hw_{name}")
    worst = 0.0
    for start in range(0, 1 << 32, 1 << 28):
        bits = np.arange(start, start + (1 << 28), STRIDE, dtype=np.uint64).astype(np.uint32)
        x = bits[: bits.size // 16 * 16].view(np.float32)
        y = np.empty_like(x)
        function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), ctypes.c_int64(x.size))
        with np.errstate(all="ignore"):
            wanted = exact(x.astype(np.float64))
            rounded = wanted.astype(np.float32)
            unit = np.spacing(np.maximum(np.abs(rounded), np.finfo(np.float32).tiny)).astype(np.float64)
            error = np.abs(y.astype(np.float64) - wanted) / unit
        error[(y == rounded) | (np.isnan(y) & np.isnan(rounded))] = 0.0
        error[np.isnan(error)] = np.inf
        worst = max(worst, float(error.max()))
    return worst


def main() -> None:
    """Prints the findings."""
    argparse.ArgumentParser(prog="python -m benchmarks.check_baselines", description=__doc__).parse_args()
    failures = wrong_results(handwritten.Baselines(threads=2))
    library = ctypes.CDLL(str(handwritten.build()))
    for name, exact in (("exp", np.exp), ("log", np.log)):
        worst = worst_ulp(library, name, exact)
        print(f"{name}: at most {worst:.3f} units in the last place")
        if worst > ULP_BOUND:
            failures.append(f"{name} is off by {worst:.3f} units in the last place")
    print("\n".join(failures) or "all results are within their bounds")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
