# SPDX-License-Identifier: Apache-2.0
"""Scalars and control flow of the language page, against CPython."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.kernels.language_programs import PROGRAMS

KERNELS = [(asc.kernel(function), function, arguments) for function, arguments in PROGRAMS]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([kernel for kernel, _, _ in KERNELS])


def test_there_are_many_cases() -> None:
    assert sum(len(arguments) for _, arguments in PROGRAMS) >= 600


def same(found: Any, wanted: Any) -> bool:
    """Python's value, in the kind that it has; floats in float32."""
    if isinstance(wanted, bool):
        return found.dtype == np.bool_ and bool(found) == wanted
    if isinstance(wanted, int):
        return found.dtype == np.int64 and int(found) == wanted
    rounded = np.float32(wanted)
    close = math.isclose(found, rounded, rel_tol=1e-6) or found == rounded
    return found.dtype == np.float32 and close and np.signbit(found) == np.signbit(rounded)


@pytest.mark.parametrize(
    ("kernel", "function", "arguments"), KERNELS, ids=lambda each: getattr(each, "__name__", "")
)
def test_as_in_python(kernel: asc.Kernel, function: Any, arguments: list[tuple[Any, ...]]) -> None:
    assert differences(kernel, function, arguments) == []


SAMPLE = [each for each in KERNELS if each[1].__name__ in ("integers", "run_time_steps", "nested_jumps")]


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize(
    ("kernel", "function", "arguments"), SAMPLE, ids=[function.__name__ for _, function, _ in SAMPLE]
)
def test_on_the_model(kernel: asc.Kernel, function: Any, arguments: list[tuple[Any, ...]]) -> None:
    with asc.device("model"):
        assert differences(kernel, function, arguments[::5]) == []


@pytest.mark.fuzz
@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize(
    ("kernel", "function", "arguments"), KERNELS, ids=[function.__name__ for _, function, _ in KERNELS]
)
def test_all_on_the_model(kernel: asc.Kernel, function: Any, arguments: list[tuple[Any, ...]]) -> None:
    with asc.device("model"):
        assert differences(kernel, function, arguments) == []


def differences(kernel: asc.Kernel, function: Any, arguments: list[tuple[Any, ...]]) -> list[str]:
    """Where a kernel gives another result than the function."""
    wrong: list[str] = []
    for each in arguments:
        found, wanted = kernel(*each), function(*each)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        wrong += [f"{each}: {a!r}, expected {b!r} at {k}" for k, (a, b) in enumerate(pairs) if not same(a, b)]
    return wrong
