# SPDX-License-Identifier: Apache-2.0
"""Numbers that loops carry in turn, and numbers that change between int and float, as Python has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pyasc as asc

NAMES = "xyz"
TURNS = [(a, b, c) for a, b, c in itertools.product(NAMES, ["-x", "y", "-z"], ["-x", "-y", "z"])]


def turning(turn: tuple[str, str, str], loop: str) -> str:
    """A kernel that sets its three names from one another, all at once, in each turn of a loop."""
    head = {"while": "while n > 0:", "for": "for n in range(n):"}[loop]
    return f"""
import pyasc as asc
def k(n: int, x: asc.float32, y: asc.float32, z: asc.float32):
    {head}
        x, y, z = {", ".join(turn)}
        {"n -= 1" if loop == "while" else "z += n"}
        if y > 2.5:
            break
    return x, y, z
"""


@pytest.fixture(scope="module")
def turns() -> dict[tuple[Any, str], tuple[str, Any]]:
    texts = {(turn, loop): turning(turn, loop) for turn in TURNS for loop in ("while", "for")}
    kernels = {key: (text, asc.kernel_from_source(text)) for key, text in texts.items()}
    asc.compile([kernel for _, kernel in kernels.values()])
    return kernels


def test_names_that_are_set_from_one_another(turns: dict[Any, tuple[str, Any]]) -> None:
    for (turn, loop), (text, kernel) in turns.items():
        names: dict[str, Any] = {}
        exec(text.replace(": asc.float32", "").replace("import pyasc as asc", ""), names)
        for n in (0, 1, 2, 3, 6):
            args = n, *map(np.float32, (1.0, 2.0, 3.0))
            assert tuple(kernel(*args)) == names["k"](*args), f"{turn} in a {loop} loop, n = {n}"


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")
HALVES = (-2.5, -1.5, -0.9, -0.5, -0.0, 0.0, 0.4, 0.5, 1.5)


def through(dtype: str, real: str) -> Any:
    return asc.kernel_from_source(f"""
import pyasc as asc
def k(x: asc.{real}[N], y: asc.{real}[N]):
    for i in range(N):
        v = asc.{dtype}(x[i])
        y[i] = asc.{real}(v) / asc.{real}(2.0) if x[i] < 100.0 else x[i]
""")


def kernels_through() -> Iterator[tuple[str, str, Any]]:
    for dtype in INTEGERS:
        for real in ("float32", "float64"):
            yield dtype, real, through(dtype, real)


def test_an_integer_zero_has_no_sign() -> None:
    cases = list(kernels_through())
    asc.compile([kernel for _, _, kernel in cases])
    for dtype, real, kernel in cases:
        x = np.array(HALVES * 7, real)
        x = np.abs(x) if dtype[0] == "u" else x
        y = np.empty_like(x)
        kernel(x, y)
        expected = np.trunc(x) / 2 + 0.0
        np.testing.assert_array_equal(y, expected)
        assert not np.signbit(y[expected == 0]).any(), (dtype, real)


@asc.kernel
def rounded_over(x: asc.float32, y: asc.float32) -> asc.float32:
    return round(-x) / y


@asc.kernel
def quotient(a: int, b: int, x: asc.float64) -> asc.float64:
    return a / b + x


@asc.kernel
def root(a: int, x: asc.float64) -> asc.float64:
    return asc.sqrt(a) + x


def test_rounding_to_zero_loses_the_sign() -> None:
    assert not np.signbit(rounded_over(np.float32(0.25), np.float32(np.inf)))


def test_floats_made_of_ints_are_as_wide_as_the_kernels_floats() -> None:
    assert quotient(29, 9, 0.0) == 29 / 9
    assert root(2, 0.0) == 2**0.5
