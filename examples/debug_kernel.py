# SPDX-License-Identifier: Apache-2.0
"""`debug=True` turns on shape checks and prints; without it both cost nothing."""

import contextlib
import io

import numpy as np

import pyasc as asc


# fmt: off
@asc.kernel(debug=True)
def buggy_kernel(x):
    asc.assert_shape(x, [1024,1024])  # checked at run time
    asc.print(x[0,0])  # for debugging
# fmt: on


def check() -> str:
    x = np.full((1024, 1024), 2.5, np.float32)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        buggy_kernel(x)
    assert printed.getvalue().strip() == "2.5"
    try:
        buggy_kernel(x[:1000])
    except AssertionError as error:
        return f"it printed {printed.getvalue().strip()}, and with 1000 rows it says:\n  {error}"
    raise AssertionError("1000 rows passed for 1024")


if __name__ == "__main__":
    print(check())
