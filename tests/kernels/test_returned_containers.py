# SPDX-License-Identifier: Apache-2.0
"""What a kernel returns: a value alone, a tuple or a list, also of one item or none, wherever it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc

CASES: list[Callable[..., Any]] = []


def case(function: Callable[..., Any]) -> Callable[..., Any]:
    CASES.append(function)
    return function


def wrapped(a):
    return (a * 2,)


@case
def alone_beside_a_helper_that_gives_a_tuple(x: asc.float32[4]):
    def inner(a):
        return a, a

    return inner(x)[0] * 2


@case
def alone_by_a_lambda(x: asc.float32[4]):
    both = lambda a: (a, a)  # noqa: E731
    return both(x * 2)[1]


@case
def tuple_by_name(x: asc.float32[4]):
    result = (x * 2,)
    return result


@case
def tuple_of_a_helper(x: asc.float32[4]):
    return wrapped(x)


@case
def tuple_beside_a_helper_that_gives_one_value(x: asc.float32[4]):
    def inner(a):
        return a * 2

    return (inner(x),)


@case
def tuple_on_each_path(x: asc.float32[4]):
    if x[0] > 0:
        return (x[0] * 2,)
    return (x[1],)


@case
def tuple_of_nothing(x: asc.float32[4]):
    return ()


@case
def list_of_one(x: asc.float32[4]):
    return [x * 2]


@case
def list_by_comprehension(x: asc.float32[4]):
    return [x[i] * i for i in range(3)]


KERNELS = [asc.kernel(function) for function in CASES]
X = np.arange(1, 5, dtype=np.float32)


def same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(KERNELS)


@pytest.mark.parametrize(
    ("kernel", "function"), list(zip(KERNELS, CASES, strict=True)), ids=[case.__name__ for case in CASES]
)
def test_as_python_returns(kernel: asc.Kernel, function: Callable[..., Any]) -> None:
    for _ in range(2):
        same(kernel(X), function(X))


@pytest.mark.usefixtures("model_library")
def test_on_the_model() -> None:
    with asc.device("model"):
        for number in (0, 3, 7):
            same(KERNELS[number](X), CASES[number](X))


def test_mapped_over_arrays() -> None:
    one, several = (
        asc.kernel(lambda a: (a * 2,)),
        asc.kernel_from_source(
            "import pyasc as asc\n@asc.kernel\ndef k(a: asc.float32):\n    return [a, a * 2]\n"
        ),
    )
    same(one(X), (X * 2,))
    same(several(X), [X, X * 2])


def test_from_an_object_file(tmp_path: Path) -> None:
    from pyasc.cli import main

    source = tmp_path / "k.py"
    source.write_text(
        "import pyasc as asc\n\n\n@asc.kernel\ndef one(x: asc.float32[4]):\n    return (x * 2,)\n\n\n"
        "@asc.kernel\ndef some(x: asc.float32[4]):\n    return [x, x * 2]\n"
    )
    assert main(["compile", str(source), "-o", str(tmp_path / "k.o")]) == 0
    loaded = asc.load(tmp_path / "k.o")
    same(loaded.one(X), (X * 2,))
    same(loaded.some(X), [X, X * 2])
