# SPDX-License-Identifier: Apache-2.0
"""A STAND-IN for the linker of CANN: checks the exact arguments, and links objects of the stand-in compiler."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys


def main() -> int:
    """`-m aicorelinux -Ttext=0 IN.o [IN2.o ...] -static -o OUT.o`, and nothing else."""
    words = sys.argv[1:]
    inputs = words[3:-3]
    if (
        words[:3] != ["-m", "aicorelinux", "-Ttext=0"]
        or words[-3:-1] != ["-static", "-o"]
        or not inputs
        or not all(word.endswith(".o") for word in inputs)
    ):
        print(f"stand-in for ld.lld: unexpected arguments {words}", file=sys.stderr)
        return 2
    core = os.environ["STAND_IN_CORE"]
    rpath = f"-Wl,-rpath,{os.path.dirname(core)}"
    command = [*shlex.split(os.environ["STAND_IN_CXX"]), "-shared", *inputs, core, rpath, "-o", words[-1]]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
