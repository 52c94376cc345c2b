# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling over the last two axes of arrays. NumPy runs them in plain Python."""

from __future__ import annotations

from typing import Any

__all__ = ["avg_pool2d", "conv2d", "max_pool2d"]


def _both(value: Any) -> tuple[int, int]:
    return value if isinstance(value, tuple) else (value, value)


def _windows(x: Any, window: Any, stride: Any, dilation: Any) -> Any:
    """Views of the last two axes by windows: (..., i, j, p, q)."""
    import numpy as np

    (high, wide), (down, right) = window, dilation
    reach = ((high - 1) * down + 1, (wide - 1) * right + 1)
    found = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(-2, -1))
    return found[..., :: stride[0], :: stride[1], ::down, ::right]


def conv2d(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The correlation of (n, c, h, w) images with (f, c / groups, p, q) weights, plus `bias` of each filter.

    `stride`, `padding` and `dilation` are a number or a pair (down, right). The result is (n, f, i, j) with
    `i = (h + 2 * padding - dilation * (p - 1) - 1) // stride + 1`, and `j` in the same way.
    """
    import numpy as np

    down, right = _both(padding)
    padded = np.pad(x, ((0, 0), (0, 0), (down, down), (right, right)))
    seen = _windows(padded, w.shape[2:], _both(stride), _both(dilation))
    seen = seen.reshape(x.shape[0], groups, w.shape[1], *seen.shape[2:])
    kernels = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    result = np.einsum("ngcijpq,gfcpq->ngfij", seen, kernels)
    result = result.reshape(x.shape[0], w.shape[0], *result.shape[3:])
    return result if bias is None else result + bias[:, None, None]


def max_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The largest element of each window of the last two axes; `stride` is `kernel_size` by default. NaN propagates."""
    import numpy as np

    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return _pooled(x, kernel_size, stride, padding, lowest).max(axis=(-2, -1))


def avg_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The mean of each window of the last two axes; what is padded counts as zeros. Integers give float32."""
    import numpy as np

    seen = _pooled(x, kernel_size, stride, padding, 0)
    return seen.mean(axis=(-2, -1), dtype=np.float32).astype(x.dtype if x.dtype.kind == "f" else np.float32)


def _pooled(x: Any, kernel_size: Any, stride: Any, padding: Any, fill: Any) -> Any:
    import numpy as np

    down, right = _both(padding)
    widths = [*[(0, 0)] * (x.ndim - 2), (down, down), (right, right)]
    padded = np.pad(x, widths, constant_values=fill)
    window = _both(kernel_size)
    return _windows(padded, window, window if stride is None else _both(stride), (1, 1))
