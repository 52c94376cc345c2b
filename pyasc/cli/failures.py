# SPDX-License-Identifier: Apache-2.0
"""How the command line tells a failure: a message on the error stream and an exit code for scripts."""

from __future__ import annotations

import os
import sys
import traceback

import click

from pyasc import knobs
from pyasc.ir.diagnostics import CompileError, InternalError, render_all

OK, FAILED, USAGE, MISSING, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130

EXIT_CODES = """Exit codes: 0 done; 1 the input has an error, or a kernel failed; 2 wrong usage; 3 a compiler,
device or toolchain is missing; 70 a bug in pyasc; 130 interrupted."""


# By name, so that reporting a failure imports nothing that the command has not.
_MISSING_CLASSES = frozenset({"ToolchainMissing", "DeviceMissing", "CannMissing"})


class Failure(click.ClickException):
    """A message for the user and the exit code that goes with it."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def report_failure(error: BaseException) -> int:
    """Say on the error stream what went wrong, and return the exit code. Passes on what is not a failure."""
    match error:
        case click.UsageError():
            error.show()
            return USAGE
        case Failure():
            return _say(f"error: {error.message}", error.code)
        case click.ClickException():
            return _say(f"error: {error.format_message()}", error.exit_code)
        case click.Abort() | KeyboardInterrupt():
            return _say("interrupted", INTERRUPTED)
        case BrokenPipeError():
            # The reader has gone; the interpreter must not meet the closed pipe again when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return FAILED
        case CompileError() if not any(each.code for each in error.diagnostics):
            return _say(f"error: {error}", FAILED)
        case CompileError():
            return _say(render_all(error.diagnostics, colored()), FAILED)
        case SystemExit() | GeneratorExit():
            raise error
        case _:
            return _say(*_described(error))


def _described(error: BaseException) -> tuple[str, int]:
    if isinstance(error, InternalError):
        return f"error: {error}", BUG
    if isinstance(error, MemoryError):
        return f"error: out of memory{f': {error}' if str(error) else ''}", FAILED
    if type(error).__name__ in _MISSING_CLASSES:
        return f"error: {error}", MISSING
    if isinstance(error, OSError) and type(error).__module__ == "builtins" and error.filename is not None:
        return f"error: {error.filename}: {error.strerror}", FAILED
    if isinstance(error, OSError) or (type(error).__module__.startswith("pyasc.") and not _is_bug(error)):
        return f"error: {error}", FAILED
    if knobs.read().internal_traceback:
        return "".join(traceback.format_exception(error)).rstrip() + "\nThis is a bug in pyasc.", BUG
    from pyasc.runtime.reproducers import write_traceback

    failure = InternalError(f"{type(error).__name__}: {error}", report=write_traceback(error))
    return f"error: {failure}", BUG


def _is_bug(error: BaseException) -> bool:
    return type(error).__name__ == "PassBroke"


def colored() -> bool:
    """Whether messages on the error stream may have colour codes."""
    return sys.stderr.isatty() and not knobs.read().no_color


def _say(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
