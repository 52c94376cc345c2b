# SPDX-License-Identifier: Apache-2.0
"""`pyasc compile`: an object file, C++, or the IR at some level, from a file of kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyasc.cli.failures import Failure
from pyasc.cli.loading import lowered_kernels
from pyasc.cli.options import request_of, specialisation_options
from pyasc.cli.output import print_remarks, write_text
from pyasc.passes.analysis.soc import DEFAULT_SOC, SOCS, soc_named
from pyasc.runtime.cann import Cann, find_cann
from pyasc.runtime.compiler import LEVELS, PIPELINE_BY_LEVEL, LoweredKernel, Unit, emit, module_of
from pyasc.runtime.files import is_special

if TYPE_CHECKING:
    from collections.abc import Iterator


_HELP = """Compile the kernels of FILE, a Python file or a file of IR.

\b
  pyasc compile kernel.py -o kernel.o           every kernel of the file, and kernel.h
  pyasc compile kernel.py --kernel add -o add.o
  pyasc compile kernel.py --emit cpp            the C++ that would be compiled
  pyasc compile kernel.py --emit ascendc        Ascend C, with --line-comments to see where it comes from
  pyasc compile kernel.py --target ascend910b1 -o kernel.o     an object for an NPU, by the compiler of CANN
  pyasc compile kernel.py --emit ir=loop        the IR at the loop level
  pyasc compile kernel.py --shape N=1024 -o k.o a size known at compile time

