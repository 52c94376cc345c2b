# SPDX-License-Identifier: Apache-2.0
"""What some functions of the language are in kernels: loops over elements, written in the kernel language itself.

The frontend inlines them where the function that they stand for is called, with its arguments checked and brought
into the form that the docstring names. Sizes written `m`, `n` are those of the parameters.
"""

from __future__ import annotations

from pyasc.language.arrays import empty, reshape
from pyasc.language.dtypes import int64, uint32
from pyasc.language.loops import parallel_for, parallel_for_grid, unroll
from pyasc.language.math import maximum

_PARITY = 0x1BD11BDA
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key, x, y):
    """Threefry-2x32-20 of the counter (x, y), all of uint32."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ uint32(_PARITY))
    x = x + keys[0]
    y = y + keys[1]
    for group in unroll(range(5)):
        for turn in unroll(range(4)):
            x = x + y
            rotation = _ROTATIONS[group % 2][turn]
            y = (y << rotation) | (y >> (32 - rotation))
            y = y ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + uint32(group + 1)
    return x, y


def random_words(key, shape):
    """Two uint32 arrays of this shape: Threefry of each element's number."""
    total = 1
    for size in shape:
        total *= size
    first = empty(total, uint32)
    second = empty(total, uint32)
    for i in parallel_for(total):
        first[i], second[i] = threefry(key, uint32(i), uint32(i >> 32))
    return reshape(first, shape), reshape(second, shape)


def argsort(x, descending):
    """The order of each row of an (m, n) array: equal elements stay as they are, NaN counts as the largest.

    Merges runs of 1, 2, 4, ... elements.
    """
    m, n = x.shape
    order = empty((m, n), int64)
    merged = empty((m, n), int64)
    for row in parallel_for(m):
        for i in range(n):
            order[row, i] = i
        width = 1
        while width < n:
            start = 0
            while start < n:
                middle = min(start + width, n)
                end = min(start + 2 * width, n)
                left = start
                right = middle
                for k in range(start, end):
                    take_right = left >= middle
                    if left < middle and right < end:
                        a = x[row, order[row, left]]
                        b = x[row, order[row, right]]
                        take_right = _before(b, a, descending)
                    if take_right:
                        merged[row, k] = order[row, right]
                        right += 1
                    else:
                        merged[row, k] = order[row, left]
                        left += 1
                start = end
            for i in range(n):
                order[row, i] = merged[row, i]
            width *= 2
    return order


def _before(a, b, descending):
    """Whether a comes before b, and not as its equal."""
    if descending:
        return a > b or (a != a and b == b)
    return a < b or (b != b and a == a)


def along_rows(x, order):
    """The elements of each row of an (m, n) array in the order that an (m, k) array gives."""
    m, k = order.shape
    result = empty((m, k), x.dtype)
    for row, i in parallel_for_grid(m, k):
        result[row, i] = x[row, order[row, i]]
    return result


def conv2d(x, w, steps, dilation, size):
    """The products of windows of an (n, g, c, h, w) array with a (g, f, c, p, q) one, summed: (n, g, f, *size)."""
    count, groups, channels, _, _ = x.shape
    _, filters, _, high, wide = w.shape
    result = empty((count, groups, filters, size[0], size[1]), x.dtype)
    for n, g, f, i, j in parallel_for_grid(count, groups, filters, size[0], size[1]):
        total = x.dtype(0)
        for c in range(channels):
            for p in range(high):
                for q in range(wide):
                    total += (
                        x[n, g, c, i * steps[0] + p * dilation[0], j * steps[1] + q * dilation[1]]
                        * w[g, f, c, p, q]
                    )
        result[n, g, f, i, j] = total
    return result


def max_pool2d(x, window, steps, size, lowest):
    """The largest elements of windows of an (m, h, w) array; NaN propagates: (m, *size)."""
    result = empty((x.shape[0], size[0], size[1]), x.dtype)
    for m, i, j in parallel_for_grid(x.shape[0], size[0], size[1]):
        best = x.dtype(lowest)
        for p in range(window[0]):
            for q in range(window[1]):
                best = maximum(best, x[m, i * steps[0] + p, j * steps[1] + q])
        result[m, i, j] = best
    return result


def avg_pool2d(x, window, steps, size):
    """The means of windows of an (m, h, w) array of floats: (m, *size)."""
    result = empty((x.shape[0], size[0], size[1]), x.dtype)
    for m, i, j in parallel_for_grid(x.shape[0], size[0], size[1]):
        total = x.dtype(0)
        for p in range(window[0]):
            for q in range(window[1]):
                total += x[m, i * steps[0] + p, j * steps[1] + q]
        result[m, i, j] = total / (window[0] * window[1])
    return result
