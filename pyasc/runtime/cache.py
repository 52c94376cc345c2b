# SPDX-License-Identifier: Apache-2.0
"""The disk cache of compiled kernels.

An entry is a directory `<kernel>-<first 16 digits of its key>` that holds the files of one build and
`meta.json`, which lists them with sizes and checksums. It is filled under another name and renamed
into place, so an entry is seen whole or not at all, by threads and by other processes. An entry that
does not match its `meta.json` counts as absent and is built again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from pyasc import knobs
from pyasc.runtime.files import DiskFullError, is_private, naming_full_disk, private_temporary_directory

FORMAT = 1
META = "meta.json"
TAG = "CACHEDIR.TAG"
# The signature that backup programs look for: https://bford.info/cachedir/
_TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# Compiled kernels of pyasc; safe to delete.\n"
_ENTRY_NAME = re.compile(r"\w+-[0-9a-f]{16}")
_STAGING = ".staging-"
_TRASH = ".trash-"
# Nothing takes longer than this to build, so an older staging directory belongs to a dead process.
_ABANDONED_SECONDS = 3600.0
# An entry used this recently may be between its look-up and its loading in some process.
_GRACE_SECONDS = 60.0
_PUBLISH_ATTEMPTS = 8


class CacheError(RuntimeError):
    """The cache directory cannot be used: not writable, or not private to this user."""


@dataclass(frozen=True)
class CacheKey:
    """What one build depends on.

    `parts` has the name and the shortened checksum of each thing hashed; it is written to the entry,
    so that two entries of one kernel can be compared to see what differed.
    """

    name: str
    digest: str
    parts: tuple[tuple[str, str], ...]

    @staticmethod
    def of(name: str, parts: Iterable[tuple[str, str | bytes]]) -> CacheKey:
        """The key of the kernel `name` over named parts. Their order and their names count."""
        total = hashlib.sha256()
        summary: list[tuple[str, str]] = []
        for label, value in parts:
            data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(data).hexdigest()
            total.update(f"{len(label)}:{label}={digest}\n".encode())
            summary.append((label, digest[:16]))
        return CacheKey(name, total.hexdigest(), tuple(summary))

    @property
    def directory(self) -> str:
        """The name of the entry: readable, and a file name whatever the kernel is called."""
        readable = re.sub(r"\W", "_", self.name, flags=re.ASCII)[:80] or "_"
        return f"{readable}-{self.digest[:16]}"


@dataclass(frozen=True)
class FileRecord:
    """Size in bytes and checksum of one file of an entry."""

    size: int
    sha256: str


@dataclass(frozen=True)
class CacheEntry:
    """A whole, checked entry. The files stay until it is evicted, so load them at once."""

    path: Path
    digest: str
    files: tuple[str, ...]

    @property
    def library(self) -> Path:
        """The shared library of a kernel's entry."""
        return self.path / "kernel.so"

    @property
    def source(self) -> Path:
        """The C++ source of a kernel's entry."""
        return self.path / "kernel.cpp"

    def file(self, name: str) -> Path:
        """The path of the file `name`. Raises KeyError if the entry has none of that name."""
        if name not in self.files:
            raise KeyError(name)
        return self.path / name


@dataclass(frozen=True)
class CacheInfo:
    """How full the cache is. Sizes in bytes."""

    root: Path
    entries: int
    size: int
    limit: int


@dataclass(frozen=True)
class _Stored:
    path: Path
    size: int
    last_used: float


