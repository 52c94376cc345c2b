# SPDX-License-Identifier: Apache-2.0
"""What a program gave, and the comparison of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SAME, REFUSED, DIFFERENT, SKIPPED = "same", "refused", "different", "skipped"


@dataclass(frozen=True)
class Outcome:
    """One program: whether all that ran it agreed, and what to look at if not.

    `skipped` programs gave nothing that could be compared exactly.
    """

    seed: int
    status: str
    text: str
    features: frozenset[str]
    message: str = ""


def same_bits(got: Any, expected: Any) -> bool:
    """Whether two numbers or arrays have equal values, zeros of equal sign, and NaN in the same places."""
    a, b = np.asarray(got), np.asarray(expected)
    if a.shape != b.shape:
        return False
    if a.dtype.kind != "f" and b.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(_negative(a), _negative(b)))


def _negative(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = values.astype(np.float64)
    return np.signbit(values) & ~np.isnan(values)


def first_difference(got: Any, expected: Any) -> str:
    """Where two arrays differ first, in words."""
    a, b = np.asarray(got), np.asarray(expected)
    if a.shape != b.shape:
        return f"shape {a.shape}, expected {b.shape}"
    if a.ndim == 0:
        return f"{a!r}, expected {b!r}"
    for index in np.ndindex(a.shape):
        if not same_bits(a[index], b[index]):
            return f"{a[index]!r} at {index}, expected {b[index]!r}"
    return "equal"


def differences(names: Sequence[str], got: Sequence[Any], expected: Sequence[Any]) -> str:
    """The values that differ, by name; empty if none do."""
    found = [
        f"{name}: {first_difference(a, b)}"
        for name, a, b in zip(names, got, expected, strict=True)
        if not same_bits(a, b)
    ]
    return "; ".join(found)
