# SPDX-License-Identifier: Apache-2.0
"""PolyBench on `cpu` and on `model` with checks on: right within the bound of each kernel, without a finding."""

from __future__ import annotations

import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.polybench import CASES
from tests.kernels.suite_case import Case


def test_all_kernels_of_the_suite_are_here() -> None:
    assert len(CASES) == len({case.name for case in CASES}) == 30


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_cpu(case: Case) -> None:
    with asc.device("cpu"):
        case.run()


@needs_compiler
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_model(case: Case, model_library: None) -> None:
    with asc.device("model"):
        case.run()
