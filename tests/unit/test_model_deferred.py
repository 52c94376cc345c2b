# SPDX-License-Identifier: Apache-2.0
"""Without checks the model puts instructions off and runs them together: the same bytes as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from pyasc.model.driver import Array, Scalar, run
from tests.compilers import needs_compiler
from tests.unit.model_support import REFERENCE, built, clean, source

pytestmark = needs_compiler
SIZE = 4096
SEQUENCES = ("lanes", "shifted", "widths", "memory", "masks", "scalars")


@pytest.mark.parametrize("name", SEQUENCES)
def test_same_bytes(name: str) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 2 * SIZE)).astype(np.float32)
    x[[5, 700]] = np.nan, np.inf
    before = np.zeros(2 * SIZE, np.float32)
    kernel = built(REFERENCE / "ops" / "deferred.cpp")
    for count in (1024, 1040, 3000, SIZE):
        numbers = [Scalar(np.uint32(SEQUENCES.index(name))), Scalar(np.uint32(count))]
        checked, plain = (
            run(kernel, [source(x), source(y), Array(before), *numbers], check=check)
            for check in (True, False)
        )
        clean(checked)
        assert plain.outputs[0].tobytes() == checked.outputs[0].tobytes()
        assert plain.predicted_cycles == checked.predicted_cycles


def test_results_of_the_lanes() -> None:
    x, y = np.random.default_rng(6).standard_normal((2, 2 * SIZE)).astype(np.float32)
    kernel = built(REFERENCE / "ops" / "deferred.cpp")
    numbers = [Scalar(np.uint32(0)), Scalar(np.uint32(SIZE))]
    out = run(kernel, [source(x), source(y), Array(np.zeros_like(x)), *numbers], check=False).outputs[0]
    a, b = x[:SIZE], y[:SIZE]
    c = b * np.float32(2) + (a + b)
    np.testing.assert_array_equal(out[SIZE:], c)
    np.testing.assert_array_equal(out[:SIZE], np.maximum(a * (a + b), c))


def test_a_launch_sees_nothing_of_the_one_before() -> None:
    ones = np.ones(2 * SIZE, np.float32)
    kernel = built(REFERENCE / "ops" / "deferred.cpp")

    def launched(what: int) -> np.ndarray:
        numbers = [Scalar(np.uint32(what)), Scalar(np.uint32(SIZE))]
        return run(kernel, [source(ones), source(ones), Array(ones), *numbers], check=False).outputs[0]

    assert np.isfinite(launched(0)).all()
    assert set(launched(len(SEQUENCES))[:SIZE].view(np.uint32)) == {0xFFFFFFFF}
