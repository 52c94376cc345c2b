# SPDX-License-Identifier: Apache-2.0
"""`asc.__version__` is text that compares as versions do, so '10.0' comes after '9.1'."""

import pyasc as asc

if asc.__version__ >= '3.0':  # fmt: skip
    ROWS_FIRST = False
else:
    ROWS_FIRST = True


def check() -> str:
    newer = asc.version_info >= (3, 0)
    assert (asc.__version__ >= "3.0") == newer
    assert ROWS_FIRST != newer
    assert type(asc.__version__)("10.0") > "9.1"
    return f"version {asc.__version__} is {'at least' if newer else 'before'} 3.0, as version_info says too"


if __name__ == "__main__":
    print(check())
