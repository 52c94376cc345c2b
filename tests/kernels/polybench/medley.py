# SPDX-License-Identifier: Apache-2.0
"""medley: deriche, floyd-warshall, nussinov."""

from __future__ import annotations

import math

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid


@asc.kernel
def deriche(
    img: asc.float32[W, H], out: asc.float32[W, H], y1: asc.float32[W, H], y2: asc.float32[W, H], alpha: float
):
    falling = asc.exp(-alpha)
    k = (1.0 - falling) * (1.0 - falling) / (1.0 + 2.0 * alpha * falling - asc.exp(2.0 * alpha))
    a1 = k
    a2 = k * falling * (alpha - 1.0)
    a3 = k * falling * (alpha + 1.0)
    a4 = -k * asc.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -asc.exp(-2.0 * alpha)
    for i in asc.parallel_for(W):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(H):
            y1[i, j] = a1 * img[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = img[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in asc.parallel_for(W):
        yp1 = 0.0
        yp2 = 0.0
        xp1 = 0.0
        xp2 = 0.0
        for j in range(H - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = img[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i, j in asc.parallel_for_grid(W, H):
        out[i, j] = y1[i, j] + y2[i, j]
    for j in asc.parallel_for(H):
        tm1 = 0.0
        ym1 = 0.0
        ym2 = 0.0
        for i in range(W):
            y1[i, j] = a1 * out[i, j] + a2 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in asc.parallel_for(H):
        tp1 = 0.0
        tp2 = 0.0
        yp1 = 0.0
        yp2 = 0.0
        for i in range(W - 1, -1, -1):
            y2[i, j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i, j in asc.parallel_for_grid(W, H):
        out[i, j] = y1[i, j] + y2[i, j]


def _deriche_data():
    w, h = 192, 128
    return {
        "img": grid(lambda i, j: ((313 * i + 991 * j) % 65536) / 65535, w, h),
        "out": np.full((w, h), np.nan, np.float32),
        "y1": np.full((w, h), np.nan, np.float32),
        "y2": np.full((w, h), np.nan, np.float32),
        "alpha": 0.25,
    }


def _recursive(rows, first, second, b1, b2):
    """The filter y[n] = first x[n] + second x[n-1] + b1 y[n-1] + b2 y[n-2] along the last axis."""
    filtered = np.zeros_like(rows)
    for n in range(rows.shape[1]):
        filtered[:, n] = first * rows[:, n]
        if n >= 1:
            filtered[:, n] += second * rows[:, n - 1] + b1 * filtered[:, n - 1]
        if n >= 2:
            filtered[:, n] += b2 * filtered[:, n - 2]
    return filtered


def _deriche(img, out, y1, y2, alpha):
    e = math.exp(-alpha)
    k = (1 - e) ** 2 / (1 + 2 * alpha * e - math.exp(2 * alpha))
    b1, b2 = 2.0**-alpha, -math.exp(-2 * alpha)

    def both_ways(rows):
        forth = _recursive(rows, k, k * e * (alpha - 1), b1, b2)
        shifted = np.zeros_like(rows)
        shifted[:, 1:] = rows[:, :0:-1]
        back = _recursive(shifted, k * e * (alpha + 1), k * b2, b1, b2)
        return forth + back[:, ::-1]

    return {"out": both_ways(both_ways(img).T).T}


@asc.kernel
def floyd_warshall(path: asc.int32[N, N]):
    for k in range(N):
        for i in range(N):
            for j in range(N):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def _floyd_warshall_data():
    i, j = np.indices((180, 180))
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return {"path": np.where(far, 999, i * j % 7 + 1).astype(np.int32)}


def _floyd_warshall(path):
    for k in range(len(path)):
        path = np.minimum(path, path[:, k : k + 1] + path[k : k + 1])
    return {"path": path}


@asc.kernel
def nussinov(seq: asc.int32[N], table: asc.int32[N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < N:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < N:
                if i < j - 1:
                    pair = 1 if seq[i] + seq[j] == 3 else 0
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def _nussinov_data():
    n = 180
    return {"seq": ((np.arange(n) + 1) % 4).astype(np.int32), "table": np.zeros((n, n), np.int32)}


def _nussinov(seq, table):
    n = len(seq)
    best = np.zeros((n + 1, n), np.int64)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            paired = best[i + 1, j - 1] + (seq[i] + seq[j] == 3) if i < j - 1 else best[i + 1, j - 1]
            splits = best[i, i:j] + best[i + 1 : j + 1, j]
            best[i, j] = max(paired, splits.max(), best[i, j - 1], best[i + 1, j], 0)
    return {"table": best[:n].astype(np.int32)}


CASES = (
    Case(deriche, _deriche_data, _deriche, chain=4 * (192 + 128)),
    Case(floyd_warshall, _floyd_warshall_data, _floyd_warshall, chain=0),
    Case(nussinov, _nussinov_data, _nussinov, chain=0),
)
