# SPDX-License-Identifier: Apache-2.0
"""Branches on comparisons with NaN, tested again and again on the way, in loops: as Python decides.

g++ 12 forgets about NaN where one comparison is tested twice in a row.
"""

from __future__ import annotations

from itertools import product

import numpy as np

import pyasc as asc
from tests.property.units import LEVELS, build_unit

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
SHAPES = (
    "if (S and i < M - 1) or not i < M - 2:\n    z[i] = 1\nelif S or W:\n    u[i] = 2",
    "if 2 <= i < M - 1:\n    if (S and i < M - 1) or not i < M - 2:\n        z[i] = 1\n    else:\n        u[i] = 2",
    "if 2 <= i < M - 1:\n    if (not S and i < M - 1) or W:\n        z[i] = 1\n    elif S == W:\n        u[i] = 2",
    "if S:\n    z[i] = 1\nelif (S or W) and not (S and i < M - 1):\n    u[i] = 2",
    "if (S and W) or i >= M - 2:\n    z[i] = 1\nelif not S and not W:\n    u[i] = 2",
    "c = S and i < M - 1\nd = c or W\nif d:\n    z[i] = 1 if c else 2\nelif d or i < M - 2:\n    u[i] = 3",
    "z[i] = (i if S else 7) if S or W else (8 if W and not S else 9)",
    (
        "c = S\nd = not c if c and i < M - 1 else (W if i == 3 else c)\n"
        "if (c if d else not d) or (d if c else W):\n    z[i] = 1\nelse:\n    u[i] = 2"
    ),
    "while z[i] < 3 and (S or (S and W) or i < M - 2):\n    z[i] += 1 if S else 2",
)
"""Statements on two comparisons. Stores of one branch and another go to different arrays, so that branches stay."""
VALUES = np.array([np.nan, -np.inf, -1.0, -0.0, 0.0, 2.5], np.float32)


def text_of(operators: tuple[str, str], shape: str, name: str) -> str:
    """A loop over all elements with one such statement in it."""
    arrays = "x: asc.float32[M], y: asc.float32[M], z: asc.int32[M], u: asc.int32[M]"
    head = f"def {name}({arrays}):\n    for i in range(M):\n"
    body = shape.replace("S", f"x[i] {operators[0]} y[i]").replace("W", f"y[0] {operators[1]} x[i]")
    return head + "".join(f"        {line}\n" for line in body.split("\n"))


def test_as_python_decides() -> None:
    pairs = [(a, b) for k, (a, b) in enumerate(product(COMPARISONS, COMPARISONS)) if a == b or k % 17 == 2]
    cases = [text_of(pair, shape, f"k{n}") for n, (pair, shape) in enumerate(product(pairs, SHAPES))]
    kernels = [asc.kernel_from_source("import pyasc as asc\n" + text) for text in cases]
    assert not build_unit([(kernel, kernel.types_of()) for kernel in kernels], LEVELS["O2"])
    x, y = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(VALUES, VALUES))
    for number, (kernel, text) in enumerate(zip(kernels, cases, strict=True)):
        found, expected = np.zeros((2, x.size), np.int32), np.zeros((2, x.size), np.int32)
        kernel(x, y, *found)
        names = {"asc": asc, "M": x.size}
        exec(compile("from __future__ import annotations\n" + text, "case", "exec"), names)
        names[f"k{number}"](x, y, *expected)
        assert found.tolist() == expected.tolist(), text
