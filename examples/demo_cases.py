# SPDX-License-Identifier: Apache-2.0
"""What the demo runs: each kernel with its data, the same in NumPy, and the same in Python on a share of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import black_scholes
import blur
import conv3x3
import guarded_exp
import histogram
import layer_norm
import mandelbrot
import matmul_tiled
import numpy as np
import plain_python
import prefix_sum
import softmax
import stencil
from images import photograph

import pyasc as asc


@dataclass(frozen=True)
class Case:
    """A kernel and its data.

    `line` is the start of the source line to show; `outputs` are the arrays among `arguments` that the kernel
    writes; `numpy` computes what they have to be, within `tolerance`, relative and absolute; `python` does `share`
    of the work.
    """

    example: str
    kernel: asc.Kernel
    line: str
    arguments: tuple
    outputs: tuple[np.ndarray, ...]
    numpy: Callable[[], tuple[np.ndarray, ...]]
    python: Callable[[], None]
    share: float = 1.0
    tolerance: float = 0.0


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def guarded_exp_case() -> Case:
    x, y = normal(1_000_000), np.zeros(1_000_000, np.float32)
    xs, ys = x[:100_000].tolist(), y[:100_000].tolist()
    return Case(
        "guarded_exp",
        guarded_exp.guarded_exp_of_any_length,
        "y[i] = pyasc.exp(x[i])",
        (x, y),
        (y,),
        lambda: (np.exp(x, out=np.zeros_like(x), where=x > 0),),
        lambda: plain_python.guarded_exp(xs, ys),
        0.1,
        1e-6,
    )


def softmax_case() -> Case:
    x = 10 * normal(1024, 1024)
    y = np.empty_like(x)
    xs, ys = x[:64].tolist(), y[:64].tolist()

    def with_numpy():
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return (e / e.sum(axis=1, keepdims=True),)

    return Case(
        "softmax",
        softmax.softmax,
        "total += asc.exp",
        (x, y),
        (y,),
        with_numpy,
        lambda: plain_python.softmax(xs, ys),
        1 / 16,
        1e-5,
    )


def layer_norm_case() -> Case:
    x, (gain, bias) = 3 + normal(1024, 1024), normal(2, 1024)
    y = np.empty_like(x)
    lists = x[:64].tolist(), gain.tolist(), bias.tolist(), y[:64].tolist()

    def with_numpy():
        centred = x - x.mean(axis=1, keepdims=True)
        scale = 1 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5))
        return (centred * scale * gain + bias,)

    return Case(
        "layer_norm",
        layer_norm.layer_norm,
        "y[i] = centred * scale",
        (x, gain, bias, y, 1e-5),
        (y,),
        with_numpy,
        lambda: plain_python.layer_norm(*lists, 1e-5),
        1 / 16,
        1e-4,
    )


def matmul_case() -> Case:
    a, b = normal(2, 1024, 1024)
    c = np.zeros_like(a)
    lists = [each[:64, :64].tolist() for each in (a, b, c)]

    def with_numpy():
        # The kernel adds to what is there, so each launch starts anew from zeros for the check.
        c.fill(0)
        return (a @ b,)

    return Case(
        "matmul_tiled",
        matmul_tiled.matmul,
        "C[ii,jj] +=",
        (a, b, c),
        (c,),
        with_numpy,
        lambda: plain_python.matmul(*lists),
        1 / 4096,
        1e-3,
    )


def conv3x3_case() -> Case:
    image, weight = normal(4, 16, 128, 128), normal(16, 16, 3, 3)
    output = np.empty((4, 16, 126, 126), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    lists = image[:1, :, :18].tolist(), weight.tolist(), output[:1, :, :16].tolist()
    return Case(
        "conv3x3",
        conv3x3.conv3x3,
        "acc += input[n,c,h,w] *",
        (image, weight, output),
        (output,),
        lambda: (np.einsum("nchwpq,fcpq->nfhw", windows, weight, optimize=True),),
        lambda: plain_python.conv3x3(*lists),
        16 / (4 * 126),
        1e-3,
    )


def stencil_case() -> Case:
    u = photograph().astype(np.float32)
    start, v = u.copy(), u.copy()
    us, vs = start.tolist(), start.tolist()

    def with_numpy():
        u[:] = start
        return (stencil.reference(start, 0.2, 10),)

    return Case(
        "stencil",
        stencil.heat,
        "v[i, j] = u[i, j]",
        (u, v, 0.2, 10),
        (u,),
        with_numpy,
        lambda: plain_python.heat(us, vs, 0.2),
        1 / 20,
    )


def histogram_case() -> Case:
    values = np.tile(photograph().ravel(), 4)
    counts = np.zeros(256, np.int32)
    listed, zeros = values.tolist(), counts.tolist()

    def with_numpy():
        counts.fill(0)
        return (np.bincount(values, minlength=256),)

    return Case(
        "histogram",
        histogram.histogram,
        "asc.atomic_add",
        (values, counts),
        (counts,),
        with_numpy,
        lambda: plain_python.histogram(listed, zeros),
    )


def prefix_sum_case() -> Case:
    x = np.random.default_rng(0).integers(-1000, 1000, 4_000_000, np.int32)
    y = np.empty_like(x)
    xs, ys = x[:1_000_000].tolist(), y[:1_000_000].tolist()
    return Case(
        "prefix_sum",
        prefix_sum.prefix_sum,
        "y[i] = total",
        (x, y),
        (y,),
        lambda: (np.cumsum(x, dtype=np.int32),),
        lambda: plain_python.prefix_sum(xs, ys),
        0.25,
    )


def mandelbrot_case() -> Case:
    view = (-2.1, 1.2, 0.005, 100)
    steps = np.empty((480, 624), np.int32)
    listed = np.zeros((240, 312), np.int32).tolist()
    return Case(
        "mandelbrot",
        mandelbrot.mandelbrot,
        "while n < limit",
        (*view, steps),
        (steps,),
        lambda: (mandelbrot.reference(*view, steps.shape),),
        # Every second point in both directions.
        lambda: plain_python.mandelbrot(-2.1, 1.2, 0.01, 100, listed),
        0.25,
    )


def blur_case() -> Case:
    weights = blur.gaussian(4.0)
    image = blur.padded(photograph(), weights)
    rows, result = blur.results(image, weights)
    lists = image[:32].tolist(), weights.tolist(), rows[:32].tolist()
    return Case(
        "blur",
        blur.blur,
        "level += weights[k] * image",
        (image, weights, rows, result),
        (result,),
        lambda: (blur.reference(image, weights),),
        lambda: plain_python.blur_rows(*lists),
        16 / len(image),
        0.501,
    )


def normal_cdf_in_numpy(d):
    """NumPy has no erfc: formula 26.2.17 of Abramowitz and Stegun, within 7.5e-8."""
    t = 1 / (1 + np.float32(0.2316419) * np.abs(d))
    coefficients = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153, 0.0)
    tail = (
        np.float32(0.3989422804)
        * np.exp(np.float32(-0.5) * d * d)
        * np.polyval(np.array(coefficients, np.float32), t)
    )
    return np.where(d > 0, 1 - tail, tail)


def black_scholes_case() -> Case:
    spot, strike, years = black_scholes.market(200_000)
    call, put = np.empty_like(spot), np.empty_like(spot)
    lists = spot[:20_000].tolist(), strike[:20_000].tolist(), years[:20_000].tolist()
    results = call[:20_000].tolist(), put[:20_000].tolist()

    def with_numpy():
        deviation = np.float32(0.3) * np.sqrt(years)
        d1 = (np.log(spot / strike) + np.float32(0.02 + 0.5 * 0.3**2) * years) / deviation
        n1, n2 = normal_cdf_in_numpy(d1), normal_cdf_in_numpy(d1 - deviation)
        discounted = strike * np.exp(np.float32(-0.02) * years)
        return spot * n1 - discounted * n2, discounted * (1 - n2) - spot * (1 - n1)

    return Case(
        "black_scholes",
        black_scholes.black_scholes,
        "call[i] = spot[i]",
        (spot, strike, years, 0.02, 0.3, call, put),
        (call, put),
        with_numpy,
        lambda: plain_python.black_scholes(*lists, 0.02, 0.3, *results),
        0.1,
        1e-4,
    )


CASES = (
    guarded_exp_case,
    softmax_case,
    layer_norm_case,
    matmul_case,
    conv3x3_case,
    stencil_case,
    histogram_case,
    prefix_sum_case,
    mandelbrot_case,
    blur_case,
    black_scholes_case,
)