The Python file is executed, as `python FILE` would, and the functions under @asc.kernel that it defines are
compiled into one object. C programs link it and include the header; `pyasc run` and asc.load take it too.
Parameters without a full annotation need --type or --const.
"""

_TARGETS = ", ".join(["cpu", *(name for name, soc in SOCS.items() if soc.arch.emitted)])


@click.command("compile", help=_HELP, short_help="Compile kernels to an object file, C++ or IR.")
@click.argument("file")
@click.option("-o", "--output", type=Path, metavar="FILE", help="Where to write ('-': standard output).")
@click.option(
    "--target", default="cpu", metavar="TARGET", help=f"One of {_TARGETS}; the object for a SoC needs CANN."
)
@click.option("--emit", metavar="KIND", help="obj, cpp, ascendc or ir=LEVEL (py, loop, structured, cpu).")
@click.option(
    "-O", "opt_level", type=click.IntRange(0, 3), default=3, help="How much to optimise: -O0 to -O3."
)
@click.option(
    "--save-temps", type=Path, metavar="DIR", help="Keep C++, assembly and every stage of the IR here."
)
@click.option("--remarks", is_flag=True, help="Print what the passes have to say about each line.")
@click.option(
    "--line-comments", is_flag=True, help="Name the Python line of each statement of C++ and Ascend C."
)
@click.option("-v", "--verbose", is_flag=True, help="Print the commands that are run.")
@specialisation_options
def compile_command(
    file: str,
    output: Path | None,
    target: str,
    emit: str | None,
    opt_level: int,
    save_temps: Path | None,
    remarks: bool,
    line_comments: bool,
    verbose: bool,
    kernels: Sequence[str],
    shapes: Sequence[str],
    types: Sequence[str],
    constants: Sequence[str],
) -> None:
    """Lower, emit, build."""
    _check_target(target)
    kind = _kind(emit, output, target)
    request = request_of(file, kernels, shapes, types, constants, PIPELINE_BY_LEVEL[opt_level])
    for_soc = kind == "obj" and target != "cpu"
    cann = find_cann() if for_soc else None
    if kind == "ascendc" or for_soc:
        request = replace(request, pipeline="ascend", soc=DEFAULT_SOC if target == "cpu" else target)
    if kind.startswith("ir="):
        request = replace(request, pipeline=pipeline_of(kind.removeprefix("ir=")))
    lowered = lowered_kernels(replace(request, dump=save_temps))
    if line_comments:
        lowered = [replace(kernel, line_comments=True) for kernel in lowered]
    if remarks:
        print_remarks([remark for kernel in lowered for remark in kernel.remarks])
    if kind.startswith("ir="):
        write_text(ir_text(lowered), output)
    elif kind == "cpp":
        write_text(unit_of(lowered).text, output)
    elif kind == "ascendc":
        _write_ascendc(lowered, output)
    elif cann is not None:
        assert output is not None
        _build_for_soc(lowered, target.lower(), output, cann, save_temps, verbose)
    else:
        assert output is not None
        _build(unit_of(lowered), output, opt_level, save_temps, verbose)


def _kind(emit: str | None, output: Path | None, target: str) -> str:
    """What to make. Raises UsageError for what cannot be made."""
    if emit is None:
        text = "cpp" if target == "cpu" else "ascendc"
        by_suffix = {".cpp": text, ".cc": text, ".ir": "ir=cpu"}
        emit = by_suffix.get(output.suffix, "obj") if output is not None else "obj"
    if emit not in ("obj", "cpp", "ascendc") and not emit.startswith("ir="):
        raise click.UsageError(f"--emit {emit!r}: expected obj, cpp, ascendc or ir=LEVEL")
    if emit == "cpp" and target != "cpu":
        raise click.UsageError(f"--emit cpp is C++ for the processor; --emit ascendc is the C++ for {target}")
    if emit == "obj" and (output is None or str(output) == "-"):
        raise click.UsageError("an object file needs a name: -o kernel.o (or --emit cpp to read the C++)")
    if emit == "obj" and output is not None and is_special(output):
        kind = "a folder" if output.is_dir() else "no regular file"
        raise click.UsageError(f"{output} is {kind}; an object file needs a name of its own: -o kernel.o")
    return emit


def _check_target(target: str) -> None:
    """Raises UsageError or UnsupportedError for a target that cannot be compiled for."""
    if target == "cpu":
        return
    if not target.lower().startswith("ascend"):
        raise click.UsageError(f"--target {target!r}: expected one of {_TARGETS}")
    soc_named(target)


def pipeline_of(level: str) -> str:
    """The pipeline that ends at a level. Raises UsageError for one that is not known."""
    if level not in LEVELS:
        raise click.UsageError(f"there is no level {level!r}; the levels are {', '.join(LEVELS)}")
    return LEVELS[level]


def ir_text(lowered: Sequence[LoweredKernel]) -> str:
    """The IR of all kernels in one module."""
    whole = module_of(func for kernel in lowered for func in kernel.module.functions)
    return f"{whole}\n"


def _write_ascendc(lowered: Sequence[LoweredKernel], output: Path | None) -> None:
    """The Ascend C of a kernel, and beside a file the function for the host. Raises Failure for several kernels."""
    from pyasc.runtime.ascend import ascend_kernel

    if len(lowered) > 1:
        names = ", ".join(kernel.abi.name for kernel in lowered)
        raise Failure(f"Ascend C has one file a kernel, and there are {names}: say which with --kernel")
    kernel = ascend_kernel(lowered[0], lowered[0].line_comments)
    write_text(kernel.file.text, output)
    if output is not None and str(output) != "-":
        write_text(kernel.host, output.with_name(f"{output.stem}_host{output.suffix}"))


def unit_of(lowered: Sequence[LoweredKernel]) -> Unit:
    """The C++ of all kernels."""
    return emit(lowered)


def _build(unit: Unit, output: Path, opt_level: int, save_temps: Path | None, verbose: bool) -> None:
    from pyasc.runtime.build import BuildOptions
    from pyasc.runtime.build import compile_command as command_line
    from pyasc.runtime.cpu import module_description
    from pyasc.runtime.objects import build_kernel_object
    from pyasc.runtime.toolchain import default_toolchain

    toolchain = default_toolchain()
    options = BuildOptions(opt_level, save_temps=save_temps)
    if verbose:
        command = command_line("object", output.with_suffix(".cpp"), output, toolchain, options)
        print(" ".join(command), file=sys.stderr)
    names = ", ".join(abi.name for abi in unit.abis)
    with progress(f"compiling {names} with {toolchain.argv[0]}"):
        header = build_kernel_object(unit.text, module_description(unit), output, toolchain, options)
    if verbose:
        print(f"wrote {output} and {header}", file=sys.stderr)


def _build_for_soc(
    lowered: Sequence[LoweredKernel],
    target: str,
    output: Path,
    cann: Cann,
    save_temps: Path | None,
    verbose: bool,
) -> None:
    """A device object by the compiler of CANN, its header, and the host's part of each kernel."""
    from pyasc.runtime.ascend import ascend_kernel
    from pyasc.runtime.device_object import build_described_object

    kernels = [ascend_kernel(kernel, line_comments=True) for kernel in lowered]
    names = ", ".join(kernel.abi.name for kernel in kernels)
    show = partial(print, file=sys.stderr) if verbose else None
    with progress(f"compiling {names} with {cann.compiler.name}"):
        header = build_described_object(kernels, target, output, cann, show, save_temps)
    if verbose:
        print(f"wrote {output} and {header}", file=sys.stderr)


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Shows what is being done while it lasts, on a terminal."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"{text} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print(f"\r{' ' * (len(text) + 4)}\r", end="", file=sys.stderr, flush=True)
