# SPDX-License-Identifier: Apache-2.0
"""A disk that is really full: a tiny file system in memory, which only root can mount."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyasc.runtime.build import BuildOptions, build_shared, cached_library
from pyasc.runtime.cache import CacheKey, KernelCache
from pyasc.runtime.files import DiskFullError
from pyasc.runtime.toolchain import find_toolchain

SOURCE = 'extern "C" int answer() { return 42; }\n'


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("no permission to mount a file system")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, leave: int) -> None:
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
        file.truncate(max(0, file.tell() - leave))


@pytest.mark.parametrize("leave", [0, 4096, 8192, 12288])
def test_a_full_disk_gives_one_error_and_leaves_nothing(small_disk: Path, leave: int):
    toolchain = find_toolchain()
    if toolchain.kind == "zig" and leave > 4096:
        pytest.skip("what zig writes would fit")
    cache = KernelCache(small_disk / "cache", 1 << 30)
    fill(small_disk, leave)
    before = sorted(small_disk.rglob("*"))
    with pytest.raises(DiskFullError, match=f"disk full while writing .* to {small_disk}"):
        cached_library(CacheKey.of("k", []), SOURCE, cache, toolchain, BuildOptions())
    with pytest.raises(DiskFullError, match="free some space, or choose another place"):
        build_shared(SOURCE, small_disk / "k.so", toolchain)
    assert sorted(small_disk.rglob("*")) == before
