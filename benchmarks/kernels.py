# SPDX-License-Identifier: Apache-2.0
"""The benchmark kernels, as a user would write them: plain loops over elements.

This file is the one source of the loops. `benchmarks.plain` runs the same text in CPython, on lists and on arrays.
"""

from __future__ import annotations

import pyasc as asc


@asc.kernel
def saxpy(a: float, x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = a * x[i] + y[i]


@asc.kernel
def fused_chain(a: asc.float32[N], b: asc.float32[N], c: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        u = a[i] * b[i] + c[i]
        y[i] = u / (1.0 + asc.exp(-u)) - 0.5 * a[i]


@asc.kernel
def softmax(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        largest = x[i, 0]
        for j in range(N):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(N):
            e = asc.exp(x[i, j] - largest)
            y[i, j] = e
            total += e
        scale = 1.0 / total
        for j in range(N):
            y[i, j] = y[i, j] * scale


@asc.kernel
def layer_norm(
    x: asc.float32[M, N], gain: asc.float32[N], bias: asc.float32[N], y: asc.float32[M, N], epsilon: float
):
    for i in asc.parallel_for(M):
        total = 0.0
        for j in range(N):
            total += x[i, j]
        mean = total / N
        squares = 0.0
        for j in range(N):
            d = x[i, j] - mean
            squares += d * d
        scale = 1.0 / asc.sqrt(squares / N + epsilon)
        for j in range(N):
            y[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


@asc.kernel
def column_sum(x: asc.float32[M, N], y: asc.float32[N]):
    for j in asc.parallel_for(N):
        total = 0.0
        for i in range(M):
            total += x[i, j]
        y[j] = total


@asc.kernel
def stencil(x: asc.float32[H, W], y: asc.float32[H, W], centre: float, side: float):
    for i in asc.parallel_for(1, H - 1):
        for j in range(1, W - 1):
            y[i, j] = centre * x[i, j] + side * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@asc.kernel
def conv3x3(x: asc.float32[N, C, H, W], w: asc.float32[F, C, 3, 3], y: asc.float32[N, F, H - 2, W - 2]):
    for n in asc.parallel_for(N):
        for f in asc.parallel_for(F):
            for i in range(H - 2):
                for j in range(W - 2):
                    total = 0.0
                    for c in range(C):
                        for p in range(3):
                            for q in range(3):
                                total += x[n, c, i + p, j + q] * w[f, c, p, q]
                    y[n, f, i, j] = total


@asc.kernel
def matmul(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@asc.kernel
def matmul_tiled(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    for i0 in asc.parallel_for(0, M, 64):
        for j0 in asc.parallel_for(0, N, 64):
            for i in range(i0, min(i0 + 64, M)):
                for j in range(j0, min(j0 + 64, N)):
                    c[i, j] = 0.0
            for k0 in range(0, K, 64):
                for i in range(i0, min(i0 + 64, M)):
                    for j in range(j0, min(j0 + 64, N)):
                        for k in range(k0, min(k0 + 64, K)):
                            c[i, j] += a[i, k] * b[k, j]


@asc.kernel
def matmul_operator(a: asc.float32[M, K], b: asc.float32[K, N], c: asc.float32[M, N]):
    c[:, :] = a @ b


@asc.kernel
def prefix_sum_f32(x: asc.float32[N], y: asc.float32[N]):
    total = 0.0
    for i in range(N):
        total += x[i]
        y[i] = total


@asc.kernel
def prefix_sum_i32(x: asc.int32[N], y: asc.int32[N]):
    total = 0
    for i in range(N):
        total += x[i]
        y[i] = total


@asc.kernel(unchecked=True)
def histogram(x: asc.int32[N], counts: asc.int32[256]):
    for i in range(N):
        counts[x[i]] += 1


@asc.kernel
def mandelbrot(x0: float, y0: float, dx: float, dy: float, limit: int, steps: asc.int32[H, W]):
    for i in asc.parallel_for(H):
        ci = y0 + i * dy
        for j in range(W):
            cr = x0 + j * dx
            zr = 0.0
            zi = 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                n += 1
            steps[i, j] = n


def normal_cdf(d):
    """The normal distribution function by formula 26.2.17 of Abramowitz and Stegun, within 7.5e-8."""
    t = 1.0 / (1.0 + 0.2316419 * abs(d))
    series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.3989422804 * asc.exp(-0.5 * d * d) * series
    return 1.0 - tail if d > 0.0 else tail


@asc.kernel
def black_scholes(
    spot: asc.float32[N],
    strike: asc.float32[N],
    years: asc.float32[N],
    rate: float,
    volatility: float,
    call: asc.float32[N],
    put: asc.float32[N],
):
    for i in asc.parallel_for(N):
        deviation = volatility * asc.sqrt(years[i])
        drift = (rate + 0.5 * volatility * volatility) * years[i]
        d1 = (asc.log(spot[i] / strike[i]) + drift) / deviation
        d2 = d1 - deviation
        discounted = strike[i] * asc.exp(-rate * years[i])
        n1 = normal_cdf(d1)
        n2 = normal_cdf(d2)
        call[i] = spot[i] * n1 - discounted * n2
        put[i] = discounted * (1.0 - n2) - spot[i] * (1.0 - n1)
