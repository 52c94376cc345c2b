# SPDX-License-Identifier: Apache-2.0
"""The model without its checks: the same results by other paths, on the caller's own arrays, and no findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyasc.cli import main
from pyasc.runtime import model
from pyasc.selftest import CASES, Case
from tests.compilers import needs_compiler
from tests.unit.model_support import cache_folder

pytestmark = needs_compiler


def _launcher(kernel: Any, check: bool) -> Any:
    lowered = kernel.specialise(kernel.types_of()).lowered("ascend")
    return model.launcher_of(lowered, model.build_runner(lowered, check)).launch


def _outcome(launch: Any, arguments: list[Any]) -> list[Any]:
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    returned = launch(*copies)
    results = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    return [*(each for each in copies if isinstance(each, np.ndarray)), *results]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel.__name__)
def test_checks_change_no_result(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "model_cache", cache_folder)
    shape = case.shapes[-1]
    arguments = case.inputs(np.random.default_rng(0), shape)
    checked, plain = (_outcome(_launcher(case.kernel, check), arguments) for check in (True, False))
    for one, other in zip(checked, plain, strict=True):
        np.testing.assert_array_equal(one, other)


FAULTY = """\
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void faulty(GM_ADDR x)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x);
    LocalTensor<float> t = buffer.Get<float>();
    Duplicate(t, 1.0f, 64);
    DataCopy(g, t, 64);
}
"""


def test_no_check_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model, "model_cache", cache_folder)
    source = tmp_path / "faulty.cpp"
    source.write_text(FAULTY)
    argv = ["run", str(source), "--arg", "x=zeros:float32:64"]
    assert main(argv) == 1 and "race" in capsys.readouterr().err
    assert main([*argv, "--no-check"]) == 0


def test_other_devices_have_no_checks_to_leave_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("import pyasc as asc\n\n@asc.kernel\ndef f(n: int):\n    pass\n")
    assert main(["run", str(source), "--device", "cpu", "--no-check", "--arg", "n=1"]) == 2
    assert "--no-check is for the model" in capsys.readouterr().err
