# SPDX-License-Identifier: Apache-2.0
"""`pyasc run kernel.cpp`: hand-written Ascend C, with every form of argument, on the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyasc.cli import main
from pyasc.runtime import model
from tests.compilers import needs_compiler
from tests.unit.model_support import REFERENCE, cache_folder

pytestmark = needs_compiler


@pytest.fixture(autouse=True)
def _shared_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "model_cache", cache_folder)


def _run(name: str, *arguments: str, out: tuple[str, Path], blocks: int) -> np.ndarray:
    argv = ["run", str(REFERENCE / "ascendc" / f"{name}.cpp"), "--blocks", str(blocks)]
    argv += [part for text in arguments for part in ("--arg", text)]
    assert main([*argv, "--out", f"{out[0]}={out[1]}"]) == 0
    return np.load(out[1])


def test_a_struct_by_value(tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((37, 100)).astype(np.float16)
    np.save(tmp_path / "x.npy", x)
    out = _run(
        "row_layer_norm",
        f"x={tmp_path / 'x.npy'}",
        "gamma=ones:float16:100",
        "beta=zeros:float16:100",
        "o=poison:float16:37x100",
        "t=u32:37,u32:100,f32:1e-5",
        out=("o", tmp_path / "o.npy"),
        blocks=8,
    )
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out, expected, atol=2e-3, rtol=2e-3)


def test_a_workspace_and_scalars(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((33, 50)).astype(np.float16), rng.standard_normal((50, 60)).astype(np.float16)
    x = rng.standard_normal((33, 60)).astype(np.float32)
    for name, array in (("a", a), ("b", b), ("x", x)):
        np.save(tmp_path / f"{name}.npy", array)
    out = _run(
        "mixed_matmul_axpy",
        *(f"{name}={tmp_path / name}.npy" for name in "abx"),
        "d=poison:float32:33x60",
        "ws=poison:100000",
        *("m=u32:33", "n=u32:60", "k=u32:50", "alpha=f32:0.5"),
        out=("d", tmp_path / "d.npy"),
        blocks=4,
    )
    product = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, 0.5 * product + x, atol=1e-3, rtol=1e-3)
