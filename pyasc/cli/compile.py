# SPDX-License-Identifier: Apache-2.0
"""`pyasc compile`: an object file, C++, or the IR at some level, from a file of kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyasc.cli.failures import MISSING, Failure
from pyasc.cli.loading import lowered_kernels
from pyasc.cli.options import request_of, specialisation_options
from pyasc.cli.output import print_remarks, write_text
from pyasc.passes.analysis.soc import DEFAULT_SOC, soc_named
from pyasc.passes.pipelines import ascend_pipeline
from pyasc.runtime.compiler import LEVELS, PIPELINE_BY_LEVEL, LoweredKernel, Unit, emit, module_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_HELP = """Compile the kernels of FILE, a Python file or a file of IR.

\b
  pyasc compile kernel.py -o kernel.o           every kernel of the file, and kernel.h
  pyasc compile kernel.py --kernel add -o add.o
  pyasc compile kernel.py --emit cpp            the C++ that would be compiled
  pyasc compile kernel.py --emit ir=loop        the IR at the loop level
  pyasc compile kernel.py --shape N=1024 -o k.o a size known at compile time

The Python file is executed, as `python FILE` would, and the functions under @asc.kernel that it defines are
compiled into one object. C programs link it and include the header; `pyasc run` and asc.load take it too.
Parameters without a full annotation need --type or --const.
"""

_TARGETS = "cpu, ascend910b1, ascend910b2, ascend910b3, ascend910b4, ascend310p3"


@click.command("compile", help=_HELP, short_help="Compile kernels to an object file, C++ or IR.")
@click.argument("file")
@click.option("-o", "--output", type=Path, metavar="FILE", help="Where to write ('-': standard output).")
@click.option("--target", default="cpu", metavar="TARGET", help=f"One of {_TARGETS}.")
@click.option("--emit", metavar="KIND", help="obj, cpp, ascendc or ir=LEVEL (py, loop, structured, cpu).")
@click.option(
    "-O", "opt_level", type=click.IntRange(0, 3), default=3, help="How much to optimise: -O0 to -O3."
)
@click.option(
    "--save-temps", type=Path, metavar="DIR", help="Keep C++, assembly and every stage of the IR here."
)
@click.option("--remarks", is_flag=True, help="Print what the passes have to say about each line.")
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
    verbose: bool,
    kernels: Sequence[str],
    shapes: Sequence[str],
    types: Sequence[str],
    constants: Sequence[str],
) -> None:
    """Lower, emit, build."""
    kind = _kind(emit, output)
    _check_target(target, kind)
    request = request_of(file, kernels, shapes, types, constants, PIPELINE_BY_LEVEL[opt_level])
    if kind == "ascendc":
        request = replace(request, pipeline=ascend_pipeline(DEFAULT_SOC if target == "cpu" else target))
    if kind.startswith("ir="):
        request = replace(request, pipeline=pipeline_of(kind.removeprefix("ir=")))
    lowered = lowered_kernels(replace(request, dump=save_temps))
    if remarks:
        print_remarks([remark for kernel in lowered for remark in kernel.remarks])
    if kind.startswith("ir="):
        write_text(ir_text(lowered), output)
    elif kind == "cpp":
        write_text(unit_of(lowered).text, output)
    elif kind == "ascendc":
        _write_ascendc(lowered, output)
    else:
        assert output is not None
        _build(unit_of(lowered), output, opt_level, save_temps, verbose)


def _kind(emit: str | None, output: Path | None) -> str:
    """What to make. Raises UsageError for what cannot be made."""
    if emit is None:
        by_suffix = {".cpp": "cpp", ".cc": "cpp", ".ir": "ir=cpu"}
        emit = by_suffix.get(output.suffix, "obj") if output is not None else "obj"
    if emit not in ("obj", "cpp", "ascendc") and not emit.startswith("ir="):
        raise click.UsageError(f"--emit {emit!r}: expected obj, cpp, ascendc or ir=LEVEL")
    if emit == "obj" and (output is None or str(output) == "-"):
        raise click.UsageError("an object file needs a name: -o kernel.o (or --emit cpp to read the C++)")
    return emit


def _check_target(target: str, kind: str) -> None:
    """Raises Failure for a target that cannot be compiled for."""
    if target == "cpu":
        return
    if target != "cpu" and not target.lower().startswith("ascend"):
        raise click.UsageError(f"--target {target!r}: expected one of {_TARGETS}")
    if kind == "ascendc":
        soc_named(target)
        return
    raise Failure(
        f"an object for {target} needs the Ascend back end, which this version of pyasc does not have yet, and the "
        "compiler `bisheng` of CANN (install the CANN toolkit and source its set_env.sh); use --target cpu here",
        MISSING,
    )


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
    kernel = ascend_kernel(lowered[0])
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
