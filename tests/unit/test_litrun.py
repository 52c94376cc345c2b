# SPDX-License-Identifier: Apache-2.0
"""The runner of lit tests: RUN lines, pipes, exit codes, golden files."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import litrun
import pytest


@click.group()
def fake() -> None:
    """Stands for the command line of pyasc."""


@fake.command()
@click.argument("file", type=click.File("r"))
@click.option("--passes", default="")
def opt(file: click.utils.LazyFile, passes: str) -> None:
    click.echo(f"passes: {passes}")
    click.echo(file.read(), nl=False)
    click.echo("a remark", err=True)


@pytest.fixture(autouse=True)
def fake_pyasc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(litrun.COMMANDS, "pyasc", fake)


def run(tmp_path: Path, text: str, *, update_golden: bool = False) -> None:
    path = tmp_path / "test.ir"
    path.write_text(text, encoding="utf-8")
    litrun.run_test(path, tmp_path / "scratch", update_golden=update_golden)


def test_run_lines_in_either_comment() -> None:
    text = "// RUN: one \\\n// RUN:   two\n# RUN: three\nRUN: four\n"
    assert litrun.run_lines(text) == ["one two", "three"]


def test_a_pipe_into_filecheck(tmp_path: Path) -> None:
    run(
        tmp_path,
        "// RUN: pyasc opt %s --passes=cse,dce | filecheck %s\n"
        "// CHECK: passes: cse,dce\n"
        "// CHECK: %a = add\n"
        "%a = add\n",
    )


def test_a_check_that_fails_shows_the_command_and_its_input(tmp_path: Path) -> None:
    with pytest.raises(litrun.LitFailure) as failure:
        run(tmp_path, "// RUN: pyasc opt %s | filecheck %s\n// CHECK: passes: {{d}}ce\n")
    text = str(failure.value)
    assert "RUN: pyasc opt %s | filecheck %s\nfilecheck " in text
    assert "exit code 1\n--- standard input\npasses: \n" in text
    assert "--- standard error\n" in text and "test.ir:2" in text


def test_a_file_without_checks_fails(tmp_path: Path) -> None:
    with pytest.raises(litrun.LitFailure, match="exit code 2"):
        run(tmp_path, "// RUN: pyasc opt %s | filecheck %s\n")


def test_a_usage_error_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(litrun.LitFailure, match=r"opt --oops: exit code 2[\s\S]*No such option"):
        run(tmp_path, "// RUN: pyasc opt --oops\n")


def test_not_expects_failure(tmp_path: Path) -> None:
    run(tmp_path, "// RUN: not pyasc opt --oops\n")
    with pytest.raises(litrun.LitFailure, match="exit code 0, and failure was expected"):
        run(tmp_path, "// RUN: not pyasc opt %s\n")


def test_an_exception_is_a_failure_with_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: list[str]) -> int:
        raise RuntimeError("pass is broken")

    monkeypatch.setitem(litrun.COMMANDS, "pyasc", broken)
    with pytest.raises(litrun.LitFailure, match=r"Traceback[\s\S]*RuntimeError: pass is broken"):
        run(tmp_path, "// RUN: pyasc opt %s\n")


def test_standard_error_joins_the_pipe_only_when_asked(tmp_path: Path) -> None:
    run(tmp_path, "// RUN: not pyasc opt --oops 2>&1 | filecheck %s\n// CHECK: No such option\n")
    run(
        tmp_path,
        "// RUN: pyasc opt %s | filecheck %s --check-prefix=OUT\n// OUT-NOT: a{{ }}remark\n// OUT: passes\n",
    )


def test_redirections_and_sequences(tmp_path: Path) -> None:
    run(
        tmp_path,
        "// RUN: pyasc opt %s > %t && cat %t | filecheck %s && filecheck %s < %t\n// CHECK: passes: {{$}}\n",
    )


def test_an_unknown_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(litrun.LitFailure, match="RUN lines know pyasc, filecheck, golden, cat, not 'sed'"):
        run(tmp_path, "// RUN: sed s/a/b/ %s\n")


def test_golden_files(tmp_path: Path) -> None:
    text = "// RUN: pyasc opt %s | golden %S/out.txt\n"
    with pytest.raises(litrun.LitFailure, match=r"\+passes: \n[\s\S]*make update-golden"):
        run(tmp_path, text)
    run(tmp_path, text, update_golden=True)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "passes: \n" + text
    run(tmp_path, text)
    with pytest.raises(litrun.LitFailure, match=r"-passes: \n[\s\S]*\+passes: dce"):
        run(tmp_path, text.replace("%s |", "%s --passes=dce |"))


def test_streams_are_put_back(tmp_path: Path) -> None:
    streams = sys.stdin, sys.stdout, sys.stderr, sys.argv
    run(tmp_path, "// RUN: pyasc opt %s\n")
    assert (sys.stdin, sys.stdout, sys.stderr, sys.argv) == streams