class _KeyLocks:
    """One lock for each key in use, so that threads asking for one key build it once.

    A child of fork starts with fresh locks: the threads that held the others do not exist in it.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._users: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def holding(self, digest: str) -> Iterator[None]:
        if self._process != os.getpid():
            self._forget()
        with self._guard:
            lock, users = self._users.get(digest, (threading.Lock(), 0))
            self._users[digest] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._users[digest]
                if users == 1:
                    del self._users[digest]
                else:
                    self._users[digest] = (lock, users - 1)


class KernelCache:
    """A cache in one directory. Any number of threads and processes may use it together.

    `limit` is in bytes; when it is passed, the entries unused for longest are removed. `grace` is how
    long, in seconds, an entry is safe from that after its last use.
    """

    def __init__(self, root: Path, limit: int, *, grace: float = _GRACE_SECONDS) -> None:
        """Opens the directory, and makes it if need be. Raises CacheError if it cannot be used."""
        self.root = root
        self.limit = limit
        self._grace = grace
        self._locks = _KeyLocks()
        # The size at the last count, and what was added since; None before the first count.
        self._known_size: int | None = None
        _open_private_directory(root)

    @property
    def failed_dir(self) -> Path:
        """Where sources that did not compile are kept."""
        return self.root / "failed"

    def lookup(self, key: CacheKey) -> CacheEntry | None:
        """The entry of `key` if it is there and undamaged. Counts as a use of it."""
        entry = _read_entry(self.root / key.directory, key.digest)
        if entry is not None:
            with suppress(OSError):
                os.utime(entry.path)
        return entry

    def get_or_build(self, key: CacheKey, build: Callable[[Path], None]) -> CacheEntry:
        """The entry of `key`; if there is none, `build(directory)` fills a directory that becomes it.

        Threads of one process wait for each other and build once; processes may build at the same
        time, and one result is kept. An exception from `build`, an interrupt included, leaves nothing
        behind. Raises DiskFullError or CacheError when the entry cannot be written.
        """
        entry = self.lookup(key)
        if entry is not None:
            return entry
        with self._locks.holding(key.digest):
            return self.lookup(key) or self._build(key, build)

    def _build(self, key: CacheKey, build: Callable[[Path], None]) -> CacheEntry:
        with naming_full_disk(self.root, "the cache entry"):
            staged = self._make_staging()
            try:
                build(staged)
                _write_meta(staged, key)
                entry = self._publish(key, staged)
            finally:
                shutil.rmtree(staged, ignore_errors=True)
        self._evict_if_over_limit(entry)
        return entry

    def _make_staging(self) -> Path:
        try:
            return Path(tempfile.mkdtemp(prefix=f"{_STAGING}{os.getpid()}-", dir=self.root))
        except FileNotFoundError:
            _open_private_directory(self.root)
            return Path(tempfile.mkdtemp(prefix=f"{_STAGING}{os.getpid()}-", dir=self.root))
        except PermissionError as error:
            raise CacheError(_unwritable(self.root)) from error

    def _publish(self, key: CacheKey, staged: Path) -> CacheEntry:
        """Renames `staged` into place, unless another process was first with a good entry."""
        final = self.root / key.directory
        files = tuple(sorted(path.name for path in staged.iterdir() if path.name != META))
        for _ in range(_PUBLISH_ATTEMPTS):
            try:
                os.rename(staged, final)
                return CacheEntry(final, key.digest, files)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            entry = self.lookup(key)
            if entry is not None:
                return entry
            self._remove_damaged(key)
        raise CacheError(f"cannot replace the damaged cache entry {final}")

    def _remove_damaged(self, key: CacheKey) -> None:
        final = self.root / key.directory
        with self._lock():
            # Another process may have replaced the entry since it was found damaged.
            if _read_entry(final, key.digest) is None:
                self._remove(final)

    def _remove(self, path: Path) -> bool:
        """Makes `path` vanish at once, then frees its space. False if it was gone or is not ours."""
        trash = self.root / f"{_TRASH}{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}"
        try:
            os.rename(path, trash)
        except OSError:
            return False
        if trash.is_dir() and not trash.is_symlink():
            shutil.rmtree(trash, ignore_errors=True)
        else:
            trash.unlink(missing_ok=True)
        return True

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Held by whoever removes entries; other processes wait. Look-ups and builds do not take it."""
        # Only POSIX has it, and importing the package must not depend on that.
        import fcntl

        with (self.root / ".lock").open("a") as file:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _evict_if_over_limit(self, added: CacheEntry) -> None:
        """Counts the whole cache only when what this process knows of it says it may be full."""
        if self._known_size is not None:
            self._known_size += _directory_size(added.path)
            if self._known_size <= self.limit:
                return
        with suppress(OSError):
            self.evict(keep=added.path)

    def evict(self, keep: Path | None = None) -> int:
        """Removes the entries unused for longest until the limit holds. Returns the bytes freed.

        Also removes what interrupted processes left behind. The entry `keep` stays.
        """
        freed = 0
        with self._lock():
            self._remove_abandoned()
            stored = sorted(self._stored(), key=lambda each: each.last_used)
            total = sum(each.size for each in stored)
            youngest = time.time() - self._grace
            for each in stored:
                if total - freed <= self.limit or each.last_used > youngest:
                    break
                if each.path != keep and self._remove(each.path):
                    freed += each.size
        self._known_size = total - freed
        return freed

    def info(self) -> CacheInfo:
        """Counts the entries and their size."""
        stored = list(self._stored())
        return CacheInfo(self.root, len(stored), sum(each.size for each in stored), self.limit)

    def clear(self) -> CacheInfo:
        """Removes every entry and kept source, and nothing else. Returns what was removed."""
        removed = 0
        size = 0
        with self._lock():
            for each in self._stored():
                if self._remove(each.path):
                    removed += 1
                    size += each.size
            self._remove_abandoned()
            shutil.rmtree(self.failed_dir, ignore_errors=True)
            (self.root / "compilers.json").unlink(missing_ok=True)
        self._known_size = None
        return CacheInfo(self.root, removed, size, self.limit)

    def _stored(self) -> Iterator[_Stored]:
        with os.scandir(self.root) as scan:
            for item in scan:
                if _ENTRY_NAME.fullmatch(item.name):
                    with suppress(OSError):
                        yield _Stored(Path(item.path), _directory_size(Path(item.path)), item.stat().st_mtime)

    def _remove_abandoned(self) -> None:
        oldest = time.time() - _ABANDONED_SECONDS
        with os.scandir(self.root) as scan:
            for item in scan:
                if item.name.startswith((_STAGING, _TRASH)):
                    with suppress(OSError):
                        if item.stat().st_mtime < oldest:
                            shutil.rmtree(item.path, ignore_errors=True)


