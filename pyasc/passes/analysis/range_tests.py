# SPDX-License-Identifier: Apache-2.0
"""Python's rule for indices, as index resolution spells it: recognised, and tested without computing the index.

An index `k` of an axis of `n` elements becomes `wrapped = k + n if k < 0 else k`, which is in range when `-n <= k < n`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith
from pyasc.ir.dtypes import i1, u64
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import index, integer_of


@dataclass(frozen=True)
class Wrapped:
    """An index that counts from the end where it is negative, and the extent that is added then."""

    index: Value
    extent: Value


def wrapped(value: Value) -> Wrapped | None:
    """What index resolution made a value of, if it did."""
    match value.op:
        case arith.Elementwise(
            fn="select", args=[Value(op=arith.Elementwise(fn="lt", args=[tested, zero])), added, plain]
        ) if tested is plain and integer_of(zero) == 0:
            match added.op:
                case arith.Elementwise(fn="add", args=[base, extent]) if base is plain:
                    return Wrapped(plain, extent)
                case _:
                    return None
        case _:
            return None


def simplify_tests(block: Block) -> int:
    """Ask `-n <= k < n` of an index where its wrapped form is compared; how many tests that were."""
    return sum(_simplify(op) for op in list(block) if isinstance(op, arith.Elementwise))


def _simplify(op: arith.Elementwise) -> bool:
    tested = tested_index(op)
    if tested is None:
        return False
    at = Builder.before(op)
    at.loc = op.loc
    op.replace_with([range_test(at, tested)])
    return True


def tested_index(op: Operation | None) -> Wrapped | None:
    """The index that an operation tests to be in range."""
    match op:
        case arith.Elementwise(fn="lt", args=[low, high]) if (number := _widened(low)) is not None:
            found, extent = wrapped(number), _widened(high)
        case arith.Elementwise(
            fn="and",
            args=[
                Value(op=arith.Elementwise(fn="ge", args=[low, zero])),
                Value(op=arith.Elementwise(fn="lt", args=[same, bound])),
            ],
        ) if low is same and integer_of(zero) == 0:
            found, extent = wrapped(low), bound
        case _:
            return None
    return found if found is not None and extent is found.extent else None


def _widened(value: Value) -> Value | None:
    """The number that is compared as an unsigned one."""
    op = value.op
    return op.value if isinstance(op, arith.Cast) and dtype_of(value.type) is u64 else None


def range_test(at: Builder, tested: Wrapped) -> Value:
    """Whether an index is in range."""
    lowest = at.value(arith.Elementwise(fn="sub", args=[index(at, 0), tested.extent]))
    above = at.value(arith.Elementwise(fn="ge", args=[tested.index, lowest]))
    below = at.value(arith.Elementwise(fn="lt", args=[tested.index, tested.extent]))
    made = at.value(arith.Elementwise(fn="and", args=[above, below]))
    assert dtype_of(made.type) is i1
    return made
