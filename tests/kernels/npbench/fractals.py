# SPDX-License-Identifier: Apache-2.0
"""mandelbrot1 and mandelbrot2: iterations of z = z * z + c until |z| passes a horizon."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case


@asc.kernel
def mandelbrot1(x: asc.float32[W], y: asc.float32[H], counts: asc.int64[H, W], limit: int, horizon: float):
    for i, j in asc.parallel_for_grid(H, W):
        re = 0.0
        im = 0.0
        count = 0
        for n in range(limit):
            if re * re + im * im < horizon * horizon:
                count = n
                old = re
                re = re * re - im * im + x[j]
                im = 2.0 * old * im + y[i]
        counts[i, j] = 0 if count == limit - 1 else count


@asc.kernel
def mandelbrot2(x: asc.float32[W], y: asc.float32[H], counts: asc.int64[H, W], limit: int, horizon: float):
    for i, j in asc.parallel_for_grid(H, W):
        re = x[j]
        im = y[i]
        count = 0
        for n in range(limit):
            old = re
            re = re * re - im * im + x[j]
            im = 2.0 * old * im + y[i]
            if re * re + im * im > horizon * horizon:
                count = n + 1
                break
        counts[i, j] = count


def _plane():
    """Points whose coordinates have few bits, and few iterations: nearly all arithmetic is exact in both widths."""
    return {
        "x": (np.arange(-64, 16) / 32).astype(np.float32),
        "y": (np.arange(-20, 21) / 16).astype(np.float32),
        "counts": np.full((41, 80), -1, np.int64),
        "limit": 12,
        "horizon": 2.0,
    }


def _mandelbrot1(x, y, counts, limit, horizon):
    c = x[None, :] + 1j * y[:, None]
    z = np.zeros_like(c)
    found = np.zeros(c.shape, np.int64)
    for n in range(limit):
        inside = np.abs(z) < horizon
        found[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    found[found == limit - 1] = 0
    return {"counts": found}


def _mandelbrot2(x, y, counts, limit, horizon):
    c = x[None, :] + 1j * y[:, None]
    z = c.copy()
    found = np.zeros(c.shape, np.int64)
    out = np.zeros(c.shape, bool)
    for n in range(limit):
        z[~out] = z[~out] ** 2 + c[~out]
        left = ~out & (np.abs(z) > horizon)
        found[left] = n + 1
        out |= left
    return {"counts": found}


CASES = (
    Case(mandelbrot1, _plane, _mandelbrot1, chain=0),
    Case(mandelbrot2, _plane, _mandelbrot2, chain=0),
)
