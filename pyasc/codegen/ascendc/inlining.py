# SPDX-License-Identifier: Apache-2.0
"""Which values are written where they are used, and what the others are called."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc
from pyasc.ir.traits import PURE

_REPEATED = frozenset(("minimum", "maximum", "pymin", "pymax", "abs", "isnan"))
"""Functions whose text has an argument more than once."""


def may_inline(value: Value) -> bool:
    """Whether a pure value is written where it is used: once, in its own block, and without a name of its own."""
    if value.name or len(value.uses) != 1:
        return False
    ((user, count),) = value.uses.items()
    return count == 1 and value.op is not None and user.parent is value.op.parent and not _repeats(user)


def _repeats(user: Operation) -> bool:
    return isinstance(user, arith.Elementwise) and user.fn in _REPEATED


def lowered(name: str) -> str:
    """A name with a small letter first, for one of several words: `aQueue` for the queue of `A`."""
    return name[:1].lower() + name[1:]


def hint_of(value: Value) -> str:
    """What a value without a name is called: after what it is made of."""
    match value.op:
        case arith.Cast(value=source):
            return source.name or hint_of(source)
        case asc.GetValue(tensor=tensor):
            return f"{lowered(tensor.name)}Value"
        case arith.Elementwise(fn=fn, args=args):
            return _result_hint(fn, args)
        case _:
            return "value"


def _result_hint(fn: str, args: Sequence[Value]) -> str:
    number = args[1].op.value if len(args) == 2 and isinstance(args[1].op, arith.Constant) else None
    if fn in ("add", "sub") and args[0].name and isinstance(number, int):
        less = (number < 0) == (fn == "add")
        return f"{lowered(args[0].name)}{'Minus' if less else 'Plus'}{abs(number)}"
    return _RESULTS.get(fn, "value")


_RESULTS = {
    "add": "sum",
    "sub": "difference",
    "mul": "product",
    "div": "quotient",
    "floordiv": "quotient",
    "mod": "rest",
    "minimum": "least",
    "pymin": "least",
    "maximum": "most",
    "pymax": "most",
    "select": "chosen",
    "and": "both",
    "or": "either",
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne", "isnan"), "holds"),
}


def reads_where_used(op: asc.GetValue) -> bool:
    """Whether a number may be read where it is used: nothing is written, and no work starts, between here and there."""
    if not may_inline(op.value):
        return False
    user = _statement_of(op.value)
    between = op.next
    while between is not None and between is not user:
        if not (between.has(PURE) or isinstance(between, asc.GetValue)):
            return False
        between = between.next
    return user is not None and between is user and not user.regions


def _statement_of(value: Value) -> Operation | None:
    """The operation whose statement has the text of a value."""
    (user,) = value.uses
    while user.has(PURE) and user.results and may_inline(user.results[0]):
        (user,) = user.results[0].uses
    return user
