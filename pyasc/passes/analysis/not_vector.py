# SPDX-License-Identifier: Apache-2.0
"""What is not lowered to Ascend C: the exception, and what to do instead."""

from __future__ import annotations

from pyasc.ir.diagnostics import Diagnostic, UnsupportedError
from pyasc.ir.location import UNKNOWN, Location


class NotVector(UnsupportedError):
    """A body that the vector unit cannot run; the message says which line and why."""


NO_FLOAT64 = "the hardware has no float64: use float32, or run it with asc.device('cpu')"
NO_SIZE = (
    "make it as long as a size of an array says, pass it as a parameter, or run it with asc.device('cpu')"
)
TAKES_CALLS = "a number beside the elements that takes vector calls of its own"
ANYWHERE = "run it with asc.device('cpu'), or write it as elementwise operations on contiguous rows"


def refuse(reason: str, loc: Location = UNKNOWN, hint: str = ANYWHERE) -> NotVector:
    """The exception for a line that is not lowered."""
    reason = reason.replace("``", "a temporary array")
    return NotVector(Diagnostic("PA0290", f"not lowered to Ascend C: {reason}", loc, hint=hint))
