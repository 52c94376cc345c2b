# SPDX-License-Identifier: Apache-2.0
"""When pyasc itself fails: the message asks for a report, shows no frame of pyasc, and names a reproducer."""

from __future__ import annotations

import ast
import tempfile
import traceback
from pathlib import Path

import numpy as np
import pytest

import pyasc as asc
from pyasc.cli import main
from pyasc.passes.dce import Dce
from pyasc.runtime import reproducers


def broken(*_: object) -> bool:
    raise KeyError("no such thing")


@pytest.fixture(autouse=True)
def temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def broken_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dce, "run", broken)


def make_kernel() -> asc.Kernel:
    @asc.kernel
    def doubled(x: asc.float32[...]):
        x[...] = x * 2

    return doubled


@pytest.mark.usefixtures("broken_pass")
def test_the_message_and_the_file() -> None:
    with pytest.raises(asc.InternalError) as caught:
        make_kernel()(np.ones(4, np.float32))
    text = str(caught.value)
    assert "bug in pyasc while compiling " in text and f"{Path(__file__).name}:" in text
    assert "no such thing" in text
    report = caught.value.report
    assert f"Please report it with this file, which reproduces it: {report}" in text
    written = Path(report).read_text(encoding="utf-8")
    tree = ast.parse(written)
    assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == ["doubled"]
    for part in ("x[...] = x * 2", f"pyasc {asc.__version__}", "# Traceback", "no such thing", "types: x: "):
        assert part in written


@pytest.mark.usefixtures("broken_pass")
def test_no_frame_of_pyasc_is_shown() -> None:
    try:
        make_kernel()(np.ones(4, np.float32))
    except asc.InternalError as error:
        assert "pyasc/passes" not in "".join(traceback.format_exception(error))
    else:
        pytest.fail("the pass is broken")


@pytest.mark.usefixtures("broken_pass")
def test_the_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYASC_INTERNAL_TRACEBACK", "1")
    try:
        make_kernel().compile(asc.float32[...])
    except asc.InternalError as error:
        assert "pyasc/passes" in "".join(traceback.format_exception(error))
    else:
        pytest.fail("the pass is broken")


@pytest.mark.usefixtures("broken_pass")
def test_the_same_failure_gives_one_file(temporary_directory: Path) -> None:
    kernel = make_kernel()
    for _ in range(2):
        with pytest.raises(asc.InternalError):
            kernel(np.ones(4, np.float32))
    assert len(list(temporary_directory.rglob("doubled-*.py"))) == 1


@pytest.mark.usefixtures("broken_pass")
def test_a_batch_blames_the_kernel_that_failed() -> None:
    with pytest.raises(asc.InternalError) as caught:
        asc.compile([(make_kernel(), asc.float32[...])])
    assert "doubled" in Path(caught.value.report).name


@pytest.mark.usefixtures("broken_pass")
def test_a_directory_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(reproducers, "write_atomically", full)
    with pytest.raises(asc.InternalError, match="Please report it with the kernel that shows it"):
        make_kernel()(np.ones(4, np.float32))


@pytest.mark.usefixtures("broken_pass")
def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.py"
    file.write_text("import pyasc as asc\n\n@asc.kernel\ndef k(x: asc.float32[4]):\n    x[0] = 1.0\n")
    assert main(["show", str(file), "--level", "cpu"]) == 70
    shown = capsys.readouterr().err
    assert "bug in pyasc while compiling" in shown and "k.py:4" in shown and "Traceback" not in shown


def test_mistakes_of_users_are_no_bugs() -> None:
    with pytest.raises(asc.CompileError):
        asc.kernel_from_source("import pyasc as asc\ndef k(x: asc.float32[4]):\n    x[0] = y").compile()
    with pytest.raises(asc.LaunchError):
        make_kernel()()