def default_cache() -> KernelCache:
    """The cache of the environment's settings.

    Without PYASC_CACHE_DIR it is the user's cache directory, or, where that cannot be written or is
    not private, a private directory under the system's temporary one. Raises CacheError if
    PYASC_CACHE_DIR names a directory that cannot be used.
    """
    settings = knobs.read()
    return _opened_cache(settings.cache_root, settings.cache_dir is not None, settings.cache_limit)


@lru_cache(maxsize=8)
def _opened_cache(root: Path, asked_for: bool, limit: int) -> KernelCache:
    try:
        return KernelCache(root, limit)
    except (CacheError, DiskFullError):
        if asked_for:
            raise
        return KernelCache(private_temporary_directory() / "cache", limit)


def _open_private_directory(root: Path) -> None:
    """Makes sure that `root` is a directory that this user can write to, and nobody else.

    A directory that we made (it has our tag), or an empty one, gets mode 0700. One with other things
    in it keeps its mode, and is refused if others may write to it.
    """
    try:
        with naming_full_disk(root, "the cache directory"):
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_ours(root):
                root.chmod(0o700)
                if not (root / TAG).exists():
                    (root / TAG).write_text(_TAG_TEXT, encoding="ascii")
        status = root.stat()
    except DiskFullError:
        raise
    except OSError as error:
        raise CacheError(f"{_unwritable(root)} ({error.strerror})") from error
    if not is_private(status):
        raise CacheError(
            f"the cache directory {root} is not private: it belongs to user {status.st_uid} and has mode "
            f"{stat.S_IMODE(status.st_mode):o}. Give it mode 700, or set PYASC_CACHE_DIR to another"
        )
    if not os.access(root, os.W_OK | os.X_OK):
        raise CacheError(_unwritable(root))


def _is_ours(root: Path) -> bool:
    status = root.stat()
    # A sticky directory is shared on purpose, like /tmp, even while it is empty.
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return False
    return (root / TAG).exists() or not any(root.iterdir())


def _unwritable(root: Path) -> str:
    return f"the cache directory {root} cannot be written; set PYASC_CACHE_DIR to one that can"


def _record(path: Path) -> FileRecord:
    data = path.read_bytes()
    return FileRecord(len(data), hashlib.sha256(data).hexdigest())


def _write_meta(directory: Path, key: CacheKey) -> None:
    files = {path.name: asdict(_record(path)) for path in sorted(directory.iterdir())}
    meta = {"format": FORMAT, "name": key.name, "key": key.digest, "parts": dict(key.parts), "files": files}
    (directory / META).write_text(json.dumps(meta, indent=1), encoding="utf-8")


def _read_entry(directory: Path, digest: str) -> CacheEntry | None:
    """The entry in `directory`, or None if it is missing, damaged, foreign, or of another key."""
    try:
        if not is_private(directory.lstat()):
            return None
        meta = json.loads((directory / META).read_bytes())
        if meta["format"] != FORMAT or meta["key"] != digest:
            return None
        files: dict[str, dict[str, object]] = meta["files"]
        for name, expected in files.items():
            if asdict(_record(directory / name)) != expected:
                return None
        return CacheEntry(directory, digest, tuple(files))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _directory_size(directory: Path) -> int:
    """Bytes in the files of `directory`, which has no directories in it. 0 if it is gone."""
    try:
        with os.scandir(directory) as scan:
            return sum(item.stat().st_size for item in scan)
    except OSError:
        return 0
