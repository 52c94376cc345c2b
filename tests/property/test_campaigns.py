# SPDX-License-Identifier: Apache-2.0
"""Short campaigns of every kind; `make fuzz` runs long ones."""

from __future__ import annotations

import ast

import pytest

from tests.property.campaign import KINDS, check_of
from tests.property.generate.scalars import MARK, scalar_program
from tests.property.outcome import DIFFERENT, REFUSED
from tests.property.reduce import reduced
from tests.property.reference import reference

SEEDS = {
    "scalars": range(16),
    "kernels": range(16),
    "tensors": range(16),
    "model-tensors": range(2, 6),
    "model": range(4),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_difference(kind: str) -> None:
    outcomes = check_of(kind)(SEEDS[kind])
    different = [f"{each.message}\n{each.text}" for each in outcomes if each.status == DIFFERENT]
    assert not different, different[0]
    assert sum(each.status == REFUSED for each in outcomes) <= len(outcomes) // 10


def test_a_seed_gives_one_program() -> None:
    assert scalar_program(7) == scalar_program(7)
    assert scalar_program(7).text != scalar_program(8).text
    assert MARK not in scalar_program(7).kernel


def test_the_reference_wraps_rounds_and_saturates() -> None:
    function = reference("def k(a, x):\n    return a * a, a // 0, x / 0.0, int(x * 1e30), 1 < a < 3", float)
    assert function(2**40, 2.0) == (0, 0, float("inf"), 2**63 - 1, False)


def test_what_does_not_matter_is_left_out() -> None:
    text = "def k(a, b):\n    b = b + 1\n    if a > 2:\n        a = min(a, 7) * 3\n    return a\n"
    assert reduced(text, lambda each: "min" in ast.unparse(ast.parse(each))).count("\n") <= 3
