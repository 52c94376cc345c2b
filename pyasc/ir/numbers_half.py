# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownMemberType=false
"""How dtypes are carried in NumPy, and the rounding to the two 16-bit floats.

Every dtype is carried in the NumPy dtype of its name, except bfloat16, which is carried as its bits in uint16.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType

Array: TypeAlias = NDArray[Any]

_CARRIERS: dict[DType, np.dtype[Any]] = {
    dtype: np.dtype("uint16" if dtype is dtypes.bf16 else dtype.numpy) for dtype in dtypes.ALL
}


def carrier(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds elements of `dtype`."""
    return _CARRIERS[dtype]


def to_float(array: Array, dtype: DType) -> Array:
    """A carried float array in the NumPy float type it is computed in: float32, or float64 for f64. Exact."""
    if dtype is dtypes.bf16:
        return (np.asarray(array, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return np.asarray(array).astype(np.float64 if dtype is dtypes.f64 else np.float32)


def from_float(array: Array, dtype: DType) -> Array:
    """float32 or float64 elements, rounded once to nearest even and carried as `dtype`."""
    with np.errstate(all="ignore"):
        if dtype is dtypes.bf16:
            return _round_to_bf16(array if array.dtype == np.float32 else float32_to_odd(array))
        return np.asarray(array).astype(carrier(dtype))


def _round_to_bf16(array: Array) -> Array:
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).reshape(np.shape(array))
    even = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + even) >> np.uint32(16)
    # Rounding a NaN's payload up could carry into the exponent; a quiet NaN keeps the top bits instead.
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16)


def float32_to_odd(array: Array) -> Array:
    """float64 or integer elements to float32, an inexact result taking the neighbour with an odd last bit.

    Rounding that once more to a type at least two bits narrower gives the correctly rounded result (Boldo and
    Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
    """
    if array.dtype.kind in "iu":
        return float32_to_odd(_float64_to_odd(array))
    nearest = array.astype(np.float32)
    back = nearest.astype(np.float64)
    inexact = (back != array) & np.isfinite(array)
    even = (nearest.view(np.uint32) & np.uint32(1)) == 0
    toward = np.where(back < array, np.float32(np.inf), np.float32(-np.inf))
    return np.where(inexact & even, np.nextafter(nearest, toward), nearest).astype(np.float32)


def _float64_to_odd(array: Array) -> Array:
    # Forty-two bits and more remain, which is enough for float32, and the last of them says "inexact".
    wide = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
    low = wide & wide.dtype.type(0x7FF)
    jammed = (wide - low) | (low != 0).astype(wide.dtype) << wide.dtype.type(11)
    small = np.abs(wide.astype(np.float64)) < 2.0**53
    return np.where(small, wide.astype(np.float64), jammed.astype(np.float64))
