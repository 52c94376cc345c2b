# SPDX-License-Identifier: Apache-2.0
"""Every second element, channels of pixels, parts in turn, arrays backwards: on the vector unit of the model."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000, 8001)
IMAGES = ((0, 3), (1, 1), (3, 7), (9, 31), (50, 257))


def numbers(dtype: Any, *shape: int) -> Any:
    """Numbers of a dtype that sums of a few keep exact in int32, and close in halves."""
    rng = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 100, shape).astype(dtype)


def on_vector(kernel: Any, arrays: Sequence[Any] = ()) -> None:
    """Nothing of the kernel is left to the scalar unit."""
    remarks = kernel.specialise(kernel.types_of(arrays)).lowered("ascend").remarks
    assert not [each.message for each in remarks if "scalar unit" in each.message]


def gives(kernel: Any, arrays: Sequence[Any], expected: Sequence[Any]) -> None:
    """What the last arrays hold after a run on the model."""
    copies = [array.copy() for array in arrays]
    with asc.device("model"):
        kernel(*copies)
    for got, wanted in zip(copies[-len(expected) :], expected, strict=True):
        allowed = {"f2": 2e-3, "f4": 1e-6}.get(got.dtype.str[1:], 0)
        np.testing.assert_allclose(got, wanted.astype(got.dtype), rtol=allowed, atol=allowed)


@asc.kernel
def every_second(x: asc.tensor, y: asc.tensor):
    for i in asc.parallel_for(y.shape[0]):
        y[i] = x[2 * i] + x[2 * i]


@asc.kernel
def sums_of_pairs(x: asc.tensor, y: asc.tensor):
    for i in asc.parallel_for(y.shape[0]):
        y[i] = x[2 * i] + x[2 * i + 1]


@asc.kernel
def backwards(x: asc.tensor, y: asc.tensor):
    for i in asc.parallel_for(y.shape[0]):
        y[i] = x[y.shape[0] - 1 - i]


@asc.kernel
def swapped(img: asc.uint8[H, W, 3], out: asc.uint8[H, W, 3]):
    for i, j in asc.parallel_for_grid(H, W):
        out[i, j, 0] = img[i, j, 2]
        out[i, j, 1] = img[i, j, 1]
        out[i, j, 2] = img[i, j, 0]


@asc.kernel
def swapped_floats(img: asc.float32[H, W, 3], out: asc.float32[H, W, 3]):
    for i, j in asc.parallel_for_grid(H, W):
        out[i, j, 0] = img[i, j, 2]
        out[i, j, 1] = img[i, j, 1]
        out[i, j, 2] = img[i, j, 0]


DTYPES = (np.float32, np.float16, np.int32)


def test_every_second_element() -> None:
    for dtype in DTYPES:
        for n in SIZES:
            x, y = numbers(dtype, 2 * n), np.zeros(n, dtype)
            gives(sums_of_pairs, [x, y], [x[::2] + x[1::2]])
            # The last element that is used may be the last there is.
            x = x[: max(2 * n - 1, 0)]
            gives(every_second, [x, y], [x[::2] + x[::2]])
        on_vector(sums_of_pairs, [x, y])


def test_backwards() -> None:
    for dtype in DTYPES:
        for n in (*SIZES, 20011):
            x = numbers(dtype, n)
            gives(backwards, [x, np.zeros(n, dtype)], [x[::-1]])
        on_vector(backwards, [x, x])


def test_bytes_travel_as_halves() -> None:
    on_vector(swapped)
    for shape in IMAGES:
        image = numbers(np.uint8, *shape, 3) + np.uint8(150)
        gives(swapped, [image, np.zeros_like(image)], [image[..., ::-1]])
    for n in SIZES:
        x = (numbers(np.int32, n) - 50).astype(np.int8)
        gives(backwards, [x, np.zeros_like(x)], [x[::-1]])
    on_vector(backwards, [x, x])


@asc.kernel
def one_value_in_turn(x: asc.float32[N], y: asc.float32[M], z: asc.float32[M]):
    for i in asc.parallel_for(N):
        larger = x[i] + 1.0
        y[2 * i] = larger
        y[2 * i + 1] = x[i]
        z[2 * i] = larger
        z[2 * i + 1] = larger


def test_one_value_at_several_places_in_turn() -> None:
    for n in (1, 33, 5000):
        x = numbers(np.float32, n)
        results = [np.stack([x + 1, x], 1).ravel(), np.repeat(x + 1, 2)]
        gives(one_value_in_turn, [x, *(np.zeros_like(each) for each in results)], results)
    on_vector(one_value_in_turn)


@asc.kernel
def grey(img: asc.float32[H, W, 3], y: asc.float32[H, W]):
    for i, j in asc.parallel_for_grid(H, W):
        y[i, j] = 0.3 * img[i, j, 0] + 0.59 * img[i, j, 1] + 0.11 * img[i, j, 2]


@asc.kernel
def green_of_shorts(img: asc.int16[H, W, 4], y: asc.int16[H, W]):
    for i, j in asc.parallel_for_grid(H, W):
        y[i, j] = img[i, j, 1] + img[i, j, 3]


def test_channels_of_pixels() -> None:
    for kernel in (grey, green_of_shorts, swapped_floats):
        on_vector(kernel)
    for shape in IMAGES:
        image = numbers(np.float32, *shape, 3)
        gives(grey, [image, np.zeros(shape, np.float32)], [image @ np.float32([0.3, 0.59, 0.11])])
        gives(swapped_floats, [image, np.zeros_like(image)], [image[..., ::-1]])
        shorts = numbers(np.int16, *shape, 4)
        gives(green_of_shorts, [shorts, np.zeros(shape, np.int16)], [shorts[..., 1] + shorts[..., 3]])


@asc.kernel
def complex_product(a: asc.float32[N, 2], b: asc.float32[N, 2], y: asc.float32[N, 2]):
    for i in asc.parallel_for(N):
        y[i, 0] = a[i, 0] * b[i, 0] - a[i, 1] * b[i, 1]
        y[i, 1] = a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0]


@asc.kernel
def in_turn(a: asc.float16[N], b: asc.float16[N], y: asc.float16[M]):
    for i in asc.parallel_for(N):
        y[2 * i] = a[i]
        y[2 * i + 1] = b[i] + a[i]


@asc.kernel
def complex_in_place(a: asc.float32[N, 2]):
    for i in asc.parallel_for(N):
        if a[i, 0] > 0.0:
            a[i, 1] = a[i, 1] * a[i, 0]
            a[i, 0] = a[i, 0] + 1.0


def test_parts_in_turn() -> None:
    for kernel in (complex_product, in_turn, complex_in_place):
        on_vector(kernel)
    for n in SIZES:
        a, b = numbers(np.float32, n, 2), numbers(np.float32, n, 2)[::-1].copy()
        made = a.view(np.complex64) * b.view(np.complex64)
        gives(complex_product, [a, b, np.zeros_like(a)], [made.view(np.float32)])
        woven = np.stack([a[:, 0], (b[:, 0].astype(np.float16) + a[:, 0].astype(np.float16))], 1)
        given = [a[:, 0].astype(np.float16), b[:, 0].astype(np.float16), np.zeros(2 * n, np.float16)]
        gives(in_turn, given, [woven.reshape(-1)])
        changed = np.stack([a[:, 0] + 1, a[:, 1] * a[:, 0]], 1)
        gives(complex_in_place, [a], [np.where(a[:, :1] > 0, changed, a)])


@asc.kernel
def shifted_and_turned(x: asc.float32[M], y: asc.float32[N]):
    for i in asc.parallel_for(1, N):
        y[N - 1 - i] = x[3 * i - 2] + x[2 * N - 2 * i] * x[i + N] + i


@asc.kernel
def turned_view(x: asc.float32[N]):
    return x[::-1] * 2.0


def test_offsets_and_counters() -> None:
    on_vector(shifted_and_turned)
    on_vector(turned_view)
    for n in SIZES[1:]:
        x, i = numbers(np.float32, 3 * n + 2), np.arange(1, n)
        y = np.zeros(n, np.float32)
        y[n - 1 - i] = x[3 * i - 2] + x[2 * n - 2 * i] * x[i + n] + i.astype(np.float32)
        given = [x, np.zeros(n, np.float32)]
        with asc.device("model"):
            shifted_and_turned(*given)
            np.testing.assert_array_equal(turned_view(x), x[::-1] * 2)
        np.testing.assert_allclose(given[1], y, rtol=1e-6, atol=1e-6)


@asc.kernel
def pooled(x: asc.float32[H, W], y: asc.float32[P, Q]):
    for i, j in asc.parallel_for_grid(P, Q):
        a = asc.maximum(x[2 * i, 2 * j], x[2 * i, 2 * j + 1])
        y[i, j] = asc.maximum(a, asc.maximum(x[2 * i + 1, 2 * j], x[2 * i + 1, 2 * j + 1]))


@asc.kernel
def every_third_column(x: asc.int16[H, W], y: asc.int16[H, Q]):
    for i, j in asc.parallel_for_grid(H, Q):
        y[i, j] = x[i, 3 * j] + y[i, j]


@asc.kernel
def mirrored(x: asc.float32[H, W]):
    return x[:, ::-1] + x


@asc.kernel
def inner_greys(img: asc.uint8[H, W, 3], y: asc.float32[H, W]):
    for i in asc.parallel_for(1, H):
        for j in range(1, W):
            y[i, j] = img[i, j, 1] - img[i - 1, j - 1, 2]


@asc.kernel
def sums_of_row_pairs(x: asc.float32[H, 64], y: asc.float32[H]):
    for i in asc.parallel_for(H):
        s = 0.0
        for j in range(32):
            s += x[i, 2 * j] * x[i, 2 * j + 1]
        y[i] = s


@asc.kernel
def sum_of_pairs(x: asc.float32[M], y: asc.float32[1]):
    s = 0.0
    for i in range(M // 2):
        s += x[2 * i] * x[2 * i + 1]
    y[0] = s


def test_columns_of_rows() -> None:
    for h, w in (*IMAGES[1:], (300, 65), (3, 9001)):
        x, y = numbers(np.float32, 2 * h, 2 * w), np.zeros((h, w), np.float32)
        gives(pooled, [x, y], [x.reshape(h, 2, w, 2).max(axis=(1, 3))])
        shorts, z = numbers(np.int16, h, 3 * w - 2), numbers(np.int16, h, w)
        gives(every_third_column, [shorts, z], [shorts[:, ::3] + z])
        with asc.device("model"):
            np.testing.assert_array_equal(mirrored(x), x[:, ::-1] + x)
        image = numbers(np.uint8, h, w, 3)
        made = np.zeros((h, w), np.float32)
        made[1:, 1:] = (image[1:, 1:, 1] - image[:-1, :-1, 2]).astype(np.float32)
        gives(inner_greys, [image, y], [made])
        line = x.reshape(-1)
        total = (line[::2].astype(np.float64) * line[1::2]).sum()
        with asc.device("model"):
            one = np.zeros(1, np.float32)
            sum_of_pairs(line, one)
        np.testing.assert_allclose(one[0], total, rtol=1e-4, atol=1e-3)
    for kernel in (pooled, every_third_column, mirrored, inner_greys, sum_of_pairs):
        on_vector(kernel)


def test_reduced_columns() -> None:
    for h in (1, 7, 300):
        x = numbers(np.float32, h, 64)
        made = (x[:, ::2].astype(np.float64) * x[:, 1::2]).sum(axis=1)
        copies = [x, np.zeros(h, np.float32)]
        with asc.device("model"):
            sums_of_row_pairs(*copies)
        np.testing.assert_allclose(copies[1], made, rtol=1e-4, atol=1e-4)


@asc.kernel
def between_neighbours(x: asc.float32[M]):
    for i in range(1, M - 1, 2):
        x[i] = x[i - 1] + x[i + 1]


@asc.kernel
def green_of_others(img: asc.float32[H, W, 3]):
    img[:, :, 1] = img[:, :, 0] - img[:, :, 2]


@asc.kernel
def red_black(a: asc.float32[H, W]):
    for color in range(2):
        for i in range(1, H - 1):
            for j in range(1 + (i + color) % 2, W - 1, 2):
                a[i, j] = a[i - 1, j] + a[i + 1, j] + (a[i, j - 1] + a[i, j + 1])


def test_what_is_only_read_of_a_step_is_not_written() -> None:
    for m in (1, 2, 3, 8, 9, 65, 1000):
        x = numbers("f4", m)
        expected = x.copy()
        expected[1:-1:2] += x[:-2:2] + x[2::2] - x[1:-1:2]
        gives(between_neighbours, [x], [expected])
    for h, w in IMAGES:
        img = numbers("f4", h, w, 3)
        expected = img.copy()
        expected[:, :, 1] = img[:, :, 0] - img[:, :, 2]
        gives(green_of_others, [img], [expected])
    for h, w in ((3, 3), (7, 9), (12, 33)):
        a, expected = np.ones((h, w), np.float32), np.ones((h, w), np.float32)
        assert red_black.py_func is not None
        places = {**red_black.py_func.__globals__, "H": h, "W": w}
        types.FunctionType(red_black.py_func.__code__, places)(expected)
        gives(red_black, [a], [expected])


@asc.kernel
def turned(x: asc.tensor, y: asc.tensor):
    for i, j in asc.parallel_for_grid(y.shape[0], y.shape[1]):
        y[i, j] = x[j, i] + y[i, j]


@asc.kernel
def stacks_turned(x: asc.float32[B, H, W]) -> asc.float32[B, W, H]:
    return asc.transpose(x, (0, 2, 1)) * 2.0


@asc.kernel
def symmetric(x: asc.float32[N, N]):
    return (x + x.T) * 0.5


def test_rows_and_columns_exchanged() -> None:
    for h, w in ((0, 3), (1, 1), (3, 7), (31, 9), (50, 257), (300, 65), (2, 5001)):
        for dtype in (np.float32, np.float16, np.int32, np.uint8):
            x, y = numbers(dtype, h, w), numbers(dtype, w, h)
            gives(turned, [x, y], [x.T + y])
        stack = numbers(np.float32, 3, h, w)
        with asc.device("model"):
            np.testing.assert_array_equal(stacks_turned(stack), stack.transpose(0, 2, 1) * 2)
    on_vector(turned, [x, y])
    on_vector(stacks_turned)
    for n in (1, 8, 65, 200):
        x = numbers(np.float32, n, n)
        with asc.device("model"):
            np.testing.assert_array_equal(symmetric(x), (x + x.T) * np.float32(0.5))
    on_vector(symmetric)
