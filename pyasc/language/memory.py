# SPDX-License-Identifier: Apache-2.0
"""On-chip buffers, block copies and atomic updates. In plain Python they are NumPy arrays and assignments."""

from __future__ import annotations

from typing import Any

from pyasc.language.dtypes import ElementType, float32, numpy_type

__all__ = ["aligned_alloc", "atomic_add", "atomic_max", "atomic_min", "copy", "shared_memory"]

Shape = int | tuple[int, ...]
Index = int | tuple[int, ...]


def shared_memory(shape: Shape, dtype: ElementType = float32) -> Any:
    """A buffer on chip, private to a core, with undefined contents."""
    import numpy as np

    return np.empty(shape, numpy_type(dtype))


def aligned_alloc(shape: Shape, dtype: ElementType = float32, alignment: int = 64) -> Any:
    """A buffer whose first element stands at a multiple of `alignment` bytes (a power of two)."""
    import numpy as np

    if alignment <= 0 or alignment & (alignment - 1):
        raise ValueError(f"an alignment is a power of two, got {alignment}")
    return np.empty(shape, numpy_type(dtype))


def copy(src: Any, dst: Any) -> None:
    """Copies a block between buffers of one shape; either side may be a slice."""
    dst[...] = src


def atomic_add(array: Any, index: Index, value: Any) -> None:
    """`array[index] += value` in one indivisible step among parallel iterations."""
    array[index] += value


def atomic_max(array: Any, index: Index, value: Any) -> None:
    """`array[index] = max(array[index], value)` in one indivisible step; NaN propagates."""
    import numpy as np

    array[index] = np.maximum(array[index], value)


def atomic_min(array: Any, index: Index, value: Any) -> None:
    """`array[index] = min(array[index], value)` in one indivisible step; NaN propagates."""
    import numpy as np

    array[index] = np.minimum(array[index], value)
