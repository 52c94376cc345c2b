# SPDX-License-Identifier: Apache-2.0
"""Statements that exist in debug builds alone. In plain Python they act at once."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

__all__ = ["assert_", "assert_shape", "breakpoint", "print"]


def print(*values: Any) -> None:
    """Prints the values, with the place in the loops when it runs on a device."""
    builtins.print(*values)


def breakpoint() -> None:
    """Stops in the debugger in plain Python (`kernel.py_func`); does nothing on a device."""
    builtins.breakpoint()


def assert_(condition: Any, message: str = "assertion failed") -> None:
    """Raises AssertionError with the source line unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def assert_shape(array: Any, shape: Sequence[int]) -> None:
    """Raises AssertionError unless the array has exactly this shape."""
    if tuple(array.shape) != tuple(shape):
        raise AssertionError(f"expected shape {tuple(shape)}, got {tuple(array.shape)}")
