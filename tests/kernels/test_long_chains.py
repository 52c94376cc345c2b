# SPDX-License-Identifier: Apache-2.0
"""Long kernels, which are deep to passes: chains of values, of branches and of early returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

LENGTH = 220
"""Deeper than what Python's own limit of 1000 frames leaves for a chain of values."""
CHAINS = {
    "arrays": ("x: asc.float32[4]", ["x = x * 0.5 + 1"] * LENGTH, "x"),
    "floats": ("x: float", ["x = x * 0.5 + 1"] * LENGTH, "x"),
    "ints": ("x: int", ["x = (x ^ (x >> 3)) + 7"] * LENGTH, "x"),
    "returns": ("x: int", [f"if x == {k}: return {k * k}" for k in range(LENGTH)], "-1"),
    "comparisons": ("x: int", [], "0 < " + " < ".join(f"x + {k}" for k in range(LENGTH))),
}
TEXTS = {
    name: f"def k({parameter}):\n" + "".join(f"    {line}\n" for line in [*lines, f"return {result}"])
    for name, (parameter, lines, result) in CHAINS.items()
}
KERNELS = {
    name: asc.kernel_from_source(f"import pyasc as asc\n@asc.kernel\n{text}") for name, text in TEXTS.items()
}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile(list(KERNELS.values()))


def check(name: str) -> None:
    names: dict[str, Any] = {"asc": asc}
    exec(TEXTS[name], names)
    x: Any = 3
    if name == "arrays":
        x = np.arange(4, dtype=np.float32)
    elif name == "floats":
        x = 3.0
    np.testing.assert_allclose(KERNELS[name](x), names["k"](x), rtol=1e-6)


@pytest.mark.parametrize("name", CHAINS)
def test_as_in_python(name: str) -> None:
    check(name)


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("name", ["arrays", "floats", "ints"])
def test_on_the_model(name: str) -> None:
    with asc.device("model"):
        check(name)


def test_a_chain_that_the_stack_does_not_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyasc.frontend import depth

    monkeypatch.setattr(depth, "_DEEP", 1000)
    text = "import pyasc as asc\n@asc.kernel\n" + TEXTS["arrays"].replace("0.5", "0.25")
    with pytest.raises(asc.CompileError, match="nests too deeply, or computes too long a chain") as caught:
        asc.kernel_from_source(text)(np.arange(4, dtype=np.float32))
    (found,) = caught.value.diagnostics
    assert found.code == "PA0702" and found.hint
