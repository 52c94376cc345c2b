# SPDX-License-Identifier: Apache-2.0
"""Navier-Stokes on a grid: cavity_flow, channel_flow."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case


@asc.func
def _source(b, u, v, dt, dx, dy, rho):
    """The right side of the pressure equation, inside the border."""
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy)


@asc.func
def _relaxed(p, b, dx, dy):
    """One step of Jacobi's method for the pressure, inside the border."""
    return ((p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2) / (
        2 * (dx**2 + dy**2)
    ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]


@asc.func
def _moved(w, u, v, dt, dx, dy, nu):
    """A velocity after advection and diffusion, inside the border, without pressure."""
    inside = w[1:-1, 1:-1]
    return (
        inside
        - u[1:-1, 1:-1] * dt / dx * (inside - w[1:-1, :-2])
        - v[1:-1, 1:-1] * dt / dy * (inside - w[:-2, 1:-1])
        + nu
        * (
            dt / dx**2 * (w[1:-1, 2:] - 2 * inside + w[1:-1, :-2])
            + dt / dy**2 * (w[2:, 1:-1] - 2 * inside + w[:-2, 1:-1])
        )
    )


@asc.kernel
def cavity_flow(
    u: asc.float32[NY, NX],
    v: asc.float32[NY, NX],
    p: asc.float32[NY, NX],
    steps: int,
    rounds: int,
    dt: float,
    dx: float,
    dy: float,
    rho: float,
    nu: float,
):
    b = asc.zeros((NY, NX), asc.float32)
    for t in range(steps):
        _source(b, u, v, dt, dx, dy, rho)
        for q in range(rounds):
            p[1:-1, 1:-1] = _relaxed(p, b, dx, dy)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        new_u = _moved(u, u, v, dt, dx, dy, nu) - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        new_v = _moved(v, u, v, dt, dx, dy, nu) - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[1:-1, 1:-1] = new_u
        v[1:-1, 1:-1] = new_v
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0


def _flow(ny, nx):
    return {name: np.zeros((ny, nx), np.float32) for name in ("u", "v", "p")}


def _cavity_flow_data():
    ny, nx = 21, 31
    numbers = {"dt": 0.001, "dx": 2.0 / (nx - 1), "dy": 2.0 / (ny - 1), "rho": 1.0, "nu": 0.1}
    return {**_flow(ny, nx), "steps": 6, "rounds": 10, **numbers}


class _Solver:
    """The scheme on arrays with a border on all four sides, in float64."""

    def __init__(self, dt, dx, dy, rho, nu):
        self.dt, self.dx, self.dy, self.rho, self.nu = dt, dx, dy, rho, nu

    def centre(self, a):
        return a[1:-1, 1:-1]

    def across(self, a):
        return a[1:-1, 2:], a[1:-1, :-2]

    def along(self, a):
        return a[2:, 1:-1], a[:-2, 1:-1]

    def slopes(self, a):
        (right, left), (up, down) = self.across(a), self.along(a)
        return (right - left) / (2 * self.dx), (up - down) / (2 * self.dy)

    def source(self, u, v):
        (ux, uy), (vx, vy) = self.slopes(u), self.slopes(v)
        return self.rho * ((ux + vy) / self.dt - ux**2 - 2 * uy * vx - vy**2)

    def relaxed(self, p, b):
        scale = 2 * (self.dx**2 + self.dy**2)
        weighted = sum(self.across(p)) * self.dy**2 + sum(self.along(p)) * self.dx**2
        return (weighted - self.dx**2 * self.dy**2 * b) / scale

    def moved(self, w, u, v):
        here, (right, left), (up, down) = self.centre(w), self.across(w), self.along(w)
        advected = self.centre(u) * (here - left) / self.dx + self.centre(v) * (here - down) / self.dy
        spread = (right - 2 * here + left) / self.dx**2 + (up - 2 * here + down) / self.dy**2
        return here + self.dt * (self.nu * spread - advected)

    def pushed(self, u, v, p):
        px, py = self.slopes(p)
        pull = self.dt / self.rho
        return self.moved(u, u, v) - pull * px, self.moved(v, u, v) - pull * py


def _cavity_flow(u, v, p, steps, rounds, dt, dx, dy, rho, nu):
    u, v, p = u.copy(), v.copy(), p.copy()
    solver = _Solver(dt, dx, dy, rho, nu)
    for _ in range(steps):
        b = solver.source(u, v)
        for _ in range(rounds):
            p[1:-1, 1:-1] = solver.relaxed(p, b)
            p[:, -1], p[0], p[:, 0], p[-1] = p[:, -2], p[1], p[:, 1], 0
            p[0], p[-1] = p[1], 0
            p[:, 0] = np.where(np.arange(len(p)) < len(p) - 1, p[:, 1], 0)
        u[1:-1, 1:-1], v[1:-1, 1:-1] = solver.pushed(u, v, p)
        u[0] = u[:, 0] = u[:, -1] = 0
        u[-1] = 1
        v[0] = v[-1] = v[:, 0] = v[:, -1] = 0
    return {"u": u, "v": v, "p": p}


@asc.func
def _wrapped(w):
    """The field between copies of its last and its first column."""
    return asc.concatenate((w[:, -1:], w, w[:, :1]), axis=1)


@asc.kernel
def channel_flow(
    u: asc.float32[NY, NX],
    v: asc.float32[NY, NX],
    p: asc.float32[NY, NX],
    rounds: int,
    dt: float,
    dx: float,
    dy: float,
    rho: float,
    nu: float,
    force: float,
    count: asc.int64[1],
):
    change = 1.0
    steps = 0
    b = asc.zeros((NY, NX + 2), asc.float32)
    while change > 0.02:
        old = asc.sum(u)
        wide_u = _wrapped(u)
        wide_v = _wrapped(v)
        _source(b, wide_u, wide_v, dt, dx, dy, rho)
        for q in range(rounds):
            p[1:-1, :] = _relaxed(_wrapped(p), b, dx, dy)
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        wide_p = _wrapped(p)
        new_u = (
            _moved(wide_u, wide_u, wide_v, dt, dx, dy, nu)
            - dt / (2 * rho * dx) * (wide_p[1:-1, 2:] - wide_p[1:-1, :-2])
            + force * dt
        )
        new_v = _moved(wide_v, wide_u, wide_v, dt, dx, dy, nu) - dt / (2 * rho * dy) * (
            wide_p[2:, 1:-1] - wide_p[:-2, 1:-1]
        )
        u[1:-1, :] = new_u
        v[1:-1, :] = new_v
        u[0, :] = 0.0
        u[-1, :] = 0.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        total = asc.sum(u)
        change = (total - old) / total
        steps += 1
    count[0] = steps


def _channel_flow_data():
    """A channel that is stirred: from rest, as the suite has it, `v` and `p` would stay zero."""
    ny, nx = 11, 13
    rng = np.random.default_rng(42)
    flow = _flow(ny, nx)
    flow["u"][1:-1] = 0.2 + 0.1 * rng.random((ny - 2, nx), dtype=np.float32)
    flow["v"][1:-1] = 0.1 * rng.random((ny - 2, nx), dtype=np.float32)
    numbers = {"dt": 0.01, "dx": 2.0 / (nx - 1), "dy": 2.0 / (ny - 1), "rho": 1.0, "nu": 0.1, "force": 1.0}
    return {**flow, "rounds": 5, **numbers, "count": np.zeros(1, np.int64)}


def _channel_flow(u, v, p, rounds, dt, dx, dy, rho, nu, force, count):
    u, v, p = u.copy(), v.copy(), p.copy()
    solver = _Solver(dt, dx, dy, rho, nu)
    change, steps = 1.0, 0

    def wrapped(a):
        return np.pad(a, ((0, 0), (1, 1)), mode="wrap")

    while change > 0.02:
        old = u.sum()
        b = solver.source(wrapped(u), wrapped(v))
        for _ in range(rounds):
            p[1:-1] = solver.relaxed(wrapped(p), b)
            p[-1], p[0] = p[-2], p[1]
        pushed = solver.pushed(wrapped(u), wrapped(v), wrapped(p))
        u[1:-1], v[1:-1] = pushed[0] + force * dt, pushed[1]
        u[0] = u[-1] = v[0] = v[-1] = 0
        change = (u.sum() - old) / u.sum()
        steps += 1
    return {"u": u, "v": v, "p": p, "count": np.array([steps])}


CASES = (
    Case(cavity_flow, _cavity_flow_data, _cavity_flow, chain=6 * 10 * 20),
    Case(channel_flow, _channel_flow_data, _channel_flow, chain=20 * 40),
)
