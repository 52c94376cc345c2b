# SPDX-License-Identifier: Apache-2.0
"""Which values are written where they are used, and what the others are called."""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc
from pyasc.ir.traits import PURE

READINGS = {
    "half": "Half",
    "bfloat16_t": "Bfloat",
    "float": "Float",
    "int8_t": "Chars",
    "int16_t": "Short",
    "int32_t": "Int",
    "int64_t": "Long",
    "uint8_t": "Bytes",
    "uint16_t": "Words",
    "uint32_t": "Unsigned",
}
"""What is added to the name of something that is read as another type."""
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
            return _place_hint(value) or _result_hint(fn, args)
        case _:
            return "value"


def _place_hint(value: Value, depth: int = 4) -> str:
    """What a value is that is only ever part of an address, or of how a copy steps."""
    hints = {_hint_of_use(user, depth) for user in value.uses}
    return hints.pop() if len(hints) == 1 else ""


def _hint_of_use(user: Operation, depth: int) -> str:
    if isinstance(user, asc.DataCopyPad):
        return "gap"
    if isinstance(user, asc.Offset):
        return "place"
    inner = isinstance(user, arith.Elementwise) and user.fn in ("add", "sub", "mul") and depth
    return _place_hint(user.results[0], depth - 1) if inner and not user.results[0].name else ""


def _result_hint(fn: str, args: Sequence[Value]) -> str:
    number = args[1].op.value if len(args) == 2 and isinstance(args[1].op, arith.Constant) else None
    if fn in ("add", "sub") and args[0].name and isinstance(number, int):
        less = (number < 0) == (fn == "add")
        return f"{lowered(args[0].name)}{'Minus' if less else 'Plus'}{abs(number)}"
    rounded_up = fn == "floordiv" and isinstance(args[0].op, arith.Elementwise) and args[0].op.fn == "add"
    return "groups" if rounded_up else _RESULTS.get(fn, "value")


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
