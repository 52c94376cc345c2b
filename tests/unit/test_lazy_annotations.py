# SPDX-License-Identifier: Apache-2.0
"""Annotations that Python 3.14 leaves unevaluated: sizes need no names, and other names are those of their place."""

# ruff: noqa: F821
# No `from __future__ import annotations` here, since that is what these tests are about.

import sys

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="Python evaluates annotations at once")

if sys.version_info >= (3, 14):

    @asc.kernel
    def add(x: asc.float32[N, C], y: asc.float32[N, C], s: float):
        for i in range(N):
            for j in range(C):
                y[i, j] = x[i, j] + s

    @asc.kernel
    def row_sums(x: asc.float32[M, 4]) -> asc.float32[M]:
        return asc.sum(x, axis=1)

    @asc.kernel
    def inner(x: asc.float32[2 * H, H + 1], y: asc.float32[H]):
        for i in range(H):
            y[i] = x[2 * i, i + 1]

    class Settings:
        """A class whose members its kernels' annotations name."""

        K = 4
        T = asc.float32

        @asc.kernel
        def scale(x: asc.float32[K, Q], s: T):
            for j in range(Q):
                x[0, j] = x[0, j] * s


def test_undefined_sizes_are_symbolic() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y = np.empty_like(x)
    add(x, y, 2.0)
    np.testing.assert_array_equal(y, x + 2)
    np.testing.assert_array_equal(row_sums(x), x.sum(axis=1))
    with pytest.raises(asc.LaunchError, match="declared"):
        row_sums(np.ones((3, 5), np.float32))


def test_undefined_sizes_in_expressions() -> None:
    x, y = np.arange(12, dtype=np.float32).reshape(4, 3), np.empty(2, np.float32)
    inner(x, y)
    np.testing.assert_array_equal(y, [x[0, 1], x[2, 2]])
    with pytest.raises(asc.LaunchError, match="declared"):
        inner(np.ones((4, 4), np.float32), y)


def test_locals_that_only_annotations_name_beside_an_undefined_size() -> None:
    rows, element = 4, asc.float32

    @asc.kernel
    def first(x: element[rows, Q], s: element):
        x[0, 0] = s

    x = np.ones((4, 2), np.float32)
    first(x, 3.0)
    assert x[0, 0] == 3
    with pytest.raises(asc.LaunchError, match="expected 4"):
        first(np.ones((3, 2), np.float32), 3.0)


def test_class_members_beside_an_undefined_size() -> None:
    x = np.ones((4, 2), np.float32)
    Settings.scale(x, 3.0)
    assert x[0].tolist() == [3, 3]
    with pytest.raises(asc.LaunchError, match="expected 4"):
        Settings.scale(np.ones((3, 2), np.float32), 3.0)


def test_class_members_are_no_names_of_the_body() -> None:
    class Members:
        limit = 4

        @asc.kernel
        def read(x: asc.float32[limit, Q]):
            x[0, 0] = limit

    with pytest.raises(asc.CompileError, match="`limit` is not defined"):
        Members.read(np.ones((4, 2), np.float32))


def test_a_mistake_in_a_lazy_annotation_is_shown_in_its_place() -> None:
    @asc.kernel
    def wrong(x: asc.float99[N]):
        x[0] = 1

    with pytest.raises(asc.CompileError, match=r"has no attribute `float99`") as caught:
        wrong(np.ones(3, np.float32))
    assert "asc.float99" in str(caught.value)
