# SPDX-License-Identifier: Apache-2.0
"""Finding compilers, remembering their versions, and the identity of the processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyasc.runtime import toolchain as module
from pyasc.runtime.host import parse_cpuinfo, processor, vectors
from pyasc.runtime.toolchain import (
    BuildError,
    Toolchain,
    ToolchainError,
    ToolchainKind,
    ToolchainMissing,
    find_toolchain,
    kernel_flags,
)


def script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is the whole PATH, on a machine without the ziglang wheel."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("PYASC_CXX", raising=False)
    monkeypatch.setattr(module, "_zig_of_wheel", lambda: None)
    return path


def test_a_compiler_of_this_machine_is_found():
    found = find_toolchain()
    assert found.kind in ("gcc", "clang", "zig")
    assert found.version
    assert "-ffp-contract=off" in found.flags


def test_without_a_compiler_the_error_says_what_to_install(only: Path):
    with pytest.raises(ToolchainMissing, match=r"apt-get install g\+\+.*pip install ziglang.*PYASC_CXX"):
        find_toolchain()


def test_a_named_compiler_that_does_not_exist(only: Path):
    with pytest.raises(ToolchainMissing, match="PYASC_CXX='no-such-compiler -x'"):
        find_toolchain("no-such-compiler -x")


def test_a_command_that_cannot_be_read():
    with pytest.raises(ToolchainError, match="is not a command: No closing quotation"):
        find_toolchain("g++ '")


def test_an_empty_command_is_no_compiler():
    with pytest.raises(ToolchainMissing):
        find_toolchain("  ")


def test_gxx_comes_before_clangxx(only: Path):
    script(only / "clang++", "echo clang version 17.0.1")
    assert find_toolchain().kind == "clang"
    script(only / "g++", "echo 'g++ (Distribution) 13.2.0'")
    assert find_toolchain().kind == "gcc"
    assert [each.kind for each in module.available_toolchains()] == ["gcc", "clang"]


def test_a_broken_compiler_is_passed_over_when_another_works(only: Path):
    script(only / "g++", "echo broken; exit 1")
    script(only / "clang++", "echo clang version 17.0.1")
    assert find_toolchain().argv == ("clang++",)


def test_a_broken_compiler_alone_shows_what_it_printed(only: Path):
    script(only / "g++", "echo 'error while loading shared libraries' >&2; exit 127")
    with pytest.raises(BuildError, match=r"(?s)exit status 127.*g\+\+ --version.*error while loading"):
        find_toolchain()


def test_a_compiler_that_cannot_be_executed(only: Path):
    script(only / "g++", "").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(BuildError, match="could not be started"):
        find_toolchain("g++")


def test_a_compiler_that_hangs(only: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.2)
    script(only / "g++", "exec /bin/sleep 20")
    with pytest.raises(BuildError, match="did not answer"):
        find_toolchain("g++")


def test_a_command_keeps_its_own_options(only: Path):
    script(only / "cxx", "echo 'g++ (Distribution) 13.2.0'")
    assert find_toolchain("cxx -m32 '-DX=a b'").argv == ("cxx", "-m32", "-DX=a b")


@pytest.mark.parametrize("command", ["python -m ziglang c++", "/opt/zig/zig c++", "zig cc"])
def test_zig_is_known_by_its_name(command: str):
    assert module._kind_of(command.split(), "clang version 18.1.6") == "zig"


def test_a_remembered_version_starts_no_process(only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    memory = tmp_path / "compilers.json"
    script(only / "g++", "echo 'g++ (Distribution) 13.2.0'")
    first = find_toolchain(memory=memory)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", forbidden)
    assert find_toolchain(memory=memory) == first


def test_a_changed_executable_is_asked_again(only: Path, tmp_path: Path):
    memory = tmp_path / "compilers.json"
    compiler = script(only / "g++", "echo 'g++ (Distribution) 13.2.0'")
    first = find_toolchain(memory=memory)
    script(compiler, "echo 'g++ (Distribution) 14.1.0'")
    os.utime(compiler, ns=(1, 1))
    second = find_toolchain(memory=memory)
    assert second.version == "g++ (Distribution) 14.1.0"
    assert second.identity != first.identity


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"g++": 3}'])
def test_a_damaged_memory_is_ignored(only: Path, tmp_path: Path, text: str):
    memory = tmp_path / "compilers.json"
    memory.write_text(text)
    script(only / "g++", "echo 'g++ (Distribution) 13.2.0'")
    assert find_toolchain(memory=memory).version == "g++ (Distribution) 13.2.0"


def test_a_memory_that_cannot_be_written_is_done_without(only: Path, tmp_path: Path):
    script(only / "g++", "echo 'g++ (Distribution) 13.2.0'")
    assert find_toolchain(memory=tmp_path / "missing" / "compilers.json").kind == "gcc"


@pytest.mark.parametrize(
    ("kind", "machine", "native"),
    [
        ("gcc", "x86_64", "-march=native"),
        ("clang", "x86_64", "-march=native"),
        ("gcc", "aarch64", "-mcpu=native"),
        ("clang", "aarch64", "-mcpu=native"),
        ("zig", "x86_64", "-mcpu=native"),
        ("zig", "aarch64", "-mcpu=native"),
    ],
)
def test_code_is_for_this_processor(kind: module.ToolchainKind, machine: str, native: str):
    flags = kernel_flags(kind, machine)
    assert [flag for flag in flags if "native" in flag] == [native]


def test_an_architecture_without_native_gets_the_compilers_default():
    assert not any("native" in flag for flag in kernel_flags("gcc", "riscv64"))


def test_importing_looks_for_nothing():
    code = "import pyasc.runtime.toolchain, pyasc.runtime.build, pyasc.runtime.threads"
    environment = {
        "PATH": "",
        "PYASC_CXX": "no-such",
        "PYASC_CACHE_DIR": "/proc/none",
        "PYASC_NUM_THREADS": "x",
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


X86 = """\
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
stepping : 7
cpu MHz : {mhz}
flags : fpu sse2 avx2 {extra}

