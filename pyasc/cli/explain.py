# SPDX-License-Identifier: Apache-2.0
"""`pyasc explain`: the page of an error code."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from pyasc.cli.failures import Failure
from pyasc.ir.diagnostic_codes import CODES

_HELP = """Print what an error code means: a kernel that has the mistake, the message, why, and what to write instead.

\b
  pyasc explain PA0301
  pyasc explain            every code with its title
"""

_PACKAGE = Path(__file__).resolve().parent.parent
PAGES = (_PACKAGE / "errors", _PACKAGE.parent / "docs" / "errors")
"""Where the pages are: in an installed package, and in a source tree."""


@click.command("explain", help=_HELP, short_help="Print what an error code means.")
@click.argument("code", required=False)
def explain_command(code: str | None) -> None:
    """Print one page, or the list."""
    if code is None:
        for each, entry in CODES.items():
            print(f"{each}  {entry.title}")
        return
    print(page_of(code), end="")


def page_of(code: str) -> str:
    """The text of a code's page. Raises UsageError for a code that does not exist."""
    name = code.strip().upper()
    name = name if name.startswith("PA") else f"PA{name}"
    if name not in CODES:
        close = difflib.get_close_matches(name, CODES, 1)
        near = f"; did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"there is no error code {code!r}{near} `pyasc explain` lists them")
    for folder in PAGES:
        path = folder / f"{name}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise Failure(
        f"this installation of pyasc has no page for {name}: {CODES[name].title}; {CODES[name].hint}"
    )
