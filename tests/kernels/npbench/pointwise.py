# SPDX-License-Identifier: Apache-2.0
"""Elementwise kernels and short loops: arc_distance, compute, go_fast, crc16, nbody, softmax."""

from __future__ import annotations

import numpy as np

import pyasc as asc
from tests.kernels.suite_case import Case


@asc.kernel
def arc_distance(
    theta_1: asc.float32[N], phi_1: asc.float32[N], theta_2: asc.float32[N], phi_2: asc.float32[N]
):
    temp = (
        asc.sin((theta_2 - theta_1) / 2) ** 2
        + asc.cos(theta_1) * asc.cos(theta_2) * asc.sin((phi_2 - phi_1) / 2) ** 2
    )
    return 2 * asc.atan2(asc.sqrt(temp), asc.sqrt(1 - temp))


def _arc_distance_data():
    rng = np.random.default_rng(42)
    return {name: rng.random(1000, dtype=np.float32) for name in ("theta_1", "phi_1", "theta_2", "phi_2")}


def _arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = (
        np.sin((theta_2 - theta_1) / 2) ** 2
        + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    )
    return {"distance": 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))}


@asc.kernel
def compute(array_1: asc.int64[M, N], array_2: asc.int64[M, N], a: int, b: int, c: int):
    return asc.clip(array_1, 2, 10) * a + array_2 * b + c


def _compute_data():
    rng = np.random.default_rng(42)
    return {
        "array_1": rng.integers(0, 1000, (40, 65), np.int64),
        "array_2": rng.integers(0, 1000, (40, 65), np.int64),
        "a": 4,
        "b": 3,
        "c": 9,
    }


def _compute(array_1, array_2, a, b, c):
    return {"out": np.clip(array_1, 2, 10) * a + array_2 * b + c}


@asc.kernel
def go_fast(a: asc.float32[N, N]):
    trace = 0.0
    for i in range(N):
        trace += asc.tanh(a[i, i])
    return a + trace


def _go_fast_data():
    return {"a": np.random.default_rng(42).random((100, 100), dtype=np.float32)}


def _go_fast(a):
    return {"out": a + np.tanh(np.diag(a)).sum()}


@asc.kernel
def crc16(data: asc.uint8[N], out: asc.int64[1], poly: int):
    crc = 0xFFFF
    for i in range(N):
        byte = int(data[i])
        for k in range(8):
            carry = (crc & 0x0001) ^ (byte & 0x0001)
            crc = crc >> 1
            if carry > 0:
                crc = crc ^ poly
            byte = byte >> 1
    crc = (~crc) & 0xFFFF
    out[0] = ((crc & 0xFF) << 8) | ((crc >> 8) & 0xFF)


def _crc16_data():
    data = np.random.default_rng(42).integers(0, 256, 500).astype(np.uint8)
    return {"data": data, "out": np.zeros(1, np.int64), "poly": 0x8408}


def _crc16(data, out, poly):
    table = np.arange(256)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ poly, table >> 1)
    crc = 0xFFFF
    for byte in data:
        crc = int(table[(crc ^ int(byte)) & 0xFF]) ^ (crc >> 8)
    crc = ~crc & 0xFFFF
    return {"out": np.array([int.from_bytes(crc.to_bytes(2, "little"), "big")])}


@asc.kernel
def nbody(
    mass: asc.float32[N],
    pos: asc.float32[N, 3],
    vel: asc.float32[N, 3],
    steps: int,
    dt: float,
    gravity: float,
    softening: float,
    kinetic: asc.float32[T],
):
    acc = asc.zeros((N, 3), asc.float32)
    for t in range(steps + 1):
        if t > 0:
            for i, d in asc.parallel_for_grid(N, 3):
                pos[i, d] += (vel[i, d] + acc[i, d] * dt / 2.0) * dt
                vel[i, d] += acc[i, d] * dt / 2.0
        for i in asc.parallel_for(N):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(N):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                square = dx * dx + dy * dy + dz * dz + softening * softening
                inverse = 1.0 / (square * asc.sqrt(square))
                ax += dx * inverse * mass[j]
                ay += dy * inverse * mass[j]
                az += dz * inverse * mass[j]
            acc[i, 0] = gravity * ax
            acc[i, 1] = gravity * ay
            acc[i, 2] = gravity * az
        if t > 0:
            for i, d in asc.parallel_for_grid(N, 3):
                vel[i, d] += acc[i, d] * dt / 2.0
        total = 0.0
        for i in range(N):
            total += mass[i] * (vel[i, 0] * vel[i, 0] + vel[i, 1] * vel[i, 1] + vel[i, 2] * vel[i, 2])
        kinetic[t] = 0.5 * total


def _nbody_data():
    rng = np.random.default_rng(42)
    n, steps = 25, 10
    return {
        "mass": np.full(n, 20.0 / n, np.float32),
        "pos": rng.random((n, 3), dtype=np.float32),
        "vel": rng.random((n, 3), dtype=np.float32),
        "steps": steps,
        "dt": 0.01,
        "gravity": 1.0,
        "softening": 0.1,
        "kinetic": np.full(steps + 1, np.nan, np.float32),
    }


def _nbody(mass, pos, vel, steps, dt, gravity, softening, kinetic):
    pos, vel = pos.copy(), vel.copy()

    def acceleration():
        apart = pos[None] - pos[:, None]
        inverse = (np.sum(apart**2, axis=2) + softening**2) ** -1.5
        return gravity * np.einsum("ijd,ij,j->id", apart, inverse, mass)

    def energy():
        return 0.5 * np.sum(mass[:, None] * vel**2)

    acc = acceleration()
    energies = [energy()]
    for _ in range(steps):
        half = vel + acc * dt / 2
        pos += half * dt
        acc = acceleration()
        vel = half + acc * dt / 2
        energies.append(energy())
    return {"pos": pos, "vel": vel, "kinetic": np.array(energies)}


@asc.kernel
def softmax(x: asc.float32[B, H, S, S]):
    shifted = x - asc.max(x, axis=-1, keepdims=True)
    numerator = asc.exp(shifted)
    return numerator / asc.sum(numerator, axis=-1, keepdims=True)


def _softmax_data():
    return {"x": np.random.default_rng(42).random((2, 4, 33, 33), dtype=np.float32)}


def _softmax(x):
    numerator = np.exp(x - x.max(axis=-1, keepdims=True))
    return {"out": numerator / numerator.sum(axis=-1, keepdims=True)}


CASES = (
    Case(arc_distance, _arc_distance_data, _arc_distance, chain=60),
    Case(compute, _compute_data, _compute, chain=0),
    Case(go_fast, _go_fast_data, _go_fast, chain=110),
    Case(crc16, _crc16_data, _crc16, chain=0),
    Case(nbody, _nbody_data, _nbody, chain=10 * 60),
    Case(softmax, _softmax_data, _softmax, chain=45),
)
