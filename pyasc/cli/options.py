# SPDX-License-Identifier: Apache-2.0
"""Options that several subcommands share, and how their values are read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from pyasc.cli.loading import Request, parse_type

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_SPECIALISATION = (
    click.option("--kernel", "kernels", multiple=True, metavar="NAME", help="Only this kernel (may repeat)."),
    click.option("--shape", "shapes", multiple=True, metavar="N=1024", help="Fix a symbolic size."),
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="x=float32[N,4]",
        help="What an unannotated parameter takes.",
    ),
    click.option("--const", "constants", multiple=True, metavar="k=3", help="The value of an asc.constexpr."),
)


def specialisation_options(command: CommandT) -> CommandT:
    """Adds --kernel, --shape, --type and --const."""
    for option in reversed(_SPECIALISATION):
        command = option(command)
    return command


def request_of(
    file: str,
    kernels: Sequence[str] = (),
    shapes: Sequence[str] = (),
    types: Sequence[str] = (),
    constants: Sequence[str] = (),
    pipeline: str = "cpu",
) -> Request:
    """What the options ask for. Raises UsageError for a value that cannot be read."""
    return Request(
        file,
        tuple(kernels),
        {name: _size(text) for name, text in pairs("--shape", shapes)},
        {name: _read("--type", parse_type, text) for name, text in pairs("--type", types)},
        {name: _read("--const", ast.literal_eval, text) for name, text in pairs("--const", constants)},
        pipeline,
    )


def pairs(option: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """`NAME=VALUE` texts taken apart. Raises UsageError, also for a name that is given twice but to `--out`."""
    found: list[tuple[str, str]] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier() or not value.strip():
            raise click.UsageError(f"{option} {text!r}: expected NAME=VALUE")
        found.append((name.strip(), value.strip()))
    if option != "--out":
        refuse_twice(option, [name for name, _ in found])
    return found


def refuse_twice(option: str, names: Sequence[str]) -> None:
    """Raises UsageError for a name that has two values."""
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise click.UsageError(f"{option} {twice} is given twice")


def _size(text: str) -> int:
    if not text.isdigit():
        raise click.UsageError(f"--shape: {text!r} is not a size, which is a whole number such as 1024")
    return int(text)


def _read(option: str, parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except (ValueError, SyntaxError) as error:
        raise click.UsageError(f"{option}: {error}") from None
