# SPDX-License-Identifier: Apache-2.0
"""datamining: correlation, covariance."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid


@asc.kernel
def correlation(
    data: asc.float32[N, M], mean: asc.float32[M], stddev: asc.float32[M], corr: asc.float32[M, M]
):
    for j in asc.parallel_for(M):
        total = 0.0
        for i in range(N):
            total += data[i, j]
        mean[j] = total / N
    for j in asc.parallel_for(M):
        total = 0.0
        for i in range(N):
            total += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        deviation = asc.sqrt(total / N)
        stddev[j] = 1.0 if deviation <= 0.1 else deviation
    for i in asc.parallel_for(N):
        for j in range(M):
            data[i, j] -= mean[j]
            data[i, j] /= asc.sqrt(asc.float32(N)) * stddev[j]
    for i in asc.parallel_for(M):
        corr[i, i] = 1.0
    for i in range(M - 1):
        for j in asc.parallel_for(i + 1, M):
            total = 0.0
            for k in range(N):
                total += data[k, i] * data[k, j]
            corr[i, j] = total
            corr[j, i] = total


def _correlation_data():
    m, n = 80, 100
    return {
        "data": grid(lambda i, j: (i * j) / m + i, n, m),
        "mean": np.zeros(m, np.float32),
        "stddev": np.zeros(m, np.float32),
        "corr": np.zeros((m, m), np.float32),
    }


def _correlation(data, mean, stddev, corr):
    deviation = data.std(axis=0)
    deviation[deviation <= 0.1] = 1.0
    scaled = (data - data.mean(axis=0)) / (np.sqrt(len(data)) * deviation)
    corr = scaled.T @ scaled
    np.fill_diagonal(corr, 1.0)
    return {"mean": data.mean(axis=0), "stddev": deviation, "data": scaled, "corr": corr}


@asc.kernel
def covariance(data: asc.float32[N, M], mean: asc.float32[M], cov: asc.float32[M, M]):
    for j in asc.parallel_for(M):
        total = 0.0
        for i in range(N):
            total += data[i, j]
        mean[j] = total / N
    for i in asc.parallel_for(N):
        for j in range(M):
            data[i, j] -= mean[j]
    for i in range(M):
        for j in asc.parallel_for(i, M):
            total = 0.0
            for k in range(N):
                total += data[k, i] * data[k, j]
            cov[i, j] = total / (N - 1)
            cov[j, i] = cov[i, j]


def _covariance_data():
    m, n = 80, 100
    return {
        "data": grid(lambda i, j: (i * j) / m, n, m),
        "mean": np.zeros(m, np.float32),
        "cov": np.zeros((m, m), np.float32),
    }


def _covariance(data, mean, cov):
    centred = data - data.mean(axis=0)
    return {"mean": data.mean(axis=0), "data": centred, "cov": centred.T @ centred / (len(data) - 1)}


CASES = (
    Case(correlation, _correlation_data, _correlation, chain=310),
    Case(covariance, _covariance_data, _covariance, chain=205),
)
