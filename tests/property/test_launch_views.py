# SPDX-License-Identifier: Apache-2.0
"""Launches on views of one buffer: whatever they share, the result is Python's on one memory, or a refusal."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

import pyasc as asc

N, M = asc.dims("N M")
BUFFER = 40

Array = np.ndarray[Any, Any]


@asc.kernel
def add(x: asc.float32[N], y: asc.float32[N], out: asc.float32[N]):
    for i in asc.parallel_for(0, N):
        out[i] = x[i] + y[i]


@asc.kernel
def swap_add(x: asc.float32[M, N], y: asc.float32[M, N]):
    for i, j in asc.parallel_for_grid(M, N):
        held = x[i, j]
        x[i, j] = y[i, j] + 1.0
        y[i, j] = held * 2.0


@st.composite
def views(draw: st.DrawFn, buffer: Array, count: int, length: int) -> list[Array]:
    """One-dimensional views of the same length with any start and step."""
    found: list[Array] = []
    for _ in range(count):
        step = draw(st.integers(-3, 3).filter(bool))
        span = abs(step) * (length - 1) + 1 if length else 0
        start = draw(st.integers(0, len(buffer) - span))
        part = buffer[start : start + span]
        found.append(part[::-1][:: abs(step)] if step < 0 else part[::step])
    return found


@hypothesis.given(st.data(), st.integers(0, 12))
def test_add_on_views_of_one_buffer(data: st.DataObject, length: int) -> None:
    buffer = np.arange(BUFFER, dtype=np.float32)
    x, y, out = data.draw(views(buffer, 3, length))
    before = buffer.copy()
    expected = before.copy()
    for to, a, b in zip(*(_places(buffer, view) for view in (out, x, y)), strict=True):
        expected[to] = expected[a] + expected[b]
    try:
        add(x, y, out)
    except asc.LaunchError as error:
        shared = [each for each in (x, y) if np.shares_memory(each, out)]
        assert any(not _is_same(each, out) for each in shared), error
        assert np.array_equal(buffer, before)
        return
    assert np.array_equal(buffer, expected)


def _places(buffer: Array, view: Array) -> Array:
    """The places of a view's elements in its buffer."""
    start = view.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]
    return start // 4 + np.arange(len(view)) * (view.strides[0] // 4)


def _is_same(a: Array, b: Array) -> bool:
    """Whether two views have the same elements in the same order."""
    return a.__array_interface__["data"] == b.__array_interface__["data"] and a.strides == b.strides


@hypothesis.given(st.data(), st.integers(0, 4), st.integers(0, 4))
def test_two_written_views_are_exchanged_or_refused(data: st.DataObject, rows: int, columns: int) -> None:
    buffer = np.arange(BUFFER, dtype=np.float32)
    x, y = (matrix(data, buffer, rows, columns) for _ in range(2))
    if np.shares_memory(x, y):
        before, before_x = buffer.copy(), x.copy()
        try:
            swap_add(x, y)
        except asc.LaunchError as error:
            assert "share" in str(error) or "are both written" in str(error)
            assert not _is_same(x, y) and np.array_equal(buffer, before)
            return
        # One array for both: the second store of an iteration is the last one.
        assert _is_same(x, y)
        np.testing.assert_array_equal(x, before_x * 2)
        return
    old_x, old_y = x.copy(), y.copy()
    swap_add(x, y)
    assert np.array_equal(x, old_y + 1) and np.array_equal(y, old_x * 2)


def matrix(data: st.DataObject, buffer: Array, rows: int, columns: int) -> Array:
    """A view of the buffer as a matrix, transposed or reversed perhaps."""
    start = data.draw(st.integers(0, BUFFER - rows * columns))
    flat = buffer[start : start + rows * columns]
    if data.draw(st.booleans()):
        flat = flat[::-1]
    return flat.reshape(columns, rows).T if data.draw(st.booleans()) else flat.reshape(rows, columns)
