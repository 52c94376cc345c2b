# SPDX-License-Identifier: Apache-2.0
"""Runs the RUN lines of lit tests in this process, which saves an interpreter for each command.

A RUN line is commands joined by ` | ` and ` && `, each `[not] NAME ARGUMENT...`, with `2>&1`,
`> FILE` and `< FILE` as words of their own. `%s` is the test file, `%S` its directory, `%t` a
scratch file, `%%` a per cent sign. The commands are those of `COMMANDS`; `tests/lit/lit.cfg.py`
gives the same to the real lit.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from unittest.mock import patch

import golden

Command = Callable[[list[str]], "int | None"]

_RUN = re.compile(r"(?://|#)\s*RUN:\s?(.*)$", re.MULTILINE)
_SUBSTITUTION = re.compile(r"%[sSt%]")


VECTORS = "64x32"
"""The vector registers that expected C++ is written for, on every machine."""


class LitFailure(Exception):
    """A RUN line failed; the text shows the command, its exit code and what it wrote."""


@dataclass
class Step:
    """One command of a pipe."""

    argv: list[str] = field(default_factory=list)
    inverted: bool = False
    merge_stderr: bool = False
    stdin: str | None = None
    stdout: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    stdout: str
    stderr: str


def run_lines(text: str) -> list[str]:
    """The RUN lines of a test, those that end in a backslash joined with the next."""
    lines: list[str] = []
    joined = False
    for line in _RUN.findall(text):
        if joined:
            lines[-1] += line.strip()
        else:
            lines.append(line.strip())
        joined = line.rstrip().endswith("\\")
        if joined:
            lines[-1] = lines[-1].removesuffix("\\")
    return lines


def run_test(path: Path, scratch: Path, *, update_golden: bool = False) -> None:
    """Runs every RUN line of `path`. Raises LitFailure at the first that fails."""
    values = {"%s": str(path), "%S": str(path.parent), "%t": str(scratch), "%%": "%"}
    for line in run_lines(path.read_text(encoding="utf-8")):
        words = [_SUBSTITUTION.sub(lambda found: values[found[0]], word) for word in shlex.split(line)]
        for pipe in _split(words, "&&"):
            _run_pipe([_parse_step(part) for part in _split(pipe, "|")], line, update_golden)


def _split(words: list[str], separator: str) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == separator:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _parse_step(words: list[str]) -> Step:
    step = Step()
    rest = iter(words)
    for word in rest:
        if word == "2>&1":
            step.merge_stderr = True
        elif word == ">":
            step.stdout = next(rest)
        elif word == "<":
            step.stdin = next(rest)
        elif word == "not" and not step.argv:
            step.inverted = True
        else:
            step.argv.append(word)
    return step


def _run_pipe(steps: list[Step], line: str, update_golden: bool) -> None:
    piped = ""
    for step in steps:
        stdin = Path(step.stdin).read_text(encoding="utf-8") if step.stdin else piped
        outcome = _run_step(step, stdin, update_golden)
        if (outcome.code != 0) != step.inverted:
            raise LitFailure(_report(line, step, outcome, stdin))
        piped = outcome.stdout
        if step.stdout is not None:
            Path(step.stdout).write_text(piped, encoding="utf-8")
            piped = ""


def _run_step(step: Step, stdin: str, update_golden: bool) -> Outcome:
    name, *arguments = step.argv
    command = COMMANDS.get(name)
    if command is None:
        raise LitFailure(f"RUN lines know {', '.join(COMMANDS)}, not {name!r}")
    if name == "golden" and update_golden:
        arguments = ["--update", *arguments]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = out if step.merge_stderr else io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with _process(name, arguments, stdin, out, err):
        code = _exit_code(command, arguments)
    return Outcome(code, _text(out), "" if step.merge_stderr else _text(err))


@contextmanager
def _process(
    name: str, arguments: list[str], stdin: str, out: io.TextIOWrapper, err: io.TextIOWrapper
) -> Iterator[None]:
    """Gives the command the streams and the argument list that a process of its own would have."""
    with ExitStack() as stack:
        source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        stack.enter_context(patch.object(sys, "stdin", source))
        stack.enter_context(patch.object(sys, "argv", [name, *arguments]))
        stack.enter_context(patch.dict(os.environ, PYASC_VECTORS=VECTORS))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        yield


def _exit_code(command: Command, arguments: list[str]) -> int:
    try:
        return command(arguments) or 0
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def _report(line: str, step: Step, outcome: Outcome, stdin: str) -> str:
    head = f"RUN: {line}\n{shlex.join(step.argv)}: exit code {outcome.code}"
    parts = {"standard input": stdin, "standard output": outcome.stdout, "standard error": outcome.stderr}
    shown = [f"--- {title}\n{text.rstrip()}" for title, text in parts.items() if text]
    return "\n".join([head + (", and failure was expected" if step.inverted else ""), *shown])


def _pyasc(arguments: list[str]) -> int | None:
    return resolve_name("pyasc.cli:main")(arguments)


def _filecheck(arguments: list[str]) -> None:
    from filecheck.main import main

    main(["filecheck", *arguments])


def _cat(arguments: list[str]) -> None:
    for name in arguments:
        sys.stdout.write(Path(name).read_text(encoding="utf-8"))


COMMANDS: dict[str, Command] = {
    "pyasc": _pyasc,
    "filecheck": _filecheck,
    "golden": golden.main,
    "cat": _cat,
}
