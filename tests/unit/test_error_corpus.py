# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels and what pyasc says of them: the files of `tests/errors`.

A line `#: title` starts a case. Below a line with a mistake stands a comment with a caret under its first column,
the code, and the start of the message. Where the comment's own `#` would be in the way, `#<` stands for column 1.
Each case is compiled as far as mistakes are looked for, and must give these mistakes and no other. The file of a case
whose title ends with `(run)` is executed first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyasc.cli.loading import Request, chosen_kernels
from pyasc.ir.diagnostics import Diagnostic
from pyasc.ir.record import Record
from pyasc.runtime.checking import check_kernel, check_text

FOLDER = Path(__file__).resolve().parents[1] / "errors"
_MARK = re.compile(r"#(?:(?P<first><)|(?P<blank>\s*)\^) (?P<code>PA\d{4}): (?P<message>.*)")


class Case(Record):
    """One wrong kernel: its text (with the lines around it blank), and the mistakes in it."""

    name: str
    text: str
    expected: tuple[tuple[int, int, str, str], ...]


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [k for k, line in enumerate(lines) if line.startswith("#: ")]
    head = lines[: starts[0]]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        blank = [""] * (start - len(head))
        text = "\n".join([*head, *blank, *lines[start:end]]) + "\n"
        yield Case(f"{path.stem}: {lines[start][3:]}", text, tuple(_marks(lines[start:end], start)))


def _marks(lines: list[str], start: int) -> Iterator[tuple[int, int, str, str]]:
    """Line, column, code and message of each mark; several marks may stand below one line."""
    marked = start
    for k, line in enumerate(lines, start):
        found = _MARK.fullmatch(line.expandtabs(1))
        if found is None:
            marked = k
            continue
        column = 1 if found["first"] else len(found["blank"]) + 2
        yield marked + 1, column, found["code"], found["message"]


CASES = [case for path in sorted(FOLDER.glob("*.py")) for case in cases(path)]


def _summary(diagnostic: Diagnostic) -> tuple[int, int, str, str]:
    return diagnostic.loc.line, diagnostic.loc.column + 1, diagnostic.code, diagnostic.message


def _found(case: Case, folder: Path) -> list[Diagnostic]:
    if not case.name.endswith("(run)"):
        return check_text(case.text, f"{case.name}.py")[1]
    file = folder / "kernel.py"
    file.write_text(case.text, encoding="utf-8")
    return [each for kernel in chosen_kernels(Request(str(file))) for each in check_kernel(kernel)]


def test_the_corpus_is_large_and_says_what_it_expects() -> None:
    assert len(CASES) >= 150
    assert [case.name for case in CASES if not case.expected] == []
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_kernel(case: Case, tmp_path: Path) -> None:
    found = _found(case, tmp_path)
    assert [_summary(each) for each in found] == list(case.expected)
    for each in found:
        assert each.severity == "error"
        assert each.hint and not each.hint.endswith(".")
        assert len(each.message) < 160 and "pyasc." not in each.message
