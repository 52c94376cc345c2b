# SPDX-License-Identifier: Apache-2.0
"""From Ascend C to a device object by CANN's own compiler, without its host part ("route B" of the toolchain page).

A kernel for vector or for cube cores is one run of the compiler, a mixed one is two of the same text; `ld.lld` makes
one object of all. Which of the options are needed was never tried on a device: they are those that CANN's own
front ends pass.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyasc.codegen.ascendc.emitter import emit_ascendc, parts_of
from pyasc.codegen.ascendc.kernel import EmitOptions
from pyasc.runtime.ascend import AscendKernel, Cores, text_title
from pyasc.runtime.build import CompilerRuns
from pyasc.runtime.cann import Cann
from pyasc.runtime.compiler import cloned, module_of
from pyasc.runtime.files import naming_full_disk, private_temporary_directory, put_in_place, scratch_directory
from pyasc.runtime.toolchain import BuildError

_ARCHITECTURES = {"vector": "dav-c220-vec", "cube": "dav-c220-cube"}
_LANGUAGE = ("-c", "-x", "cce", "-std=c++17", "-O3", "-fwrapv")
_STACK = 0x8000
_DEVICE_OPTIONS = (
    "--cce-aicore-only",
    "--cce-disable-kernel-global-attr-check",
    *("-mllvm", f"-cce-aicore-stack-size={_STACK:#x}"),
    *("-mllvm", f"-cce-aicore-function-stack-size={_STACK:#x}"),
    # Kernels write their scalar results back themselves, once, at the end.
    *("-mllvm", "-cce-aicore-dcci-insert-for-scalar=false"),
    *("-mllvm", "-cce-aicore-record-overflow=false"),
    *("-mllvm", "-cce-aicore-addr-transform"),
    # Calls that keep the mask of an earlier one rely on it.
    *("-mllvm", "-cce-aicore-mask-opt=false"),
)
_MACROS = ("-D__NPU_TILING__", "-DTILING_KEY_VAR=0", "-DASCENDC_DUMP=0")
_MIX_OPTIONS = ("-cce-enable-mix", "-D__MIX_CORE_MACRO__=1")
_ONE_TO_ONE = "-D__MIX_CORE_AIC_RATION__=1"
_LINK_OPTIONS = ("-m", "aicorelinux", "-Ttext=0")

_MESSAGE = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<text>.*)$")
_ORIGIN = re.compile(r"^\s*// (\S+\.py):(\d+)$")

Show = Callable[[str], None]


@dataclass(frozen=True)
class DeviceUnit:
    """A file of Ascend C whose entries all run on the same kind of cores."""

    name: str
    text: str
    cores: Cores


def units_of(kernel: AscendKernel) -> list[DeviceUnit]:
    """The files to compile: one for all phases of a kernel that run on the same kind of cores.

    Entries of mixed ones get the address of the cores' flags as their first argument (toolchain page, 5): nothing adds
    it where the compiler is run for the device alone (assumed).
    """
    symbol = kernel.abi.symbol
    found: list[Cores] = list(dict.fromkeys(phase.cores for phase in kernel.phases))
    if len(found) == 1 and not found[0].startswith("mixed"):
        return [DeviceUnit(symbol, kernel.file.text, found[0])]
    units: list[DeviceUnit] = []
    for number, cores in enumerate(found, 1):
        entries = [kernel.module.function(phase.entry) for phase in kernel.phases if phase.cores == cores]
        parts = [part for entry in entries for part in parts_of(entry, kernel.module)]
        module = module_of([cloned(function) for function in (*entries, *parts)])
        title = text_title(kernel.abi, kernel.python_file)
        text = emit_ascendc(module, title, EmitOptions(line_comments=True, sync_parameter=True)).text
        units.append(DeviceUnit(symbol if len(found) == 1 else f"{symbol}_part{number}", text, cores))
    return units


def compile_commands(unit: DeviceUnit, cann: Cann, source: Path) -> list[tuple[list[str], Path]]:
    """The runs of the compiler for one file, each with the object that it makes."""
    mixed = unit.cores.startswith("mixed")
    mix = (*_MIX_OPTIONS, *((_ONE_TO_ONE,) if unit.cores == "mixed 1:1" else ())) if mixed else ()
    made: list[tuple[list[str], Path]] = []
    for side in ("cube", "vector") if mixed else (unit.cores,):
        output = source.with_name(f"{source.stem}_{side}.o" if mixed else f"{source.stem}.o")
        command = [str(cann.compiler), *_LANGUAGE, f"--cce-aicore-arch={_ARCHITECTURES[side]}"]
        command += [*_DEVICE_OPTIONS, *mix, *_MACROS, *_include_options(cann), str(source), "-o", str(output)]
        made.append((command, output))
    return made


def _include_options(cann: Cann) -> list[str]:
    options = [word for folder in cann.include_folders for word in ("-I", str(folder))]
    header = cann.version_header
    return options if header is None else [*options, "-I", str(header.parent), "-include", header.name]


def link_command(objects: Sequence[Path], output: Path, cann: Cann) -> list[str]:
    """The run of the linker that makes one device object."""
    return [str(cann.linker), *_LINK_OPTIONS, *map(str, objects), "-static", "-o", str(output)]


def build_device_object(
    kernels: Sequence[AscendKernel],
    output: Path,
    cann: Cann,
    show: Show | None = None,
    save_temps: Path | None = None,
) -> Path:
    """Compile the kernels into the device object `output`, which appears whole or not at all.

    `show` gets every command; `save_temps` is a folder that keeps sources and objects. Raises BuildError, with the
    Python line of each message of the compiler that has one.
    """
    output = output.absolute()
    with naming_full_disk(output.parent, output.name), scratch_directory(output.parent, ".pyasc-") as scratch:
        objects: list[Path] = []
        for kernel in kernels:
            for unit in units_of(kernel):
                objects += _compile(unit, kernel, cann, scratch, show)
        linked = scratch / output.name
        _run(link_command(objects, linked, cann), linked, show)
        if save_temps is not None:
            _keep(scratch.iterdir(), save_temps)
        put_in_place(linked, output)
    return output


def _compile(
    unit: DeviceUnit, kernel: AscendKernel, cann: Cann, scratch: Path, show: Show | None
) -> list[Path]:
    source = scratch / f"{unit.name}.cpp"
    source.write_text(unit.text, encoding="utf-8")
    made: list[Path] = []
    for command, output in compile_commands(unit, cann, source):
        try:
            _run(command, output, show)
        except BuildError as error:
            raise _told_in_python(error, unit.text, source, kernel) from None
        made.append(output)
    return made


def _run(command: Sequence[str], output: Path, show: Show | None) -> None:
    if show is not None:
        show(shlex.join(command))
    status, text = CompilerRuns().run(command, output.parent)
    name = Path(command[0]).name
    if status != 0:
        raise BuildError(f"{name} failed (exit status {status})", command, text)
    if not output.is_file():
        raise BuildError(f"{name} reported success but wrote no {output.name}", command, text)


def _told_in_python(error: BuildError, text: str, source: Path, kernel: AscendKernel) -> BuildError:
    """The error with the Python line before each message that names a line of the emitted text."""
    lines = text.splitlines()
    told: list[str] = []
    for line in error.output.splitlines():
        found = _MESSAGE.match(line)
        if found is not None and Path(found["file"]).name == source.name:
            number = python_line(lines, int(found["line"]))
            if number:
                told.append(f"{kernel.python_file}:{number}: in Ascend C: {found['text']}")
        told.append(line)
    kept = _kept(source)
    command = [str(kept) if word == str(source) and kept else word for word in error.command]
    return BuildError(error.reason, command, "\n".join(told), kept)


def _kept(source: Path) -> Path | None:
    try:
        folder = private_temporary_directory() / "failed"
        folder.mkdir(mode=0o700, exist_ok=True)
        return Path(shutil.copy(source, folder / source.name))
    except OSError:
        return None


def python_line(lines: Sequence[str], number: int) -> int:
    """The Python line that line `number` (from 1) of an emitted text came from; 0 if it says none.

    It is the nearest comment that names one, at or above the line, inside the same class or entry, and in the
    block of the line or one around it.
    """
    if not 1 <= number <= len(lines):
        return 0
    indent = _indent(lines[number - 1])
    for index in range(number - 1, -1, -1):
        line = lines[index]
        found = _ORIGIN.match(line)
        if found is not None and _indent(line) <= indent:
            return int(found[2])
        if index != number - 1 and line.startswith("}"):
            return 0
        if line.strip():
            indent = min(indent, _indent(line))
    return 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _keep(paths: Iterable[Path], folder: Path) -> None:
    with naming_full_disk(folder, "intermediate files"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.is_file, paths):
            shutil.copyfile(path, folder / path.name)
