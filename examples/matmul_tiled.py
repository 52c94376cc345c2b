# SPDX-License-Identifier: Apache-2.0
"""A matrix product in tiles: the loops over tiles are parallel, `min` keeps the last tile inside the matrix."""

import numpy as np

import pyasc as asc


# fmt: off
@asc.kernel
def matmul(A: asc.float32[1024,1024],
           B: asc.float32[1024,1024],
           C: asc.float32[1024,1024]):
    # Tiles make better use of the caches.
    block_size = 32
    for i in asc.parallel_for(0, 1024, block_size):
        for j in asc.parallel_for(0, 1024, block_size):
            # One tile of the product.
            for k in range(1024):
                for ii in range(i, min(i+block_size, 1024)):
                    for jj in range(j, min(j+block_size, 1024)):
                        C[ii,jj] += A[ii,k] * B[k,jj]
# fmt: on


def check() -> str:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1024, 1024)).astype(np.float32)
    c = np.zeros((1024, 1024), np.float32)
    matmul(a, b, c)
    exact = a.astype(np.float64) @ b
    # Each of the 1024 additions rounds relative to sums of products as large as |a| @ |b|.
    bound = 1024 * 2.0**-24 * (np.abs(a) @ np.abs(b))
    error = np.abs(c - exact)
    assert (error <= bound).all()
    return f"C equals A @ B of 1024 x 1024 floats within {error.max():.1g}"


if __name__ == "__main__":
    print(check())
