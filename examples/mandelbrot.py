# SPDX-License-Identifier: Apache-2.0
"""The Mandelbrot set: a `while` loop for each point, which ends after as many steps as the point needs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pyasc as asc

H, W = asc.dims("H W")


@asc.kernel
def mandelbrot(left: float, top: float, step: float, limit: int, steps: asc.int32[H, W]):
    for i in asc.parallel_for(H):
        ci = top - i * step
        for j in range(W):
            cr = left + j * step
            zr = 0.0
            zi = 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                t = zr * zr - zi * zi + cr
                zi = 2.0 * zr * zi + ci
                zr = t
                n += 1
            steps[i, j] = n


def reference(left, top, step, limit, shape):
    """The same with NumPy, all points at once."""
    left, top, step = np.array([left, top, step], np.float32)
    cr = left + np.arange(shape[1], dtype=np.float32) * step
    ci = (top - np.arange(shape[0], dtype=np.float32) * step)[:, np.newaxis]
    zr, zi = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    steps = np.zeros(shape, np.int32)
    inside = np.ones(shape, bool)
    for _ in range(limit):
        inside &= zr * zr + zi * zi <= 4.0
        steps += inside
        zr, zi = np.where(inside, zr * zr - zi * zi + cr, zr), np.where(inside, 2 * zr * zi + ci, zi)
    return steps


def picture(steps, limit) -> str:
    """Letters for a picture of the set, the denser the later a point escapes."""
    shades = np.array(list(" .:-=+*#%@"))
    grey = shades[(np.log1p(steps) / np.log1p(limit) * (len(shades) - 1)).astype(int)]
    return "\n".join("".join(row) for row in grey[::2])


def check() -> str:
    steps = np.empty((48, 78), np.int32)
    view = (-2.1, 1.2, 0.04, 200)
    mandelbrot(*view, steps)
    np.testing.assert_array_equal(steps, reference(*view, steps.shape))
    return f"{picture(steps, 200)}\nthe steps of 48 x 78 points equal NumPy's"


def main() -> None:
    print(check())
    if len(sys.argv) > 1:
        from images import write_png

        steps = np.empty((1200, 1560), np.int32)
        mandelbrot(-2.1, 1.2, 0.002, 255, steps)
        write_png(Path(sys.argv[1]), (255 - steps).astype(np.uint8))
        print(f"wrote {sys.argv[1]}")
    else:
        print("python examples/mandelbrot.py picture.png writes a large one")


if __name__ == "__main__":
    main()
