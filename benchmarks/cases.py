# SPDX-License-Identifier: Apache-2.0
"""The benchmark cases: sizes, inputs, what the result must be, and how NumPy says it in a line.

A case's arguments are those of its kernel in `kernels.py`, in order; the hand-written function `hw_NAME` takes the
same, arrays as pointers, followed by the sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Arguments = dict[str, object]
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Tolerance:
    """Bound on |result - reference| as `absolute + relative * |reference|`, reference in float64."""

    relative: float = 0.0
    absolute: float = 0.0

    def holds(self, result: np.ndarray, reference: np.ndarray, exempt: float = 0.0) -> bool:
        """Whether every element, but for a share of `exempt`, is within the bound; NaN never is."""
        bound = self.absolute + self.relative * np.abs(reference)
        outside = ~(np.abs(result.astype(np.float64) - reference) <= bound)
        return bool(np.count_nonzero(outside) <= exempt * outside.size)


@dataclass(frozen=True)
class Case:
    """One kernel at one size.

    `make` builds the arguments, `reference` computes the outputs in float64 or exactly, `numpy` is the line (None
    where NumPy has none), `sizes` are the trailing sizes of the hand-written function. `exact` says that
    two float32 implementations must agree to the bit. A variant is another way to write the kernel of the case that
    `variant_of` names: it is measured against the same baseline and is in no mean. `float64_share` is the share of
    elements that may be outside the bound where the loops run in float64, as in CPython: where one rounding decides
    an integer.
    """

    name: str
    size: str
    make: Callable[[np.random.Generator], Arguments]
    outputs: tuple[str, ...]
    reference: Callable[[Arguments], Arrays]
    sizes: Callable[[Arguments], tuple[int, ...]]
    numpy: Callable[..., object] | None = None
    fused: bool = False
    exact: bool = False
    tolerance: Tolerance = field(default_factory=Tolerance)
    variant_of: str | None = None
    float64_share: float = 0.0


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def _blank(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def _length(name: str) -> Callable[[Arguments], tuple[int, ...]]:
    return lambda arguments: arguments[name].shape


def _wide(arguments: Arguments, *names: str) -> list[np.ndarray]:
    return [np.asarray(arguments[name]).astype(np.float64) for name in names]


def _saxpy_reference(arguments: Arguments) -> Arrays:
    x, y = _wide(arguments, "x", "y")
    return {"y": arguments["a"] * x + y}


def _saxpy_numpy(a, x, y):
    y += a * x


def _chain_reference(arguments: Arguments) -> Arrays:
    a, b, c = _wide(arguments, "a", "b", "c")
    u = a * b + c
    return {"y": u / (1.0 + np.exp(-u)) - 0.5 * a}


def _chain_numpy(a, b, c, y):
    y[:] = (u := a * b + c) / (1.0 + np.exp(-u)) - 0.5 * a


def _softmax_reference(arguments: Arguments) -> Arrays:
    (x,) = _wide(arguments, "x")
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}


def _softmax_numpy(x, y):
    y[:] = (e := np.exp(x - x.max(axis=1, keepdims=True))) / e.sum(axis=1, keepdims=True)


def _layer_norm_reference(arguments: Arguments) -> Arrays:
    x, gain, bias = _wide(arguments, "x", "gain", "bias")
    scale = 1.0 / np.sqrt(x.var(axis=1, keepdims=True) + arguments["epsilon"])
    return {"y": (x - x.mean(axis=1, keepdims=True)) * scale * gain + bias}


def _layer_norm_numpy(x, gain, bias, y, epsilon):
    y[:] = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon) * gain + bias


def _stencil_numpy(x, y, centre, side):
    y[1:-1, 1:-1] = centre * x[1:-1, 1:-1] + side * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def _stencil_reference(arguments: Arguments) -> Arrays:
    x, y = _wide(arguments, "x", "y")
    _stencil_numpy(x, y, arguments["centre"], arguments["side"])
    return {"y": y}


def _conv_numpy(x, w, y):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    y[:] = np.tensordot(windows, w, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def _conv_reference(arguments: Arguments) -> Arrays:
    x, w, y = _wide(arguments, "x", "w", "y")
    _conv_numpy(x, w, y)
    return {"y": y}


def _mandelbrot_reference(arguments: Arguments) -> Arrays:
    """The same float32 operations on whole arrays; the counts are exact."""
    height, width = arguments["steps"].shape
    f32 = np.float32
    cr = f32(arguments["x0"]) + np.arange(width, dtype=f32) * f32(arguments["dx"])
    ci = (f32(arguments["y0"]) + np.arange(height, dtype=f32) * f32(arguments["dy"]))[:, None]
    zr = zi = np.zeros((height, width), f32)
    inside = np.ones((height, width), bool)
    steps = np.zeros((height, width), np.int32)
    with np.errstate(all="ignore"):
        for _ in range(arguments["limit"]):
            inside &= zr * zr + zi * zi <= f32(4.0)
            steps += inside
            zr, zi = zr * zr - zi * zi + cr, f32(2.0) * zr * zi + ci
    return {"steps": steps}


def _normal_cdf(d: np.ndarray) -> np.ndarray:
    t = 1.0 / (1.0 + 0.2316419 * np.abs(d))
    series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.3989422804 * np.exp(-0.5 * d * d) * series
    return np.where(d > 0.0, 1.0 - tail, tail)


def _black_scholes_numpy(spot, strike, years, rate, volatility, call, put):
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    discounted = strike * np.exp(-rate * years)
    n1, n2 = _normal_cdf(d1), _normal_cdf(d1 - deviation)
    call[:] = spot * n1 - discounted * n2
    put[:] = discounted * (1.0 - n2) - spot * (1.0 - n1)


def _black_scholes_reference(arguments: Arguments) -> Arrays:
    spot, strike, years, call, put = _wide(arguments, "spot", "strike", "years", "call", "put")
    _black_scholes_numpy(spot, strike, years, arguments["rate"], arguments["volatility"], call, put)
    return {"call": call, "put": put}


def _prices(rng: np.random.Generator, n: int) -> Arguments:
    spot, moneyness, years = (
        rng.uniform(low, high, n).astype(np.float32) for low, high in ((10, 100), (0.6, 1.6), (0.25, 2))
    )
    strike = spot * moneyness
    return {"spot": spot, "strike": strike, "years": years, "rate": 0.02, "volatility": 0.3,
            "call": _blank(n), "put": _blank(n)}  # fmt: skip


def _cumulated(dtype: type) -> Callable[[Arguments], Arrays]:
    return lambda arguments: {"y": np.cumsum(arguments["x"], dtype=dtype)}


def _product(name: str, variant_of: str | None = None) -> Case:
    return Case(
        name,
        "512 x 512 x 512",
        lambda rng: {"a": _normal(rng, 512, 512), "b": _normal(rng, 512, 512), "c": _blank(512, 512)},
        ("c",),
        lambda arguments: {"c": np.matmul(*_wide(arguments, "a", "b"))},
        lambda arguments: (*arguments["a"].shape, arguments["b"].shape[1]),
        lambda a, b, c: np.matmul(a, b, out=c),
        tolerance=Tolerance(1e-5, 2e-4),
        variant_of=variant_of,
    )


_N = 1 << 22
_P = 1 << 20

CASES: tuple[Case, ...] = (
    Case(
        "saxpy", "N = 4,194,304",
        lambda rng: {"a": 0.5, "x": _normal(rng, _N), "y": _normal(rng, _N)},
        ("y",), _saxpy_reference, _length("x"), _saxpy_numpy,
        fused=True, exact=True, tolerance=Tolerance(2e-7, 2e-7),
    ),
    Case(
        "fused_chain", "N = 4,194,304",
        lambda rng: {**{name: _normal(rng, _N) for name in "abc"}, "y": _blank(_N)},
        ("y",), _chain_reference, _length("a"), _chain_numpy,
        fused=True, tolerance=Tolerance(1e-6, 1e-6),
    ),
    Case(
        "softmax", "2048 x 1024",
        lambda rng: {"x": _normal(rng, 2048, 1024), "y": _blank(2048, 1024)},
        ("y",), _softmax_reference, _length("x"), _softmax_numpy,
        fused=True, tolerance=Tolerance(2e-6, 1e-9),
    ),
    Case(
        "layer_norm", "2048 x 1024",
        lambda rng: {"x": _normal(rng, 2048, 1024), "gain": _normal(rng, 1024), "bias": _normal(rng, 1024),
                     "y": _blank(2048, 1024), "epsilon": 1e-5},
        ("y",), _layer_norm_reference, _length("x"), _layer_norm_numpy,
        fused=True, tolerance=Tolerance(2e-6, 4e-6),
    ),
    Case(
        "column_sum", "4096 x 1024",
        lambda rng: {"x": _normal(rng, 4096, 1024), "y": _blank(1024)},
        ("y",), lambda arguments: {"y": arguments["x"].astype(np.float64).sum(axis=0)}, _length("x"),
        lambda x, y: np.sum(x, axis=0, out=y), tolerance=Tolerance(1e-5, 1e-3),
    ),
    Case(
        "stencil", "2048 x 2048",
        lambda rng: {"x": _normal(rng, 2048, 2048), "y": _blank(2048, 2048), "centre": 0.5, "side": 0.125},
        ("y",), _stencil_reference, _length("x"), _stencil_numpy,
        fused=True, exact=True, tolerance=Tolerance(4e-7, 4e-7),
    ),
    Case(
        "conv3x3", "N, C, H, W, F = 2, 32, 66, 66, 32",
        lambda rng: {"x": _normal(rng, 2, 32, 66, 66), "w": _normal(rng, 32, 32, 3, 3),
                     "y": _blank(2, 32, 64, 64)},
        ("y",), _conv_reference, lambda arguments: (*arguments["x"].shape, arguments["w"].shape[0]), _conv_numpy,
        tolerance=Tolerance(1e-5, 2e-4),
    ),
    _product("matmul"),
    _product("matmul_tiled", "matmul"),
    _product("matmul_operator", "matmul"),
    Case(
        "prefix_sum_f32", "N = 4,194,304",
        lambda rng: {"x": rng.uniform(0, 1, _N).astype(np.float32), "y": _blank(_N)},
        ("y",), _cumulated(np.float64), _length("x"),
        lambda x, y: np.cumsum(x, out=y), tolerance=Tolerance(2e-3, 0),
    ),
    Case(
        "prefix_sum_i32", "N = 4,194,304",
        lambda rng: {"x": rng.integers(-100, 101, _N, dtype=np.int32), "y": _blank(_N, dtype=np.int32)},
        ("y",), _cumulated(np.int32), _length("x"),
        lambda x, y: np.cumsum(x, dtype=np.int32, out=y), exact=True,
    ),
    Case(
        "histogram", "N = 4,194,304, 256 bins",
        lambda rng: {"x": rng.integers(0, 256, _N, dtype=np.int32), "counts": _blank(256, dtype=np.int32)},
        ("counts",), lambda arguments: {"counts": np.bincount(arguments["x"], minlength=256)}, _length("x"),
        lambda x, counts: np.add(counts, np.bincount(x, minlength=256), out=counts, casting="unsafe"),
        exact=True,
    ),
    Case(
        "mandelbrot", "512 x 512, at most 200 steps",
        lambda rng: {"x0": -2.0, "y0": -1.25, "dx": 2.5 / 512, "dy": 2.5 / 512, "limit": 200,
                     "steps": _blank(512, 512, dtype=np.int32)},
        ("steps",), _mandelbrot_reference, _length("steps"), exact=True, float64_share=0.005,
    ),
    Case(
        "black_scholes", "N = 1,048,576",
        lambda rng: _prices(rng, _P),
        ("call", "put"), _black_scholes_reference, _length("spot"), _black_scholes_numpy,
        fused=True, tolerance=Tolerance(2e-6, 1e-4),
    ),
)  # fmt: skip

BY_NAME = {case.name: case for case in CASES}


def geometric_mean(values: list[float]) -> float:
    """Of positive values; NaN for none."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
