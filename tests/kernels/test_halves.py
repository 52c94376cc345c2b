# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16 wherever an element or a number may stand: arguments, atomics, running values, results."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc

M, N = asc.dims("M N")


@asc.kernel
def product(a: asc.float16, b: asc.float16) -> asc.float16:
    return a * b


@asc.kernel
def brain_product(a: asc.bfloat16, b: asc.bfloat16) -> asc.bfloat16:
    return a * b


@asc.kernel
def scaled(x: asc.float16[N], s: asc.float16, y: asc.float16[N]):
    for i in asc.parallel_for(N):
        y[i] = x[i] * s


@asc.kernel
def brain_scaled(x: asc.bfloat16[N], s: asc.bfloat16, y: asc.bfloat16[N]):
    for i in asc.parallel_for(N):
        y[i] = x[i] * s


@asc.kernel
def running_max(x: asc.float16[N], least: asc.float16, y: asc.float16[N]):
    largest = least
    for i in range(N):
        if x[i] > largest:
            largest = x[i]
        y[i] = largest


@asc.kernel
def brain_running_max(x: asc.bfloat16[N], y: asc.bfloat16[N]):
    largest = x[0]
    for i in range(N):
        if x[i] > largest:
            largest = x[i]
        y[i] = largest


@asc.kernel
def counts(x: asc.float16[N], y: asc.float16[8]):
    for i in asc.parallel_for(N):
        asc.atomic_add(y, i % 8, x[i])


@asc.kernel
def extremes(x: asc.bfloat16[N], low: asc.bfloat16[1], high: asc.bfloat16[1]):
    for i in asc.parallel_for(N):
        asc.atomic_min(low, 0, x[i])
        asc.atomic_max(high, 0, x[i])


KERNELS = [
    product, brain_product, scaled, brain_scaled, running_max, brain_running_max, counts, extremes,
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(KERNELS)


def brain(values: np.ndarray) -> np.ndarray:
    """The bits of bfloat16 numbers, which these float32 numbers are exactly."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    assert not (bits & 0xFFFF).any()
    return (bits >> 16).astype(np.uint16)


def test_numbers_are_passed_by_value() -> None:
    assert product(1.5, 2.0) == np.float16(3.0)
    assert product(np.float16(0.1), 3.0) == np.float16(0.1) * np.float16(3.0)
    x = np.linspace(-4, 4, 1003).astype(np.float16)
    y = np.empty_like(x)
    scaled(x, 0.1, y)
    np.testing.assert_array_equal(y, x * np.float16(0.1))
    assert brain_product(1.5, 2.0) == 3.0
    halves = np.arange(256, dtype=np.float32)
    bits = np.empty(256, np.uint16)
    brain_scaled(brain(halves), 0.5, bits)
    np.testing.assert_array_equal(bits, brain(halves * 0.5))


def test_arrays_of_bfloat16_are_mapped_by_their_bits() -> None:
    values = np.array([1.5, -2.5, 4.0], np.float32)
    np.testing.assert_array_equal(brain_product(brain(values), brain(values)), brain(values * values))


@pytest.mark.parametrize("size", [1, 100, 70_001])
def test_running_values(size: int) -> None:
    x = np.random.default_rng(0).integers(-200, 200, size).astype(np.float16)
    y = np.empty_like(x)
    running_max(x, -50.0, y)
    np.testing.assert_array_equal(y, np.maximum.accumulate(np.maximum(x, np.float16(-50))))
    bits = np.empty(size, np.uint16)
    brain_running_max(brain(x), bits)
    np.testing.assert_array_equal(bits, brain(np.maximum.accumulate(x)))


def test_atomic_updates() -> None:
    x = np.random.default_rng(0).integers(-3, 4, 9000).astype(np.float16)
    y = np.zeros(8, np.float16)
    counts(x, y)
    # Small integers, so that every order of additions gives the same sums.
    np.testing.assert_array_equal(y, x.reshape(-1, 8).sum(axis=0, dtype=np.float32).astype(np.float16))
    low, high = brain(np.ones(1)), brain(np.ones(1))
    extremes(brain(x[:5000]), low, high)
    assert (low, high) == (brain(np.array([-3.0])), brain(np.array([3.0])))
