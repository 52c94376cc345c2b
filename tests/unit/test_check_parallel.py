# SPDX-License-Identifier: Apache-2.0
"""Parallel loops that cannot mean what they say are refused; running updates are not, and never race."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir.diagnostics import CompileError

REFUSED = {
    "one element": (
        "s[0] = x[i]",
        "PA0603",
        "every iteration of this parallel loop writes the same element of `s`",
    ),
    "neighbour": (
        "y[i] = y[i + 1]",
        "PA0603",
        "iterations of this parallel loop touch each other's elements of `y`",
    ),
    "two writes": (
        "y[i] = 0.0; y[i + 1] = 1.0",
        "PA0603",
        "iterations of this parallel loop touch each other's",
    ),
    "update that is no sum": ("s[0] = s[0] * 2.0 + x[i]", "PA0603", "touch each other's elements of `s`"),
    "data decide": ("s[k[i]] += x[i]", "PA0604", "may update one element of `s` at once"),
}

ACCEPTED = {
    "own element": "y[i] = y[i] + x[i]",
    "other array": "y[i] = x[i + 1]",
    "scatter": "y[k[i]] = x[i]",
    "atomic": "asc.atomic_add(s, k[i] * 0, x[i])",
    "sum": "s[0] += x[i]",
    "two steps apart": "y[2 * (i // 2)] = 1.0 if i % 2 == 0 else 1.0",
}


def kernel(statement: str) -> asc.Kernel:
    return asc.kernel_from_source(
        "import pyasc as asc\n"
        "@asc.kernel\n"
        "def case(x: asc.float32[N], y: asc.float32[N], k: asc.int32[N], s: asc.float32[4]):\n"
        "    for i in asc.parallel_for(N - 1):\n"
        f"        {statement}\n"
    )


def arguments() -> list[np.ndarray]:
    n = 33
    return [
        np.ones(n, np.float32),
        np.zeros(n, np.float32),
        np.arange(n, dtype=np.int32),
        np.zeros(4, np.float32),
    ]


@pytest.mark.parametrize("name", REFUSED)
def test_certain_conflicts_are_refused_with_both_places(name: str) -> None:
    statement, code, message = REFUSED[name]
    before = arguments()
    given = arguments()
    with pytest.raises(CompileError) as caught:
        kernel(statement)(*given)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert message in diagnostic.message
    assert diagnostic.loc.line == 5
    assert diagnostic.related[-1].loc.line == 4
    assert diagnostic.hint
    assert all(np.array_equal(a, b) for a, b in zip(before, given, strict=True))


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_loops_are_not(name: str) -> None:
    kernel(ACCEPTED[name])(*arguments())


def test_sums_into_one_element_do_not_race() -> None:
    n = 200_000
    x, s = np.ones(n, np.float32), np.zeros(4, np.float32)
    kernel("s[0] += x[i]")(x, np.zeros(n, np.float32), np.zeros(n, np.int32), s)
    assert s[0] == n - 1
