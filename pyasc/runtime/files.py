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
    if is_special(path):
        path.write_bytes(data)
        return
    with (
        naming_full_disk(path.parent, path.name),
        scratch_directory(path.parent, f".{path.name}-") as scratch,
    ):
        staged = scratch / path.name
        staged.write_bytes(data)
        put_in_place(staged, path)


def put_in_place(staged: Path, path: Path) -> None:
    """Gives a complete file its name. Raises OSError naming `path` where that is a folder, a device or a pipe."""
    if is_special(path):
        number = errno.EISDIR if path.is_dir() else errno.EEXIST
        raise OSError(number, os.strerror(number), str(path))
    os.replace(staged, path)


def is_special(path: Path) -> bool:
    """Whether a name stands for what a file must not replace: a folder, a device, a pipe, or a link to one.

    So does a link into `/dev` or `/proc`, such as `/dev/stdout`, whatever that is at the moment.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    of_the_system = path.is_symlink() and os.fspath(path.absolute()).startswith(("/dev/", "/proc/"))
    return not stat.S_ISREG(mode) or of_the_system


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
