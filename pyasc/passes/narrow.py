# SPDX-License-Identifier: Apache-2.0
"""Computes integers in 32 bits where 64 are not needed: hardware vectors have no 64-bit integers.

What ends in a comparison or in a conversion to another dtype is narrowed together with all it is computed from,
when bounds prove that no value of it leaves 32 bits. With `guard`, a size that bounds a value may be checked at
launch instead. Indices stay as they are: addresses are computed in 64 bits.

Before:

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %2 = arith.add %i, %1
      %3 = arith.cast %2 : f32
      mem.store %3, %y, [%i]
      scf.yield
    }

After, with `narrow{guard=true}` (and a check at the start that N fits):

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      %2 = arith.cast %i : i32
      %3 = arith.constant {value = 1} : i32
      %4 = arith.add %2, %3
      %5 = arith.cast %4 : f32
      mem.store %5, %y, [%i]
      scf.yield
    }
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyasc.ir import dtypes, sizes
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, func, py
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.ranges import Ranges
from pyasc.passes.base import Context, FunctionPass

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
NARROWABLE = frozenset(
    "add sub mul neg abs minimum maximum pymin pymax select and or xor floordiv mod".split()
)
COMPARISONS = frozenset("lt le gt ge eq ne".split())
I64 = ScalarType(dtypes.i64)


class Narrow(FunctionPass):
    """Narrowing of 64-bit integer arithmetic. `guard` allows launch checks of sizes."""

    name = "narrow"
    guard: bool = False

    def run(self, func: Func, context: Context) -> bool:
        """Narrow what ends in comparisons and conversions of one function."""
        narrowing = _Narrowing(func, Ranges(func), self.guard)
        sinks = [op for op in func.walk() if _is_sink(op)]
        changed = sum(narrowing.narrow(op) for op in sinks)
        narrowing.insert_checks()
        context.count("narrowed trees", changed)
        return changed > 0


def _is_sink(op: Operation) -> bool:
    """Whether 64-bit integers end here: a comparison of them, or a conversion to something else."""
    match op:
        case arith.Elementwise(fn=fn) if fn in COMPARISONS:
            return op.args[0].type == I64 and any(arg.op is not None for arg in op.args)
        case arith.Cast():
            return op.value.type == I64 and op.result.type not in (I64, ScalarType(dtypes.i32))
        case _:
            return False


@dataclass
class _Narrowing:
    """What is known and made while one function is narrowed."""

    func: Func
    ranges: Ranges
    guard: bool
    fits: dict[Value, bool] = field(default_factory=lambda: dict[Value, bool]())
    made: dict[tuple[Value, Block], Value] = field(default_factory=lambda: dict[tuple[Value, Block], Value]())
    below: dict[Value, str] = field(default_factory=lambda: dict[Value, str]())
    guarded: dict[str, None] = field(default_factory=lambda: dict[str, None]())

    def narrow(self, op: Operation) -> bool:
        """Rebuild a sink on 32-bit operands when everything it is computed from fits."""
        if not all(self._tree_fits(value) for value in op.operands):
            return False
        at = Builder.before(op)
        op.operands = [self._narrowed(value, at) for value in op.operands]
        return True

    def _tree_fits(self, value: Value) -> bool:
        known = self.fits.get(value)
        if known is None:
            inner = _inputs(value)
            known = self.fits[value] = self._fits(value) and all(self._tree_fits(v) for v in inner)
        return known

    def _fits(self, value: Value) -> bool:
        if isinstance(value.op, arith.Constant):
            return LOWEST <= int(value.op.value) <= HIGHEST
        if value.type != I64:
            return dtype_of(value.type).is_bool
        block = value.block
        if block is None or not self.ranges.proves(value, "ge", LOWEST, block):
            return False
        return self.ranges.proves(value, "le", HIGHEST, block) or self._below_a_size(value, block)

    def _below_a_size(self, value: Value, block: Block) -> bool:
        """Whether some size bounds the value, so that checking the size at launch is enough."""
        if not self.guard:
            return False
        for name in self.func.sizes:
            if self.ranges.proves(value, "le", sizes.size(name), block):
                self.below[value] = name
                return True
        return False

    def _narrowed(self, value: Value, at: Builder) -> Value:
        """The 32-bit twin of a value, made next to it."""
        op = value.op
        if value in self.below:
            self.guarded[self.below[value]] = None
        if value.type != I64:
            return value
        if isinstance(op, arith.Constant):
            return at.value(arith.Constant.of(op.value, dtypes.i32))
        block = value.block
        assert block is not None
        known = self.made.get((value, block))
        if known is None:
            here = Builder.after(op) if op is not None else Builder(block, block.first, at.loc)
            if _inputs(value):
                assert isinstance(op, arith.Elementwise)
                args = [self._narrowed(arg, here) for arg in op.args]
                known = here.value(arith.Elementwise(fn=op.fn, args=args, loc=op.loc), value.name)
            else:
                known = here.value(arith.Cast.to(value, dtypes.i32), value.name)
            self.made[value, block] = known
        return known

    def insert_checks(self) -> None:
        """Check the sizes that proofs rest on, before anything runs."""
        block = self.func.body.block
        at = Builder(block, block.first, self.func.loc)
        for name in self.guarded:
            size = at.value(func.Size(symbol=name))
            fits = at.value(arith.Elementwise(fn="le", args=[size, index(at, HIGHEST)]))
            message = f"size {name} is {{}}, and this kernel counts it in 32 bits"
            at.insert(
                py.Check(condition=fits, values=[size], error="OverflowError", message=message, launch=True)
            )


def _inputs(value: Value) -> tuple[Value, ...]:
    """The operands of a value that is narrowed together with them; none for a leaf."""
    op = value.op
    if isinstance(op, arith.Elementwise) and op.fn in NARROWABLE and op.args[-1].type == I64:
        return tuple(op.args)
    return ()
