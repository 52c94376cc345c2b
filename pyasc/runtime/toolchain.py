# SPDX-License-Identifier: Apache-2.0
"""C++ compilers: which there are, what they are called by, which options they take.

Nothing is searched or run at import. `default_toolchain()` starts no process when it has met the
compiler before: its version is remembered on disk under the path, size and time of the executable.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pyasc import knobs
from pyasc.runtime.cache import default_cache
from pyasc.runtime.files import write_atomically
from pyasc.runtime.host import processor

ToolchainKind = Literal["gcc", "clang", "zig"]

COMPILERS = ("g++", "clang++", "c++")
PROBE_SECONDS = 30

# Floating-point results follow the source: no contraction, and errno and traps are not observed. Integers wrap.
_COMMON_FLAGS = (
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fopenmp-simd",
    # A kernel throws nothing, and its object must link into C programs, which have no handler of exceptions.
    "-fno-exceptions",
    "-fPIC",
)
# g++ 12 takes functions for pure that store, where the loop variable that addresses step by is rewritten, and leaves
# their calls out. In the C++ of the `cpu` device loops are called by pointers that it does not see through, since these
# options cost tiles of convolutions a sixth of their speed.
_GCC_CALLS = ("-fno-ipa-modref", "-fno-ipa-pure-const")
# g++ replaces 0.0 - x by -x where it sees that x is converted from an integer, an absolute value or a choice of
# constants, though 0.0 - 0.0 is no -0.0; it does not where the rounding mode might matter. The C++ of the `cpu` device
# hides x instead, since with this option g++ peels loops over tiles and spills registers.
_GCC_MEANING = ("-frounding-math", *_GCC_CALLS)
# g++ would keep every vector constant of a loop in a register, and spill what is computed instead; and it remarks on
# how vectors are passed to functions, which all are inlined.
_GCC_FLAGS = ("-fno-gcse", "-Wno-psabi")
# Below -O1 zig instruments code with traps for undefined behaviour.
_ZIG_FLAGS = ("-fno-sanitize=undefined",)


class ToolchainError(RuntimeError):
    """No C++ compiler could be used."""


class ToolchainMissing(ToolchainError):
    """No C++ compiler was found. The message says what to install."""

    def __init__(self, looked_for: Sequence[str]) -> None:
        super().__init__(
            f"no C++ compiler found (looked for {', '.join(looked_for)}). Install one with "
            "`apt-get install g++`, or without root with `pip install ziglang`; "
            "or name one in PYASC_CXX."
        )
        self.looked_for = tuple(looked_for)


class BuildError(ToolchainError):
    """A compiler ran and failed, or could not be started.

    `command` is what was run, `output` what it printed, `source` the C++ file kept for inspection
    (None if there is none, or if it could not be kept).
    """

    def __init__(self, reason: str, command: Sequence[str], output: str, source: Path | None = None) -> None:
        self.reason = reason
        self.command = tuple(command)
        self.output = output
        self.source = source
        super().__init__(reason)

    def __str__(self) -> str:
        lines = [self.reason, f"  command: {shlex.join(self.command)}"]
        if self.source is not None:
            lines.append(f"  source kept in: {self.source}")
        if self.output.strip():
            lines += ["  compiler output:", *(f"    {line}" for line in self.output.rstrip().splitlines())]
        return "\n".join(lines)


@dataclass(frozen=True)
class Toolchain:
    """One C++ compiler.

    `argv` is the command that compiles, `version` what the compiler says of itself, `flags` the
    options that every kernel is compiled with, `stamp` the path, size and modification time of the
    executables behind `argv`.
    """

    kind: ToolchainKind
    argv: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    stamp: str = ""

    @property
    def library_argv(self) -> tuple[str, ...]:
        """The command for C++ that others have written, so that it means what it says.

        It may use the standard library, which kernels of the `cpu` device do without and `zig cc` does not offer.
        """
        if self.kind == "zig" and self.argv[-1] == "cc":
            return (*self.argv[:-1], "c++")
        return (*self.argv, *_GCC_MEANING) if self.kind == "gcc" else self.argv

    @property
    def identity(self) -> str:
        """Text that differs whenever the compiler may produce different code. Part of cache keys."""
        commands = (shlex.join(self.argv), shlex.join(self.library_argv), shlex.join(self.flags))
        return "\n".join((self.kind, *commands, self.version, self.stamp))


def default_toolchain() -> Toolchain:
    """The compiler that PYASC_CXX names, else the first one found.

    Raises ToolchainMissing when there is none, BuildError when the one named does not run.
    """
    return _remembered_toolchain(knobs.read().cxx, tuple(os.get_exec_path()))


@lru_cache(maxsize=8)
def _remembered_toolchain(command: str | None, path: tuple[str, ...]) -> Toolchain:
    memory = default_cache().root / "compilers.json"
    return find_toolchain(command, memory)


def find_toolchain(command: str | None = None, memory: Path | None = None) -> Toolchain:
    """The toolchain of a command such as "clang++ -stdlib=libc++", or the first one that works.

    `memory` is a file that remembers versions between processes. Raises as `default_toolchain`.
    """
    if command is not None:
        try:
            argv = tuple(shlex.split(command))
        except ValueError as error:
            raise ToolchainError(f"PYASC_CXX={command!r} is not a command: {error}") from None
        if not argv or shutil.which(argv[0]) is None:
            raise ToolchainMissing([f"PYASC_CXX={command!r}"])
        return _describe(argv, memory)
    failure: BuildError | None = None
    for argv in _candidates():
        try:
            return _describe(argv, memory)
        except BuildError as error:
            failure = failure or error
    raise failure or ToolchainMissing([*COMPILERS, "the ziglang package"])


def available_toolchains(memory: Path | None = None) -> list[Toolchain]:
    """Every compiler found that runs, the one used by default first."""
    found: list[Toolchain] = []
    for argv in _candidates():
        try:
            found.append(_describe(argv, memory))
        except BuildError:
            continue
    return found


def _candidates() -> list[tuple[str, ...]]:
    found: dict[Path, tuple[str, ...]] = {}
    for name in COMPILERS:
        program = shutil.which(name)
        if program is not None:
            # `c++` is most often another name of one of the others.
            found.setdefault(Path(program).resolve(), (name,))
    zig = _zig_of_wheel()
    return [*found.values(), *([] if zig is None else [zig])]


def _zig_of_wheel() -> tuple[str, ...] | None:
    """The command of the `ziglang` wheel, or None.

    Its executable is run directly, as `python -m ziglang` would add the start of an interpreter to
    every compilation. `cc` compiles C++ as well as `c++` does, and links no C++ library, which
    kernels do not use and which zig would first have to build.
    """
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    executable = Path(spec.submodule_search_locations[0]) / "zig"
    return (str(executable), "cc") if os.access(executable, os.X_OK) else None


def _describe(argv: tuple[str, ...], memory: Path | None) -> Toolchain:
    stamp = _stamp(argv)
    key = f"{shlex.join(argv)}\n{stamp}"
    known = _read_memory(memory)
    version = known.get(key)
    if version is None:
        version = program_version(argv)
        _write_memory(memory, known | {key: version})
    kind = _kind_of(argv, version)
    return Toolchain(kind, argv, version, kernel_flags(kind, platform.machine()), stamp)


def kernel_flags(kind: ToolchainKind, machine: str) -> tuple[str, ...]:
    """The options every kernel is compiled with by a compiler of `kind` on `machine`."""
    extra = {"zig": _ZIG_FLAGS, "gcc": _GCC_FLAGS}.get(kind, ())
    return (*_COMMON_FLAGS, *_native_flags(kind, machine), *_width_flags(kind, machine), *extra)


def _width_flags(kind: ToolchainKind, machine: str) -> tuple[str, ...]:
    """Full vectors where the processor has wide ones: compilers shy away from them for fear of lower clocks.

    zig passes on no option of this kind.
    """
    if machine != "x86_64" or kind == "zig" or not processor().has("avx512f"):
        return ()
    return ("-mprefer-vector-width=512",)


def _native_flags(kind: ToolchainKind, machine: str) -> tuple[str, ...]:
    if kind == "zig" or machine in ("aarch64", "arm64", "ppc64le"):
        return ("-mcpu=native",)
    if machine in ("x86_64", "i686", "s390x"):
        return ("-march=native",)
    # On other architectures compilers differ in whether they know `native` at all.
    return ()


def _kind_of(argv: Sequence[str], version: str) -> ToolchainKind:
    names = [Path(word).name.split(".")[0] for word in argv]
    if "zig" in names or "ziglang" in names:
        return "zig"
    return "clang" if "clang" in version.lower() else "gcc"


def _stamp(argv: Sequence[str]) -> str:
    """Path, size and time of each word of the command that is a program: a wrapper counts too."""
    stamps: list[str] = []
    for word in argv:
        program = shutil.which(word)
        if program is not None:
            real = Path(program).resolve()
            status = real.stat()
            stamps.append(f"{real} {status.st_size} {status.st_mtime_ns}")
    return "; ".join(stamps)


def program_version(argv: tuple[str, ...]) -> str:
    """The first line of what a compiler says of itself. Raises BuildError."""
    command = [*argv, "--version"]
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROBE_SECONDS,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise BuildError(f"the C++ compiler did not answer in {PROBE_SECONDS} s", command, "") from None
    except OSError as error:
        raise BuildError(f"the C++ compiler could not be started: {error}", command, "") from error
    first_line = next(iter(result.stdout.splitlines()), "").strip()
    if result.returncode != 0 or not first_line:
        reason = f"the C++ compiler does not tell its version (exit status {result.returncode})"
        raise BuildError(reason, command, result.stdout)
    return first_line


def _read_memory(memory: Path | None) -> dict[str, str]:
    if memory is None:
        return {}
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {str(key): value for key, value in known.items() if isinstance(value, str)}


def _write_memory(memory: Path | None, known: dict[str, str]) -> None:
    """Best effort: a version that is not remembered is asked for again."""
    if memory is None:
        return
    try:
        write_atomically(memory, json.dumps(known, indent=1, sort_keys=True))
    except OSError:
        return
