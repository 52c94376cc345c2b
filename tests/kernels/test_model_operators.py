# SPDX-License-Identifier: Apache-2.0
"""Operators of networks, written the way that comes to mind: the results of the processor, from the vector unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

SHAPES = ((0, 3), (1, 1), (3, 0), (7, 33), (9, 65), (2, 1000))


@asc.kernel
def masked_softmax(x: asc.float32[M, N], mask: asc.bool[M, N], y: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        z = asc.where(mask[i], x[i], -1e9)
        e = asc.exp(z - asc.max(z))
        y[i] = e / asc.sum(e)


@asc.kernel
def causal_softmax(x: asc.float32[M, M], y: asc.float32[M, M]):
    for i in asc.parallel_for(M):
        most = -1e30
        for j in range(i + 1):
            most = max(most, x[i, j])
        total = 0.0
        for j in range(i + 1):
            total += asc.exp(x[i, j] - most)
        for j in range(M):
            y[i, j] = asc.exp(x[i, j] - most) / total if j <= i else 0.0


@asc.kernel
def quantised(x: asc.float32[M, N], q: asc.int8[M, N], scale: asc.float32[M]):
    for i in asc.parallel_for(M):
        step = asc.max(asc.abs(x[i])) / 127.0
        scale[i] = step
        for j in range(N):
            q[i, j] = asc.int8(asc.clip(asc.rint(x[i, j] / step), -128.0, 127.0))


@asc.kernel
def largest(x: asc.float32[M, N], y: asc.int32[M]):
    for i in asc.parallel_for(M):
        y[i] = asc.argmax(x[i])


@asc.kernel
def largest_of_each(x: asc.float32[M, 2, N], y: asc.float32[M, 2]):
    for i, j in asc.parallel_for_grid(M, 2):
        y[i, j] = asc.max(x[i, j]) - asc.min(x[i, j])


@asc.kernel
def rotated(x: asc.float32[M, 2 * N], c: asc.float32[M, N], s: asc.float32[M, N], y: asc.float32[M, 2 * N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            y[i, j] = x[i, j] * c[i, j] - x[i, j + N] * s[i, j]
            y[i, j + N] = x[i, j] * s[i, j] + x[i, j + N] * c[i, j]


@asc.kernel
def rotated_in_place(x: asc.float32[M, 2 * N], c: asc.float32[M, N], s: asc.float32[M, N]):
    for i in asc.parallel_for(M):
        for j in range(N):
            first = x[i, j]
            x[i, j] = first * c[i, j] - x[i, j + N] * s[i, j]
            x[i, j + N] = first * s[i, j] + x[i, j + N] * c[i, j]


@asc.kernel
def side_by_side(a: asc.float32[M, N], b: asc.float32[M, P], y: asc.float32[M, N + P]):
    for i in asc.parallel_for(M):
        y[i, :N] = a[i]
        y[i, N:] = b[i] * 2.0


@asc.kernel
def cross_entropy(x: asc.float32[M, N], label: asc.int32[M], loss: asc.float32[M]):
    for i in asc.parallel_for(M):
        most = asc.max(x[i])
        loss[i] = asc.log(asc.sum(asc.exp(x[i] - most))) + most - x[i, label[i]]


@asc.kernel
def kept(cache: asc.float16[M, N], new: asc.float16[N], at: int):
    for j in range(N):
        cache[at, j] = new[j]


def _floats(generator: np.random.Generator, *shape: int) -> np.ndarray:
    return generator.standard_normal(shape).astype(np.float32)


def given(kernel: Any, m: int, n: int) -> list[Any]:
    generator = np.random.default_rng(m + n)
    x = _floats(generator, m, n)
    match kernel.__name__:
        case "masked_softmax":
            return [x, generator.random((m, n)) < 0.7, np.zeros_like(x)]
        case "causal_softmax":
            return [_floats(generator, m, m), np.zeros((m, m), np.float32)]
        case "quantised":
            return [x, np.zeros((m, n), np.int8), np.zeros(m, np.float32)]
        case "largest":
            return [x, np.zeros(m, np.int32)]
        case "largest_of_each":
            return [_floats(generator, m, 2, n), np.zeros((m, 2), np.float32)]
        case "rotated":
            return [
                _floats(generator, m, 2 * n),
                x,
                _floats(generator, m, n),
                np.zeros((m, 2 * n), np.float32),
            ]
        case "rotated_in_place":
            return [_floats(generator, m, 2 * n), x, _floats(generator, m, n)]
        case "side_by_side":
            return [x, _floats(generator, m, n // 2 + 1), np.zeros((m, n + n // 2 + 1), np.float32)]
        case "cross_entropy":
            return [x, generator.integers(0, max(n, 1), m).astype(np.int32), np.zeros(m, np.float32)]
        case _:
            return [x.astype(np.float16), _floats(generator, n).astype(np.float16), -1]


KERNELS = (
    masked_softmax,
    causal_softmax,
    quantised,
    largest,
    largest_of_each,
    rotated,
    rotated_in_place,
    side_by_side,
    cross_entropy,
    kept,
)


def outcome(kernel: Any, device: str, m: int, n: int) -> Any:
    """The arrays afterwards, or the class and the text of the error without the core."""
    arguments = given(kernel, m, n)
    try:
        with asc.device(device):
            kernel(*arguments)
    except (ValueError, IndexError) as error:
        return type(error), str(error).replace(" on core 0", "")
    return arguments


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_on_the_processor(kernel: Any) -> None:
    for m, n in SHAPES:
        found, expected = outcome(kernel, "model", m, n), outcome(kernel, "cpu", m, n)
        assert type(found) is type(expected), (m, n, found, expected)
        if isinstance(expected, tuple):
            assert found == expected
            continue
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=2e-6, err_msg=f"{m} x {n}")


ON_VECTORS = [kernel for kernel in KERNELS if kernel not in (rotated_in_place, cross_entropy)]
"""Not what is written in place and read by what follows, nor rows that read an element at a place that data says."""


@pytest.mark.parametrize("kernel", ON_VECTORS, ids=lambda kernel: kernel.__name__)
def test_on_the_vector_unit(kernel: Any) -> None:
    remarks = kernel.specialise(kernel.types_of(given(kernel, 3, 4))).lowered("ascend").remarks
    assert any(each.message == "runs on the vector unit" for each in remarks)
    assert not any("runs on the scalar unit" in each.message for each in remarks)


def test_a_row_of_nothing_is_told_before_anything_is_written() -> None:
    """NumPy's error, where there is a row to ask for its largest element."""
    for device in ("cpu", "model"):
        y = np.full(3, 7, np.int32)
        with asc.device(device), pytest.raises(ValueError, match="zero-size array"):
            largest(np.zeros((3, 0), np.float32), y)
        assert y.tolist() == [7, 7, 7]
        with asc.device(device):
            largest(np.zeros((0, 0), np.float32), y[:0])
