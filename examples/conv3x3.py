# SPDX-License-Identifier: Apache-2.0
"""A 3 x 3 convolution for any batch, channels and image size: N, C, H, W and F are bound by the call."""

from __future__ import annotations

import numpy as np

import pyasc as asc

N, C, H, W, F = asc.dims("N C H W F")


# fmt: off
@asc.kernel
def conv3x3(input: asc.float32[N,C,H,W],
            weight: asc.float32[F,C,3,3],
            output: asc.float32[N,F,H-2,W-2]):
    # Keep the weights on chip.
    shared_weight = asc.shared_memory((F,C,3,3), asc.float32)
    asc.copy(weight, shared_weight)

    # The outer loops are parallel,
    for n, f in asc.parallel_for_grid(N, F):
        # the inner ones vectorised.
        for h in range(H-2):
            for w in range(W-2):
                acc = 0.0
                for c in range(C):
                    # The nine products of a channel, written out.
                    acc += input[n,c,h,w] * shared_weight[f,c,0,0]
                    acc += input[n,c,h,w+1] * shared_weight[f,c,0,1]
                    acc += input[n,c,h,w+2] * shared_weight[f,c,0,2]
                    acc += input[n,c,h+1,w] * shared_weight[f,c,1,0]
                    acc += input[n,c,h+1,w+1] * shared_weight[f,c,1,1]
                    acc += input[n,c,h+1,w+2] * shared_weight[f,c,1,2]
                    acc += input[n,c,h+2,w] * shared_weight[f,c,2,0]
                    acc += input[n,c,h+2,w+1] * shared_weight[f,c,2,1]
                    acc += input[n,c,h+2,w+2] * shared_weight[f,c,2,2]
                output[n,f,h,w] = acc
# fmt: on


def reference(image, weight):
    """The same in NumPy, in double precision."""
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (3, 3), axis=(2, 3))
    return np.einsum("nchwpq,fcpq->nfhw", windows, weight)


def check() -> str:
    rng = np.random.default_rng(0)
    shapes = ((1, 1, 3, 3, 1), (2, 3, 33, 47, 4), (4, 16, 64, 64, 8))
    for n, c, h, w, f in shapes:
        image = rng.normal(size=(n, c, h, w)).astype(np.float32)
        weight = rng.normal(size=(f, c, 3, 3)).astype(np.float32)
        output = np.empty((n, f, h - 2, w - 2), np.float32)
        conv3x3(image, weight, output)
        np.testing.assert_allclose(output, reference(image, weight), rtol=1e-5, atol=1e-4)
    return f"one compilation, equal to NumPy's einsum for (N, C, H, W, F) = {', '.join(map(str, shapes))}"


if __name__ == "__main__":
    print(check())