processor : 1
vendor_id : Other
flags : none
"""
ARM = """\
processor : 0
BogoMIPS : 200.00
Features : fp asimd sve
CPU implementer : 0x48
CPU part : 0xd01
"""


def test_the_processor_is_the_first_one_without_what_varies():
    one = parse_cpuinfo(X86.format(mhz="2100.1", extra="avx512f").splitlines(), "x86_64")
    assert one.features == ("avx2", "avx512f", "fpu", "sse2")
    assert one.model == "GenuineIntel/6/85/7"
    again = parse_cpuinfo(X86.format(mhz="800.0", extra="avx512f").splitlines(), "x86_64")
    assert again.identity == one.identity
    weaker = parse_cpuinfo(X86.format(mhz="2100.1", extra="").splitlines(), "x86_64")
    assert weaker.identity != one.identity


def test_an_arm_processor():
    assert parse_cpuinfo(ARM.splitlines(), "aarch64").identity == "aarch64 0x48/0xd01 asimd fp sve"


def test_a_machine_that_tells_nothing():
    assert parse_cpuinfo([], "riscv64").identity == "riscv64 unknown"


def test_the_processor_of_this_machine_is_read_once():
    assert processor() is processor()
    assert processor().machine


@pytest.mark.parametrize(
    ("kind", "argv"), [("gcc", ("g++",)), ("clang", ("clang++",)), ("zig", ("zig", "cc"))]
)
def test_the_identity_names_all_that_code_depends_on(kind: ToolchainKind, argv: tuple[str, ...]) -> None:
    """Code for the model is kept by it, and compiled by another command than kernels."""
    toolchain = Toolchain(kind, argv, "1", ("-O3",))
    assert all(each in toolchain.identity for each in (*toolchain.library_argv, *toolchain.flags))
    assert ("-frounding-math" in toolchain.library_argv) == (kind == "gcc")


@pytest.mark.parametrize(
    "lines, machine, expected",
    [
        (X86.format(mhz="1", extra="avx avx2 avx512f"), "x86_64", (64, 32)),
        (X86.format(mhz="1", extra="avx avx2 fma"), "x86_64", (32, 16)),
        (X86.format(mhz="1", extra=""), "x86_64", (16, 16)),
        (ARM, "aarch64", (16, 26)),
    ],
)
def test_the_vector_registers_of_a_processor(
    lines: str, machine: str, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = parse_cpuinfo(lines.splitlines(), machine)
    monkeypatch.setattr("pyasc.runtime.host.processor", lambda: here)
    monkeypatch.delenv("PYASC_VECTORS", raising=False)
    assert vectors() == expected
    monkeypatch.setenv("PYASC_VECTORS", "32x8")
    assert vectors() == (32, 8)
