# SPDX-License-Identifier: Apache-2.0
"""The disk cache: whole entries, damaged entries, privacy, its limit."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pyasc.runtime import cache as module
from pyasc.runtime.cache import CacheEntry, CacheError, CacheKey, KernelCache, default_cache
from pyasc.runtime.files import DiskFullError

KEY = CacheKey.of("add", [("source", "def add(): ..."), ("types", "f32")])


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    return KernelCache(tmp_path / "cache", 1 << 30)


def builder(text: str = "library") -> Callable[[Path], None]:
    def build(directory: Path) -> None:
        (directory / "kernel.cpp").write_text("source")
        (directory / "kernel.so").write_text(text)

    return build


def forbidden(_: Path) -> None:
    raise AssertionError("it was built again")


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_the_key_covers_names_values_and_order_of_its_parts():
    variants = [
        [("a", "1"), ("b", "2")],
        [("b", "2"), ("a", "1")],
        [("a", "12"), ("b", "")],
        [("a1", ""), ("b", "2")],
        [("ab", "2"), ("", "1")],
        [("a", "1")],
        [],
    ]
    digests = {CacheKey.of("k", parts).digest for parts in variants}
    assert len(digests) == len(variants)
    assert CacheKey.of("k", [("a", b"1"), ("b", "2")]).digest == CacheKey.of("k", variants[0]).digest


def test_text_that_is_not_unicode_can_be_part_of_a_key():
    assert CacheKey.of("k", [("s", "\ud800")]).digest != CacheKey.of("k", [("s", "\ud801")]).digest


@pytest.mark.parametrize(
    ("name", "start"),
    [("add", "add-"), ("../x y", "___x_y-"), ("été", "_t_-"), ("", "_-"), ("k" * 300, "k" * 80 + "-")],
)
def test_an_entry_is_named_after_its_kernel(name: str, start: str):
    key = CacheKey.of(name, [])
    assert key.directory == start + key.digest[:16]


def test_a_build_is_found_again(cache: KernelCache):
    assert cache.lookup(KEY) is None
    built = cache.get_or_build(KEY, builder())
    assert built.path.name == KEY.directory
    assert built.library.read_text() == "library"
    assert built.source.read_text() == "source"
    assert cache.get_or_build(KEY, forbidden) == built
    assert KernelCache(cache.root, 1).lookup(KEY) == built
    with pytest.raises(KeyError):
        built.file("meta.json")


def test_an_entry_tells_what_it_depends_on(cache: KernelCache):
    meta = json.loads((cache.get_or_build(KEY, builder()).path / "meta.json").read_text())
    assert meta["name"] == "add"
    assert meta["key"] == KEY.digest
    assert list(meta["parts"]) == ["source", "types"]
    assert set(meta["files"]) == {"kernel.cpp", "kernel.so"}


def damage_truncated(entry: CacheEntry) -> None:
    entry.library.write_text("libr")


def damage_flipped(entry: CacheEntry) -> None:
    entry.library.write_text("librarY")


def damage_missing_file(entry: CacheEntry) -> None:
    entry.library.unlink()


def damage_no_meta(entry: CacheEntry) -> None:
    (entry.path / "meta.json").unlink()


def damage_bad_json(entry: CacheEntry) -> None:
    (entry.path / "meta.json").write_text('{"format": 1')


def damage_wrong_json(entry: CacheEntry) -> None:
    (entry.path / "meta.json").write_text("[]")


def damage_other_format(entry: CacheEntry) -> None:
    meta = entry.path / "meta.json"
    meta.write_text(meta.read_text().replace('"format": 1', '"format": 0'))


def damage_other_key(entry: CacheEntry) -> None:
    meta = entry.path / "meta.json"
    meta.write_text(meta.read_text().replace(KEY.digest, "0" * 64))


def damage_empty(entry: CacheEntry) -> None:
    for path in entry.path.iterdir():
        path.unlink()


def damage_is_a_file(entry: CacheEntry) -> None:
    damage_empty(entry)
    entry.path.rmdir()
    entry.path.write_text("not a directory")


def damage_is_a_link(entry: CacheEntry) -> None:
    elsewhere = entry.path.parent.parent / "elsewhere"
    entry.path.rename(elsewhere)
    entry.path.symlink_to(elsewhere)


def damage_writable_by_all(entry: CacheEntry) -> None:
    entry.path.chmod(0o777)


@pytest.mark.parametrize(
    "damage", [value for name, value in list(globals().items()) if name.startswith("damage_")]
)
def test_a_damaged_entry_is_built_again(cache: KernelCache, damage: Callable[[CacheEntry], None]):
    damage(cache.get_or_build(KEY, builder("library")))
    assert cache.lookup(KEY) is None
    again = cache.get_or_build(KEY, builder("rebuilt"))
    assert again.library.read_text() == "rebuilt"
    assert cache.lookup(KEY) == again
    assert names(cache.root) == {"CACHEDIR.TAG", ".lock", KEY.directory} or damage is damage_empty


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_failed_build_leaves_nothing(cache: KernelCache, error: type[BaseException]):
    before = names(cache.root)

    def fail(directory: Path) -> None:
        (directory / "kernel.so").write_text("half")
        raise error

    with pytest.raises(error):
        cache.get_or_build(KEY, fail)
    assert names(cache.root) == before
    assert cache.get_or_build(KEY, builder()).library.read_text() == "library"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_gives_one_error_and_no_entry(cache: KernelCache, number: int):
    before = names(cache.root)

    def fill(directory: Path) -> None:
        (directory / "kernel.so").write_text("half")
        raise OSError(number, os.strerror(number))

    with pytest.raises(DiskFullError, match=f"disk full while writing the cache entry to {cache.root}"):
        cache.get_or_build(KEY, fill)
    assert names(cache.root) == before


def test_a_disk_that_fills_up_at_the_last_file(cache: KernelCache, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    before = names(cache.root)
    monkeypatch.setattr(module, "_write_meta", full)
    with pytest.raises(DiskFullError):
        cache.get_or_build(KEY, builder())
    assert names(cache.root) == before


def test_another_process_may_be_first(cache: KernelCache):
    other = KernelCache(cache.root, 1 << 30)

    def slow(directory: Path) -> None:
        other.get_or_build(KEY, builder("first"))
        builder("second")(directory)

    assert cache.get_or_build(KEY, slow).library.read_text() == "first"


def test_threads_that_want_one_key_build_it_once(cache: KernelCache):
    builds: list[int] = []
    start = threading.Barrier(20)
    entries: list[CacheEntry] = []

    def build(directory: Path) -> None:
        builds.append(1)
        builder()(directory)

    def run() -> None:
        start.wait()
        entries.append(cache.get_or_build(KEY, build))

    threads = [threading.Thread(target=run) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert len(entries) == 20
    assert len(set(entries)) == 1


def test_different_keys_do_not_wait_for_each_other(cache: KernelCache):
    meet = threading.Barrier(2, timeout=10)

    def build(directory: Path) -> None:
        meet.wait()
        builder()(directory)

    def run(number: int) -> None:
        cache.get_or_build(CacheKey.of("k", [("n", str(number))]), build)

    threads = [threading.Thread(target=run, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.info().entries == 2


def test_a_child_of_fork_is_not_stopped_by_a_lock_of_its_parent(cache: KernelCache):
    # Forking beside threads is what is tested, so the child is made without Python's own warning.
    inside = threading.Event()
    release = threading.Event()

    def slow(directory: Path) -> None:
        inside.set()
        release.wait(30)
        builder()(directory)

    thread = threading.Thread(target=cache.get_or_build, args=[KEY, slow])
    thread.start()
    inside.wait(10)
    child = fork_quietly()
    if child == 0:
        try:
            cache.get_or_build(KEY, builder("child"))
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    entry = cache.lookup(KEY)
    assert entry is not None
    assert entry.library.read_text() == "child"


def fork_quietly() -> int:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def fill(cache: KernelCache, count: int, size: int) -> list[CacheKey]:
    keys = [CacheKey.of(f"k{number}", []) for number in range(count)]
    for number, key in enumerate(keys):
        entry = cache.get_or_build(key, builder("x" * size))
        os.utime(entry.path, (1000 + number, 1000 + number))
    return keys


def test_over_its_limit_the_entries_unused_for_longest_go(tmp_path: Path):
    cache = KernelCache(tmp_path / "cache", 1 << 30, grace=0)
    keys = fill(cache, 4, 10_000)
    cache.lookup(keys[0])
    small = KernelCache(cache.root, 25_000, grace=0)
    newest = small.get_or_build(KEY, builder())
    kept = [key.name for key in keys if small.lookup(key) is not None]
    assert kept == ["k0", "k3"]
    assert newest == small.lookup(KEY)
    assert small.info().size <= 25_000


def test_entries_just_used_are_safe(tmp_path: Path):
    cache = KernelCache(tmp_path / "cache", 100)
    for number in range(3):
        cache.get_or_build(CacheKey.of(f"k{number}", []), builder("x" * 1000))
    assert cache.info().entries == 3


def test_the_entry_just_made_stays_even_if_it_is_over_the_limit(tmp_path: Path):
    cache = KernelCache(tmp_path / "cache", 10, grace=0)
    entry = cache.get_or_build(KEY, builder("x" * 1000))
    assert cache.lookup(KEY) == entry


def test_what_a_dead_process_left_is_removed(tmp_path: Path):
    cache = KernelCache(tmp_path / "cache", 1 << 30)
    for name, age in ((".staging-1-x", 1000), (".trash-1-x", 1000), (".staging-2-y", None)):
        (cache.root / name).mkdir()
        if age is not None:
            os.utime(cache.root / name, (age, age))
    cache.evict()
    assert {name for name in names(cache.root) if name.startswith((".s", ".t"))} == {".staging-2-y"}


def test_info_and_clear(cache: KernelCache):
    fill(cache, 3, 1000)
    cache.failed_dir.mkdir()
    (cache.failed_dir / "k.cpp").write_text("x")
    (cache.root / "notes.txt").write_text("of the user")
    before = cache.info()
    assert before.entries == 3
    assert before.size > 3000
    assert before.limit == 1 << 30
    removed = cache.clear()
    assert (removed.entries, removed.size) == (3, before.size)
    assert cache.info().entries == 0
    assert names(cache.root) == {"CACHEDIR.TAG", ".lock", "notes.txt"}


def test_a_cache_that_was_deleted_meanwhile_is_made_again(cache: KernelCache):
    (cache.root / "CACHEDIR.TAG").unlink()
    cache.root.rmdir()
    assert cache.get_or_build(KEY, builder()).library.exists()


def test_the_directory_is_private(cache: KernelCache):
    assert cache.root.stat().st_mode & 0o777 == 0o700
    assert cache.get_or_build(KEY, builder()).path.stat().st_mode & 0o777 == 0o700


def test_a_directory_of_ours_opened_to_others_is_closed_again(cache: KernelCache):
    cache.root.chmod(0o777)
    KernelCache(cache.root, 1)
    assert cache.root.stat().st_mode & 0o777 == 0o700


def test_a_directory_with_other_things_keeps_its_mode(tmp_path: Path):
    (tmp_path / "precious").write_text("x")
    tmp_path.chmod(0o755)
    KernelCache(tmp_path, 1)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert names(tmp_path) == {"precious"}


def test_a_directory_that_others_may_write_to_is_refused(tmp_path: Path):
    (tmp_path / "precious").write_text("x")
    tmp_path.chmod(0o777)
    with pytest.raises(CacheError, match=r"not private: .* mode 777"):
        KernelCache(tmp_path, 1)


def test_a_shared_temporary_directory_is_refused_even_while_empty(tmp_path: Path):
    tmp_path.chmod(0o1777)
    with pytest.raises(CacheError, match="mode 1777"):
        KernelCache(tmp_path, 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_refused(tmp_path: Path):
    os.chown(tmp_path, 12345, 12345)
    with pytest.raises(CacheError, match="belongs to user 12345"):
        KernelCache(tmp_path, 1)


def test_a_place_that_cannot_be_a_directory(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CacheError, match=r"cannot be written; set PYASC_CACHE_DIR .*\(Not a directory\)"):
        KernelCache(tmp_path / "file" / "cache", 1)


def test_the_default_is_what_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYASC_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("PYASC_CACHE_LIMIT", "3M")
    assert default_cache().root == tmp_path / "mine"
    assert default_cache().limit == 3 << 20
    assert default_cache() is default_cache()
    monkeypatch.delenv("PYASC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache().root == tmp_path / "xdg" / "pyasc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_cache().root == tmp_path / "home" / ".cache" / "pyasc"


def test_a_home_that_cannot_be_written_gives_a_private_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "home").write_text("not a directory")
    (tmp_path / "tmp").mkdir()
    monkeypatch.delenv("PYASC_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    root = default_cache().root
    assert root == tmp_path / "tmp" / f"pyasc-{os.geteuid()}" / "cache"
    assert root.stat().st_mode & 0o777 == 0o700


def test_a_temporary_directory_taken_by_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"pyasc-{os.geteuid()}").symlink_to(tmp_path / "elsewhere")
    chosen = module.private_temporary_directory()
    assert chosen.parent == tmp_path
    assert chosen.name not in ("elsewhere", f"pyasc-{os.geteuid()}")


def test_a_named_directory_that_cannot_be_used_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("PYASC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(CacheError):
        default_cache()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_permission(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(CacheError, match="cannot be written"):
        KernelCache(tmp_path / "cache", 1)
