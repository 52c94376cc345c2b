# SPDX-License-Identifier: Apache-2.0
"""stencils: adi, fdtd-2d, heat-3d, jacobi-1d, jacobi-2d, seidel-2d."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case, grid


@asc.kernel
def adi(u: asc.float32[N, N], v: asc.float32[N, N], p: asc.float32[N, N], q: asc.float32[N, N], steps: int):
    mul1 = 2.0 * N * N / steps
    mul2 = 1.0 * N * N / steps
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for t in range(steps):
        for i in asc.parallel_for(1, N - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, N - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)
            v[N - 1, i] = 1.0
            for j in range(N - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in asc.parallel_for(1, N - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, N - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, N - 1] = 1.0
            for j in range(N - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def _adi_data():
    n = 60
    return {
        "u": grid(lambda i, j: (i + n - j) / n, n, n),
        "v": np.zeros((n, n), np.float32),
        "p": np.zeros((n, n), np.float32),
        "q": np.zeros((n, n), np.float32),
        "steps": 40,
    }


def _implicit(explicit, side, centre, other):
    """Solve the tridiagonal systems of one sweep for all lines at once; both ends of a line are 1."""
    n = explicit.shape[1]
    matrix = np.eye(n)
    inner = np.arange(1, n - 1)
    matrix[inner, inner - 1] = matrix[inner, inner + 1] = side
    matrix[inner, inner] = centre
    right = np.ones((explicit.shape[0], n))
    right[:, 1:-1] = other(explicit)
    return np.linalg.solve(matrix, right.T).T


def _adi(u, v, p, q, steps):
    n = len(u)
    a, b = -n * n / steps, 1 + 2.0 * n * n / steps
    d, e = -n * n / steps / 2, 1 + n * n / steps
    v = v.copy()
    u = u.copy()
    inner = slice(1, -1)
    for _ in range(steps):
        lines = u.T
        spread = -d * lines[:-2] + (1 + 2 * d) * lines[inner] - d * lines[2:]
        v[:, inner] = _implicit(spread, a, b, lambda each: each[:, inner]).T
        spread = -a * v[:-2] + (1 + 2 * a) * v[inner] - a * v[2:]
        u[inner] = _implicit(spread, d, e, lambda each: each[:, inner])
    return {"u": u}


@asc.kernel
def fdtd_2d(ex: asc.float32[NX, NY], ey: asc.float32[NX, NY], hz: asc.float32[NX, NY], fict: asc.float32[T]):
    for t in range(T):
        for j in asc.parallel_for(NY):
            ey[0, j] = fict[t]
        for i in asc.parallel_for(1, NX):
            for j in range(NY):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in asc.parallel_for(NX):
            for j in range(1, NY):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in asc.parallel_for(NX - 1):
            for j in range(NY - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def _fdtd_2d_data():
    nx, ny = 60, 80
    return {
        "ex": grid(lambda i, j: (i * (j + 1)) / nx, nx, ny),
        "ey": grid(lambda i, j: (i * (j + 2)) / ny, nx, ny),
        "hz": grid(lambda i, j: (i * (j + 3)) / nx, nx, ny),
        "fict": grid(lambda i: i, 40),
    }


def _fdtd_2d(ex, ey, hz, fict):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for pulse in fict:
        ey[0] = pulse
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


@asc.func
def _heat(source, target):
    for i, j, k in asc.parallel_for_grid(source.shape[0] - 2, source.shape[1] - 2, source.shape[2] - 2):
        centre = source[i + 1, j + 1, k + 1]
        target[i + 1, j + 1, k + 1] = (
            0.125 * (source[i + 2, j + 1, k + 1] - 2.0 * centre + source[i, j + 1, k + 1])
            + 0.125 * (source[i + 1, j + 2, k + 1] - 2.0 * centre + source[i + 1, j, k + 1])
            + 0.125 * (source[i + 1, j + 1, k + 2] - 2.0 * centre + source[i + 1, j + 1, k])
            + centre
        )


@asc.kernel
def heat_3d(A: asc.float32[N, N, N], B: asc.float32[N, N, N], steps: int):
    for t in range(steps):
        _heat(A, B)
        _heat(B, A)


def _heat_3d_data():
    n = 20
    A = grid(lambda i, j, k: (i + j + (n - k)) * 10 / n, n, n, n)
    return {"A": A, "B": A.copy(), "steps": 40}


def _laplacian(A):
    """The sum of second differences along each axis, inside the border."""
    total = np.zeros(tuple(n - 2 for n in A.shape))
    for axis in range(A.ndim):
        inner = tuple(slice(None) if a == axis else slice(1, -1) for a in range(A.ndim))
        total += np.diff(A, 2, axis=axis)[inner]
    return total


def _heat_3d(A, B, steps):
    A, B = A.copy(), B.copy()
    inner = (slice(1, -1),) * 3
    for _ in range(steps):
        B[inner] = A[inner] + 0.125 * _laplacian(A)
        A[inner] = B[inner] + 0.125 * _laplacian(B)
    return {"A": A, "B": B}


@asc.kernel
def jacobi_1d(A: asc.float32[N], B: asc.float32[N], steps: int):
    for t in range(steps):
        for i in asc.parallel_for(1, N - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in asc.parallel_for(1, N - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def _jacobi_1d_data():
    n = 120
    return {"A": grid(lambda i: (i + 2) / n, n), "B": grid(lambda i: (i + 3) / n, n), "steps": 40}


def _jacobi_1d(A, B, steps):
    A, B = A.copy(), B.copy()
    for _ in range(steps):
        B[1:-1] = 0.33333 * np.convolve(A, np.ones(3), "valid")
        A[1:-1] = 0.33333 * np.convolve(B, np.ones(3), "valid")
    return {"A": A, "B": B}


@asc.kernel
def jacobi_2d(A: asc.float32[N, N], B: asc.float32[N, N], steps: int):
    for t in range(steps):
        for i in asc.parallel_for(1, N - 1):
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in asc.parallel_for(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])


def _jacobi_2d_data():
    n = 90
    return {
        "A": grid(lambda i, j: (i * (j + 2) + 2) / n, n, n),
        "B": grid(lambda i, j: (i * (j + 3) + 3) / n, n, n),
        "steps": 40,
    }


def _jacobi_2d(A, B, steps):
    A, B = A.copy(), B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = A[1:-1, 1:-1] + 0.2 * _laplacian(A)
        A[1:-1, 1:-1] = B[1:-1, 1:-1] + 0.2 * _laplacian(B)
    return {"A": A, "B": B}


@asc.kernel
def seidel_2d(A: asc.float32[N, N], steps: int):
    for t in range(steps):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0


def _seidel_2d_data():
    n = 120
    return {"A": grid(lambda i, j: (i * (j + 2) + 2) / n, n, n), "steps": 40}


def _seidel_2d(A, steps):
    """A row is a first-order recurrence in j: solve it with the bidiagonal matrix of its own left neighbours."""
    A = A.copy()
    n = len(A)
    inverse = np.linalg.inv(np.eye(n - 2) - np.eye(n - 2, k=-1) / 9)
    for _ in range(steps):
        for i in range(1, n - 1):
            known = np.convolve(A[i - 1] + A[i + 1], np.ones(3), "valid") + A[i, 1:-1] + A[i, 2:]
            known[0] += A[i, 0]
            A[i, 1:-1] = inverse @ (known / 9)
    return {"A": A}


CASES = (
    Case(adi, _adi_data, _adi, chain=40 * 2 * 60),
    Case(fdtd_2d, _fdtd_2d_data, _fdtd_2d, chain=40 * 8),
    Case(heat_3d, _heat_3d_data, _heat_3d, chain=80 * 12),
    Case(jacobi_1d, _jacobi_1d_data, _jacobi_1d, chain=80 * 4),
    Case(jacobi_2d, _jacobi_2d_data, _jacobi_2d, chain=80 * 6),
    Case(seidel_2d, _seidel_2d_data, _seidel_2d, chain=40 * 10),
)
