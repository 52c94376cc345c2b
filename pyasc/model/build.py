# SPDX-License-Identifier: Apache-2.0
"""Builds the core library (once a machine) and kernels against it, in a cache folder of the caller.

The caller says how to compile: a function that runs a C++ compiler with the arguments it is given and raises with the
compiler's output when that fails. `argv_compiler` makes one from a command.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CompileFn = Callable[[Sequence[str]], None]

_HERE = Path(__file__).parent
INCLUDE = _HERE / "include"
_SOURCES = _HERE / "src"
# Vectors as wide as the host has them: compilers hold back, for programs that use few.
_WIDE = ("-mprefer-vector-width=512",) if platform.machine() in ("x86_64", "AMD64") else ()
# Of the core library alone: kernels may be compiled so that compilers assume no mode of rounding, which keeps loops
# from being vectors.
_CORE = ("-O3", "-march=native", "-fno-rounding-math", *_WIDE)
_COMMON = ("-std=c++17", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_KERNEL = ("-O2", "-fwrapv")
"""Of kernels alone: integers wrap in them, as in NumPy."""
_ENTRY = re.compile(
    r'extern\s+"C"\s+(?P<qualifiers>(?:__\w+__(?:\s*\([^)]*\))?\s+)+)void\s+(?P<name>[A-Za-z_]\w*)\s*\('
)
_MIX = re.compile(r"__mix__\s*\(\s*(\d)\s*,\s*(\d)\s*\)")
# Numbers of KernelMetaType in enums.h.
_UNMARKED, _AIV, _AIC = 6, 0, 1
_MIX_KINDS = {("0", "1"): 2, ("1", "0"): 3, ("1", "1"): 4, ("1", "2"): 5}


class BuildError(RuntimeError):
    """A compiler run that failed; the message holds the command and the compiler's output."""


@dataclass(frozen=True)
class Entry:
    """A kernel function of a source file and the kind its qualifiers give (a number of KernelMetaType)."""

    name: str
    kind: int


@dataclass(frozen=True)
class BuiltKernel:
    """A compiled source file: the shared library and its kernel entries."""

    source: Path
    library: Path
    core_library: Path
    entries: tuple[Entry, ...]


def argv_compiler(argv: Sequence[str]) -> CompileFn:
    """A compile function that runs `argv` followed by the arguments. Raises BuildError with the output on failure."""

    def run(arguments: Sequence[str]) -> None:
        command = [*argv, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")

    return run


def _kind_of(qualifiers: str, default: int) -> int:
    mix = _MIX.search(qualifiers)
    if mix is not None:
        return _MIX_KINDS.get((mix[1], mix[2]), _UNMARKED)
    if "__cube__" in qualifiers:
        return _AIC
    return _AIV if "__vector__" in qualifiers else default


def _default_kind(text: str) -> int:
    """A kernel that says no type and uses Matmul objects is a mixed one, or a cube one if it asks for that."""
    if "matmul_intf.h" not in text or "KERNEL_TASK_TYPE_DEFAULT" in text:
        return _UNMARKED
    return _AIC if re.search(r"#\s*define\s+ASCENDC_CUBE_ONLY", text) else _MIX_KINDS["1", "2"]


def kernel_entries(text: str) -> tuple[Entry, ...]:
    """The `extern "C"` kernel functions of an Ascend C source text, in order."""
    default = _default_kind(text)
    found = [
        m
        for m in _ENTRY.finditer(text)
        if "__global__" in m["qualifiers"]
        or "__cube__" in m["qualifiers"]
        or "__vector__" in m["qualifiers"]
        or "__mix__" in m["qualifiers"]
    ]
    return tuple(Entry(m["name"], _kind_of(m["qualifiers"], default)) for m in found)


@lru_cache(maxsize=4)
def _digest(suffix: str = "") -> str:
    """Identifies the model's C++: all of it, or the files of one suffix."""
    digest = hashlib.sha256()
    for folder in (INCLUDE, _SOURCES):
        for path in sorted(folder.rglob(f"*{suffix}")):
            if path.is_file():
                digest.update(path.name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _publish(target: Path, compile_fn: CompileFn, arguments: Sequence[str]) -> None:
    """Compiles to a private name and renames, so that a half-written library is never seen."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".tmp")
    os.close(handle)
    try:
        compile_fn([*arguments, "-o", temporary])
        os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _core_object(source: Path, headers: str, cache: Path, compile_fn: CompileFn, compiler_id: str) -> Path:
    key = _key(headers, source.read_text(encoding="utf-8"), compiler_id, *_CORE)
    target = cache / "core" / f"{source.stem}-{key}.o"
    if not target.exists():
        _publish(target, compile_fn, [*_COMMON, *_CORE, "-c", str(source)])
    return target


def core_library(cache: Path, compile_fn: CompileFn, compiler_id: str = "") -> Path:
    """The core library, built into `cache` unless it is there.

    `compiler_id` names compiler and host processor: the library is tuned for the processor, so a cache that several
    machines share must keep theirs apart.
    """
    target = cache / f"libpyasc_model-{_key(_digest(), compiler_id, *_CORE)}.so"
    if not target.exists():
        headers = _digest(".h")
        sources = sorted(_SOURCES.glob("*.cpp"))
        objects = [str(_core_object(path, headers, cache, compile_fn, compiler_id)) for path in sources]
        # The level of kernels: zig makes a C++ library for each, which takes a minute.
        _publish(target, compile_fn, ["-shared", "-O2", *objects])
    return target


def build_kernel(
    source: Path, cache: Path, compile_fn: CompileFn, compiler_id: str = "", options: Sequence[str] = ()
) -> BuiltKernel:
    """Compiles an Ascend C file for the model.

    `options` are further compiler arguments (`-D...`, `-I...`). Raises BuildError when the file has no kernel or does
    not compile.
    """
    source = source.resolve()
    text = source.read_text(encoding="utf-8")
    entries = kernel_entries(text)
    if not entries:
        raise BuildError(f'{source}: no kernel found (extern "C" __global__ __aicore__ void NAME(...))')
    core = core_library(cache, compile_fn, compiler_id)
    # The name of the library says how it was compiled: a kernel must not be loaded beside another one.
    key = _key(core.name, _digest(), compiler_id, str(source), text, *_KERNEL, *options)
    target = cache / "kernels" / f"{source.stem}-{key}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        wrapper = target.with_suffix(".cpp")
        exports = "".join(f"PYASC_MODEL_EXPORT({entry.name})\n" for entry in entries)
        wrapper.write_text(f'#include "{source}"\n{exports}', encoding="utf-8")
        _publish(
            target,
            compile_fn,
            [
                *_COMMON,
                *_KERNEL,
                "-shared",
                f"-I{INCLUDE}",
                f"-I{source.parent}",
                *options,
                str(wrapper),
                str(core),
                f"-Wl,-rpath,{core.parent}",
            ],
        )
    return BuiltKernel(source, target, core, entries)
