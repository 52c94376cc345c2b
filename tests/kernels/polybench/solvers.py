# SPDX-License-Identifier: Apache-2.0
"""linear-algebra/solvers: cholesky, durbin, gramschmidt, lu, ludcmp, trisolv."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid


def _positive_definite(n):
    lower = grid(lambda i, j: np.where(j < i, 1 - j / n, i == j), n, n).astype(np.float64)
    return (lower @ lower.T).astype(np.float32)


@asc.kernel
def cholesky(A: asc.float32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = asc.sqrt(A[i, i])


def _cholesky_data():
    return {"A": _positive_definite(120)}


def _cholesky(A):
    return {"A": np.linalg.cholesky(A) + np.triu(A, 1)}


@asc.kernel
def durbin(r: asc.float32[N], y: asc.float32[N], z: asc.float32[N]):
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, N):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def _durbin_data():
    n = 120
    return {
        "r": grid(lambda i: n + 1 - i, n),
        "y": np.full(n, np.nan, np.float32),
        "z": np.full(n, np.nan, np.float32),
    }


def _toeplitz(r):
    lag = np.abs(np.subtract.outer(np.arange(len(r)), np.arange(len(r))))
    return np.where(lag == 0, 1.0, r[lag - 1])


def _durbin(r, y, z):
    return {"y": np.linalg.solve(_toeplitz(r), -r)}


@asc.kernel
def gramschmidt(A: asc.float32[M, N], R: asc.float32[N, N], Q: asc.float32[M, N]):
    for k in range(N):
        norm = 0.0
        for i in range(M):
            norm += A[i, k] * A[i, k]
        R[k, k] = asc.sqrt(norm)
        for i in asc.parallel_for(M):
            Q[i, k] = A[i, k] / R[k, k]
        for j in asc.parallel_for(k + 1, N):
            R[k, j] = 0.0
            for i in range(M):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(M):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def _gramschmidt_data():
    m, n = 60, 80
    return {
        "A": grid(lambda i, j: ((i * j % m) / m) * 100 + 10, m, n),
        "R": np.zeros((n, n), np.float32),
        "Q": np.zeros((m, n), np.float32),
    }


def _gramschmidt(A, R, Q):
    return {"QR": A}


def _gramschmidt_product(A, R, Q):
    return {"QR": Q @ R}


@asc.kernel
def lu(A: asc.float32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def _eliminated(A):
    """L below and U on and above the diagonal, by outer products, without pivots."""
    A = A.copy()
    for k in range(len(A)):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def _lu(A):
    return {"A": _eliminated(A)}


@asc.kernel
def ludcmp(A: asc.float32[N, N], b: asc.float32[N], x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, N):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(N):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(N - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, N):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def _ludcmp_data():
    n = 120
    return {
        "A": _positive_definite(n),
        "b": grid(lambda i: (i + 1) / n / 2 + 4, n),
        "x": np.full(n, np.nan, np.float32),
        "y": np.full(n, np.nan, np.float32),
    }


def _ludcmp(A, b, x, y):
    return {"A": _eliminated(A), "x": np.linalg.solve(A, b)}


@asc.kernel
def trisolv(L: asc.float32[N, N], x: asc.float32[N], b: asc.float32[N]):
    for i in range(N):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


def _trisolv_lower():
    n = 120
    return grid(lambda i, j: np.where(j <= i, (i + n - j + 1) * 2 / n, 0), n, n)


def _trisolv_data():
    n = 120
    return {
        "L": _trisolv_lower(),
        "x": np.full(n, -999, np.float32),
        "b": grid(lambda i: i, n),
    }


def _trisolv(L, x, b):
    return {"x": np.linalg.solve(np.tril(L), b)}


def _condition(A):
    return float(np.linalg.cond(A.astype(np.float64), np.inf))


CASES = (
    Case(cholesky, _cholesky_data, _cholesky, chain=2 * 120),
    Case(
        durbin, _durbin_data, _durbin, chain=4 * 120, amplification=_condition(_toeplitz(_durbin_data()["r"]))
    ),
    Case(gramschmidt, _gramschmidt_data, _gramschmidt, chain=80 * 4, derived=_gramschmidt_product),
    Case(lu, _cholesky_data, _lu, chain=2 * 120),
    Case(ludcmp, _ludcmp_data, _ludcmp, chain=6 * 120),
    Case(trisolv, _trisolv_data, _trisolv, chain=122, amplification=_condition(_trisolv_lower())),
)
