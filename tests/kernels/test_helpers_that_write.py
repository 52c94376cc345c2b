# SPDX-License-Identifier: Apache-2.0
"""Helpers assign to elements of arrays that their callers made, and the callers see it, as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc


@asc.func
def _doubled_inside(target, source):
    target[1:-1] = source[1:-1] * 2


@asc.func
def _through_another(target, source):
    _doubled_inside(target, source)
    target[0] = source[-1]


@asc.kernel
def zeros_filled(x: asc.float32[N]):
    b = asc.zeros(N, asc.float32)
    _doubled_inside(b, x)
    return b


@asc.kernel
def in_a_loop(x: asc.float32[N], steps: int):
    b = asc.zeros(N, asc.float32)
    total = x * 0
    for _ in range(steps):
        _through_another(b, x + b)
        total = total + b
    return total


@asc.kernel
def computed_array(x: asc.float32[N]):
    b = x + 1
    _through_another(b, x)
    return b


@asc.kernel
def two_names(x: asc.float32[N]):
    b = x + 1
    c = b
    _through_another(c, x)
    return b


@asc.kernel
def caller_array(x: asc.float32[N], y: asc.float32[N]):
    _through_another(y, x)
    b = y * 1
    _doubled_inside(b, y)
    y[:] = b


def _twice(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    b = b.copy()
    b[1:-1] = x[1:-1] * 2
    return b


def _and_first(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    b = _twice(x, b)
    b[0] = x[-1]
    return b


def _in_a_loop(x: np.ndarray) -> np.ndarray:
    b, total = np.zeros_like(x), np.zeros_like(x)
    for _ in range(3):
        b = _and_first(x + b, b)
        total = total + b
    return total


def _caller_array(x: np.ndarray) -> np.ndarray:
    y = _and_first(x, np.zeros_like(x))
    return _twice(y, y)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (zeros_filled, lambda x: _twice(x, np.zeros_like(x))),
        (lambda x: in_a_loop(x, 3), _in_a_loop),
        (computed_array, lambda x: _and_first(x, x + 1)),
        (two_names, lambda x: _and_first(x, x + 1)),
        (lambda x: _given(x), _caller_array),
    ],
    ids=["zeros", "loop", "computed", "two names", "given"],
)
@pytest.mark.parametrize("n", [2, 3, 33])
def test_what_a_helper_writes_is_seen(run: Any, expected: Any, n: int) -> None:
    x = np.arange(1, n + 1, dtype=np.float32)
    np.testing.assert_array_equal(run(x), expected(x))


def _given(x: np.ndarray) -> np.ndarray:
    y = np.zeros_like(x)
    caller_array(x, y)
    return y


_MEMBERS = ("first", "data", "begin", "end", "load", "size", "site", "values", "captured", "count", "self")


@pytest.mark.parametrize("name", _MEMBERS)
def test_a_name_may_be_one_that_emitted_code_uses_for_a_member(name: str) -> None:
    """A threaded loop captures what it mentions, and `pa_mask::first` mentions no variable `first`."""
    kernel = asc.kernel_from_source(f"""
import pyasc as asc

def named(x: asc.float32[M, N], w: asc.float32[N, K]):
    {name} = asc.relu(x @ w)
    total = asc.zeros(M, asc.float32)
    for i in asc.parallel_for(M):
        for j in range(K):
            total[i] += {name}[i, j]
    {name}_2 = asc.softmax({name})
    return {name}_2 + total.reshape((M, 1))
""")
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((5, 7), np.float32), rng.standard_normal((7, 19), np.float32)
    hidden = np.maximum(x @ w, 0)
    powers = np.exp(hidden - hidden.max(1, keepdims=True))
    expected = powers / powers.sum(1, keepdims=True) + hidden.sum(1, keepdims=True)
    np.testing.assert_allclose(kernel(x, w), expected, rtol=1e-5)
