# SPDX-License-Identifier: Apache-2.0
"""The hook between passes: prints, verifies, times and dumps, as asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from pyasc.ir.dialects.func import Module
from pyasc.passes.base import Context, Hook, Pass


@dataclass
class Instrument(Hook):
    """One hook for everything that may happen between passes.

    `print_after` holds pass names or `"all"`; with `only_changes`, a pass that changed nothing prints nothing.
    `dump` is a directory that receives one file for each pass. `seconds` fills up with the time of each pass.
    """

    verify: bool = False
    print_after: Collection[str] = ()
    only_changes: bool = False
    dump: Path | None = None
    first_number: int = 0
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    seconds: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    _started: float = 0.0
    _number: int = 0

    def before(self, each: Pass, module: Module, context: Context) -> None:
        """Start the clock."""
        self._started = time.perf_counter()

    def after(self, each: Pass, module: Module, context: Context, changed: bool) -> None:
        """Stop the clock, then print, dump and verify."""
        elapsed = time.perf_counter() - self._started
        self.seconds[each.name] = self.seconds.get(each.name, 0.0) + elapsed
        if self._prints(each.name, changed):
            self.stream.write(f"// after {each.name}{'' if changed else ' (no change)'}\n{module}\n")
        if self.dump is not None:
            self.dump.mkdir(parents=True, exist_ok=True)
            name = f"{self.first_number + self._number:02}-{each.name}.ir"
            (self.dump / name).write_text(f"{module}\n", encoding="utf-8")
        self._number += 1
        if self.verify:
            _verify(each.name, module)

    def _prints(self, name: str, changed: bool) -> bool:
        wanted = name in self.print_after or "all" in self.print_after
        return wanted and (changed or not self.only_changes)

    def timing(self) -> str:
        """A table of the time each pass took, longest first."""
        total = sum(self.seconds.values())
        longest = sorted(self.seconds.items(), key=lambda item: -item[1])
        rows = [f"{seconds * 1e3:10.3f} ms  {name}" for name, seconds in longest]
        return "\n".join([*rows, f"{total * 1e3:10.3f} ms  total"])


def statistics(context: Context) -> str:
    """A table of what each pass counted, in the order in which it first happened."""
    return "\n".join(f"{times:8}  {name}: {event}" for (name, event), times in context.counts.items())


class PassBroke(RuntimeError):
    """A pass left IR that does not verify: a bug in pyasc."""


def _verify(name: str, module: Module) -> None:
    from pyasc.ir.verifier import VerifyError, check

    try:
        check(module, after=name)
    except VerifyError as error:
        raise PassBroke(f"bug in pyasc: {error}") from error
