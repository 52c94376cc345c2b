# SPDX-License-Identifier: Apache-2.0
"""The collection of lit tests by pytest."""

from __future__ import annotations

from pathlib import Path

import litrun
import pytest

LIT_CONFTEST = Path(litrun.__file__).parent.parent / "tests" / "lit" / "conftest.py"
OPTION = "\ndef pytest_addoption(parser):\n    parser.addoption('--update-golden', action='store_true')\n"
KERNEL = "# RUN: pyasc opt %s | golden %S/kernel.txt\nraise SystemExit('this file is not to be imported')\n"


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with the collector's conftest, where `pyasc` writes its last argument's text."""
    pytester.makeconftest(LIT_CONFTEST.read_text(encoding="utf-8") + OPTION)
    monkeypatch.setitem(litrun.COMMANDS, "pyasc", lambda argv: litrun.COMMANDS["cat"](argv[1:]))
    return pytester


def test_files_with_run_lines_are_items(folder: pytest.Pytester) -> None:
    folder.makefile(".ir", good="// RUN: pyasc opt %s | filecheck %s\n// CHECK: add\n")
    folder.makefile(".ir", data="add\n")
    result = folder.runpytest_inprocess("-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["good.ir::RUN PASSED*"])


def test_a_failure_shows_the_command_not_the_runner(folder: pytest.Pytester) -> None:
    folder.makefile(".ir", bad="// RUN: not pyasc opt %s\n")
    result = folder.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["RUN: not pyasc opt %s", "*exit code 0, and failure was expected"])
    result.stdout.no_fnmatch_line("*litrun.py*")


def test_a_kernel_named_on_the_command_line_is_not_imported(folder: pytest.Pytester) -> None:
    kernel = folder.makepyfile(kernel=KERNEL)
    folder.runpytest_inprocess("--update-golden", str(kernel)).assert_outcomes(passed=1)
    assert kernel.with_suffix(".txt").read_text(encoding="utf-8") == kernel.read_text(encoding="utf-8")
    folder.runpytest_inprocess(str(kernel)).assert_outcomes(passed=1)
