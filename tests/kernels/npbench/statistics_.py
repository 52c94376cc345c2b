# SPDX-License-Identifier: Apache-2.0
"""Sums over groups and columns, and a factorisation: azimint_naive, azimint_hist, covariance2, cholesky2."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid


@asc.kernel
def azimint_naive(data: asc.float32[N], radius: asc.float32[N], res: asc.float32[P]):
    rmax = asc.max(radius)
    for i in asc.parallel_for(P):
        r1 = rmax * i / P
        r2 = rmax * (i + 1) / P
        inside = (r1 <= radius) & (radius < r2)
        res[i] = asc.sum(asc.where(inside, data, 0.0)) / asc.sum(inside)


def _azimint_data():
    """Radii on a grid of 1/1024 up to 1, so that every edge between bins is exact."""
    rng = np.random.default_rng(42)
    radius = rng.integers(0, 1025, 2000) / 1024
    radius[7] = 1.0
    return {
        "data": rng.random(2000, dtype=np.float32),
        "radius": radius.astype(np.float32),
        "res": np.full(16, np.nan, np.float32),
    }


def _azimint_naive(data, radius, res):
    bins = np.floor(radius / radius.max() * len(res)).astype(int)
    return {"res": np.array([data[bins == i].mean() for i in range(len(res))])}


@asc.kernel
def azimint_hist(data: asc.float32[N], radius: asc.float32[N], res: asc.float32[P]):
    low = asc.min(radius)
    high = asc.max(radius)
    counts = asc.zeros(P, asc.int64)
    weights = asc.zeros(P, asc.float32)
    for i in range(N):
        place = min(int((radius[i] - low) * P / (high - low)), P - 1)
        counts[place] += 1
        weights[place] += data[i]
    for i in asc.parallel_for(P):
        res[i] = weights[i] / asc.float32(counts[i])


def _azimint_hist_data():
    given = _azimint_data()
    given["radius"][3] = 0.0
    return given


def _azimint_hist(data, radius, res):
    counts, _ = np.histogram(radius, len(res))
    weights, _ = np.histogram(radius, len(res), weights=data)
    return {"res": weights / counts}


@asc.kernel
def covariance2(data: asc.float32[N, M]):
    centred = data - asc.mean(data, axis=0)
    return (centred.T @ centred) / (N - 1)


def _covariance2_data():
    return {"data": grid(lambda i, j: (i * j) / 50, 60, 50)}


def _covariance2(data):
    return {"cov": np.cov(data.T)}


@asc.kernel
def cholesky2(A: asc.float32[N, N]):
    for j in range(N):
        for k in range(j):
            for i in asc.parallel_for(j, N):
                A[i, j] -= A[i, k] * A[j, k]
        A[j, j] = asc.sqrt(A[j, j])
        for i in asc.parallel_for(j + 1, N):
            A[i, j] /= A[j, j]


def _cholesky2_data():
    factor = np.random.default_rng(42).random((40, 40))
    return {"A": (factor @ factor.T + 40 * np.eye(40)).astype(np.float32)}


def _cholesky2(A):
    return {"A": np.linalg.cholesky(A) + np.triu(A, 1)}


CASES = (
    Case(azimint_naive, _azimint_data, _azimint_naive, chain=200),
    Case(azimint_hist, _azimint_hist_data, _azimint_hist, chain=200),
    Case(covariance2, _covariance2_data, _covariance2, chain=130),
    Case(cholesky2, _cholesky2_data, _cholesky2, chain=2 * 40),
)
