# SPDX-License-Identifier: Apache-2.0
"""Comparisons of elements with ints that their type does not hold: exact, as in NumPy, for one element and for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

LITERALS = (-1, -(2**31) - 1, 256, 2**31, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
TYPES = ("int8", "uint8", "int64", "uint64")


def edges(name: str) -> np.ndarray[Any, Any]:
    info = np.iinfo(name)
    return np.array([info.min, info.min + 1, 0, 5, info.max - 1, info.max], name)


def as_kernel(text: str) -> asc.Kernel:
    return asc.kernel_from_source(f"import pyasc as asc\n@asc.kernel\n{text}")


def as_function(text: str) -> Any:
    names: dict[str, Any] = {"asc": asc, "N": 6}
    exec(text, names)
    return names["k"]


def literal_text(dtype: str) -> str:
    """A kernel of all comparisons of elements, and of whole arrays, with all literals on either side."""
    pairs = [(number, op) for number in LITERALS for op in COMPARISONS]
    lines = [f"        y[{k}, i] = x[i] {op} {number}" for k, (number, op) in enumerate(pairs)]
    arrays = [f"{number} {op} x" for number, op in pairs]
    return (
        f"def k(x: asc.{dtype}[6], y: asc.bool_[{len(pairs)}, 6]):\n    for i in range(6):\n"
        + "\n".join(lines)
        + f"\n    return {', '.join(arrays)}\n"
    )


def int_text(dtype: str) -> str:
    """A kernel of all comparisons with an int of run time, and with a size that may be negative."""
    lines = [f"        y[{k}, i] = x[i] {op} n" for k, op in enumerate(COMPARISONS)]
    lines += [f"        y[{k + 6}, i] = len(x) - 7 {op} x[i]" for k, op in enumerate(COMPARISONS)]
    lines += [f"        y[{k + 12}, i] = n - 1 {op} x[i] {op} n + 1" for k, op in enumerate(COMPARISONS)]
    return (
        f"def k(x: asc.{dtype}[N], n: int, y: asc.bool_[18, 6]):\n    for i in range(N):\n"
        + "\n".join(lines)
        + f"\n    return {', '.join(f'n {op} x' for op in COMPARISONS)}, x[3] in (n, -1)\n"
    )


KINDS = {"literals": literal_text, "ints": int_text}
KERNELS = {(kind, dtype): as_kernel(text(dtype)) for kind, text in KINDS.items() for dtype in TYPES}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(list(KERNELS.values()))


@pytest.mark.parametrize("dtype", TYPES)
def test_with_literals(dtype: str) -> None:
    check("literals", dtype, np.zeros((len(LITERALS) * len(COMPARISONS), 6), bool))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [-1, 0, 5, 256, -(2**31) - 1, 2**40, -(2**62), 2**62])
def test_with_ints_of_run_time(dtype: str, n: int) -> None:
    check("ints", dtype, n, np.zeros((18, 6), bool))


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("kind", KINDS)
def test_on_the_model(kind: str) -> None:
    with asc.device("model"):
        rows = len(LITERALS) * len(COMPARISONS) if kind == "literals" else 18
        check(kind, "uint64", *((-1,) if kind == "ints" else ()), np.zeros((rows, 6), bool))


def check(kind: str, dtype: str, *rest: Any) -> None:
    x = edges(dtype)
    found, wanted = rest[-1].copy(), rest[-1].copy()
    results = KERNELS[kind, dtype](x, *rest[:-1], found)
    expected = as_function(KINDS[kind](dtype))(x, *rest[:-1], wanted)
    np.testing.assert_array_equal(found, wanted)
    for a, b in zip(results, expected, strict=True):
        np.testing.assert_array_equal(a, b)
