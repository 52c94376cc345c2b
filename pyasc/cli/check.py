# SPDX-License-Identifier: Apache-2.0
"""`pyasc check`: the mistakes in the kernels of files, for people, editors and code review."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

import click

from pyasc.cli.failures import FAILED, OK, USAGE, Failure
from pyasc.cli.loading import Request, chosen_kernels
from pyasc.cli.options import request_of, specialisation_options
from pyasc.cli.output import read_text
from pyasc.cli.sarif import sarif_log
from pyasc.ir.diagnostics import CompileError, Diagnostic, render_all
from pyasc.ir.location import Location
from pyasc.ir.record import Record
from pyasc.runtime.checking import Asked, check_kernel, check_text

_HELP = """List the mistakes in the kernels of Python files, without running the kernels.

\b
  pyasc check kernel.py
  pyasc check kernel.py --format json         for an editor
  pyasc check *.py --format sarif > log.sarif for code review
  pyasc check kernel.py --execute             run the file first, as `pyasc compile` does

The files are not executed either: what kernels read is taken from the text. A kernel that needs more, such as a
helper from another module, is passed over with a remark, unless --execute. Parameters without a full annotation
need --type or --const. The exit code is 1 when a kernel has an error.
"""


class Report(Record):
    """What was found: the names of the kernels that were looked at, and the diagnostics, file by file."""

    kernels: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> int:
        """The number of errors, remarks left out."""
        return sum(each.severity == "error" for each in self.diagnostics)


@click.command("check", help=_HELP, short_help="List the mistakes in kernels, without running them.")
@click.argument("files", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="How.")
@click.option("--execute", is_flag=True, help="Execute the files, for what only a run can tell.")
@specialisation_options
def check_command(
    files: Sequence[str],
    form: str,
    execute: bool,
    kernels: Sequence[str],
    shapes: Sequence[str],
    types: Sequence[str],
    constants: Sequence[str],
) -> int:
    """Check each file, then print."""
    look = _executed if execute else _read
    reports = [look(request_of(file, kernels, shapes, types, constants)) for file in files]
    report = Report(
        tuple(name for each in reports for name in each.kernels),
        tuple(found for each in reports for found in each.diagnostics),
    )
    missing = [name for name in kernels if name not in report.kernels]
    if missing and not report.errors:
        raise Failure(f"no kernel is called {missing[0]!r}; there are {', '.join(report.kernels)}", USAGE)
    _FORMATS[form](report)
    return FAILED if report.errors else OK


def _read(request: Request) -> Report:
    text = read_text(request.file)
    names, found = check_text(text, request.file, _asked(request), request.names)
    return Report(tuple(names), tuple(found))


def _executed(request: Request) -> Report:
    try:
        kernels = chosen_kernels(request)
    except CompileError as error:
        return Report((), error.diagnostics)
    found = [each for kernel in kernels for each in check_kernel(kernel, _asked(request))]
    return Report(tuple(kernel.__name__ for kernel in kernels), tuple(dict.fromkeys(found)))


def _asked(request: Request) -> Asked:
    return Asked({**request.types, **request.constants}, request.sizes)


def _print_text(report: Report) -> None:
    if report.diagnostics:
        from pyasc.cli.failures import colored

        print(render_all(report.diagnostics, colored() and sys.stdout.isatty()), end="\n\n")
    kernels, errors = len(report.kernels), report.errors
    print(f"{errors} error{'s'[: errors != 1]} in {kernels} kernel{'s'[: kernels != 1]}", file=sys.stderr)


def _print_json(report: Report) -> None:
    found = [_as_json(each) for each in report.diagnostics]
    print(json.dumps({"version": 1, "kernels": report.kernels, "diagnostics": found}, indent=2))


def _print_sarif(report: Report) -> None:
    print(json.dumps(sarif_log(report.diagnostics), indent=2))


_FORMATS: dict[str, Callable[[Report], None]] = {
    "text": _print_text,
    "json": _print_json,
    "sarif": _print_sarif,
}


def _as_json(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(diagnostic.loc),
        "label": diagnostic.label,
        "hint": diagnostic.hint,
        "notes": list(diagnostic.notes),
        "related": [{"message": each.message, **_place(each.loc)} for each in diagnostic.related],
    }


def _place(loc: Location) -> dict[str, object]:
    """Lines and columns from 1, in characters; the end is exclusive."""
    return {
        "file": loc.file,
        "line": loc.line,
        "column": loc.column + 1,
        "end_line": loc.end_line,
        "end_column": loc.end_column + 1,
    }
