# SPDX-License-Identifier: Apache-2.0
"""The work of a compilation grows with the kernel, not with its square: counted in calls, not by the clock."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

import pyasc as asc


def long_kernel(statements: int) -> str:
    """A loop with that many assignments, each of which needs the one before."""
    body = "".join(f"        t = t * {1 + k / 7} + x[i]\n" for k in range(statements))
    return (
        "import pyasc as asc\n"
        f"def long{statements}(x: asc.float32[N], y: asc.float32[N]):\n"
        f"    for i in range(N):\n        t = x[i]\n{body}        y[i] = t\n"
    )


def branchy_kernel(branches: int) -> str:
    """That many branches one after the other, each with a guarded store."""
    body = "".join(
        f"        if x[i] > {k}.5:\n            y[i] = y[i] * 2.0 + {k}.0\n" for k in range(branches)
    )
    return (
        "import pyasc as asc\n"
        f"def branchy{branches}(x: asc.float32[N], y: asc.float32[N]):\n    for i in range(N):\n{body}"
    )


def deep_kernel(depth: int) -> str:
    """That many loops, one in the other."""
    loops = "\n".join("    " * (level + 1) + f"for i{level} in range(2):" for level in range(depth))
    body = "    " * (depth + 1) + "y[i0] = y[i0] * 0.5 + x[i0]\n"
    return f"import pyasc as asc\ndef deep{depth}(x: asc.float32[N], y: asc.float32[N]):\n{loops}\n{body}"


def calls_to_cpp(text: str) -> int:
    """How many Python functions are called on the way to C++."""
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    kernel = asc.kernel_from_source(text)
    sys.setprofile(watch)
    try:
        kernel.source("cpu")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("make", "size", "most"),
    [(long_kernel, 50, 2.2), (branchy_kernel, 8, 2.4), (deep_kernel, 8, 2.6)],
    ids=["statements", "branches", "depth"],
)
def test_work_is_linear(make: Any, size: int, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as much more to compile is twice as much more work, within what deeper indices and names cost."""
    monkeypatch.setenv("PYASC_VERIFY", "0")
    calls_to_cpp(make(1))
    small, middle, large = (calls_to_cpp(make(size * factor)) for factor in (1, 2, 4))
    assert (large - middle) / (middle - small) < most
