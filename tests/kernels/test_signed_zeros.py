# SPDX-License-Identifier: Apache-2.0
"""Sums and differences with a constant zero keep the sign of their result, whatever the C++ compiler knows of operands.

g++ takes `0.0 - x` for `-x` where it sees that `x` is no -0.0: a converted integer, an absolute value, a choice.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyasc as asc
from tests.property.units import LEVELS, build_unit

EXPRESSIONS = (
    "0.0 - float(i)",
    "0.0 - float(p)",
    "0.0 - i",
    "0.0 - abs(x)",
    "0.0 - (1.0 if p else 0.0)",
    "0.0 - (float(i) if p else 0.0)",
    "0.0 - abs(float(i))",
    "0.0 - x",
    "0.0 - x * x",
    "0.0 + -float(i)",
    "-float(i) + 0.0",
    "-abs(x) + 0.0",
    "-0.0 - float(i)",
    "-0.0 + float(i)",
    "float(i) + -0.0",
    "float(i) - 0.0",
    "-float(i) - -0.0",
    "0.0 * float(i)",
    "-float(i) * 0.0",
    "0.0 / (1.0 + abs(float(i)))",
    "0.0 - math.floor(x)",
    "0.0 - int(x)",
    "float(m) - float(i)",
    "float(p) * 0.0 - float(i)",
    "float(p) * 0.0 - (1.0 if p else 0.0)",
    "-float(i) + float(p) * 0.0",
    "float(m) - max(float(i), 0.0)",
)
INPUTS = ((0, 0.0, False), (0, -0.0, True), (3, 0.5, True), (-2, -0.25, False))


def texts(scalar: str) -> list[str]:
    """A kernel for each expression; `m` is a zero that only the passes know."""
    head = f"i: int, x: asc.{scalar}, p: bool"
    return [
        f"import math\nimport pyasc as asc\n\ndef zeros{number}({head}):\n    m = 0\n    return {text}\n"
        for number, text in enumerate(EXPRESSIONS)
    ]


def expected(text: str, scalar: str, given: tuple[int, float, bool]) -> float:
    """What CPython gives for the expression."""
    i, x, p = given
    value = np.float32(x) if scalar == "float32" else x
    scope = {"math": math, "i": i, "x": value, "p": p, "m": 0}
    return float(eval(text, scope))


@pytest.mark.parametrize("scalar", ["float64", "float32"])
@pytest.mark.parametrize("level", sorted(LEVELS))
def test_a_zero_keeps_its_sign_on_the_cpu(scalar: str, level: str) -> None:
    kernels = [asc.kernel_from_source(text) for text in texts(scalar)]
    assert not build_unit([(kernel, kernel.types_of()) for kernel in kernels], LEVELS[level])
    with asc.device("cpu"):
        check(kernels, scalar)


def test_a_zero_keeps_its_sign_on_the_model() -> None:
    kernels = [asc.kernel_from_source(text) for text in texts("float32")]
    with asc.device("model"):
        asc.compile(kernels)
        check(kernels, "float32")


def check(kernels: list, scalar: str) -> None:
    """All kernels on all inputs."""
    for kernel, text in zip(kernels, EXPRESSIONS, strict=True):
        for given in INPUTS:
            got, wanted = float(kernel(*given)), expected(text, scalar, given)
            same = got == wanted and math.copysign(1, got) == math.copysign(1, wanted)
            assert same, f"{text} of {given}: {got}, Python gives {wanted}"
