# SPDX-License-Identifier: Apache-2.0
"""Files and directories that appear whole or not at all, and that belong to one user."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


class DiskFullError(OSError):
    """The disk, or the user's quota on it, was used up while something was written.

    What was being written is removed; files that were there before are unchanged.
    """

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.ENOSPC, f"disk full while writing {what}", str(path))
        self.path = path

    def __str__(self) -> str:
        return f"{self.strerror} to {self.path}: free some space, or choose another place"


@contextmanager
def naming_full_disk(path: Path, what: str) -> Iterator[None]:
    """Turns the error of a full disk into a DiskFullError that names `path`."""
    try:
        yield
    except DiskFullError:
        raise
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise DiskFullError(path, what) from error
        raise


@contextmanager
def scratch_directory(parent: Path, prefix: str) -> Iterator[Path]:
    """A new directory of mode 0700 in `parent`, removed on the way out, an interrupt included."""
    try:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    except OSError as error:
        raise type(error)(error.errno, os.strerror(error.errno or 0), str(parent)) from None
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_atomically(path: Path, text: str) -> None:
    """Writes `text` so that `path` holds either its old content or all of the new one."""
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Writes `data` so that `path` holds either its old content or all of the new one."""
    with (
        naming_full_disk(path.parent, path.name),
        scratch_directory(path.parent, f".{path.name}-") as scratch,
    ):
        staged = scratch / path.name
        staged.write_bytes(data)
        os.replace(staged, path)


def is_private(status: os.stat_result) -> bool:
    """Whether a directory belongs to this user and nobody else may write to it."""
    others_write = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.geteuid() and not status.st_mode & others_write


def private_temporary_directory() -> Path:
    """A directory of this user alone under the system's temporary one, the same at every call.

    When its name is taken by somebody else, a fresh directory is made instead.
    """
    path = Path(tempfile.gettempdir()) / f"pyasc-{os.geteuid()}"
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode) and is_private(status):
        return path
    return Path(tempfile.mkdtemp(prefix="pyasc-"))
