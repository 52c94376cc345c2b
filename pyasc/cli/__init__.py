# SPDX-License-Identifier: Apache-2.0
"""The `pyasc` command: its subcommands, how they are found, and the exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from pyasc import __version__
from pyasc.cli.failures import EXIT_CODES, report_failure

_COMMANDS: dict[str, str] = {
    "compile": "pyasc.cli.compile:compile_command",
    "run": "pyasc.cli.run:run_command",
    "show": "pyasc.cli.show:show_command",
    "check": "pyasc.cli.check:check_command",
    "explain": "pyasc.cli.explain:explain_command",
    "opt": "pyasc.cli.opt:opt_command",
    "selftest": "pyasc.cli.selftest:selftest_command",
    "info": "pyasc.cli.info:info_command",
    "cache": "pyasc.cli.cache:cache_command",
}
"""From the name of a subcommand to `module:command`, in the order of the help."""

_HELP = """Compile Python kernels to machine code and to Ascend C, run them, and look inside.

\b
  pyasc compile kernel.py -o kernel.o     an object file and its C header
  pyasc kernel.py -o kernel.o             the same
  pyasc run kernel.py --arg x=x.npy --arg y=zeros:float32:1024 --out y=y.npy
  pyasc show kernel.py --level cpp        what a kernel becomes, level by level
  pyasc check kernel.py                   mistakes in kernels, without running them
  pyasc explain PA0301                    what an error code means, and what to do
  pyasc info                              compilers and devices found here

`pyasc COMMAND --help` says more. Environment variables are in docs/environment.md.
"""


class CommandGroup(click.Group):
    """Imports a subcommand when it is asked for; takes `pyasc FILE ...` as `pyasc compile FILE ...`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _means_compile(args):
            args = ["compile", *args]
        return super().parse_args(ctx, args)


def _means_compile(args: Sequence[str]) -> bool:
    """Whether no subcommand is named but a file to compile is."""
    if not args or args[0] in _COMMANDS or args[0] in ("--help", "-h", "--version"):
        return False
    return any(word.endswith((".py", ".ir")) for word in args if not word.startswith("-"))


@click.command(
    cls=CommandGroup,
    help=_HELP,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="pyasc")
def command() -> None:
    """The group itself does nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (that of the process by default) and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = command.main(arguments, prog_name="pyasc", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        return report_failure(error)
    return code if isinstance(code, int) else 0
