# SPDX-License-Identifier: Apache-2.0
"""Writes loop bodies out: all iterations of short loops, or `factor` of them at a time.

Full unrolling takes loops of at most `full` iterations, known at compile time, as long as that makes no more than
`size` operations. Partial unrolling (`factor` above 1) takes innermost loops and leaves a second loop for the
rest. Loops that are vectorised or threaded stay.

Before:

    %r = scf.for %0, %2, %1, [%x] : f32 {
    ^(%i: i64, %a: f32):
      %v = mem.load %w, [%i]
      %b = arith.add %a, %v
      scf.yield %b
    }

After:

    %v = mem.load %w, [%0]
    %b = arith.add %x, %v
    %v_1 = mem.load %w, [%3]
    %r = arith.add %b, %v_1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import LOOP
from pyasc.ir.types import TileType, VectorType
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.base import Context, FunctionPass


class Unroll(FunctionPass):
    """Loop unrolling; see the page for the options."""

    name = "unroll"
    full: int = 8
    size: int = 256
    factor: int = 1

    def run(self, func: Func, context: Context) -> bool:
        """Unroll loops of one function, inner ones first."""
        return unroll_loops(func, context, self)


def unroll_loops(func: Func, context: Context, options: Unroll) -> bool:
    """Unroll what the options allow."""
    changed = False
    for op in func.nests_inner_first():
        if not isinstance(op, scf.For) or op.simd or op.grain or _holds_vectors(op):
            continue
        trips = _trips(op)
        small = trips is not None and trips <= options.full and _fits(op, options.size // max(trips, 1))
        # Copies of a loop save next to nothing, and each would be looked at by all that follows.
        if small and trips is not None and (trips <= 1 or _is_innermost(op)):
            _unroll_fully(op, trips)
            context.count("loops unrolled fully")
        elif options.factor > 1 and _is_innermost(op) and integer_of(op.step) is not None:
            _unroll_partly(op, options.factor)
            context.count("loops unrolled partly")
        else:
            continue
        changed = True
    return changed


def _holds_vectors(loop: scf.For) -> bool:
    """Whether the loop keeps registers of vectors, so that copies of its body would spill."""
    return any(isinstance(value.type, (VectorType, TileType)) for value in loop.values)


def _trips(loop: scf.For) -> int | None:
    bounds = [integer_of(value) for value in loop.operands[:3]]
    numbers = [bound for bound in bounds if bound is not None]
    return len(range(*numbers)) if len(numbers) == 3 else None


def _fits(loop: scf.For, most: int) -> bool:
    """Whether the body, its terminator apart, has no more operations than that; counts no further."""
    return sum(1 for _ in islice(loop.walk(), most + 3)) <= most + 2


def _is_innermost(loop: scf.For) -> bool:
    return not any(LOOP in op.spec.traits for op in loop.walk() if op is not loop)


def _unroll_fully(loop: scf.For, trips: int) -> None:
    lower, step = integer_of(loop.lower), integer_of(loop.step)
    assert lower is not None and step is not None
    at = Builder.before(loop)
    carried: Sequence[Value] = loop.inits
    for number in range(trips):
        carried = _copy_body(loop, index(at, lower + number * step), carried, at)
    loop.replace_with(carried)


def _copy_body(loop: scf.For, counter: Value, carried: Sequence[Value], at: Builder) -> list[Value]:
    """Copy the body with values for its arguments; the values that the copy yields."""
    block = loop.body.block
    mapping = dict(zip(block.args, (counter, *carried), strict=True))
    for op in block:
        if op is not block.last:
            at.block.insert_before(at.anchor, op.clone(mapping))
    return [mapping.get(value, value) for value in block.terminator.operands]


def _unroll_partly(loop: scf.For, factor: int) -> None:
    step = integer_of(loop.step)
    assert step is not None
    at = Builder.before(loop)
    middle = _end_of_whole_groups(loop, step, factor, at)
    wide = scf.For(
        lower=loop.lower,
        upper=middle,
        step=index(at, step * factor),
        inits=loop.inits,
        kind=loop.kind,
        work=loop.work,
        body=block_of([arg.type for arg in loop.body.block.args], [arg.name for arg in loop.body.block.args]),
        types=[value.type for value in loop.results],
        loc=loop.loc,
    )
    at.insert(wide)
    _fill(wide.body.block, loop, step, factor)
    loop.operands = [middle, loop.upper, loop.step, *wide.results]


def _fill(block: Block, loop: scf.For, step: int, factor: int) -> None:
    at = Builder(block, None, loop.loc)
    carried: Sequence[Value] = block.args[1:]
    for number in range(factor):
        counter = block.args[0]
        if number:
            counter = at.value(arith.Elementwise(fn="add", args=[counter, index(at, number * step)]))
        carried = _copy_body(loop, counter, carried, at)
    terminator: Operation = scf.Yield(values=carried, loc=loop.body.block.terminator.loc)
    at.insert(terminator)


def _end_of_whole_groups(loop: scf.For, step: int, factor: int, at: Builder) -> Value:
    """`lower + trips // factor * factor * step`, where `trips` counts the iterations and is not negative."""

    def emit(fn: str, left: Value, right: Value) -> Value:
        return at.value(arith.Elementwise(fn=fn, args=[left, right]))

    zero = at.value(arith.Constant.of(0, dtypes.i64))
    distance = emit("maximum" if step > 0 else "minimum", emit("sub", loop.upper, loop.lower), zero)
    rounded = emit("add", distance, index(at, step - (1 if step > 0 else -1)))
    groups = emit("floordiv", emit("floordiv", rounded, index(at, step)), index(at, factor))
    return emit("add", loop.lower, emit("mul", groups, index(at, factor * step)))
