# SPDX-License-Identifier: Apache-2.0
"""Histograms on the vector unit of the model: few bins, compared one by one; checked and unchecked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model_gathers import error_of, places, slow_lines
from tests.kernels.test_model_strided import gives, numbers

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000)
MANY_BINS = ["histograms that do not fit on chip run on the scalar unit"]


@asc.kernel
def counted(x: asc.int32[N], bins: asc.int32[B]):
    for i in range(N):
        bins[x[i]] += 1


@asc.kernel
def counted_at_once(x: asc.int64[N], bins: asc.int32[B]):
    for i in asc.parallel_for(N):
        asc.atomic_add(bins, x[i], 2)


@asc.kernel
def of_an_image(image: asc.uint8[H, W], bins: asc.int32[256]):
    for i in range(H):
        for j in range(W):
            bins[image[i, j]] += 1


@asc.kernel(unchecked=True)
def weighted(x: asc.float32[N], w: asc.float32[N], bins: asc.float32[40]):
    for i in asc.parallel_for(N):
        asc.atomic_add(bins, int(x[i] * 10.0), w[i] * 0.5)


@asc.kernel(unchecked=True)
def of_pairs(a: asc.int32[N], b: asc.int32[N], bins: asc.int32[5, 7]):
    for i in asc.parallel_for(N):
        asc.atomic_add(bins, (a[i], b[i]), 1)


def test_counts() -> None:
    for bins in (1, 7, 64, 129, 384, 700):
        for n in (*SIZES, 20011) if bins == 64 else (9, 300):
            x, start = places(n, bins), numbers(np.int32, bins)
            counts = np.bincount(x % bins, minlength=bins).astype(np.int32)
            gives(counted, [x, start], [start + counts])
            gives(counted_at_once, [x.astype(np.int64), start], [start + 2 * counts])
    for shape in ((0, 3), (1, 1), (9, 31), (50, 257)):
        image = numbers(np.uint8, *shape) * np.uint8(2) + np.uint8(37)
        start = numbers(np.int32, 256)
        gives(of_an_image, [image, start], [start + np.bincount(image.reshape(-1), minlength=256)])
    assert slow_lines(counted) == slow_lines(counted_at_once) == MANY_BINS


def test_weights_and_two_axes() -> None:
    for n in SIZES:
        x, w = np.abs(numbers(np.float32, n)) % 4, numbers(np.float32, n)
        start = numbers(np.float32, 40)
        place = (x * np.float32(10)).astype(np.int32)
        made = start + np.bincount(place, weights=w * 0.5, minlength=40)
        copies = [x, w, start.copy()]
        with asc.device("model"):
            weighted(*copies)
        np.testing.assert_allclose(copies[2], made, rtol=1e-5, atol=1e-5)
        a, b = places(n, 5), places(n + 1, 7)[:n]
        pairs = np.zeros((5, 7), np.int32)
        np.add.at(pairs, (a, b), 1)
        gives(of_pairs, [a, b, np.zeros_like(pairs)], [pairs])
    assert slow_lines(of_pairs) == MANY_BINS and not slow_lines(weighted)


def test_a_bin_out_of_range() -> None:
    for bad in (40, -41):
        x = places(300, 40)
        x[7], x[20] = bad, 99

        def loop(x: Any = x) -> None:
            counted(x, np.zeros(40, np.int32))

        assert error_of("model", loop) == error_of("cpu", loop)


@asc.kernel
def with_integer_weights(x: asc.int32[N], w: asc.int32[N], bins: asc.int32[B]):
    for i in range(N):
        bins[x[i]] += w[i]


def test_integer_weights_stay_exact() -> None:
    x, w = places(257, 9), numbers(np.int32, 257) * 20_000_003
    made = np.zeros(9, np.int32)
    np.add.at(made, x, w)
    gives(with_integer_weights, [x, w, np.zeros(9, np.int32)], [made])
