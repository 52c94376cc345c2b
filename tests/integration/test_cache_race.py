# SPDX-License-Identifier: Apache-2.0
"""Two processes of twenty threads each race for the entries of one cache, with a real compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyasc.runtime.build import BuildOptions, cached_library, environment_parts
from pyasc.runtime.cache import CacheKey, KernelCache
from pyasc.runtime.loader import load_library
from pyasc.runtime.toolchain import find_toolchain

RACER = """
import sys, threading
from pathlib import Path
from pyasc.runtime.build import BuildOptions, cached_library, environment_parts
from pyasc.runtime.cache import CacheKey, KernelCache
from pyasc.runtime.loader import load_library
from pyasc.runtime.toolchain import find_toolchain

cache = KernelCache(Path(sys.argv[1]), 1 << 30)
toolchain = find_toolchain()
options = BuildOptions(opt_level=1)
start = threading.Barrier(20)
answers = []

def run(number):
    source = f'extern "C" int answer() {{ return {number}; }}'
    key = CacheKey.of(f"k{number}", [("source", source), *environment_parts(toolchain, options)])
    start.wait()
    entry = cached_library(key, source, cache, toolchain, options)
    answers.append((number, load_library(entry.library).function("answer", [])()))

print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=run, args=[index % 2]) for index in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(answers) == [(number, number) for number in (0, 1) for _ in range(10)], answers
"""


def race(cache: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(cache)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        _, errors = racer.communicate(timeout=120)
        assert (racer.returncode, errors) == (0, "")


def damage_library(entry: Path) -> None:
    library = entry / "kernel.so"
    library.write_bytes(library.read_bytes()[:1000])


def damage_meta(entry: Path) -> None:
    (entry / "meta.json").unlink()


def leftovers(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.name.startswith((".staging", ".trash"))]


def test_all_get_the_right_library_and_one_entry_each_remains(tmp_path: Path):
    race(tmp_path / "cache")
    assert KernelCache(tmp_path / "cache", 1 << 30).info().entries == 2
    assert leftovers(tmp_path / "cache") == []


@pytest.mark.parametrize("damage", [damage_library, damage_meta])
def test_they_repair_damaged_entries_together(tmp_path: Path, damage):
    cache = KernelCache(tmp_path / "cache", 1 << 30)
    toolchain = find_toolchain()
    options = BuildOptions(opt_level=1)
    entries = []
    for number in range(2):
        source = f'extern "C" int answer() {{ return {number}; }}'
        key = CacheKey.of(f"k{number}", [("source", source), *environment_parts(toolchain, options)])
        entries.append((number, key, cached_library(key, source, cache, toolchain, options)))
    for _, _, entry in entries:
        damage(entry.path)
    race(cache.root)
    for number, key, _ in entries:
        repaired = cache.lookup(key)
        assert repaired is not None
        assert load_library(repaired.library).function("answer", [])() == number
    assert leftovers(cache.root) == []
