# SPDX-License-Identifier: Apache-2.0
"""Debug builds find iterations of parallel loops that meet at run time, on one core of the model too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir.diagnostics import Diagnostic
from pyasc.runtime import specialise

MEET = {
    "slices where the data say": ("x[k[j]:k[j] + 2] = y[j]", "0 and 2", "x"),
    "slices of a run-time step": ("x[n * j:n * j + 5] = y[j]", "0 and 1", "x"),
    "all under a condition": ("if y[j] > 2:\n    x[:] = y[j]", "3 and 4", "x"),
    "rows": ("a[k[j]] = y[j]", "1 and 3", "a"),
    "elements of rows": ("for q in range(4):\n    a[k[j], q] = y[j]", "1 and 3", "a"),
    "remainder": ("x[j % n] = y[j]", "0 and 4", "x"),
    "quotient": ("x[j // n] = y[j]", "0 and 1", "x"),
    "block copy": ("asc.copy(s, a[j // n])", "0 and 1", "a"),
    "helper": ("put(x[k[j]:k[j] + 1], y[j])", "1 and 3", "x"),
    "view": ("t = a.T\nt[0, k[j]] = 1.0", "1 and 3", "a"),
    "one element under a condition": ("if j > 4:\n    s[0] = y[j]", "5 and 6", "s"),
    "slice that is read": ("y[j] = asc.sum(x[j:j + n])\nx[j] = 1.0", "1", "x"),
    "mask": ("if y[j] > 2:\n    x[x > 0] = 1.0", "4", "x"),
    "update and read": ("asc.atomic_add(s, j % n, 1.0)\ny[j] = s[j // n]", "1", "s"),
    "update and write": ("asc.atomic_add(s, j % n, 1.0)\nif j == 5:\n    s[0] = 3.0", "5", "s"),
}
"""Statements, the iterations that meet first, and where."""

APART = {
    "own slices": "x[2 * j:2 * j + 2] = y[j]",
    "slices of a run-time step": "x[n * j // 2:n * j // 2 + 2] = y[j]",
    "own rows": "a[j] = a[j] * 2 + y[j]",
    "permuted rows": "a[p[j]] = y[j]",
    "sum": "s[:] += a[j]",
    "updates": "asc.atomic_add(s, j % n, 1.0)",
    "what nobody writes": "y[j] = asc.sum(x[j:j + n])",
    "condition that never holds": "if y[j] > 100:\n    x[:] = 1.0",
    "buffer of its own": "t = asc.shared_memory(4, asc.float32)\nt[:] = y[j]\ny[j] = asc.sum(t)",
    "temporary": "a[j] = asc.softmax(a[j]) + asc.cumsum(a[j])",
}

ON_THE_MODEL = (
    "slices where the data say",
    "all under a condition",
    "remainder",
    "slice that is read",
    "update and read",
)


def made(statement: str, name: str, target: str | None = None) -> asc.Kernel:
    parameters = (
        "x: asc.float32[M], y: asc.float32[N], k: asc.int32[N], p: asc.int32[N], "
        "s: asc.float32[4], a: asc.float32[N, 4], n: int"
    )
    body = "".join(f"        {line}\n" for line in statement.splitlines())
    text = (
        "import pyasc as asc\n"
        "def put(t, v):\n"
        "    t[...] = v\n"
        f"def {name}({parameters}):\n"
        "    for j in asc.parallel_for(N):\n"
        f"{body}"
    )
    return asc.kernel_from_source(text, name, debug=True, target=target)


def arguments() -> list[object]:
    return [
        np.arange(40, dtype=np.float32),
        np.arange(8, dtype=np.float32),
        np.array([3, 1, 4, 1, 5, 0, 2, 6], np.int32),
        np.array([3, 1, 4, 0, 5, 2, 6, 7], np.int32),
        np.zeros(4, np.float32),
        np.ones((8, 4), np.float32),
        4,
    ]


@pytest.fixture(scope="module")
def kernels() -> dict[str, asc.Kernel]:
    statements = {
        **{f"meet {n}": each for n, (each, *_) in MEET.items()},
        **{f"apart {n}": s for n, s in APART.items()},
    }
    found = {name: made(statement, f"k{k}") for k, (name, statement) in enumerate(statements.items())}
    asc.compile(list(found.values()))
    return found


def check_found(kernel: asc.Kernel, name: str) -> None:
    statement, iterations, array = MEET[name]
    with pytest.raises(RuntimeError) as caught:
        kernel(*arguments())
    message, _, line = str(caught.value).splitlines()
    subject = "iterations" if "and" in iterations else "iteration"
    assert message.startswith(f"{subject} {iterations} of the parallel loop ")
    assert f" of {array}" in message
    assert line.strip() in ("t[...] = v", *(each.strip() for each in statement.splitlines()))


@pytest.mark.parametrize("name", MEET)
def test_iterations_that_meet_are_found(kernels: dict[str, asc.Kernel], name: str) -> None:
    check_found(kernels[f"meet {name}"], name)


@pytest.mark.parametrize("name", APART)
def test_iterations_that_do_not_are_not(kernels: dict[str, asc.Kernel], name: str) -> None:
    kernels[f"apart {name}"](*arguments())


@pytest.mark.parametrize("name", ON_THE_MODEL)
def test_the_model_finds_them_on_one_core_too(name: str) -> None:
    with asc.device("model"):
        check_found(made(MEET[name][0], "k"), name)


def test_a_kernel_with_a_target_is_watched_too() -> None:
    """The option chooses the SoC that the model is, not what is looked at."""
    name = ON_THE_MODEL[0]
    with asc.device("model"):
        check_found(made(MEET[name][0], "k", "ascend910b3"), name)


@pytest.mark.parametrize("name", ["own slices", "permuted rows", "temporary"])
def test_the_model_finds_nothing_where_nothing_is(name: str) -> None:
    given, expected = arguments(), arguments()
    made(APART[name], "k")(*expected)
    with asc.device("model"):
        made(APART[name], "k")(*given)
    for got, want in zip(given, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


LONG_ROWS = """
import pyasc as asc
def k(b: asc.float32[N, 65536], a: asc.float32[2 * N, 65536], at: asc.int32[N]):
    for j in asc.parallel_for(N):
        row = b[j] * 2
        row[0] = 1
        a[at[j]] = row
"""
"""Rows too long for a core are passed on in global memory."""


def test_rows_too_long_for_a_core_are_watched() -> None:
    kernel = asc.kernel_from_source(LONG_ROWS, "k", debug=True)
    b, a = np.ones((3, 65536), np.float32), np.zeros((6, 65536), np.float32)
    with asc.device("model"):
        kernel(b, a, np.array([4, 0, 2], np.int32))
        assert a.sum(axis=1).tolist() == [131071, 0, 131071, 0, 131071, 0]
        with pytest.raises(RuntimeError, match=r"iterations 0 and 2 .* write the same element of a"):
            kernel(b, a, np.array([4, 0, 4], np.int32))


def test_a_remark_says_what_the_model_cannot_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = specialise.lower

    def refusing(module: Any, pipeline: str, *rest: Any) -> Any:
        if "watch-races" in pipeline:
            raise asc.ResourceError([Diagnostic("PA0701", "no room")])
        return real(module, pipeline, *rest)

    monkeypatch.setattr(specialise, "lower", refusing)
    kernel = asc.kernel_from_source(LONG_ROWS.replace("at[j]", "2 * j"), "k", debug=True)
    with asc.device("model"):
        kernel.compile()
    assert kernel.remarks[0].message == "parallel loops are not watched for races: no room"
