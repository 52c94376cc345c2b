# SPDX-License-Identifier: Apache-2.0
"""Compiling: results that appear whole or not at all, and errors that say what happened."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pyasc.runtime.build import (
    BuildOptions,
    BuildUnit,
    build_many,
    build_object,
    build_shared,
    cached_library,
    environment_parts,
    link_shared,
)
from pyasc.runtime.cache import CacheKey, KernelCache
from pyasc.runtime.files import DiskFullError
from pyasc.runtime.loader import load_library
from pyasc.runtime.toolchain import BuildError, Toolchain, available_toolchains, find_toolchain

ANSWER = 'extern "C" int answer() { return %d; }\n'


@pytest.fixture(scope="module")
def compiler() -> Toolchain:
    return find_toolchain()


@pytest.fixture
def options(tmp_path: Path) -> BuildOptions:
    return BuildOptions(opt_level=0, keep_failed=tmp_path / "failed")


def fake(tmp_path: Path, body: str) -> Toolchain:
    """A compiler that is a shell script; the result's path is in $out."""
    path = tmp_path / "fake-cxx"
    find_output = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done'
    path.write_text(f"#!/bin/sh\n{find_output}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return Toolchain("gcc", (str(path),), "fake 1.0", ())


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


@pytest.mark.parametrize("each", available_toolchains(), ids=lambda each: each.kind)
def test_every_compiler_builds_links_and_runs(each: Toolchain, tmp_path: Path):
    library = build_shared(ANSWER % 42, tmp_path / "direct.so", each)
    assert load_library(library).function("answer", [])() == 42
    built = build_object(ANSWER % 43, tmp_path / "answer.o", each)
    linked = link_shared([built], tmp_path / "linked.so", each)
    assert load_library(linked).function("answer", [])() == 43
    assert names(tmp_path) == {"direct.so", "answer.o", "linked.so"}


def test_an_error_of_the_compiler_shows_command_output_and_kept_source(
    tmp_path: Path, compiler: Toolchain, options: BuildOptions
):
    (tmp_path / "k.so").write_text("old")
    with pytest.raises(BuildError) as caught:
        build_shared("int x = no_such_name;\n", tmp_path / "k.so", compiler, options)
    error = caught.value
    assert error.source is not None
    assert error.source.read_text() == "int x = no_such_name;\n"
    text = str(error)
    assert "exit status 1" in text
    assert "-ffp-contract=off" in text
    assert "no_such_name" in text
    assert str(error.source) in text
    assert text in error.source.with_suffix(".log").read_text()
    assert (tmp_path / "k.so").read_text() == "old"
    assert names(tmp_path) == {"k.so", "failed"}


def test_a_compiler_killed_by_a_signal(tmp_path: Path, options: BuildOptions):
    toolchain = fake(tmp_path, "echo half > $out; kill -9 $$")
    with pytest.raises(BuildError, match="killed by SIGKILL"):
        build_shared("", tmp_path / "k.so", toolchain, options)
    assert names(tmp_path) == {"fake-cxx", "failed"}


@pytest.mark.parametrize("body", ["exit 0", "echo text > $out"])
def test_a_compiler_that_claims_success(tmp_path: Path, options: BuildOptions, body: str):
    with pytest.raises(BuildError, match="wrote no ELF file"):
        build_shared("", tmp_path / "k.so", fake(tmp_path, body), options)
    assert not (tmp_path / "k.so").exists()


def test_a_compiler_that_has_vanished(tmp_path: Path, options: BuildOptions):
    toolchain = Toolchain("gcc", (str(tmp_path / "gone"),), "", ())
    with pytest.raises(BuildError, match="could not be started"):
        build_shared("", tmp_path / "k.so", toolchain, options)


def test_a_disk_that_fills_up_under_the_compiler(tmp_path: Path, options: BuildOptions):
    toolchain = fake(tmp_path, "echo half > $out; echo 'as: write error: No space left on device'; exit 1")
    with pytest.raises(DiskFullError, match=f"disk full while writing k.so to {tmp_path}: free some space"):
        build_shared("", tmp_path / "k.so", toolchain, options)
    assert names(tmp_path) == {"fake-cxx"}


def test_a_disk_that_is_full_already(
    tmp_path: Path, compiler: Toolchain, options: BuildOptions, monkeypatch: pytest.MonkeyPatch
):
    def full(path: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(DiskFullError):
        build_shared("", tmp_path / "k.so", compiler, options)
    assert names(tmp_path) == set()


def test_a_directory_that_does_not_exist_is_named(tmp_path: Path, compiler: Toolchain):
    with pytest.raises(FileNotFoundError, match="missing'"):
        build_shared("", tmp_path / "missing" / "k.so", compiler)


def interrupt_when(path: Path) -> None:
    def watch() -> None:
        deadline = time.monotonic() + 10
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("many", [False, True])
def test_an_interrupt_ends_the_compiler_and_leaves_nothing(tmp_path: Path, options: BuildOptions, many: bool):
    started = tmp_path / "started"
    toolchain = fake(
        tmp_path,
        f"echo half > $out; /bin/sleep 60 & echo $! > {started}.new; /bin/mv {started}.new {started}; wait",
    )
    interrupt_when(started)
    with pytest.raises(KeyboardInterrupt):
        if many:
            build_many([BuildUnit("", tmp_path / "a.so")], toolchain, options)
        else:
            build_shared("", tmp_path / "a.so", toolchain, options)
    assert names(tmp_path) == {"fake-cxx", "started"}
    pid = int(started.read_text())
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(pid)


def test_an_interrupt_while_the_compiler_starts_ends_it_too(
    tmp_path: Path, options: BuildOptions, monkeypatch: pytest.MonkeyPatch
):
    started: list[subprocess.Popen[str]] = []

    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_shared("", tmp_path / "a.so", fake(tmp_path, "/bin/sleep 60"), options)
    assert [process.returncode for process in started] == [-signal.SIGKILL]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_many_units(tmp_path: Path, compiler: Toolchain, options: BuildOptions):
    units = [BuildUnit(ANSWER % number, tmp_path / f"k{number}.so") for number in range(3)]
    paths = build_many(units, compiler, options, jobs=2)
    assert [load_library(path).function("answer", [])() for path in paths] == [0, 1, 2]


def test_no_units(compiler: Toolchain):
    assert build_many([], compiler) == []


def test_one_failure_stops_the_other_units(tmp_path: Path, options: BuildOptions):
    toolchain = fake(tmp_path, 'case "$out" in *bad*) echo wrong; exit 3;; *) /bin/sleep 60;; esac')
    units = [BuildUnit("", tmp_path / f"{name}.so") for name in ("good", "bad", "later")]
    begin = time.monotonic()
    with pytest.raises(BuildError, match="exit status 3"):
        build_many(units, toolchain, options, jobs=2)
    assert time.monotonic() - begin < 30
    assert names(tmp_path) == {"fake-cxx", "failed"}
    assert all(name.startswith("bad-") for name in names(tmp_path / "failed"))


def test_save_temps_shows_source_and_assembly(tmp_path: Path, compiler: Toolchain):
    temps = tmp_path / "deep" / "temps"
    build_shared(ANSWER % 1, tmp_path / "k.so", compiler, BuildOptions(save_temps=temps))
    assert {"k.cpp", "k.so"} <= names(temps)
    assert any(name.endswith(".s") for name in names(temps))


def test_optimisation_levels_are_checked():
    with pytest.raises(ValueError, match="opt_level is 4"):
        BuildOptions(opt_level=4)


def test_what_a_key_covers_changes_with_it(tmp_path: Path, compiler: Toolchain):
    def key(toolchain: Toolchain, options: BuildOptions) -> CacheKey:
        return CacheKey.of("k", environment_parts(toolchain, options))

    headers = tmp_path / "include"
    headers.mkdir()
    (headers / "one.h").write_text("int a;")
    variants = [
        key(compiler, BuildOptions()),
        key(compiler, BuildOptions(opt_level=2)),
        key(compiler, BuildOptions(extra_flags=("-g",))),
        key(compiler, BuildOptions(include_dirs=(headers,))),
        key(Toolchain("gcc", compiler.argv, "other", compiler.flags), BuildOptions()),
    ]
    assert len({each.digest for each in variants}) == len(variants)
    labels = [label for label, _ in variants[0].parts]
    assert labels == ["pyasc version", "compiler", "build options", "processor", "runtime headers"]


def test_a_cached_library_keeps_its_source_and_companions(tmp_path: Path, compiler: Toolchain):
    cache = KernelCache(tmp_path / "cache", 1 << 20)
    key = CacheKey.of("answer", [("source", ANSWER)])
    entry = cached_library(key, ANSWER % 5, cache, compiler, BuildOptions(), {"kernel.json": "{}"})
    assert entry.source.read_text() == ANSWER % 5
    assert entry.file("kernel.json").read_text() == "{}"
    assert load_library(entry.library).function("answer", [])() == 5
    assert cache.lookup(key) == entry


def test_a_source_that_fails_is_kept_beside_the_cache_and_no_entry_is_made(
    tmp_path: Path, compiler: Toolchain
):
    cache = KernelCache(tmp_path / "cache", 1 << 20)
    key = CacheKey.of("k", [("source", "x")])
    with pytest.raises(BuildError) as caught:
        cached_library(key, "nonsense", cache, compiler, BuildOptions())
    assert caught.value.source is not None
    assert caught.value.source.parent == cache.failed_dir
    assert cache.info().entries == 0
    assert not [name for name in names(cache.root) if name.startswith(".staging")]
