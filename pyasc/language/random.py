# SPDX-License-Identifier: Apache-2.0
"""Random numbers from an explicit key: the same key gives the same numbers, on every device and in plain Python.

A key is a pair of uint32 numbers. Element i of an array is computed from the key and i alone, by the counter-based
generator Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
3", 2011), so that the order of computation does not matter. Never use one key twice: `split` it.

The functions are written in the kernel language, and are inlined into the kernels that call them.
"""

from __future__ import annotations

from pyasc.language.dtypes import float32, int64, uint32, uint64
from pyasc.language.math import cos, log, sqrt

__all__ = ["bits", "key", "normal", "randint", "split", "uniform"]

_TWO_PI = 6.283185307179586


def key(seed):
    """The key of an integer: its upper and lower 32 bits."""
    wide = int64(seed)
    return uint32(wide >> 32), uint32(wide)


def split(key, count=2):
    """`count` keys that are independent of each other and of `key`; `count` is known when a kernel is compiled."""
    return tuple([_hashed(key, uint32(k), uint32(0xFFFFFFFF)) for k in range(count)])


def bits(key, shape):
    """An array of uint32 numbers, each of them equally likely."""
    return _words(key, shape)[0]


def uniform(key, shape, low=0.0, high=1.0):
    """float32 numbers from `low` (included) to `high` (excluded), in steps of 2**-24 of the range."""
    return _fraction(_words(key, shape)[0]) * (high - low) + low


def normal(key, shape, mean=0.0, std=1.0):
    """Normally distributed float32 numbers, by the transform of Box and Muller."""
    first, second = _words(key, shape)
    radius = sqrt(-2.0 * log(1.0 - _fraction(first)))
    return radius * cos(_fraction(second) * _TWO_PI) * std + mean


def randint(key, shape, low, high):
    """int64 numbers from `low` (included) to `high` (excluded), which are at most 2**32 apart.

    The upper bits of 64 random ones decide, so that the chances of two numbers differ by less than 2**-32.
    """
    first, second = _words(key, shape)
    span = uint64(high - low)
    carry = (uint64(second) * span) >> 32
    return int64((uint64(first) * span + carry) >> 32) + low


def _fraction(word):
    """The upper 24 bits as a float32 from 0 (included) to 1 (excluded)."""
    return float32(word >> 8) * (2.0**-24)


def _words(key, shape):
    """Two uint32 arrays of this shape. Kernels have `composed.random_words` in its place."""
    import numpy as np

    counter = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    return _hashed(key, counter.astype(np.uint32), (counter >> 32).astype(np.uint32))


def _hashed(key, x, y):
    """Threefry-2x32-20 of the counter (x, y). Kernels have `composed.threefry` in its place."""
    import numpy as np

    from pyasc.language.composed import threefry

    with np.errstate(over="ignore"):
        return threefry(key, x, y)
