# SPDX-License-Identifier: Apache-2.0
"""The compilers that tests call themselves: those that pyasc finds, so that any one of them is enough."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from pyasc.runtime.toolchain import Toolchain, ToolchainError, default_toolchain

_C_DRIVERS = {"gcc": ("gcc", "cc"), "clang": ("clang", "cc")}


@lru_cache(maxsize=1)
def _found() -> Toolchain | None:
    try:
        return default_toolchain()
    except ToolchainError:
        return None


needs_compiler = pytest.mark.skipif(_found() is None, reason="no C++ compiler")


def cxx() -> list[str]:
    """The command of the C++ compiler that pyasc finds, with the standard library."""
    return list(default_toolchain().library_argv)


def c_driver(toolchain: Toolchain) -> list[str]:
    """The command that compiles and links C beside a C++ compiler. Skips the test where there is none."""
    if toolchain.kind == "zig":
        return list(toolchain.argv)
    driver = next((name for name in _C_DRIVERS[toolchain.kind] if shutil.which(name)), None)
    if driver is None:
        pytest.skip(f"no C compiler beside {toolchain.argv[0]}")
    return [driver]


def compile_without_warnings(command: Sequence[str], source: Path) -> None:
    """Compile a file to nothing, warnings being errors. Not by `-fsyntax-only`, which zig's driver does not know."""
    with tempfile.TemporaryDirectory(prefix="pyasc-warnings-") as folder:
        arguments = ["-Wall", "-Werror", "-c", str(source), "-o", f"{folder}/nothing.o"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
