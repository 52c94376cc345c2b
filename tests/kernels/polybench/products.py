# SPDX-License-Identifier: Apache-2.0
"""linear-algebra/kernels: 2mm, 3mm, atax, bicg, doitgen, mvt."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid


@asc.kernel
def two_mm(
    tmp: asc.float32[NI, NJ],
    A: asc.float32[NI, NK],
    B: asc.float32[NK, NJ],
    C: asc.float32[NJ, NL],
    D: asc.float32[NI, NL],
    alpha: float,
    beta: float,
):
    for i in asc.parallel_for(NI):
        for j in range(NJ):
            tmp[i, j] = 0.0
            for k in range(NK):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in asc.parallel_for(NI):
        for j in range(NL):
            D[i, j] *= beta
            for k in range(NJ):
                D[i, j] += tmp[i, k] * C[k, j]


def _two_mm_data():
    ni, nj, nk, nl = 40, 50, 70, 80
    return {
        "tmp": np.zeros((ni, nj), np.float32),
        "A": grid(lambda i, j: ((i * j + 1) % ni) / ni, ni, nk),
        "B": grid(lambda i, j: (i * (j + 1) % nj) / nj, nk, nj),
        "C": grid(lambda i, j: ((i * (j + 3) + 1) % nl) / nl, nj, nl),
        "D": grid(lambda i, j: (i * (j + 2) % nk) / nk, ni, nl),
        "alpha": 1.5,
        "beta": 1.2,
    }


def _two_mm(tmp, A, B, C, D, alpha, beta):
    first = alpha * A @ B
    return {"tmp": first, "D": beta * D + first @ C}


@asc.kernel
def three_mm(
    A: asc.float32[NI, NK],
    B: asc.float32[NK, NJ],
    C: asc.float32[NJ, NM],
    D: asc.float32[NM, NL],
    E: asc.float32[NI, NJ],
    F: asc.float32[NJ, NL],
    G: asc.float32[NI, NL],
):
    for i in asc.parallel_for(NI):
        for j in range(NJ):
            E[i, j] = 0.0
            for k in range(NK):
                E[i, j] += A[i, k] * B[k, j]
    for i in asc.parallel_for(NJ):
        for j in range(NL):
            F[i, j] = 0.0
            for k in range(NM):
                F[i, j] += C[i, k] * D[k, j]
    for i in asc.parallel_for(NI):
        for j in range(NL):
            G[i, j] = 0.0
            for k in range(NJ):
                G[i, j] += E[i, k] * F[k, j]


def _three_mm_data():
    ni, nj, nk, nl, nm = 40, 50, 60, 70, 80
    return {
        "A": grid(lambda i, j: ((i * j + 1) % ni) / (5 * ni), ni, nk),
        "B": grid(lambda i, j: ((i * (j + 1) + 2) % nj) / (5 * nj), nk, nj),
        "C": grid(lambda i, j: (i * (j + 3) % nl) / (5 * nl), nj, nm),
        "D": grid(lambda i, j: ((i * (j + 2) + 2) % nk) / (5 * nk), nm, nl),
        "E": np.full((ni, nj), np.nan, np.float32),
        "F": np.full((nj, nl), np.nan, np.float32),
        "G": np.full((ni, nl), np.nan, np.float32),
    }


def _three_mm(A, B, C, D, E, F, G):
    return {"E": A @ B, "F": C @ D, "G": A @ B @ (C @ D)}


@asc.kernel
def atax(A: asc.float32[M, N], x: asc.float32[N], y: asc.float32[N], tmp: asc.float32[M]):
    for j in asc.parallel_for(N):
        y[j] = 0.0
    for i in range(M):
        tmp[i] = 0.0
        for j in range(N):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(N):
            y[j] = y[j] + A[i, j] * tmp[i]


def _atax_data():
    m, n = 116, 124
    return {
        "A": grid(lambda i, j: ((i + j) % n) / (5 * m), m, n),
        "x": grid(lambda i: 1 + i / n, n),
        "y": np.full(n, np.nan, np.float32),
        "tmp": np.full(m, np.nan, np.float32),
    }


def _atax(A, x, y, tmp):
    return {"tmp": A @ x, "y": A.T @ (A @ x)}


@asc.kernel
def bicg(A: asc.float32[N, M], s: asc.float32[M], q: asc.float32[N], p: asc.float32[M], r: asc.float32[N]):
    for i in asc.parallel_for(M):
        s[i] = 0.0
    for i in range(N):
        q[i] = 0.0
        for j in range(M):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


def _bicg_data():
    m, n = 116, 124
    return {
        "A": grid(lambda i, j: (i * (j + 1) % n) / n, n, m),
        "s": np.full(m, np.nan, np.float32),
        "q": np.full(n, np.nan, np.float32),
        "p": grid(lambda i: (i % m) / m, m),
        "r": grid(lambda i: (i % n) / n, n),
    }


def _bicg(A, s, q, p, r):
    return {"s": r @ A, "q": A @ p}


@asc.kernel
def doitgen(A: asc.float32[NR, NQ, NP], C4: asc.float32[NP, NP], sums: asc.float32[NP]):
    for r in range(NR):
        for q in range(NQ):
            for p in range(NP):
                sums[p] = 0.0
                for s in range(NP):
                    sums[p] += A[r, q, s] * C4[s, p]
            for p in range(NP):
                A[r, q, p] = sums[p]


def _doitgen_data():
    nq, nr, n_p = 20, 25, 30
    return {
        "A": grid(lambda i, j, k: ((i * j + k) % n_p) / n_p, nr, nq, n_p),
        "C4": grid(lambda i, j: (i * j % n_p) / n_p, n_p, n_p),
        "sums": np.full(n_p, np.nan, np.float32),
    }


def _doitgen(A, C4, sums):
    product = np.einsum("rqs,sp->rqp", A, C4)
    return {"A": product, "sums": product[-1, -1]}


@asc.kernel
def mvt(
    A: asc.float32[N, N],
    x1: asc.float32[N],
    x2: asc.float32[N],
    y1: asc.float32[N],
    y2: asc.float32[N],
):
    for i in asc.parallel_for(N):
        for j in range(N):
            x1[i] = x1[i] + A[i, j] * y1[j]
    for i in asc.parallel_for(N):
        for j in range(N):
            x2[i] = x2[i] + A[j, i] * y2[j]


def _mvt_data():
    n = 120
    return {
        "A": grid(lambda i, j: (i * j % n) / n, n, n),
        "x1": grid(lambda i: (i % n) / n, n),
        "x2": grid(lambda i: ((i + 1) % n) / n, n),
        "y1": grid(lambda i: ((i + 3) % n) / n, n),
        "y2": grid(lambda i: ((i + 4) % n) / n, n),
    }


def _mvt(A, x1, x2, y1, y2):
    return {"x1": x1 + A @ y1, "x2": x2 + A.T @ y2}


CASES = (
    Case(two_mm, _two_mm_data, _two_mm, chain=125),
    Case(three_mm, _three_mm_data, _three_mm, chain=192),
    Case(atax, _atax_data, _atax, chain=242),
    Case(bicg, _bicg_data, _bicg, chain=126),
    Case(doitgen, _doitgen_data, _doitgen, chain=31),
    Case(mvt, _mvt_data, _mvt, chain=122),
)
