# SPDX-License-Identifier: Apache-2.0
"""A folder laid out as an installation of CANN, with stand-ins in the places of its programs."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from pyasc.model.soc import runnable
from pyasc.runtime.toolchain import default_toolchain

HERE = Path(__file__).parent
_HEADERS = ("compiler/tikcpp/tikcfw", "compiler/tikcpp/tikcfw/impl", "compiler/tikcpp/tikcfw/interface")


def make_home(folder: Path, core_library: Path) -> Path:
    """Lay out the stand-in for CANN in `folder`; kernels are linked with the model's `core_library`."""
    for name in ("bin", "lib64", *_HEADERS):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _program(folder, "bisheng", "stand_in_bisheng.py", core_library)
    _program(folder, "ld.lld", "stand_in_lld.py", core_library)
    soc = folder / "soc.txt"
    # The build that the stand-in compiler is told to make flushes no data cache at the end of a kernel.
    constants = runnable("Ascend910B1").constants | {"dcache_flushed_at_end": 0.0}
    soc.write_text("".join(f"{key} {value!r}\n" for key, value in constants.items()))
    output = folder / "lib64" / "libascendcl.so"
    interface = HERE.parents[1] / "pyasc" / "model" / "src"
    options = ["-std=c++17", "-O1", "-fPIC", "-shared", f"-I{interface}", f'-DSTAND_IN_SOC="{soc}"']
    source = str(HERE / "stand_in_ascendcl.cpp")
    link = [str(core_library), f"-Wl,-rpath,{core_library.parent}", "-ldl"]
    subprocess.run(
        [*default_toolchain().library_argv, *options, source, *link, "-o", str(output)], check=True
    )
    return folder


def _program(home: Path, name: str, script: str, core_library: Path) -> None:
    root = HERE.parents[1]
    path = home / "bin" / name
    compiler = shlex.join(default_toolchain().library_argv)
    path.write_text(
        f"#!/bin/sh\nexec env PYTHONPATH='{root}' STAND_IN_HOME='{home}' STAND_IN_CORE='{core_library}' "
        f"STAND_IN_CXX={shlex.quote(compiler)} "
        f"'{sys.executable}' '{HERE / script}' \"$@\"\n"
    )
    path.chmod(0o755)
