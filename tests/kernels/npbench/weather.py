# SPDX-License-Identifier: Apache-2.0
"""Stencils of weather models: hdiff, vadv."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case


@asc.kernel
def hdiff(field: asc.float32[I + 4, J + 4, K], out: asc.float32[I, J, K], coeff: asc.float32[I, J, K]):
    lap = 4.0 * field[1 : I + 3, 1 : J + 3, :] - (
        field[2 : I + 4, 1 : J + 3, :]
        + field[0 : I + 2, 1 : J + 3, :]
        + field[1 : I + 3, 2 : J + 4, :]
        + field[1 : I + 3, 0 : J + 2, :]
    )
    res1 = lap[1:, 1 : J + 1, :] - lap[:-1, 1 : J + 1, :]
    flx = asc.where(res1 * (field[2 : I + 3, 2 : J + 2, :] - field[1 : I + 2, 2 : J + 2, :]) > 0.0, 0.0, res1)
    res2 = lap[1 : I + 1, 1:, :] - lap[1 : I + 1, :-1, :]
    fly = asc.where(res2 * (field[2 : I + 2, 2 : J + 3, :] - field[2 : I + 2, 1 : J + 2, :]) > 0.0, 0.0, res2)
    out[:, :, :] = field[2 : I + 2, 2 : J + 2, :] - coeff * (
        flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :]
    )


def _hdiff_data():
    rng = np.random.default_rng(42)
    i, j, k = 9, 7, 5
    return {
        "field": rng.random((i + 4, j + 4, k), dtype=np.float32),
        "out": np.full((i, j, k), np.nan, np.float32),
        "coeff": rng.random((i, j, k), dtype=np.float32),
    }


def _hdiff(field, out, coeff):
    lap = 4 * field[1:-1, 1:-1] - field[2:, 1:-1] - field[:-2, 1:-1] - field[1:-1, 2:] - field[1:-1, :-2]

    def flux(axis):
        inner = [slice(1, -1)] * 2
        inner[axis] = slice(None)
        slope = np.diff(lap[tuple(inner)], axis=axis)
        across = [slice(2, -2)] * 2
        across[axis] = slice(1, -1)
        rise = np.diff(field[tuple(across)], axis=axis)
        return np.diff(np.where(slope * rise > 0, 0, slope), axis=axis)

    return {"out": field[2:-2, 2:-2] - coeff * (flux(0) + flux(1))}


@asc.kernel
def vadv(
    utens: asc.float32[I, J, K],
    u: asc.float32[I, J, K],
    wcon: asc.float32[I + 1, J, K],
    dtr: float,
    beta: float,
    out: asc.float32[I, J, K],
):
    for i, j in asc.parallel_for_grid(I, J):
        c = asc.zeros(K, asc.float32)
        d = asc.zeros(K, asc.float32)
        for k in range(K):
            above = 0.25 * (wcon[i + 1, j, k + 1] + wcon[i, j, k + 1]) if k < K - 1 else asc.float32(0)
            below = -0.25 * (wcon[i + 1, j, k] + wcon[i, j, k]) if k > 0 else asc.float32(0)
            up = u[i, j, k + 1] - u[i, j, k] if k < K - 1 else asc.float32(0)
            down = u[i, j, k - 1] - u[i, j, k] if k > 0 else asc.float32(0)
            low = below * beta
            high = above * beta
            diagonal = dtr - low - high
            right = (
                dtr * u[i, j, k] + utens[i, j, k] - below * (1.0 - beta) * down - above * (1.0 - beta) * up
            )
            if k > 0:
                divided = 1.0 / (diagonal - c[k - 1] * low)
                c[k] = high * divided
                d[k] = (right - d[k - 1] * low) * divided
            else:
                c[k] = high / diagonal
                d[k] = right / diagonal
        value = d[K - 1]
        out[i, j, K - 1] = dtr * (value - u[i, j, K - 1])
        for k in range(K - 2, -1, -1):
            value = d[k] - c[k] * value
            out[i, j, k] = dtr * (value - u[i, j, k])


def _vadv_data():
    rng = np.random.default_rng(42)
    i, j, k = 6, 5, 9
    return {
        "utens": rng.random((i, j, k), dtype=np.float32),
        "u": rng.random((i, j, k), dtype=np.float32),
        "wcon": rng.random((i + 1, j, k), dtype=np.float32),
        "dtr": 3.0 / 20.0 + 1.0,
        "beta": 0.5,
        "out": np.full((i, j, k), np.nan, np.float32),
    }


def _vadv(utens, u, wcon, dtr, beta, out):
    """The tridiagonal system of every column, solved as a dense one."""
    mean = 0.25 * (wcon[1:] + wcon[:-1])
    above, below = np.zeros_like(u), np.zeros_like(u)
    above[..., :-1], below[..., 1:] = mean[..., 1:], -mean[..., 1:]
    up, down = np.zeros_like(u), np.zeros_like(u)
    up[..., :-1], down[..., 1:] = np.diff(u), -np.diff(u)
    right = dtr * u + utens - (1 - beta) * (below * down + above * up)
    levels = np.arange(u.shape[-1])
    matrix = np.zeros((*u.shape, u.shape[-1]))
    matrix[..., levels, levels] = dtr - beta * (above + below)
    matrix[..., levels[:-1], levels[1:]] = beta * above[..., :-1]
    matrix[..., levels[1:], levels[:-1]] = beta * below[..., 1:]
    return {"out": dtr * (np.linalg.solve(matrix, right[..., None])[..., 0] - u)}


CASES = (
    Case(hdiff, _hdiff_data, _hdiff, chain=20),
    Case(vadv, _vadv_data, _vadv, chain=9 * 12),
)
