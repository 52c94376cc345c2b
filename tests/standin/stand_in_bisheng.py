# SPDX-License-Identifier: Apache-2.0
"""A STAND-IN for CANN's device compiler: checks the exact arguments, and compiles for pyasc's model of a core.

The arguments are those of sections 3 and 5 of the project's toolchain page, listed here independently of pyasc's own
list. Anything missing, unknown or out of place is an error with exit status 2.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from pyasc.model.build import INCLUDE, kernel_entries

VECTOR, CUBE = "--cce-aicore-arch=dav-c220-vec", "--cce-aicore-arch=dav-c220-cube"
REQUIRED = {
    "-c",
    "-std=c++17",
    "-O3",
    "-fwrapv",
    "--cce-aicore-only",
    "--cce-disable-kernel-global-attr-check",
    "-D__NPU_TILING__",
    "-DTILING_KEY_VAR=0",
    "-DASCENDC_DUMP=0",
}
OPTIONAL = {"-cce-enable-mix", "-D__MIX_CORE_MACRO__=1", "-D__MIX_CORE_AIC_RATION__=1", VECTOR, CUBE}
LLVM = {
    "-cce-aicore-stack-size=0x8000",
    "-cce-aicore-function-stack-size=0x8000",
    "-cce-aicore-dcci-insert-for-scalar=false",
    "-cce-aicore-record-overflow=false",
    "-cce-aicore-addr-transform",
    "-cce-aicore-mask-opt=false",
}
HEADERS = ("compiler/tikcpp/tikcfw", "compiler/tikcpp/tikcfw/impl", "compiler/tikcpp/tikcfw/interface")
_COMPILE = (
    "-std=c++17",
    "-fPIC",
    "-O2",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
)


class Refused(Exception):
    """An argument that the facts do not have, or lack of one that they have."""


class Arguments:
    """The command line, taken apart."""

    def __init__(self, words: list[str]) -> None:
        self.flags: set[str] = set()
        self.llvm: set[str] = set()
        self.valued: dict[str, list[str]] = {"-x": [], "-I": [], "-o": [], "-include": []}
        self.inputs: list[str] = []
        rest = iter(words)
        for word in rest:
            if word == "-mllvm":
                self.llvm.add(next(rest, ""))
            elif word in self.valued:
                self.valued[word].append(next(rest, ""))
            elif word.startswith("-"):
                self.flags.add(word)
            else:
                self.inputs.append(word)

    def check(self, home: Path) -> None:
        """Raises Refused."""
        expect("missing options", REQUIRED - self.flags, set())
        expect("unknown options", self.flags - REQUIRED - OPTIONAL, set())
        expect("options for LLVM", self.llvm, LLVM)
        expect("language", self.valued["-x"], ["cce"])
        expect("headers", self.valued["-I"][:3], [str(home / folder) for folder in HEADERS])
        if len(self.inputs) != 1 or len(self.valued["-o"]) != 1:
            raise Refused("expected one input and one output")
        if len(self.flags & {VECTOR, CUBE}) != 1:
            raise Refused("expected one architecture")
        mixed = {"-cce-enable-mix", "-D__MIX_CORE_MACRO__=1"}
        if len(self.flags & mixed) == 1:
            raise Refused("-cce-enable-mix and -D__MIX_CORE_MACRO__=1 go together")

    @property
    def mixed(self) -> bool:
        return "-cce-enable-mix" in self.flags

    @property
    def cube(self) -> bool:
        return CUBE in self.flags


def expect(what: str, found: object, wanted: object) -> None:
    """Raises Refused when they differ."""
    if found != wanted:
        raise Refused(f"{what}: {found}, expected {wanted}")


def check_cores(text: str, arguments: Arguments) -> None:
    """Raises Refused for kernels that say they run on other cores than they are compiled for."""
    marked = set(re.findall(r"KERNEL_TASK_TYPE_DEFAULT\((\w+)\)", text)) or {"KERNEL_TYPE_AIV_ONLY"}
    if arguments.mixed:
        ratio = "1_1" if "-D__MIX_CORE_AIC_RATION__=1" in arguments.flags else "1_2"
        expect("kernel types", marked, {f"KERNEL_TYPE_MIX_AIC_{ratio}"})
    else:
        expect("kernel types", marked, {"KERNEL_TYPE_AIC_ONLY" if arguments.cube else "KERNEL_TYPE_AIV_ONLY"})


def compile_for_model(source: Path, output: Path, empty: bool) -> int:
    """An object with the kernels of a file; `empty` for the second half of a mixed kernel, which the first one has."""
    text = source.read_text(encoding="utf-8")
    entries = kernel_entries(text)
    wrapper = output.with_suffix(".stand-in.cpp")
    lines = [f'#include "{source}"']
    for entry in entries:
        lines += [
            f"PYASC_MODEL_EXPORT({entry.name})",
            f'extern "C" __attribute__((visibility("default"))) const int stand_in_kind_{entry.name} = {entry.kind};',
        ]
    wrapper.write_text("" if empty else "\n".join(lines) + "\n", encoding="utf-8")
    # What the real compiler knows by itself.
    builtins = str(Path(__file__).with_name("stand_in_builtins.h"))
    command = [*shlex.split(os.environ["STAND_IN_CXX"]), *_COMPILE, "-include", builtins, f"-I{INCLUDE}"]
    return subprocess.run([*command, "-c", str(wrapper), "-o", str(output)], check=False).returncode


def main() -> int:
    """Check and compile."""
    home = Path(os.environ["STAND_IN_HOME"])
    if sys.argv[1:] == ["--version"]:
        print("stand-in for bisheng, not the compiler of CANN")
        return 0
    arguments = Arguments(sys.argv[1:])
    try:
        arguments.check(home)
        source = Path(arguments.inputs[0])
        check_cores(source.read_text(encoding="utf-8"), arguments)
    except Refused as error:
        print(f"stand-in for bisheng: {error}", file=sys.stderr)
        return 2
    return compile_for_model(source, Path(arguments.valued["-o"][0]), arguments.mixed and not arguments.cube)


if __name__ == "__main__":
    sys.exit(main())
