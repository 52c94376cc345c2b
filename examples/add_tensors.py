# SPDX-License-Identifier: Apache-2.0
"""A kernel of scalars maps over arrays like a NumPy ufunc, and a wrong type is refused before anything runs."""

import numpy as np

import pyasc as asc


@asc.kernel
def add_tensors(a: asc.float32, b: asc.float32) -> asc.float32:
    return a + b


def check() -> str:
    column = np.arange(3, dtype=np.float32)[:, np.newaxis]
    row = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(add_tensors(column, row), column + row)
    assert add_tensors(1.5, 2.0) == 3.5
    return f"numbers add, arrays broadcast, and an int is refused:\n  {refusal()}"


def refusal() -> str:
    """What a caller who passes an int is told."""
    try:
        add_tensors(1, 2.0)
    except asc.KernelTypeError as error:
        return str(error)
    raise AssertionError("an int was taken for an asc.float32")


if __name__ == "__main__":
    print(check())
