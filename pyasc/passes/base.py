# SPDX-License-Identifier: Apache-2.0
"""What a pass is, and the loop that runs a list of them over a module.

A pass does its work in a plain function that says whether it changed anything, and a record wraps that function:
its fields are the options, `name` is its name in pipelines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pyasc.ir.core import Operation
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.location import Location
from pyasc.ir.record import Record

if TYPE_CHECKING:
    from pyasc.passes.analysis.covered import Covered


class Remark(Record):
    """What a pass has to say to the user about one line: what it did or could not do, why, and what helps."""

    pass_name: str
    loc: Location
    message: str
    hint: str = ""


@dataclass
class Context:
    """What the passes of one run hand on: how often each did something, remarks, and what its kernels cover.

    `counts` has one entry for each pass and event. `settled` names the cleaning passes that would find nothing to
    do; where `canonicalize` is not among them, `touched` lists what it has to look at (None: everything).
    """

    counts: Counter[tuple[str, str]] = field(default_factory=lambda: Counter[tuple[str, str]]())
    remarks: list[Remark] = field(default_factory=lambda: list[Remark]())
    covered: list[Covered] = field(default_factory=lambda: list["Covered"]())
    current: str = ""
    settled: set[str] = field(default_factory=lambda: set[str]())
    touched: list[Operation] | None = None

    def count(self, event: str, times: int = 1) -> None:
        """Count an event of the running pass, for `--pass-statistics`."""
        if times:
            self.counts[self.current, event] += times

    def touch(self, ops: Iterable[Operation]) -> None:
        """Have `canonicalize` look at these operations (again)."""
        if self.touched is not None:
            self.touched += ops
            if self.touched:
                self.settled.discard("canonicalize")

    def note(self, each: Pass, changed: bool) -> None:
        """Account for a pass that has run."""
        if changed:
            self.settled &= each.keeps
            if "canonicalize" not in each.keeps:
                self.touched = None
        if each.cleans:
            self.settled.add(each.name)

    def remark(self, loc: Location, message: str, hint: str = "") -> None:
        """Tell the user something about a line."""
        self.remarks.append(Remark(self.current, loc, message, hint))


class Pass(Record, ABC):
    """One transformation of a module; its fields are its options.

    `cleans` says that it leaves nothing for itself to do. `keeps` names such passes to which it gives nothing new to
    do; `canonicalize` may be among them when all that it has to look at is said to `Context.touch`.
    """

    name: ClassVar[str]
    cleans: ClassVar[bool] = False
    keeps: ClassVar[frozenset[str]] = frozenset()

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
        changed = each.name not in context.settled and each.apply(module, context)
        context.note(each, changed)
        if hook is not None:
            hook.after(each, module, context, changed)
    return context
