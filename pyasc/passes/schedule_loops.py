# SPDX-License-Identifier: Apache-2.0
"""Marks loops for `cpu`: the outermost parallel ones are threaded, the innermost independent ones vectorised.

    scf.for %0, %n, %1, [] {kind = "parallel"} { ... }

becomes

    scf.for %0, %n, %1, [] {kind = "parallel", simd = true, grain = 524288, work = size<3>} { ... }

A thread takes `grain` scalar operations at a time; `work` says how many one iteration costs, as a polynomial
of the sizes, so that chunks depend on sizes alone.
"""

from __future__ import annotations

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, mem, scf, vec
from pyasc.ir.dialects.func import Func
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.traits import ALLOCATES, CHECKS, EFFECT, LOOP, PURE, READS
from pyasc.ir.types import ScalarType, TileType
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.costs import (
    DEFAULT_TRIPS,
    SLOW,
    SLOW_COST,
    STEPS_A_COST,
    TRANSCENDENTAL,
    TRANSCENDENTAL_COST,
    UNKNOWN,
    is_size,
)
from pyasc.passes.base import Context, FunctionPass

REDUCIBLE = frozenset(("add", "mul", "fma", "and", "or", "xor", "maximum", "minimum", "pymax", "pymin"))

SCANNABLE = frozenset(("add", "mul"))


class ScheduleLoops(FunctionPass):
    """Chooses threads and vectors.

    `grain` is the work of one chunk in scalar operations, some tens of microseconds of vector code.
    """

    name = "schedule-loops"
    keeps = frozenset(("canonicalize", "cse", "dce"))
    grain: int = 1 << 19
    threads: bool = True

    def run(self, func: Func, context: Context) -> bool:
        """Mark the loops of one function."""
        polynomials = Polynomials()
        changed = False
        for op in func.nests():
            if isinstance(op, scf.For) and op.kind != "sequential":
                changed |= self._mark(op, polynomials, context)
        return changed

    def _mark(self, loop: scf.For, polynomials: Polynomials, context: Context) -> bool:
        before = (loop.simd, loop.grain)
        if self.threads and loop.kind == "parallel" and not loop.grain and not _inside_parallel(loop):
            # Iterations that wait for the one before go to threads one by one.
            loop.grain = 1 if loop.ordered else self.grain
            if loop.work == UNKNOWN:
                loop.work = _positive(_body_work(loop.body.block, polynomials))
            context.count("threaded loops")
        if _vectorisable(loop):
            loop.simd = True
            context.count("vectorised loops")
        return (loop.simd, loop.grain) != before


def _inside_parallel(loop: scf.For) -> bool:
    return any(isinstance(op, scf.For) and op.kind == "parallel" for op in loop.ancestors())


def _vectorisable(loop: scf.For) -> bool:
    """Innermost, independent or a reduction by one function, and nothing in it that lanes cannot share."""
    for op in loop.body.block:
        traits = op.spec.traits
        if LOOP in traits or CHECKS in traits or EFFECT in traits or ALLOCATES in traits:
            return False
        if op.regions and any(
            inner.has(LOOP) or inner.has(CHECKS) or inner.has(EFFECT) for inner in op.walk()
        ):
            return False
        if isinstance(op, mem.Atomic):
            return False
    if loop.kind == "parallel":
        return True
    if loop.kind == "scan":
        # One running sum: what OpenMP compilers scan in registers, and the order of the steps is free.
        return len(loop.values) == 1 and _reducible(loop, 0, SCANNABLE) and _sums_before_it_stores(loop)
    return loop.kind == "reduction" and all(_reducible(loop, i, REDUCIBLE) for i in range(len(loop.values)))


def _reducible(loop: scf.For, number: int, functions: frozenset[str]) -> bool:
    combined = loop.body.block.terminator.operands[number].op
    carried = loop.carried[number]
    if not isinstance(combined, arith.Elementwise) or combined.fn not in functions:
        return False
    if not isinstance(carried.type, ScalarType):
        return False
    return list(carried.uses) == [combined] and combined.args.count(carried) == 1


def _sums_before_it_stores(loop: scf.For) -> bool:
    """Whether all that stands before the step of a scan may be computed once more behind it."""
    combined = loop.body.block.terminator.operands[0].op
    for op in loop.body.block:
        if op is combined:
            return True
        if op.regions or not (PURE in op.spec.traits or READS in op.spec.traits):
            return False
    return False


def _body_work(block: Block, polynomials: Polynomials) -> SizeExpr:
    total = constant(0)
    known = 0
    for op in block:
        work = _op_work(op, polynomials)
        if isinstance(work, int):
            known += work
        else:
            total = total + work
    return total + known


def _op_work(op: Operation, polynomials: Polynomials) -> SizeExpr | int:
    match op:
        case arith.Elementwise(fn=fn):
            return TRANSCENDENTAL_COST if fn in TRANSCENDENTAL else SLOW_COST if fn in SLOW else 1
        case mem.Load() | mem.Store() | mem.Atomic():
            return 1
        case vec.FmaTile():
            tile = op.sum.type
            assert isinstance(tile, TileType)
            return tile.rows * tile.columns * tile.lanes // STEPS_A_COST
        case _ if not op.regions:
            return 0
        case scf.For():
            return _positive(_body_work(op.body.block, polynomials)) * _trips(op, polynomials)
        case scf.While():
            inner = _body_work(op.before.block, polynomials) + _body_work(op.after.block, polynomials)
            return inner * DEFAULT_TRIPS
        case scf.If():
            return _body_work(op.then.block, polynomials) + _body_work(op.otherwise.block, polynomials)
        case _:
            return 1


def _trips(loop: scf.For, polynomials: Polynomials) -> SizeExpr:
    step = integer_of(loop.step)
    if step is None:
        return constant(DEFAULT_TRIPS)
    for bound in _bounds(loop.upper):
        distance = polynomials.of(bound) - polynomials.of(loop.lower)
        known = distance.as_constant
        if known is not None:
            return constant(max(1, -(-abs(known) // abs(step))))
        if step == 1 and is_size(distance):
            return distance
    return constant(DEFAULT_TRIPS)


def _bounds(upper: Value) -> list[Value]:
    """The bound and, when it is the smaller of two values, each of them: the work is at most that."""
    op = upper.op
    if isinstance(op, arith.Elementwise) and op.fn in ("pymin", "minimum"):
        return [upper, *(inner for arg in op.args for inner in _bounds(arg))]
    return [upper]


def _positive(work: SizeExpr) -> SizeExpr:
    return constant(1) if not work.terms else work
