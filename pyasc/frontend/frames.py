# SPDX-License-Identifier: Apache-2.0
"""Names and their values while a function is visited, with what is needed to join branches and loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyasc.frontend.liveness import Liveness
from pyasc.frontend.scan import Scan, scan
from pyasc.frontend.source import FunctionNode, KernelSource
from pyasc.frontend.values import FALSE, Const, Val
from pyasc.ir.location import Location

RETURN = "%return"
RESULT = "%result"
RESULT_PARTS = tuple(f"%result{k}" for k in range(16))
_MISSING = object()


class Env:
    """Values by name. Between `begin` and `end` changes are recorded, and undone at the end."""

    __slots__ = ("_journals", "values")

    def __init__(self, values: dict[str, Val] | None = None) -> None:
        self.values: dict[str, Val] = values if values is not None else {}
        self._journals: list[dict[str, object]] = []

    def get(self, name: str) -> Val | None:
        """The value, or None when the name has never been set."""
        return self.values.get(name)

    def set(self, name: str, value: Val) -> None:
        """Bind a name."""
        if self._journals:
            self._journals[-1].setdefault(name, self.values.get(name, _MISSING))
        self.values[name] = value

    def forget(self, name: str) -> None:
        """Unbind a name that was unbound before."""
        del self.values[name]
        if self._journals and self._journals[-1].get(name) is _MISSING:
            del self._journals[-1][name]

    def begin(self) -> None:
        """Start recording changes."""
        self._journals.append({})

    def end(self) -> dict[str, Val]:
        """The values of all names changed since `begin`, which go back to what they were."""
        changes: dict[str, Val] = {}
        for name, old in self._journals.pop().items():
            changes[name] = self.values[name]
            if old is _MISSING:
                del self.values[name]
            else:
                self.values[name] = old  # pyright: ignore[reportArgumentType]
        return changes


@dataclass(slots=True)
class Cursor:
    """A position in a list of statements that is being visited."""

    body: Sequence[ast.stmt]
    index: int = 0

    @property
    def at_end(self) -> bool:
        """Whether no statement is left."""
        return self.index >= len(self.body)


@dataclass(slots=True)
class LoopScope:
    """A loop around the current statement: the names of its flags, and whether its body repeats.

    `live_after` keeps which names are read behind the loop, for all that is asked inside of it. `at_breaks` has the
    values of `watched` names at each `break`.
    """

    node: ast.For | ast.While
    number: int
    cursor_depth: int
    live_after: dict[str, bool] = field(default_factory=lambda: dict[str, bool]())
    watched: Sequence[str] = ()
    at_breaks: list[dict[str, Val | None]] = field(default_factory=lambda: list[dict[str, "Val | None"]]())

    @property
    def break_flag(self) -> str:
        """The hidden name that says the loop was left."""
        return f"%break{self.number}"

    @property
    def continue_flag(self) -> str:
        """The hidden name that says the rest of this iteration is skipped."""
        return f"%continue{self.number}"


@dataclass(eq=False)
class Frame:
    """One function being visited, inlined or not. `parent` is the frame around a nested function.

    `key` tells visits of one loop in different calls and unrolled iterations apart. `doubtful` names lack a value
    for those who jump to the end of the innermost loop's body.
    """

    source: KernelSource
    node: FunctionNode
    env: Env = field(default_factory=Env)
    parent: Frame | None = None
    caller: Frame | None = None
    call_site: Location | None = None
    key: tuple[object, ...] = ()
    cursors: list[Cursor] = field(default_factory=list)
    loops: list[LoopScope] = field(default_factory=list)
    liveness: Liveness = field(default_factory=Liveness)
    doubtful: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.env.values.setdefault(RETURN, FALSE)

    @cached_property
    def scan(self) -> Scan:
        """What the function's text says as a whole."""
        return scan(self.node)

    @property
    def name(self) -> str:
        """The function's name."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    def pending_flags(self) -> list[str]:
        """Hidden names of the jumps that may be under way, those that certainly are not left out."""
        names = [RETURN]
        if self.loops:
            names += [self.loops[-1].break_flag, self.loops[-1].continue_flag]
        return [name for name in names if not self._is_false(name)]

    def _is_false(self, name: str) -> bool:
        value = self.env.get(name)
        return value is None or (isinstance(value, Const) and value.value is False)

    def jumped(self) -> bool:
        """Whether a jump is certainly under way, so that what follows never runs."""
        values = [self.env.get(name) for name in self.pending_flags()]
        return any(isinstance(value, Const) for value in values)

    def live(self, name: str) -> bool:
        """Whether the value of `name` at this point may be read later."""
        if name[0] == "%":
            return self._flag_matters(name)
        if name in self.scan.captured:
            return True
        return self._live_in(name, len(self.cursors), len(self.loops))

    def _live_in(self, name: str, cursors: int, loops: int) -> bool:
        """The same behind the statement at the last of the first `cursors`, with the first `loops` around it."""
        # A loop whose body has not begun does not count yet.
        while loops and self.loops[loops - 1].cursor_depth >= cursors:
            loops -= 1
        loop = self.loops[loops - 1] if loops else None
        first = loop.cursor_depth if loop is not None else 0
        for cursor in reversed(self.cursors[first:cursors]):
            touch = self.liveness.first_touch(cursor.body, cursor.index, name)
            if touch == "read" or (touch == "set" and not self._may_skip(cursor)):
                return touch == "read"
        if loop is None:
            return False
        if self._live_around(loop, name):
            return True
        known = loop.live_after.get(name)
        if known is None:
            known = loop.live_after[name] = self._live_in(name, first, loops - 1)
        return known

    def _may_skip(self, cursor: Cursor) -> bool:
        """Whether the statement being visited may jump over what follows it in the list."""
        return cursor.index > 0 and self.liveness.statement(cursor.body[cursor.index - 1]).jumps

    def _flag_matters(self, name: str) -> bool:
        """Whether a flag may still skip a statement; that of `continue` ends with the loop's body."""
        if not self.loops or name != self.loops[-1].continue_flag:
            return True
        return any(not cursor.at_end for cursor in self.cursors[self.loops[-1].cursor_depth :])

    def _live_around(self, loop: LoopScope, name: str) -> bool:
        return name in self.liveness.statement(loop.node).reads
