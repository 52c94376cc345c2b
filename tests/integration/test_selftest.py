# SPDX-License-Identifier: Apache-2.0
"""`pyasc selftest`: what it runs, what it writes, and that it can tell a wrong result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyasc.cli import main
from pyasc.cli.selftest import compare, run_case
from pyasc.runtime import model
from pyasc.selftest import CASES, EXACT, Case
from tests.compilers import needs_compiler
from tests.unit.model_support import cache_folder

NAMES = ("add_half", "prefix_sum")


def test_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "report.json"
    names = [word for name in NAMES for word in ("--kernel", name)]
    assert main(["selftest", "--device", "cpu", "-o", str(output), *names]) == 0
    assert "9 of 9 runs passed" in capsys.readouterr().out
    report = json.loads(output.read_text())
    assert report["device"] == "cpu" and report["pyasc"] and report["compiler"]
    assert {result["kernel"] for result in report["results"]} == set(NAMES)
    assert all(result["status"] == "pass" and result["seconds"] > 0 for result in report["results"])
    text = output.with_suffix(".txt").read_text()
    assert "prefix_sum" in text and "9 of 9 runs passed" in text
    assert str(Path.home()) not in text + output.read_text()


def test_a_device_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "report.json"
    assert main(["selftest", "-o", str(output)]) == 3
    assert "the npu device is not available" in capsys.readouterr().err and not output.exists()


def test_an_unknown_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--device", "cpu", "--kernel", "adds"]) == 2
    assert "there is no kernel 'adds'" in capsys.readouterr().err


def test_wrong_results_and_errors_are_told(tmp_path: Path) -> None:
    case = next(each for each in CASES if each.kernel.__name__ == "add_half")
    wrong = replace(case, expected=lambda x, y: [x + y + 1], shapes=((3,),))
    (outcome,) = run_case(wrong, "cpu")
    assert outcome.status == "wrong" and outcome.of_bound > 1 and "3 of 3 elements differ" in outcome.detail
    (outcome,) = run_case(
        replace(case, inputs=lambda rng, shape: ["x", "y"], expected=lambda x, y: []), "cpu"
    )[:1]
    assert outcome.status == "error" and "add_half" in outcome.detail


def test_nan_is_a_difference() -> None:
    _, share, detail = compare([np.array([np.nan])], [np.array([1.0])], (1.0, 1.0))
    assert share == float("inf") and "1 of 1" in detail
    assert compare([np.array([3])], [np.array([3])], EXACT) == (0.0, 0.0, "")
    assert compare([np.array([4])], [np.array([3])], EXACT)[1] == float("inf")


@needs_compiler
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel.__name__)
def test_every_kernel_is_right_on_the_model(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "model_cache", cache_folder)
    (outcome,) = run_case(replace(case, shapes=case.shapes[-1:]), "model")
    assert outcome.status == "pass", outcome.detail
    assert outcome.predicted_us
