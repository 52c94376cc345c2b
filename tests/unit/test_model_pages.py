# SPDX-License-Identifier: Apache-2.0
"""The Ascend C of the architecture pages runs on the model as it stands there, right and without a finding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyasc.model.build import BuiltKernel
from pyasc.model.driver import Array, Scalar, Workspace, run
from tests.compilers import needs_compiler
from tests.unit.model_support import built, clean, poisoned, source

pytestmark = needs_compiler
PAGES = Path(__file__).parents[2] / "docs" / "kernels"
F32, I32 = np.float32, np.int32


def page(name: str) -> BuiltKernel:
    return built(PAGES / f"{name}.ascendc.cpp")


def i64(*values: int) -> list[Scalar]:
    return [Scalar(np.int64(value)) for value in values]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(41)


@pytest.mark.parametrize("n", [1, 17, 1000, 50001])
def test_rows_of_elements(rng: np.random.Generator, n: int) -> None:
    x, w = rng.standard_normal((2, n)).astype(F32)
    out = clean(run(page("chain"), [source(x), source(w), poisoned(n, F32), *i64(n)], blocks=3)).outputs[0]
    assert (out == np.maximum(x * w + F32(2.5) * x, 0) * (x - w)).all()
    out = clean(run(page("guarded_exp"), [source(x), Array(w), *i64(n)], blocks=3)).outputs[0]
    np.testing.assert_allclose(out, np.where(x > 0, np.exp(x), w), rtol=2e-7)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("n", [1, 17, 1000, 50001])
def test_prefix_sum(rng: np.random.Generator, n: int, blocks: int) -> None:
    x = rng.integers(-9, 9, n).astype(I32)
    args = [source(x), poisoned(n, I32), Workspace(384 * 4), *i64(n)]
    assert (clean(run(page("prefix_sum"), args, blocks=blocks)).outputs[0] == np.cumsum(x)).all()


@pytest.mark.parametrize(("m", "n"), [(1, 1), (17, 33), (5, 1000), (100, 127), (3, 9000)])
def test_rows(rng: np.random.Generator, m: int, n: int) -> None:
    x = rng.integers(-50, 50, (m, n)).astype(F32)
    out = clean(run(page("argmax"), [source(x), poisoned(m, I32), *i64(m, n)], blocks=3)).outputs[0]
    assert (out == x.argmax(1)).all()
    out = clean(run(page("softmax"), [source(x), poisoned((m, n), F32), *i64(m, n)], blocks=3)).outputs[0]
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-38)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (15, 16, 17), (100, 129, 130)])
def test_matmul(rng: np.random.Generator, m: int, k: int, n: int) -> None:
    a, b = rng.standard_normal((m, k)).astype(F32), rng.standard_normal((k, n)).astype(F32)
    args = [source(a), source(b), poisoned((m, n), F32), *i64(m, k, n)]
    out = clean(run(page("matmul"), args, blocks=2)).outputs[0]
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)
