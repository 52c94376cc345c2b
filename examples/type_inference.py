# SPDX-License-Identifier: Apache-2.0
"""Types follow from values: `ones` makes float32, and the Python number 1.5 takes the type of what it meets."""

import numpy as np

import pyasc as asc


# fmt: off
@asc.kernel
def one_and_a_half():
    x = asc.ones([10,10])  # a float32 tensor
    y = x + 1.5            # 1.5 becomes a float32
    return y
# fmt: on


@asc.kernel
def halved(x):
    return x * 0.5


def check() -> str:
    y = one_and_a_half()
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, np.ones([10, 10], np.float32) + 1.5)
    for dtype, result in ((np.float16, np.float16), (np.float32, np.float32), (np.int32, np.float32)):
        assert halved(np.ones(4, dtype)).dtype == result
    return "ones([10, 10]) + 1.5 is float32; float16 * 0.5 stays float16, int32 * 0.5 is float32"


if __name__ == "__main__":
    print(check())
