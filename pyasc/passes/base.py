# SPDX-License-Identifier: Apache-2.0
"""What a pass is, and the loop that runs a list of them over a module.

A pass does its work in a plain function that says whether it changed anything, and a record wraps that function:
its fields are the options, `name` is its name in pipelines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pyasc.ir.core import Operation
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.location import Location
from pyasc.ir.record import Record


class Remark(Record):
    """What a pass has to say to the user about one line: what it did or could not do, why, and what helps."""

    pass_name: str
    loc: Location
    message: str
    hint: str = ""


@dataclass
class Context:
    """What the passes of one run hand on: how often each did something, and remarks for the user.

    `counts` has one entry for each pass and event. `clean` says that `cleanup` would find nothing to do, and
    `touched` lists what `canonicalize` has to look at, where it has seen the rest.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=lambda: Counter[tuple[str, str]]())
    remarks: list[Remark] = field(default_factory=lambda: list[Remark]())
    current: str = ""
    clean: bool = False
    touched: list[Operation] | None = None

    def count(self, event: str, times: int = 1) -> None:
        """Count an event of the running pass, for `--pass-statistics`."""
        if times:
            self.counts[self.current, event] += times

    def remark(self, loc: Location, message: str, hint: str = "") -> None:
        """Tell the user something about a line."""
        self.remarks.append(Remark(self.current, loc, message, hint))


class Pass(Record, ABC):
    """One transformation of a module; its fields are its options.

    `keeps_clean` says that it gives `cleanup` nothing new to do.
    """

    name: ClassVar[str]
    keeps_clean: ClassVar[bool] = False

    @classmethod
    def options(cls) -> dict[str, str]:
        """The name and the type of each option."""
        return {name: str(cls.__annotations__[name]) for name in cls.__match_args__}

    @abstractmethod
    def apply(self, module: Module, context: Context) -> bool:
        """Transform the module in place and say whether anything changed."""


class FunctionPass(Pass):
    """A transformation that looks at one function at a time."""

    def apply(self, module: Module, context: Context) -> bool:
        """Run on each function in order."""
        changed = False
        for func in module.functions:
            changed |= self.run(func, context)
        return changed

    @abstractmethod
    def run(self, func: Func, context: Context) -> bool:
        """Transform the function in place and say whether anything changed."""


class Hook:
    """Called around each pass of a run; the default does nothing. `pyasc.passes.instrument` has the real one."""

    def before(self, each: Pass, module: Module, context: Context) -> None:
        """The pass is about to run."""

    def after(self, each: Pass, module: Module, context: Context, changed: bool) -> None:
        """The pass has run."""


def run_passes(
    module: Module, passes: Sequence[Pass], hook: Hook | None = None, context: Context | None = None
) -> Context:
    """Run the passes in order, with the hook around each, and return the context they filled."""
    context = Context() if context is None else context
    for each in passes:
        context.current = each.name
        if hook is not None:
            hook.before(each, module, context)
        changed = each.apply(module, context)
        if changed and not each.keeps_clean:
            context.clean = False
            context.touched = None
        if hook is not None:
            hook.after(each, module, context, changed)
    return context
