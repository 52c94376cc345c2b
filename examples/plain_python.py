# SPDX-License-Identifier: Apache-2.0
"""The loops of the examples in plain Python on lists, which the demo measures beside the kernels."""

from __future__ import annotations

import math


def guarded_exp(x, y):
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = math.exp(x[i])


def softmax(x, y):
    for row, result in zip(x, y, strict=True):
        largest = max(row)
        total = 0.0
        for value in row:
            total += math.exp(value - largest)
        for j, value in enumerate(row):
            result[j] = math.exp(value - largest) / total


def layer_norm(x, gain, bias, y, epsilon):
    for row, result in zip(x, y, strict=True):
        mean = sum(row) / len(row)
        squares = 0.0
        for value in row:
            squares += (value - mean) ** 2
        scale = 1.0 / math.sqrt(squares / len(row) + epsilon)
        for j, value in enumerate(row):
            result[j] = (value - mean) * scale * gain[j] + bias[j]


def matmul(a, b, c):
    for i, row in enumerate(a):
        for j in range(len(b[0])):
            total = 0.0
            for k, value in enumerate(row):
                total += value * b[k][j]
            c[i][j] = total


def conv3x3(image, weight, output):
    for n, channels in enumerate(image):
        for f, kernels in enumerate(weight):
            for h in range(len(channels[0]) - 2):
                for w in range(len(channels[0][0]) - 2):
                    total = 0.0
                    for plane, kernel in zip(channels, kernels, strict=True):
                        for p in range(3):
                            for q in range(3):
                                total += plane[h + p][w + q] * kernel[p][q]
                    output[n][f][h][w] = total


def heat(u, v, rate):
    for i in range(1, len(u) - 1):
        for j in range(1, len(u[0]) - 1):
            v[i][j] = u[i][j] + rate * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4.0 * u[i][j])


def histogram(values, counts):
    for value in values:
        counts[value] += 1


def prefix_sum(x, y):
    total = 0
    for i, value in enumerate(x):
        total += value
        y[i] = total


def mandelbrot(left, top, step, limit, steps):
    for i, row in enumerate(steps):
        ci = top - i * step
        for j in range(len(row)):
            cr = left + j * step
            zr = zi = 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            row[j] = n


def blur_rows(image, weights, rows):
    for line, result in zip(image, rows, strict=True):
        for x in range(len(result)):
            level = 0.0
            for k, weight in enumerate(weights):
                level += weight * line[x + k]
            result[x] = level


def black_scholes(spot, strike, years, rate, volatility, call, put):
    for i in range(len(spot)):
        deviation = volatility * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / deviation
        d2 = d1 - deviation
        discounted = strike[i] * math.exp(-rate * years[i])
        n1, n2 = (0.5 * math.erfc(-d * math.sqrt(0.5)) for d in (d1, d2))
        call[i] = spot[i] * n1 - discounted * n2
        put[i] = discounted * (1.0 - n2) - spot[i] * (1.0 - n1)
