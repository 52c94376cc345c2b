# SPDX-License-Identifier: Apache-2.0
"""ReLU6 by minimum and maximum, each one instruction: whole tensors, of whatever type they come in."""

import numpy as np

import pyasc as asc


@asc.kernel
def relu6(x):
    return asc.minimum(asc.maximum(x, 0), 6)


def check() -> str:
    rng = np.random.default_rng(0)
    for dtype in (np.float16, np.float32, np.int32):
        x = (8 * rng.normal(size=(17, 1000))).astype(dtype)
        y = relu6(x)
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, np.clip(x, 0, 6))
    assert np.isnan(relu6(np.array([np.nan], np.float32)))
    return "relu6 equals np.clip(x, 0, 6) for float16, float32 and int32, and NaN stays NaN"


if __name__ == "__main__":
    print(check())
