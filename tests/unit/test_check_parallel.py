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
    "whole array": (
        "y[:] = x[i]",
        "PA0603",
        "iterations 0 and 1 of this parallel loop write the same element of `y`",
    ),
    "another array": ("y[...] = x", "PA0603", "iterations 0 and 1"),
    "fill": ("y.fill(i)", "PA0603", "iterations 0 and 1"),
    "slice that stays": ("s[1:3] = x[i]", "PA0603", "iterations 0 and 1"),
    "slices that overlap": ("y[i:i + 2] = x[i]", "PA0603", "iterations 0 and 1"),
    "block copy": ("asc.copy(s, a[0])", "PA0603", "iterations 0 and 1"),
    "row that stays": ("a[0] = x[i]", "PA0603", "iterations 0 and 1"),
    "column that stays": ("a[:, 1] = x[i]", "PA0603", "iterations 0 and 1"),
    "row through a transpose": ("t = a.T; t[0] = x[i]", "PA0603", "iterations 0 and 1"),
    "rows in pairs": ("a[i // 2] = x[i]", "PA0603", "iterations 0 and 1"),
    "quotient": ("y[i // 2] = x[i]", "PA0603", "iterations 0 and 1"),
    "shift": ("y[i >> 1] = x[i]", "PA0603", "iterations 0 and 1"),
    "largest": ("y[max(i, 3)] = x[i]", "PA0603", "iterations 0 and 1"),
    "quotient of a multiple": (
        "y[2 * (i // 2)] = 1.0 if i % 2 == 0 else 1.0",
        "PA0603",
        "iterations 0 and 1",
    ),
    "inner loop": ("for q in range(2): y[i + q] = 1.0", "PA0603", "iterations 0 and 1"),
    "helper": ("put(y, x[i])", "PA0603", "iterations 0 and 1"),
    "view": ("r = y[1:]; r[i] = 2.0; y[i] = 1.0", "PA0603", "touch each other's elements of `y`"),
    "sum of what others write": (
        "y[i] = asc.sum(x[i:i + 2]); x[i] = 2.0",
        "PA0603",
        "iteration 0 of this parallel loop reads an element of `x` that iteration 1 writes",
    ),
    "all of what others write": (
        "y[i] = asc.max(y)",
        "PA0603",
        "reads an element of `y` that iteration 0 writes",
    ),
    "row before": ("a[i] = a[i - 1] + 1", "PA0603", "reads an element of `a` that iteration 0 writes"),
    "update of all that is no sum": ("s[:] = s * 2.0 + x[i]", "PA0603", "reads an element of `s`"),
    "what others update": ("asc.atomic_add(s, 0, x[i]); y[i] = s[0]", "PA0603", "reads an element of `s`"),
    "data decide": ("s[k[i]] += x[i]", "PA0604", "may update one element of `s` at once"),
}

ACCEPTED = {
    "own element": "y[i] = y[i] + x[i]",
    "other array": "y[i] = x[i + 1]",
    "scatter": "y[k[i]] = x[i]",
    "atomic": "asc.atomic_add(s, k[i] * 0, x[i])",
    "sum": "s[0] += x[i]",
    "own row": "a[i] = asc.softmax(a[i]) + s",
    "parts of a row": "a[i, :2] = a[i, 2:]",
    "own slices": "z[2 * i:2 * i + 2] = z[2 * i:2 * i + 2] * 2",
    "own blocks": "z[2 * i:2 * i + 2] = asc.softmax(z[2 * i:2 * i + 2])",
    "block copy": "asc.copy(s, a[i])",
    "column": "t = a.T; t[:, i] = 1.0",
    "elements in pairs": "a[i // 4, i % 4] = 1.0",
    "remainder": "y[i % 4] = 1.0",
    "backwards": "y[-i] = 1.0",
    "sum of all": "s[:] += a[i]",
    "smaller of all": "s[:] = asc.minimum(s, a[i])",
    "atomics": "asc.atomic_add(s, 0, x[i]); asc.atomic_add(s, 0, 2.0)",
    "buffer of its own": "b = asc.zeros(4); b[:] = x[i]; y[i] = asc.sum(b)",
}


def kernel(statement: str, trips: str = "N - 1") -> asc.Kernel:
    return asc.kernel_from_source(
        "import pyasc as asc\n"
        "@asc.kernel\n"
        "def case(x: asc.float32[N], y: asc.float32[N], k: asc.int32[N], s: asc.float32[4], "
        "a: asc.float32[N, 4], z: asc.float32[2 * N]):\n"
        f"    for i in asc.parallel_for({trips}):\n"
        f"        {statement}\n"
        "def put(t, v):\n"
        "    t[...] = v\n",
        "case",
    )


