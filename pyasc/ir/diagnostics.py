# SPDX-License-Identifier: Apache-2.0
"""What pyasc tells a user about a kernel: one diagnostic type, one renderer, and the exceptions that carry them.

A code is `PA` and four digits. Its first two digits say what kind of trouble it is, and so which exception it
raises: 01 source, 02 unsupported, 03 names and control flow, 04 types, 05 shapes and indices, 06 parallel
loops, 07 resources. `diagnostic_codes` lists them.
"""

from __future__ import annotations

import linecache
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pyasc.ir.diagnostic_codes import CODES
from pyasc.ir.location import UNKNOWN, Location
from pyasc.ir.record import Record, changed

if TYPE_CHECKING:
    from pathlib import Path

TAB_WIDTH = 4
LINE_WIDTH = 160
"""A longer line is shown in part."""

_COLORS = {"error": "\033[1;31m", "warning": "\033[1;33m", "remark": "\033[1;36m", "note": "\033[1;34m"}
_BOLD = "\033[1m"
_RESET = "\033[0m"


class Related(Record):
    """Another place that takes part in the trouble, with what it has to do with it."""

    loc: Location
    message: str


class Diagnostic(Record):
    """One message about one place. `label` stands beside the caret, `hint` says what to write instead."""

    code: str
    message: str
    loc: Location = UNKNOWN
    label: str = ""
    severity: str = "error"
    notes: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    hint: str = ""

    def __str__(self) -> str:
        return render(self)


class LaunchError(Exception):
    """A launch that cannot be done as asked. Nothing has run and every array is as it was."""


class CompileError(Exception):
    """One or more errors found in a kernel; `diagnostics` has them in source order."""

    def __init__(self, trouble: str | Diagnostic | Iterable[Diagnostic]) -> None:
        self.diagnostics = _diagnostics(trouble)
        super().__init__(render_all(self.diagnostics))


class KernelTypeError(CompileError, LaunchError, TypeError):
    """An operand, argument or annotation has a type that does not fit."""


class ShapeError(CompileError, ValueError):
    """Shapes or indices do not fit together."""


class UnsupportedError(CompileError, NotImplementedError):
    """The kernel says something that the kernel language does not have."""


class ResourceError(CompileError):
    """A kernel asks for more of a resource than the device has."""


class InternalError(Exception):
    """A mistake in pyasc itself, met while it worked on the user's line `loc`.

    `report` is the file that reproduces it, where one could be written.
    """

    def __init__(self, message: str, loc: Location = UNKNOWN, report: Path | None = None) -> None:
        self.reason = message
        self.loc = loc
        self.report = report
        where = f" while compiling {loc.file}:{loc.line}" if loc.known else ""
        what = "the kernel that shows it" if report is None else f"this file, which reproduces it: {report}"
        super().__init__(f"bug in pyasc{where}: {message}\nPlease report it with {what}.")


_KINDS: dict[str, type[CompileError]] = {
    "02": UnsupportedError,
    "04": KernelTypeError,
    "05": ShapeError,
    "07": ResourceError,
}


def error_class(diagnostics: Sequence[Diagnostic]) -> type[CompileError]:
    """The exception class for these errors: the common one when they are all of one kind."""
    kinds = {_KINDS.get(d.code[2:4], CompileError) for d in diagnostics}
    return kinds.pop() if len(kinds) == 1 else CompileError


def compile_error(*diagnostics: Diagnostic) -> CompileError:
    """The exception that carries these diagnostics, of the class that their codes ask for.

    A diagnostic without a hint gets that of its code.
    """
    return error_class(diagnostics)(map(_with_hint, diagnostics))


def _with_hint(diagnostic: Diagnostic) -> Diagnostic:
    code = CODES.get(diagnostic.code)
    return diagnostic if diagnostic.hint or code is None else changed(diagnostic, hint=code.hint)


def _diagnostics(trouble: str | Diagnostic | Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    if isinstance(trouble, str):
        return (Diagnostic("", trouble),)
    return (trouble,) if isinstance(trouble, Diagnostic) else tuple(trouble)


def render_all(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """All diagnostics as text, a blank line between them."""
    return "\n\n".join(render(d, color) for d in diagnostics)


def render(diagnostic: Diagnostic, color: bool = False) -> str:
    """The text of one diagnostic, without a final newline. The caller decides about color (see `NO_COLOR`)."""
    paint = _Painter(color)
    code = f"[{diagnostic.code}]" if diagnostic.code else ""
    title = paint(_COLORS.get(diagnostic.severity, _BOLD), diagnostic.severity + code)
    place = paint(_BOLD, f"{diagnostic.loc}: ") if diagnostic.loc.known else ""
    head = f"{place}{title}: " if code or place else ""
    lines = [head + diagnostic.message]
    lines += _excerpt(diagnostic.loc, diagnostic.label, "^", _COLORS["error"], paint)
    for related in diagnostic.related:
        lines.append(f"{paint(_BOLD, str(related.loc))}: {paint(_COLORS['note'], 'note')}: {related.message}")
        lines += _excerpt(related.loc, "", "-", _COLORS["note"], paint)
    lines += [f"  note: {note}" for note in diagnostic.notes]
    if diagnostic.hint:
        lines.append(f"  hint: {diagnostic.hint}")
    return "\n".join(lines)


class _Painter(Record):
    enabled: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.enabled else text


def _excerpt(loc: Location, label: str, mark: str, style: str, paint: _Painter) -> list[str]:
    """The source line and the marks under the span; nothing when the source cannot be read."""
    text = linecache.getline(loc.file, loc.line).rstrip("\r\n") if loc.known else ""
    if not text.strip():
        return []
    end = loc.end_column if loc.end_line == loc.line else len(text)
    text, column, end = _window(text, min(loc.column, len(text)), min(end, len(text)))
    before = display_width(text[:column])
    width = max(1, display_width(text[: max(end, column)]) - before)
    gutter = f"{loc.line:>5} | "
    tail = f" {label}" if label else ""
    marks = paint(style, mark * width + tail)
    return [gutter + _expand(text), " " * (len(gutter) - 2) + "| " + " " * before + marks]


def _window(text: str, column: int, end: int) -> tuple[str, int, int]:
    """A long line cut down to what stands around a span, and the span in it."""
    if len(text) <= LINE_WIDTH:
        return text, column, end
    start = max(0, min(column - LINE_WIDTH // 4, len(text) - LINE_WIDTH))
    shown = text[start : start + LINE_WIDTH]
    head, tail = "..." if start else "", "..." if start + LINE_WIDTH < len(text) else ""
    moved = len(head) - start
    return head + shown + tail, column + moved, min(end + moved, len(head) + LINE_WIDTH)


def display_width(text: str) -> int:
    """Columns that `text`, the start of a line, takes in a terminal: wide characters two, combining ones none."""
    column = 0
    for char in text:
        column += TAB_WIDTH - column % TAB_WIDTH if char == "\t" else _char_width(char)
    return column


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _expand(text: str) -> str:
    """Tabs as spaces up to the same stops that `display_width` counts."""
    out: list[str] = []
    column = 0
    for char in text:
        width = TAB_WIDTH - column % TAB_WIDTH if char == "\t" else _char_width(char)
        out.append(" " * width if char == "\t" else char)
        column += width
    return "".join(out)
