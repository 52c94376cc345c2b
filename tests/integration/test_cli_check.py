# SPDX-License-Identifier: Apache-2.0
"""`pyasc check` and `pyasc explain`: what they print, in each format, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pyasc.cli import main
from pyasc.ir.diagnostic_codes import CODES

WRONG = """\
import pyasc as asc
from elsewhere import helper

raise SystemExit("this file was executed")


@asc.kernel
def shift(x: asc.float32[N]):
    for i in asc.parallel_for(N - 1):
        x[i] = x[i + 1]


@asc.kernel
def scale(x: asc.float32[N], by: float):
    for i in range(N):
        x[i] = x[i] * bye


@asc.kernel
def helped(x: asc.float32[N]):
    x[0] = helper(x[1])


@asc.kernel
def anything(x):
    x[0] = 1


@asc.kernel(debug=True)
def fine(x: asc.float32[N]):
    asc.assert_shape(x, (4,))


class Group:
    @asc.kernel
    def inner(x: asc.float32[4]):
        x[0] = nothing
"""


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_text(capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    code, out, err = run(capsys, "check", wrong)
    assert code == 1
    assert err == "2 errors in 5 kernels\n"
    assert f"{wrong}:10:9: error[PA0603]: iterations of this parallel loop" in out
    assert f"{wrong}:16:23: error[PA0301]: `bye` is not defined" in out
    assert "`helped` is not checked completely: `helper` gets its value when the file runs" in out
    assert "`anything` is not checked completely: parameter `x` needs an argument or a type" in out
    assert "`inner` is not checked completely: it is made when the code around it runs" in out


def test_types_from_the_command_line(capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    code, out, err = run(capsys, "check", wrong, "--kernel", "anything", "--type", "x=float32[N]")
    assert (code, err) == (0, "0 errors in 1 kernel\n")
    assert "anything" not in out


def test_json(capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    code, out, _ = run(capsys, "check", wrong, "--format", "json")
    log = json.loads(out)
    assert code == 1
    assert log["kernels"] == ["shift", "scale", "helped", "anything", "fine"]
    found = {each["code"]: each for each in log["diagnostics"] if each["severity"] == "error"}
    name = found["PA0301"]
    assert (name["file"], name["line"], name["column"], name["end_column"]) == (wrong, 16, 23, 26)
    assert name["hint"]
    assert [each["line"] for each in found["PA0603"]["related"]] == [10, 9]


def test_sarif(capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    code, out, _ = run(capsys, "check", wrong, "--format", "sarif")
    assert code == 1
    assert_sarif(json.loads(out))


def assert_sarif(log: dict[str, Any]) -> None:
    """What SARIF 2.1.0 demands of the parts that are written."""
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run_,) = log["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert run_["tool"]["driver"]["name"] == "pyasc"
    assert [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})
    assert all(rule["shortDescription"]["text"] for rule in rules)
    assert run_["columnKind"] in ("unicodeCodePoints", "utf16CodeUnits")
    assert {result["ruleId"] for result in run_["results"]} == {rule["id"] for rule in rules}
    for result in run_["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        for place in (*result["locations"], *result.get("relatedLocations", [])):
            assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
            region = place["physicalLocation"]["region"]
            assert region["startLine"] >= 1 and region["startColumn"] >= 1
            assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])


def test_nothing_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "fine.py"
    file.write_text("import pyasc as asc\n\n@asc.kernel\ndef k(x: asc.float32[N]):\n    x[...] = 0\n")
    assert run(capsys, "check", str(file)) == (0, "", "0 errors in 1 kernel\n")
    code, out, _ = run(capsys, "check", str(file), "--format", "sarif")
    assert code == 0
    assert json.loads(out)["runs"][0]["results"] == []


def test_execute_finds_what_a_run_makes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text(
        "import pyasc as asc\n"
        "def make(n):\n"
        "    @asc.kernel\n"
        "    def k(x: asc.float32[4]):\n"
        "        x[n] = 1\n"
        "    return k\n"
        "inside, outside = make(3), make(4)\n"
    )
    code, out, _ = run(capsys, "check", str(file), "--execute")
    assert code == 1
    assert out.count("error[PA0504]: index 4 is out of range") == 1
    assert run(capsys, "check", str(file))[0] == 0


@pytest.mark.parametrize(
    ("text", "line"), [("def k(:\n    pass\n", 1), ("import pyasc\nx = 1\n  y = 2\n", 3), ("x = '\n", 1)]
)
def test_text_that_is_not_python(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, line: int
) -> None:
    file = tmp_path / "bad.py"
    file.write_text(text)
    code, out, _ = run(capsys, "check", str(file))
    assert code == 1
    assert f"{file}:{line}:" in out and "error[PA0103]" in out


def test_wrong_usage(capsys: pytest.CaptureFixture[str], wrong: str, tmp_path: Path) -> None:
    assert run(capsys, "check", wrong, "--format", "xml")[0] == 2
    assert run(capsys, "check")[0] == 2
    assert run(capsys, "check", str(tmp_path / "missing.py"))[0] == 1
    code, _, err = run(capsys, "check", wrong, "--kernel", "shiift")
    assert code == 2 and "no kernel is called 'shiift'" in err


@pytest.mark.parametrize("spelling", ["PA0301", "pa0301", "0301"])
def test_explain(capsys: pytest.CaptureFixture[str], spelling: str) -> None:
    code, out, _ = run(capsys, "explain", spelling)
    assert code == 0
    assert out.startswith("# PA0301: a name that is not defined\n") and "valeus" in out


def test_explain_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(CODES)


def test_explain_a_code_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "explain", "PA0310x")
    assert code == 2 and "did you mean PA0310?" in err
