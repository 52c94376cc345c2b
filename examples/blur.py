# SPDX-License-Identifier: Apache-2.0
"""A photograph out of focus: a Gaussian over rows, then over columns, with the border pixels repeated outside."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from images import photograph, write_png

import pyasc as asc

H, W, K = asc.dims("H W K")


@asc.kernel
def blur(
    image: asc.uint8[H, W],
    weights: asc.float32[K],
    rows: asc.float32[H, W - K + 1],
    result: asc.uint8[H - K + 1, W - K + 1],
):
    for y in asc.parallel_for(H):
        for x in range(W - K + 1):
            level = 0.0
            for k in range(K):
                level += weights[k] * image[y, x + k]
            rows[y, x] = level
    for y in asc.parallel_for(H - K + 1):
        for x in range(W - K + 1):
            level = 0.0
            for k in range(K):
                level += weights[k] * rows[y + k, x]
            result[y, x] = asc.rint(level)


def gaussian(sigma):
    """Weights at whole distances up to three sigma, which sum to 1."""
    distance = np.arange(-int(3 * sigma), int(3 * sigma) + 1)
    weights = np.exp(-(distance**2) / (2 * sigma**2))
    return (weights / weights.sum()).astype(np.float32)


def padded(image, weights):
    """The picture with the pixels of its border repeated outside."""
    return np.pad(image, len(weights) // 2, mode="edge")


def results(image, weights):
    """Room for the blurred rows and for the blurred picture."""
    height, width = np.array(image.shape) - len(weights) + 1
    return np.empty((len(image), width), np.float32), np.empty((height, width), np.uint8)


def reference(image, weights):
    levels = image.astype(np.float32)
    for axis in (0, 1):
        levels = np.lib.stride_tricks.sliding_window_view(levels, len(weights), axis) @ weights
    return levels


def blurred(image, sigma):
    """The picture with every point spread over a Gaussian of this width, in pixels."""
    weights = gaussian(sigma)
    wide = padded(image, weights)
    rows, result = results(wide, weights)
    blur(wide, weights, rows, result)
    return result


def check() -> str:
    image, weights = photograph(), gaussian(4.0)
    # Half a level is lost in rounding; the rest is the rounding of float32 sums.
    expected = reference(padded(image, weights), weights)
    np.testing.assert_allclose(blurred(image, 4.0), expected, rtol=0, atol=0.5 + 1e-3)
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
