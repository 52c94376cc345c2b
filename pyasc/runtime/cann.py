# SPDX-License-Identifier: Apache-2.0
"""Where CANN is installed, and the programs and libraries of it that pyasc uses.

The places are those of the project's toolchain page, sections 3 and 9; nothing is run or loaded here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyasc import knobs
from pyasc.runtime.toolchain import ToolchainError

DEFAULT_HOMES = (Path("/usr/local/Ascend/ascend-toolkit/latest"), Path("/usr/local/Ascend/cann"))
"""Where the installers of CANN 8 and of later ones put the toolkit."""

COMPILERS = ("bisheng", "ccec")
LINKER = "ld.lld"
LIBRARY = "libascendcl.so"

_PROGRAM_FOLDERS = ("bin", "compiler/ccec_compiler/bin", "tools/ccec_compiler/bin")
_INCLUDE_FOLDERS = (
    "compiler/tikcpp/tikcfw",
    "compiler/tikcpp/tikcfw/impl",
    "compiler/tikcpp/tikcfw/interface",
)
_HELP = (
    "Install the CANN toolkit of Huawei and source its set_env.sh, which sets ASCEND_HOME_PATH. To run kernels without "
    'it, use asc.set_device("cpu") or "model"; `pyasc compile --emit ascendc` prints their Ascend C'
)


class CannMissing(ToolchainError):
    """CANN, or the part of it that is needed, was not found. The message says what to install."""


@dataclass(frozen=True)
class Cann:
    """An installation of CANN: its root, and the device compiler and linker in it."""

    home: Path
    compiler: Path
    linker: Path

    @property
    def include_folders(self) -> tuple[Path, ...]:
        """The folders of the Ascend C headers, in the order in which they are searched."""
        return tuple(self.home / folder for folder in _INCLUDE_FOLDERS)

    @property
    def version_header(self) -> Path | None:
        """`cann_version.h`, which kernels include first where the installation has it (assumed: not all do)."""
        folders = (self.home / "include", *self.include_folders)
        return next((f / "cann_version.h" for f in folders if (f / "cann_version.h").is_file()), None)

    @property
    def identity(self) -> str:
        """Text that differs whenever the compiler may produce different code. Part of cache keys."""
        return "; ".join(_stamp(program) for program in (self.compiler, self.linker))


def find_cann() -> Cann:
    """The installation that the environment names, else the one in a usual place. Raises CannMissing."""
    home = find_home()
    return Cann(home, _program(home, COMPILERS), _program(home, (LINKER,)))


def find_home() -> Path:
    """The root of the installation. Raises CannMissing when there is none."""
    settings = knobs.read()
    named = {"ASCEND_HOME_PATH": settings.ascend_home, "ASCEND_TOOLKIT_HOME": settings.ascend_toolkit_home}
    for variable, folder in named.items():
        if folder is not None:
            if folder.is_dir():
                return folder
            raise CannMissing(f"{variable} is {folder}, which is not a directory. {_HELP}")
    for folder in DEFAULT_HOMES:
        if folder.is_dir():
            return folder
    looked = ", ".join(map(str, DEFAULT_HOMES))
    raise CannMissing(
        f"CANN was not found (ASCEND_HOME_PATH and ASCEND_TOOLKIT_HOME are not set, and there is no {looked}). {_HELP}"
    )


def find_library(home: Path) -> Path:
    """The path of libascendcl.so, or its bare name where only the loader may know it."""
    library = home / "lib64" / LIBRARY
    return library if library.is_file() else Path(LIBRARY)


def _program(home: Path, names: Sequence[str]) -> Path:
    folders = [home / folder for folder in _PROGRAM_FOLDERS]
    for name in names:
        for folder in folders:
            if os.access(folder / name, os.X_OK):
                return folder / name
    raise CannMissing(
        f"the CANN in {home} has no {' and no '.join(names)} (looked in {', '.join(_PROGRAM_FOLDERS)}): it is "
        f"probably the runtime package alone. {_HELP}"
    )


def _stamp(program: Path) -> str:
    real = program.resolve()
    status = real.stat()
    return f"{real} {status.st_size} {status.st_mtime_ns}"
