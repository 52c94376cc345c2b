# SPDX-License-Identifier: Apache-2.0
"""Reading inputs and writing outputs of commands: files appear whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyasc.cli.failures import Failure
from pyasc.runtime.files import write_atomically

if TYPE_CHECKING:
    from pyasc.passes.base import Remark

STANDARD = "-"


def read_text(file: str) -> str:
    """The text of `file`, or of standard input for `-`. Raises Failure if it cannot be read as text."""
    if file == STANDARD:
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Failure(f"{file} is not text: {error}") from None
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror}") from None


def write_text(text: str, output: Path | None) -> None:
    """Write to the file `output`, whole or not at all, or to standard output when it is None or `-`."""
    if output is None or str(output) == STANDARD:
        sys.stdout.write(text)
        return
    write_atomically(output.absolute(), text)


def print_remarks(remarks: Sequence[Remark]) -> None:
    """Print remarks on the error stream, in the order of the source."""
    for remark in sorted(remarks, key=lambda each: (each.loc.file, each.loc.line)):
        hint = f"\n  hint: {remark.hint}" if remark.hint else ""
        print(f"{remark.loc}: remark: {remark.message} [{remark.pass_name}]{hint}", file=sys.stderr)