def arguments() -> list[np.ndarray]:
    n = 33
    return [
        np.ones(n, np.float32),
        np.zeros(n, np.float32),
        np.arange(n, dtype=np.int32),
        np.zeros(4, np.float32),
        np.ones((n, 4), np.float32),
        np.ones(2 * n, np.float32),
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
    assert diagnostic.loc.line == (7 if name == "helper" else 5)
    assert diagnostic.related[-1].loc.line == 4
    assert diagnostic.hint
    assert all(np.array_equal(a, b) for a, b in zip(before, given, strict=True))


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_loops_are_not(name: str) -> None:
    kernel(ACCEPTED[name]).lower()


COUNTED = {
    "remainder": ("y[i % 4] = 1.0", 5, 4, (0, 4)),
    "bits": ("y[i & 7] = 1.0", 9, 8, (0, 8)),
    "smallest": ("y[min(i, 3)] = 1.0", 5, 4, (3, 4)),
    "distance": ("y[abs(i - 3)] = 1.0", 5, 4, (2, 4)),
    "rows": ("a[i % 3, 1] = 1.0", 4, 3, (0, 3)),
    "condition": ("if i > 4: y[0] = 1.0", 7, 6, (5, 6)),
    "other condition": ("if i < 6: y[i] = 1.0\n        else: y[2] = 1.0", 7, 6, (2, 6)),
    "end of an axis": ("y[i - 2] = 1.0; y[i + 4] = 2.0", 7, 2, (0, 6)),
}
"""Statements, a number of iterations with which some meet, one with which none do, and those that meet."""


@pytest.mark.parametrize("name", COUNTED)
def test_the_number_of_iterations_decides(name: str) -> None:
    statement, many, few, pair = COUNTED[name]
    with pytest.raises(CompileError) as caught:
        kernel(statement, str(many)).lower()
    message = caught.value.diagnostics[0].message
    assert message.startswith(f"iterations {pair[0]} and {pair[1]} of") or name == "end of an axis"
    kernel(statement, str(few)).lower()
    if name != "end of an axis":
        kernel(statement, "N").lower()


UPDATES = {
    "under a condition": "if x[i] > 0: s[:] += a[i]",
    "two ops": "s[:] += asc.sqrt(a[i]) * asc.sum(a[i])",
    "kept": "if x[i] > 0: a[i] += 1.0",
    "kept blocks": "if x[i] > 0: z[2 * i:2 * i + 2] += 1.0",
    "kept slices of a run-time size": "if x[i] > 0: y[2 * i:2 * i + 2] += 1.0",
}


@pytest.mark.parametrize("name", UPDATES)
def test_updates_of_whole_arrays_run_in_order_where_they_may_meet(name: str) -> None:
    text = kernel(UPDATES[name]).lower()["structured"]
    assert ('kind = "parallel"' in text) == name.startswith("kept")


def test_updates_of_whole_arrays_do_not_race() -> None:
    given = arguments()
    given[5] = np.ones(2 * 33, np.float32)
    kernel(UPDATES["under a condition"])(*given)
    assert given[3].tolist() == [32.0] * 4


def test_a_buffer_outside_of_the_loop_is_no_buffer_of_each_iteration() -> None:
    text = (
        "import pyasc as asc\n"
        "@asc.kernel\n"
        "def case(a: asc.float32[N, 4]):\n"
        "    t = asc.shared_memory(4, asc.float32)\n"
        "    for i in asc.parallel_for(N):\n"
        "        asc.copy(a[i], t)\n"
        "        a[i] = t[::-1]\n"
    )
    with pytest.raises(CompileError) as caught:
        asc.kernel_from_source(text).lower()
    (found,) = caught.value.diagnostics
    assert (found.code, found.loc.line) == ("PA0603", 6)
    assert found.hint.startswith("make the buffer inside the loop")


def test_sums_into_one_element_do_not_race() -> None:
    n = 200_000
    x, s = np.ones(n, np.float32), np.zeros(4, np.float32)
    unused = np.zeros((n, 4), np.float32), np.zeros(2 * n, np.float32)
    kernel("s[0] += x[i]")(x, np.zeros(n, np.float32), np.zeros(n, np.int32), s, *unused)
    assert s[0] == n - 1
