# SPDX-License-Identifier: Apache-2.0
"""Structured control flow. `break`, `continue`, `return` and loop `else` are lowered to it by the frontend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.constraints import BOOL, I64
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operand, operands, region, results
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.traits import BRANCH, LOOP, SINGLE_BLOCK, TERMINATOR

KINDS = ("sequential", "parallel", "reduction", "scan")


class For(Operation, name="scf.for", traits=[LOOP, SINGLE_BLOCK]):
    """Counts from `lower` to `upper` (exclusive) by `step`, which may be negative and is never zero.

    The block takes the counter and the carried values; `scf.yield` passes the next ones, and the last ones are
    the results. A `"parallel"` loop carries nothing and may run its iterations in any order and at once; it is
    complete before what follows.

    `simd`, `unroll`, `grain` and `work` are the schedule of a loop at the loop level and change no result: `grain`
    is the number of scalar operations a thread should take at a time (0: not threaded), `work` the number that
    one iteration costs. The iterations of an `ordered` parallel loop are begun in order, each by whoever finishes it,
    so that one may wait for what an earlier one signals.
    """

    lower: Value = operand(I64)
    upper: Value = operand(I64)
    step: Value = operand(I64)
    inits: Sequence[Value] = operands(default=())
    kind: str = attribute(default="sequential", choices=KINDS)
    simd: bool = attribute(default=False)
    unroll: int = attribute(default=1)
    grain: int = attribute(default=0)
    work: SizeExpr = attribute(default=constant(1))
    ordered: bool = attribute(default=False)
    values: Sequence[Value] = results()
    body: Region = region(default=None)

    @property
    def counter(self) -> Value:
        """The loop counter inside the body."""
        return self.body.block.args[0]

    @property
    def carried(self) -> list[Value]:
        """The carried values as seen at the start of an iteration."""
        return self.body.block.args[1:]

    def verify_op(self) -> Iterable[str]:
        """Carried values must agree between inits, block, yield and results."""
        yield from _carried("init", self.inits, self.carried)
        yield from _carried("result", self.values, self.carried)
        yield from _carried("yielded", self.body.block.terminator.operands, self.carried)
        if self.kind == "parallel" and self.inits:
            yield "a parallel loop cannot carry values"


class While(Operation, name="scf.while", traits=[LOOP, SINGLE_BLOCK]):
    """Runs `before`; while its `scf.condition` holds, passes the forwarded values to `after` and repeats.

    The results are the values forwarded when the condition fails.
    """

    inits: Sequence[Value] = operands(default=())
    values: Sequence[Value] = results()
    before: Region = region(default=None)
    after: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """Carried values must agree around the loop."""
        yield from _carried("init", self.inits, self.before.block.args)
        yield from _carried("yielded", self.after.block.terminator.operands, self.before.block.args)
        condition = self.before.block.terminator
        if not isinstance(condition, Condition):
            yield f"the before region ends in scf.condition, not {condition.name}"
            return
        yield from _carried("forwarded", condition.forwarded, self.after.block.args)
        yield from _carried("result", self.values, self.after.block.args)


class If(Operation, name="scf.if", traits=[BRANCH, SINGLE_BLOCK]):
    """Runs one of two regions; the yielded values are the results. Both regions have a block."""

    condition: Value = operand(BOOL)
    values: Sequence[Value] = results()
    then: Region = region(default=None)
    otherwise: Region = region(default=None)

    def verify_op(self) -> Iterable[str]:
        """Both branches yield the result types."""
        yield from _carried("then", self.then.block.terminator.operands, self.values)
        yield from _carried("else", self.otherwise.block.terminator.operands, self.values)


class Condition(Operation, name="scf.condition", traits=[TERMINATOR]):
    """Ends the `before` region of a while loop."""

    condition: Value = operand(BOOL)
    forwarded: Sequence[Value] = operands(default=())


class Yield(Operation, name="scf.yield", traits=[TERMINATOR]):
    """Ends a region of a loop or branch with the values it passes on."""

    values: Sequence[Value] = operands(default=())


def _carried(what: str, values: Sequence[Value], expected: Sequence[Value]) -> Iterable[str]:
    if len(values) != len(expected):
        yield f"{len(values)} {what} values for {len(expected)} carried ones"
        return
    for i, (value, other) in enumerate(zip(values, expected, strict=True)):
        if value.type != other.type:
            yield f"{what} value {i} has type {value.type}, not {other.type}"
