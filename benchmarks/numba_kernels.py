# SPDX-License-Identifier: Apache-2.0
"""The benchmark kernels for Numba: the loops of `kernels.py`, with `prange` where it is allowed.

Constants are float32 values, since a plain literal would make Numba compute in float64.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

f32 = np.float32
compiled = njit(parallel=True, fastmath=False)
helper = njit(fastmath=False)


@compiled
def saxpy(a, x, y):
    for i in prange(x.shape[0]):
        y[i] = a * x[i] + y[i]


@compiled
def fused_chain(a, b, c, y):
    for i in prange(a.shape[0]):
        u = a[i] * b[i] + c[i]
        y[i] = u / (f32(1.0) + math.exp(-u)) - f32(0.5) * a[i]


@compiled
def softmax(x, y):
    rows, columns = x.shape
    for i in prange(rows):
        largest = x[i, 0]
        for j in range(columns):
            largest = max(largest, x[i, j])
        total = f32(0.0)
        for j in range(columns):
            e = math.exp(x[i, j] - largest)
            y[i, j] = e
            total += e
        scale = f32(1.0) / total
        for j in range(columns):
            y[i, j] = y[i, j] * scale


@compiled
def layer_norm(x, gain, bias, y, epsilon):
    rows, columns = x.shape
    for i in prange(rows):
        total = f32(0.0)
        for j in range(columns):
            total += x[i, j]
        mean = total / f32(columns)
        squares = f32(0.0)
        for j in range(columns):
            d = x[i, j] - mean
            squares += d * d
        scale = f32(1.0) / math.sqrt(squares / f32(columns) + epsilon)
        for j in range(columns):
            y[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


@compiled
def column_sum(x, y):
    rows, columns = x.shape
    for j in prange(columns):
        total = f32(0.0)
        for i in range(rows):
            total += x[i, j]
        y[j] = total


@compiled
def stencil(x, y, centre, side):
    height, width = x.shape
    for i in prange(1, height - 1):
        for j in range(1, width - 1):
            y[i, j] = centre * x[i, j] + side * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@compiled
def conv3x3(x, w, y):
    images, filters, height, width = y.shape
    channels = x.shape[1]
    for nf in prange(images * filters):
        n = nf // filters
        f = nf % filters
        for i in range(height):
            for j in range(width):
                total = f32(0.0)
                for c in range(channels):
                    for p in range(3):
                        for q in range(3):
                            total += x[n, c, i + p, j + q] * w[f, c, p, q]
                y[n, f, i, j] = total


@compiled
def matmul(a, b, c):
    rows, depth = a.shape
    columns = b.shape[1]
    for i in prange(rows):
        for j in range(columns):
            total = f32(0.0)
            for k in range(depth):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@compiled
def prefix_sum_f32(x, y):
    total = f32(0.0)
    for i in range(x.shape[0]):
        total += x[i]
        y[i] = total


@compiled
def prefix_sum_i32(x, y):
    total = np.int32(0)
    for i in range(x.shape[0]):
        total += x[i]
        y[i] = total


@compiled
def histogram(x, counts):
    for i in range(x.shape[0]):
        counts[x[i]] += 1


@compiled
def mandelbrot(x0, y0, dx, dy, limit, steps):
    height, width = steps.shape
    for i in prange(height):
        ci = y0 + f32(i) * dy
        for j in range(width):
            cr = x0 + f32(j) * dx
            zr = f32(0.0)
            zi = f32(0.0)
            n = 0
            while n < limit and zr * zr + zi * zi <= f32(4.0):
                t = zr * zr - zi * zi + cr
                zi = f32(2.0) * zr * zi + ci
                zr = t
                n += 1
            steps[i, j] = n


@helper
def normal_cdf(d):
    t = f32(1.0) / (f32(1.0) + f32(0.2316419) * abs(d))
    series = t * (
        f32(0.31938153)
        + t * (f32(-0.356563782) + t * (f32(1.781477937) + t * (f32(-1.821255978) + t * f32(1.330274429))))
    )
    tail = f32(0.3989422804) * math.exp(f32(-0.5) * d * d) * series
    return f32(1.0) - tail if d > f32(0.0) else tail


@compiled
def black_scholes(spot, strike, years, rate, volatility, call, put):
    for i in prange(spot.shape[0]):
        deviation = volatility * math.sqrt(years[i])
        drift = (rate + f32(0.5) * volatility * volatility) * years[i]
        d1 = (math.log(spot[i] / strike[i]) + drift) / deviation
        d2 = d1 - deviation
        discounted = strike[i] * math.exp(-rate * years[i])
        n1 = normal_cdf(d1)
        n2 = normal_cdf(d2)
        call[i] = spot[i] * n1 - discounted * n2
        put[i] = discounted * (f32(1.0) - n2) - spot[i] * (f32(1.0) - n1)
