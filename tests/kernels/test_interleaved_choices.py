# SPDX-License-Identifier: Apache-2.0
"""Choices between elements that stand some places apart, side by side in one loop.

g++ 12 vectorises loads under such a condition wrongly where the condition is of 8 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

FORMS = {
    "else": "if c[i, k] <= 0:\n                y[i, k] = t[k]\n            else:\n                y[i, k] = x[i, k]",
    "guard": "if c[i, k] > 0:\n                y[i, k] = x[i, k]",
    "update": "if c[i, k] > 0:\n                y[i, k] += x[i, k]",
    "choice": "y[i, k] = t[k] if c[i, k] <= 0 else x[i, k] * 2",
    "two": "if c[i, k] > 0 and x[i, k] > 0:\n                y[i, k] = x[i, k] + t[k]",
    "where": "y[i, k] = asc.where(c[i, k] <= 0, t[k], x[i, k])",
}
TEXT = """
import pyasc as asc

def chosen_{form}_{width}_{dtype}(
    c: asc.{dtype}[M, {width}], x: asc.float32[M, {width}], y: asc.float32[M, {width}], t: asc.float32[{width}]
):
    for i in range(M):
        for k in asc.unroll(range({width})):
            {body}
"""
CASES = [
    (form, width, dtype)
    for form in FORMS
    for width in (2, 3, 5)
    for dtype in ("int8", "bool", "float16", "int32")
]


def expected(form: str, c: Any, x: Any, y: Any, t: Any) -> Any:
    """What NumPy makes of all elements at once."""
    if form == "two":
        return np.where((c > 0) & (x > 0), x + t, y)
    yes = {"update": y + x, "choice": x * 2}.get(form, x)
    return np.where(c > 0, yes, y if form in ("guard", "update") else t)


@pytest.fixture(scope="module")
def kernels() -> dict[tuple[str, int, str], Any]:
    made = {
        (form, width, dtype): asc.kernel_from_source(
            TEXT.format(form=form, width=width, dtype=dtype, body=FORMS[form])
        )
        for form, width, dtype in CASES
    }
    with asc.device("cpu"):
        asc.compile(list(made.values()))
    return made


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_element_is_what_its_own_condition_says(
    kernels: dict[Any, Any], case: tuple[str, int, str]
) -> None:
    form, width, dtype = case
    rng = np.random.default_rng(width)
    c = rng.integers(-1, 2, (65, width)).astype(np.dtype(dtype))
    x = rng.standard_normal(c.shape).astype(np.float32)
    y, t = np.full(c.shape, 7, np.float32), np.arange(width, dtype=np.float32)
    wanted = expected(form, c, x, y, t)
    with asc.device("cpu"):
        kernels[case](c, x, y, t)
    assert np.array_equal(y, wanted)


@asc.kernel
def spread(x: asc.float32[5, 65, 5], c: asc.int8[65, 5], t: asc.int64[1, M]):
    return asc.where(c <= 0, t, x)


def test_a_row_is_chosen_along_planes() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 65, 5)).astype(np.float32)
    c, t = rng.integers(-9, 9, (65, 5)).astype(np.int8), rng.integers(-9, 9, (1, 5))
    with asc.device("cpu"):
        assert np.array_equal(spread(x, c, t), np.where(c <= 0, t, x).astype(np.float32))


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int16", "float16", "float32", "int64"])
@pytest.mark.parametrize("width", range(2, 9))
def test_rows_of_a_few_elements_are_copied(width: int, dtype: str) -> None:
    """Beside a result that runs backwards: g++ 12 took such loops for functions that do nothing."""
    kernel = asc.kernel_from_source(
        "import pyasc as asc\n\n"
        f"def copies_{width}_{dtype}(x: asc.{dtype}[9, 9, {width}]):\n"
        "    return x.astype(asc.int32)[::-1, 1, -1], x, x[:, ::-1] == x\n"
    )
    x = (np.arange(81 * width).reshape(9, 9, width) % 7).astype(np.dtype(dtype))
    with asc.device("cpu"):
        found = kernel(x)
    for got, wanted in zip(found, (x.astype(np.int32)[::-1, 1, -1], x, x[:, ::-1] == x), strict=True):
        assert np.array_equal(got, wanted)
