# SPDX-License-Identifier: Apache-2.0
"""The renderer of diagnostics and the exceptions that carry them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyasc.ir.diagnostics import (
    CompileError,
    Diagnostic,
    InternalError,
    KernelTypeError,
    LaunchError,
    Related,
    ResourceError,
    ShapeError,
    UnsupportedError,
    compile_error,
    display_width,
    render,
    render_all,
)
from pyasc.ir.location import Location

TEXT = "first = 1\n\ty = 名前 + é\u0301x\n    long = (a +\n        b)\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "k.py").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "k.py"


def test_all_parts_of_a_message(source: str) -> None:
    found = Diagnostic(
        "PA0401",
        "a message",
        Location(source, 1, 8, 1, 9),
        "the label",
        notes=("a note",),
        related=(Related(Location(source, 1, 0, 1, 5), "related"),),
        hint="a hint",
    )
    assert render(found) == (
        "k.py:1:9: error[PA0401]: a message\n"
        "    1 | first = 1\n"
        "      |         ^ the label\n"
        "k.py:1:1: note: related\n"
        "    1 | first = 1\n"
        "      | -----\n"
        "  note: a note\n"
        "  hint: a hint"
    )


def test_tabs_and_wide_and_combining_characters_keep_the_caret_in_place(source: str) -> None:
    wide = Diagnostic("PA0301", "m", Location(source, 2, 5, 2, 7))
    assert render(wide).splitlines()[1:] == ["    2 |     y = 名前 + é\u0301x", "      |         ^^^^"]
    behind = Diagnostic("PA0301", "m", Location(source, 2, 12, 2, 13))
    assert render(behind).splitlines()[2] == "      |                 ^"


def test_a_span_over_lines_is_marked_to_the_end_of_its_first(source: str) -> None:
    found = Diagnostic("PA0301", "m", Location(source, 3, 11, 4, 10))
    assert render(found).splitlines()[1:] == ["    3 |     long = (a +", "      |            ^^^^"]


def test_without_a_place_or_source() -> None:
    assert render(Diagnostic("", "plain")) == "plain"
    assert render(Diagnostic("PA0101", "m")) == "error[PA0101]: m"
    assert (
        render(Diagnostic("PA0101", "m", Location("no such file", 3, 0, 3, 1)))
        == "no such file:3:1: error[PA0101]: m"
    )


def test_color_wraps_and_changes_nothing_else(source: str) -> None:
    found = Diagnostic("PA0301", "m", Location(source, 1, 0, 1, 5), "label", hint="h")
    colored = render(found, color=True)
    assert "\033[1;31merror[PA0301]\033[0m" in colored
    import re

    assert re.sub(r"\033\[[0-9;]*m", "", colored) == render(found)


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("\t", 4), ("ab\t", 4), ("名", 2), ("e\u0301", 1)]
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("PA0101", CompileError),
        ("PA0202", UnsupportedError),
        ("PA0301", CompileError),
        ("PA0401", KernelTypeError),
        ("PA0501", ShapeError),
        ("PA0601", CompileError),
        ("PA0701", ResourceError),
    ],
)
def test_the_code_decides_the_class(code: str, kind: type[CompileError]) -> None:
    assert type(compile_error(Diagnostic(code, "m"))) is kind


def test_errors_of_several_kinds_are_a_plain_compile_error() -> None:
    error = compile_error(
        Diagnostic("PA0401", "first", hint="do this"), Diagnostic("PA0501", "second", hint="do that")
    )
    assert type(error) is CompileError
    assert str(error) == "error[PA0401]: first\n  hint: do this\n\nerror[PA0501]: second\n  hint: do that"
    assert str(error) == render_all(error.diagnostics)


def test_a_type_error_is_caught_as_each_of_its_kinds() -> None:
    for kind in (KernelTypeError, CompileError, LaunchError, TypeError):
        with pytest.raises(kind, match="no"):
            raise KernelTypeError("no")


def test_an_internal_error_says_whose_bug_it_is() -> None:
    error = InternalError("KeyError: 'x'", Location("user.py", 12, 4, 12, 9))
    assert str(error).startswith("bug in pyasc while compiling user.py:12: KeyError: 'x'")
    assert not isinstance(error, CompileError)
