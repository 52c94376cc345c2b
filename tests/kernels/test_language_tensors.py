# SPDX-License-Identifier: Apache-2.0
"""Every row of the language page about arrays, on every type, against NumPy.

`make test` takes the rows that cost little to compile, and a part of the rest; `make language` takes all, and all on
the model too.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pyasc as asc
from tests.kernels import language_tensor_cases as rows
from tests.kernels.language_support import Case, Packed, compile_all, differences, pack

CHEAP = (rows.elementwise, rows.weak, rows.promotion, rows.unary, rows.casts, rows.creation)
COSTLY = (rows.reductions, rows.shapes, rows.functions)
PART = 4
"""Every fourth of the costly cases is taken by `make test`."""

MODEL_PART = 60
"""Every sixtieth kernel runs on the model in `make test`."""


def quick_cases() -> list[Case]:
    """The cases of `make test`."""
    return [case for group in CHEAP for case in group()] + [
        case for group in COSTLY for case in group()[::PART]
    ]


@pytest.fixture(scope="module", autouse=True)
def without_verification() -> Iterator[None]:
    """The verifier between passes would take half of the time, and has tests enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYASC_VERIFY", "0")
        yield


@pytest.fixture(scope="module")
def packed(without_verification: None) -> list[Packed]:
    """The kernels of `make test`, compiled together."""
    found = pack(quick_cases())
    compile_all(found)
    return found


def test_there_are_many_cases() -> None:
    assert len(quick_cases()) >= 1500
    assert len(rows.every_case()) >= 2000


def test_on_cpu(packed: list[Packed]) -> None:
    assert [each for kernel in packed for each in differences(kernel)] == []


@pytest.mark.usefixtures("model_library")
def test_on_the_model(packed: list[Packed]) -> None:
    with asc.device("model"):
        wrong, ran = _on_model(_for_model(packed)[::MODEL_PART])
    assert wrong == []
    assert ran


def _on_model(packed: list[Packed]) -> tuple[list[str], int]:
    """What is wrong, and how many kernels ran: one that is not lowered to Ascend C is refused before it runs."""
    wrong: list[str] = []
    ran = 0
    for kernel in packed:
        try:
            wrong += differences(kernel)
            ran += 1
        except asc.UnsupportedError:
            continue
    return wrong, ran


def _for_model(packed: list[Packed]) -> list[Packed]:
    """Without float64, which exists on `cpu` alone."""
    return [kernel for kernel in packed if "float64" not in str(kernel.cases)]


@pytest.mark.fuzz
@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("device", ["cpu", "model"])
def test_every_case(device: str) -> None:
    found = pack(rows.every_case())
    with asc.device(device):
        if device == "model":
            wrong, ran = _on_model(_for_model(found))
            assert wrong == []
            assert ran > len(found) / 2
            return
        compile_all(found)
        assert [each for kernel in found for each in differences(kernel)] == []
