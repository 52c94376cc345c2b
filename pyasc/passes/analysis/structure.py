# SPDX-License-Identifier: Apache-2.0
"""Where values and blocks stand in relation to each other: all control flow is nested regions."""

from __future__ import annotations

from pyasc.ir.core import Block, Operation, Value


def is_inside(value: Value, op: Operation) -> bool:
    """Whether a value is defined in one of the operation's regions, at any depth."""
    block = value.block
    while block is not None:
        parent = block.parent_op
        if parent is op:
            return True
        block = parent.parent if parent is not None else None
    return False


def encloses(outer: Block, inner: Block | None) -> bool:
    """Whether `inner` is `outer` or nested in it."""
    while inner is not None and inner is not outer:
        parent = inner.parent_op
        inner = parent.parent if parent is not None else None
    return inner is outer


def discard(op: Operation) -> None:
    """Drop an operation with all it holds."""
    op.drop()
    op.unlink()
