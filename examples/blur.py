# SPDX-License-Identifier: Apache-2.0
"""A photograph out of focus: a Gaussian over rows, then over columns, with the border pixels repeated outside."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from images import photograph, write_png

import pyasc as asc


@asc.kernel
def blur(image: asc.uint8[H, W], weights: asc.float32[K], rows: asc.float32[H, W], result: asc.uint8[H, W]):
    reach = K // 2
    for y in asc.parallel_for(H):
        for x in range(W):
            level = 0.0
            for k in range(K):
                level += weights[k] * image[y, min(max(x + k - reach, 0), W - 1)]
            rows[y, x] = level
    for y in asc.parallel_for(H):
        for x in range(W):
            level = 0.0
            for k in range(K):
                level += weights[k] * rows[min(max(y + k - reach, 0), H - 1), x]
            result[y, x] = asc.rint(level)


def gaussian(sigma):
    """Weights at whole distances up to three sigma, which sum to 1."""
    distance = np.arange(-int(3 * sigma), int(3 * sigma) + 1)
    weights = np.exp(-(distance**2) / (2 * sigma**2))
    return (weights / weights.sum()).astype(np.float32)


def reference(image, weights):
    reach = len(weights) // 2
    levels = np.pad(image.astype(np.float64), reach, mode="edge")
    for axis in (0, 1):
        levels = np.lib.stride_tricks.sliding_window_view(levels, len(weights), axis) @ weights.astype(
            np.float64
        )
    return levels


def blurred(image, sigma):
    """The picture with every point spread over a Gaussian of this width, in pixels."""
    result = np.empty_like(image)
    blur(image, gaussian(sigma), np.empty(image.shape, np.float32), result)
    return result


def check() -> str:
    image = photograph()
    # Half a level is lost in rounding; the rest is the rounding of float32 sums.
    np.testing.assert_allclose(blurred(image, 4.0), reference(image, gaussian(4.0)), rtol=0, atol=0.5 + 1e-3)
    return f"every pixel of {image.shape[0]} x {image.shape[1]} is NumPy's, rounded"


def main() -> None:
    print(check())
    if len(sys.argv) > 1:
        write_png(Path(sys.argv[1]), blurred(photograph(), 4.0))
        print(f"wrote {sys.argv[1]}")
    else:
        print("python examples/blur.py picture.png writes the picture")


if __name__ == "__main__":
    main()
