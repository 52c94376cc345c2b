# SPDX-License-Identifier: Apache-2.0
"""Stores through views and second names on the devices: what the frontend makes of them survives all passes."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from tests.kernels.view_cases import ACTIONS, BASES, COPIES, HEAD, VIEWS, arguments, in_numpy, program

PLACES = {**VIEWS, **COPIES}
CASES = {
    f"{view}, {action}": program(list(BASES.values())[(3 * k) % 12], PLACES[view], ACTIONS[action], f"k{k}")
    for k, (view, action) in enumerate(
        (list(PLACES)[(2 * n) % len(PLACES)], action) for n, action in enumerate(ACTIONS)
    )
}
"""Each action on one view of one base."""

ON_THE_MODEL = list(CASES)[3::8]


def made(cases: list[str]) -> dict[str, asc.Kernel]:
    numbers = {case: k for k, case in enumerate(CASES)}
    return {case: asc.kernel_from_source(HEAD + CASES[case], f"k{numbers[case]}") for case in cases}


@pytest.fixture(scope="module")
def kernels() -> dict[str, asc.Kernel]:
    found = made(list(CASES))
    asc.compile(list(found.values()))
    return found


def check(kernel: asc.Kernel, case: str) -> None:
    expected = in_numpy(CASES[case], kernel.__name__)
    assert isinstance(expected, tuple)
    given = arguments()
    results = kernel(*given)
    for got, want in zip((*results, *given[:3]), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", CASES)
def test_as_in_numpy(kernels: dict[str, asc.Kernel], case: str) -> None:
    check(kernels[case], case)


@pytest.mark.parametrize("case", ON_THE_MODEL)
def test_on_the_model(case: str) -> None:
    with asc.device("model"):
        check(made([case])[case], case)
