# SPDX-License-Identifier: Apache-2.0
"""In debug builds, a failed check says where in the loops it stands.

Before:

    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      ...
      py.check %fine, [%v] {error = "AssertionError", message = "{} is negative"}
      scf.yield
    }

After:

    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      ...
      py.check %fine, [%v, %i] {error = "AssertionError", message = "{} is negative [i = {}]"}
      scf.yield
    }

Counters that have a name in Python are shown, outer ones first, as far as the record of a failure has room.
"""

from __future__ import annotations

from pyasc.ir.core import Value
from pyasc.ir.dialects import py, scf
from pyasc.ir.dialects.func import Func
from pyasc.passes.base import Context, FunctionPass

ROOM = 4
"""How many values a record of a failure holds."""


class LocateChecks(FunctionPass):
    """Adds the counters of the loops around a check to its values and its message."""

    name = "locate-checks"

    def run(self, func: Func, context: Context) -> bool:
        """Look at every check inside of a loop."""
        checks = [op for op in func.nested() if isinstance(op, py.Check)]
        located = [check for check in checks if _locate(check)]
        context.count("checks located", len(located))
        return bool(located)


def _locate(check: py.Check) -> bool:
    counters = [each for each in _counters(check) if each.name and each not in check.values]
    shown = counters[::-1][: ROOM - len(check.values)]
    if shown:
        check.message += f" [{', '.join(f'{each.name} = {{}}' for each in shown)}]"
        check.values = [*check.values, *shown]
    return bool(shown)


def _counters(check: py.Check) -> list[Value]:
    """The counters of the loops around, the innermost first."""
    return [loop.counter for loop in check.ancestors() if isinstance(loop, scf.For)]
