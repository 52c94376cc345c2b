# SPDX-License-Identifier: Apache-2.0
"""`pyasc opt`: passes over a file of IR."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pyasc.cli.output import print_remarks, read_text, write_text
from pyasc.ir.parser import parse
from pyasc.ir.printer import print_op
from pyasc.ir.verifier import check
from pyasc.passes.base import run_passes
from pyasc.passes.instrument import Instrument, statistics
from pyasc.passes.pipeline_parser import parse_pipeline

_HELP = """Run passes over the IR in FILE ('-' is standard input) and print the result.

\b
  pyasc opt kernel.ir --passes=inline,canonicalize,dce
  pyasc opt kernel.ir --passes='py,unroll{factor=4}' --print-ir-after=all

--passes takes names of passes, with options in braces, and of pipelines; docs/passes.md has them all.
Without it the IR is read, verified and printed again.
"""


@click.command("opt", help=_HELP, short_help="Run passes over a file of IR.")
@click.argument("file")
@click.option("--passes", default="", metavar="LIST", help="Passes and pipelines, separated by commas.")
@click.option("-o", "--output", type=Path, metavar="FILE", help="Write the result here.")
@click.option("--print-ir-after", multiple=True, metavar="PASS|all", help="Print the IR after a pass.")
@click.option("--verify/--no-verify", default=True, help="Verify the IR after each pass (on by default).")
@click.option("--level", metavar="LEVEL", help="Verify that the result is of this level: py, loop, ...")
@click.option("--pass-statistics", is_flag=True, help="Print what each pass counted.")
@click.option("--timing", is_flag=True, help="Print how long each pass took.")
@click.option("--remarks", is_flag=True, help="Print what the passes have to say about the source.")
@click.option("--locations", is_flag=True, help="Print source locations in the result.")
def opt_command(
    file: str,
    passes: str,
    output: Path | None,
    print_ir_after: tuple[str, ...],
    verify: bool,
    level: str | None,
    pass_statistics: bool,
    timing: bool,
    remarks: bool,
    locations: bool,
) -> None:
    """Parse, run, print."""
    module = parse(read_text(file), file)
    if verify:
        check(module)
    after = [name for text in print_ir_after for name in text.split(",")]
    instrument = Instrument(verify=verify, print_after=after, stream=sys.stderr)
    context = run_passes(module, parse_pipeline(passes), instrument)
    if level is not None:
        check(module, level)
    write_text(print_op(module, locations=locations) + "\n", output)
    if remarks:
        print_remarks(context.remarks)
    if pass_statistics:
        print(statistics(context), file=sys.stderr)
    if timing:
        print(instrument.timing(), file=sys.stderr)
