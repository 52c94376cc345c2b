# SPDX-License-Identifier: Apache-2.0
"""Files that reproduce a failure of pyasc: the kernel's text, types, versions and the traceback, as Python."""

from __future__ import annotations

import hashlib
import platform
import traceback
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from pyasc import __version__
from pyasc.runtime.files import private_temporary_directory, write_atomically

if TYPE_CHECKING:
    from pyasc.frontend.source import KernelSource

_HEAD = """\
# pyasc failed while it compiled the kernel below: a mistake in pyasc, please report it with this file.
# The file holds the text of the kernel, the types it was compiled for and versions; nothing else of your program.
#
# {versions}
# kernel {name}, from {file}:{line}
# types: {types}
#
{trace}

import pyasc as asc

"""


def write_reproducer(error: BaseException, source: KernelSource, types: Mapping[str, str]) -> Path | None:
    """Write the file for a failure with a kernel, into `reports` of the user's temporary directory; its path.

    None where nothing can be written. The same failure gives the same file.
    """
    return _write(reproducer(error, source, types), source.name)


def write_traceback(error: BaseException) -> Path | None:
    """Write the file for a failure without a kernel; its path, as `write_reproducer` gives it."""
    return _write(f"# {_versions()}\n{_comment(error)}\n", "pyasc")


def _write(text: str, name: str) -> Path | None:
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    try:
        path = private_temporary_directory() / "reports" / f"{stem}-{digest}.py"
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, text)
    except OSError:
        return None
    return path


def reproducer(error: BaseException, source: KernelSource, types: Mapping[str, str]) -> str:
    """The text of the file: what happened as comments, then the kernel."""
    head = _HEAD.format(
        versions=_versions(),
        name=source.name,
        file=source.file,
        line=source.first_line,
        types=", ".join(f"{name}: {type_}" for name, type_ in types.items()) or "as annotated",
        trace=_comment(error),
    )
    return f"{head}\n{dedent(source.text)}"


def _comment(error: BaseException) -> str:
    frames = "".join(traceback.format_exception(error)).rstrip().splitlines()
    return "\n".join(f"# {line}".rstrip() for line in frames)


def _versions() -> str:
    return (
        f"pyasc {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
