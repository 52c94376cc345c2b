# SPDX-License-Identifier: Apache-2.0
"""Checks inside of loops that always hold keep nothing from being raised: they are dropped."""

from __future__ import annotations

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, py
from pyasc.ir.dtypes import i64
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.raising import Proofs

RELATIONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


def drop_proved_checks(root: Operation, proofs: Proofs) -> int:
    """Erase the checks under `root` whose conditions are proved; returns how many."""
    dropped = 0
    for op in list(root.walk()):
        if isinstance(op, py.Check) and not op.launch and _holds(op.condition, _block(op), proofs):
            op.erase()
            dropped += 1
    return dropped


def _block(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


def _holds(condition: Value, at: Block, proofs: Proofs) -> bool:
    op = condition.op
    match op:
        case arith.Constant():
            return bool(op.value)
        case arith.Elementwise(fn="and"):
            return all(_holds(part, at, proofs) for part in op.operands)
        case arith.Elementwise(fn="or"):
            return any(_holds(part, at, proofs) for part in op.operands)
        case arith.Elementwise(fn=fn) if fn in RELATIONS and op.operands[0].type == ScalarType(i64):
            return proofs.ranges.proves(op.operands[0], fn, op.operands[1], at)
        case _:
            return False
