# SPDX-License-Identifier: Apache-2.0
"""linear-algebra/blas: gemm, gemver, gesummv, symm, syr2k, syrk, trmm."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid

ALPHA, BETA = 1.5, 1.2


@asc.kernel
def gemm(C: asc.float32[NI, NJ], A: asc.float32[NI, NK], B: asc.float32[NK, NJ], alpha: float, beta: float):
    for i in asc.parallel_for(NI):
        for j in range(NJ):
            C[i, j] *= beta
        for k in range(NK):
            for j in range(NJ):
                C[i, j] += alpha * A[i, k] * B[k, j]


def _gemm_data():
    ni, nj, nk = 60, 70, 80
    return {
        "C": grid(lambda i, j: ((i * j + 1) % ni) / ni, ni, nj),
        "A": grid(lambda i, j: (i * (j + 1) % nk) / nk, ni, nk),
        "B": grid(lambda i, j: (i * (j + 2) % nj) / nj, nk, nj),
        "alpha": ALPHA,
        "beta": BETA,
    }


def _gemm(C, A, B, alpha, beta):
    return {"C": beta * C + alpha * A @ B}


@asc.kernel
def gemver(
    A: asc.float32[N, N],
    u1: asc.float32[N],
    v1: asc.float32[N],
    u2: asc.float32[N],
    v2: asc.float32[N],
    w: asc.float32[N],
    x: asc.float32[N],
    y: asc.float32[N],
    z: asc.float32[N],
    alpha: float,
    beta: float,
):
    for i in asc.parallel_for(N):
        for j in range(N):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in asc.parallel_for(N):
        for j in range(N):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in asc.parallel_for(N):
        x[i] = x[i] + z[i]
    for i in asc.parallel_for(N):
        for j in range(N):
            w[i] = w[i] + alpha * A[i, j] * x[j]


def _gemver_data():
    n = 120
    index = np.arange(n, dtype=np.float64)
    halves = {
        "u1": index,
        "u2": (index + 1) / n / 2,
        "v1": (index + 1) / n / 4,
        "v2": (index + 1) / n / 6,
        "y": (index + 1) / n / 8,
        "z": (index + 1) / n / 9,
        "x": np.zeros(n),
        "w": np.zeros(n),
    }
    vectors = {name: values.astype(np.float32) for name, values in halves.items()}
    return {"A": grid(lambda i, j: (i * j % n) / n, n, n), **vectors, "alpha": ALPHA, "beta": BETA}


def _gemver(A, u1, v1, u2, v2, w, x, y, z, alpha, beta):
    updated = A + np.outer(u1, v1) + np.outer(u2, v2)
    x = x + beta * updated.T @ y + z
    return {"A": updated, "x": x, "w": w + alpha * updated @ x}


@asc.kernel
def gesummv(
    A: asc.float32[N, N],
    B: asc.float32[N, N],
    x: asc.float32[N],
    y: asc.float32[N],
    alpha: float,
    beta: float,
):
    for i in asc.parallel_for(N):
        left = 0.0
        right = 0.0
        for j in range(N):
            left += A[i, j] * x[j]
            right += B[i, j] * x[j]
        y[i] = alpha * left + beta * right


def _gesummv_data():
    n = 90
    return {
        "A": grid(lambda i, j: ((i * j + 1) % n) / n, n, n),
        "B": grid(lambda i, j: ((i * j + 2) % n) / n, n, n),
        "x": grid(lambda i: (i % n) / n, n),
        "y": np.zeros(n, np.float32),
        "alpha": ALPHA,
        "beta": BETA,
    }


def _gesummv(A, B, x, y, alpha, beta):
    return {"y": alpha * A @ x + beta * B @ x}


@asc.kernel
def symm(C: asc.float32[M, N], A: asc.float32[M, M], B: asc.float32[M, N], alpha: float, beta: float):
    for i in range(M):
        for j in asc.parallel_for(N):
            above = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                above += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * above


def _symm_data():
    m, n = 60, 80
    lower = grid(lambda i, j: np.where(j <= i, ((i + j) % 100) / m, -999), m, m)
    return {
        "C": grid(lambda i, j: ((i + j) % 100) / m, m, n),
        "A": lower,
        "B": grid(lambda i, j: ((n + i - j) % 100) / m, m, n),
        "alpha": ALPHA,
        "beta": BETA,
    }


def _symm(C, A, B, alpha, beta):
    whole = np.tril(A) + np.tril(A, -1).T
    return {"C": beta * C + alpha * whole @ B}


@asc.kernel
def syr2k(C: asc.float32[N, N], A: asc.float32[N, M], B: asc.float32[N, M], alpha: float, beta: float):
    for i in asc.parallel_for(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def _syr2k_data():
    m, n = 60, 80
    return {
        "C": grid(lambda i, j: ((i * j + 3) % n) / m, n, n),
        "A": grid(lambda i, j: ((i * j + 1) % n) / n, n, m),
        "B": grid(lambda i, j: ((i * j + 2) % m) / m, n, m),
        "alpha": ALPHA,
        "beta": BETA,
    }


def _syr2k(C, A, B, alpha, beta):
    whole = beta * C + alpha * (A @ B.T + B @ A.T)
    return {"C": np.tril(whole) + np.triu(C, 1)}


@asc.kernel
def syrk(C: asc.float32[N, N], A: asc.float32[N, M], alpha: float, beta: float):
    for i in asc.parallel_for(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def _syrk_data():
    m, n = 60, 80
    return {
        "C": grid(lambda i, j: ((i * j + 2) % m) / m, n, n),
        "A": grid(lambda i, j: ((i * j + 1) % n) / n, n, m),
        "alpha": ALPHA,
        "beta": BETA,
    }


def _syrk(C, A, alpha, beta):
    return {"C": np.tril(beta * C + alpha * A @ A.T) + np.triu(C, 1)}


@asc.kernel
def trmm(A: asc.float32[M, M], B: asc.float32[M, N], alpha: float):
    for i in range(M):
        for j in asc.parallel_for(N):
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def _trmm_data():
    m, n = 60, 80
    return {
        "A": grid(lambda i, j: np.where(j < i, ((i + j) % m) / m, i == j), m, m),
        "B": grid(lambda i, j: ((n + (i - j)) % n) / n, m, n),
        "alpha": ALPHA,
    }


def _trmm(A, B, alpha):
    return {"B": alpha * np.tril(A).T @ B}


CASES = (
    Case(gemm, _gemm_data, _gemm, chain=82),
    Case(gemver, _gemver_data, _gemver, chain=250),
    Case(gesummv, _gesummv_data, _gesummv, chain=93),
    Case(symm, _symm_data, _symm, chain=64),
    Case(syr2k, _syr2k_data, _syr2k, chain=122),
    Case(syrk, _syrk_data, _syrk, chain=62),
    Case(trmm, _trmm_data, _trmm, chain=62),
)
