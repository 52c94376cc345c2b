# SPDX-License-Identifier: Apache-2.0
"""`pyasc show`: what a kernel becomes, at one level or at all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from pyasc.cli.compile import ir_text, pipeline_of, unit_of
from pyasc.cli.loading import Request, lowered_kernels
from pyasc.cli.options import request_of, specialisation_options
from pyasc.cli.output import print_remarks
from pyasc.runtime.compiler import LEVELS

_HELP = """Print the kernels of FILE (Python or IR) at one level; without --level, at every level.

\b
  py          what the source says, typed
  loop        loops over loads and stores, structured operations
  structured  loops raised to structured operations, and fused
  cpu         tiled, vectorised and split over threads
  cpp         the C++ that is compiled for the cpu device
"""

CPP = "cpp"


@click.command("show", help=_HELP, short_help="Print what a kernel becomes, level by level.")
@click.argument("file")
@click.option("--level", "levels", multiple=True, type=click.Choice([*LEVELS, CPP]), help="Only this level.")
@click.option("--remarks", is_flag=True, help="Print what the passes have to say about each line.")
@specialisation_options
def show_command(
    file: str,
    levels: Sequence[str],
    remarks: bool,
    kernels: Sequence[str],
    shapes: Sequence[str],
    types: Sequence[str],
    constants: Sequence[str],
) -> None:
    """Print each level."""
    request = request_of(file, kernels, shapes, types, constants)
    shown = levels or (*LEVELS, CPP)
    for level in shown:
        if len(shown) > 1:
            print(f"// level {level}")
        print(_text(request, level), end="")
    if remarks:
        print_remarks([remark for kernel in lowered_kernels(request) for remark in kernel.remarks])


def _text(request: Request, level: str) -> str:
    if level == CPP:
        return unit_of(lowered_kernels(request)).text
    return ir_text(lowered_kernels(replace(request, pipeline=pipeline_of(level))))
