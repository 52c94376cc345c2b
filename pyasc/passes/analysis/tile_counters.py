# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits in bodies, computed in int32: counters of loops as data, and what is computed from them.

The vector unit has no 64-bit arithmetic. Every such value has an interval, in values that the host computes too; what
an interval of numbers proves is done in 32 bits, what depends on sizes is checked at launch, the rest is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineExpr
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, py
from pyasc.ir.dtypes import DType
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import Polynomials, index, integer_of, materialise
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.phases import depends_on_data, needed
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_legalise import COMPARISONS, Legaliser
from pyasc.passes.analysis.tile_program import Operand, Register

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
LAUNCH_ERROR = "OverflowError"


@dataclass(frozen=True)
class Interval:
    """The least and the largest that a value can be."""

    low: Value
    high: Value


@dataclass
class Intervals:
    """The intervals of a program; `at` stands where the host's values are."""

    at: Builder
    polynomials: Polynomials = field(default_factory=Polynomials)
    known: dict[Register, Interval] = field(default_factory=lambda: dict[Register, Interval]())
    pending: list[tuple[Interval, int]] = field(default_factory=lambda: list[tuple[Interval, int]]())

    def of_dtype(self, dtype: DType) -> Interval:
        """What integers of a dtype can be."""
        if dtype is dtypes.i1:
            return self.between(0, 1)
        low = 0 if dtype.kind == "u" else -(1 << (dtype.bits - 1))
        return self.between(low, low + (1 << dtype.bits) - 1)

    def between(self, low: int, high: int) -> Interval:
        """An interval of numbers."""
        return Interval(index(self.at, low), index(self.at, high))

    def of_expr(self, expr: AffineExpr, dims: Sequence[Interval], symbols: Sequence[Value]) -> Interval:
        """What an affine form can be."""
        low = [dims[i].high if c < 0 else dims[i].low for i, c in enumerate(expr.dims)]
        high = [dims[i].low if c < 0 else dims[i].high for i, c in enumerate(expr.dims)]
        return Interval(materialise(expr, low, symbols, self.at), materialise(expr, high, symbols, self.at))

    def combine(self, fn: str, args: Sequence[Interval]) -> Interval | None:
        """What a function of values in intervals can be, None where that is not known."""
        at = self.at
        match fn, list(args):
            case "add", [a, b]:
                return Interval(binary(at, "add", a.low, b.low), binary(at, "add", a.high, b.high))
            case "sub", [a, b]:
                return Interval(binary(at, "sub", a.low, b.high), binary(at, "sub", a.high, b.low))
            case "mul", [a, b]:
                return self._product(a, b)
            case "neg", [a]:
                return self.combine("sub", [self.between(0, 0), a])
            case "mod", [_, b] if (most := integer_of(b.low)) is not None and most > 0 and b.low is b.high:
                return self.between(0, most - 1)
            case "floordiv", [a, b] if (by := integer_of(b.low)) is not None and by > 0 and b.low is b.high:
                return Interval(binary(at, "floordiv", a.low, by), binary(at, "floordiv", a.high, by))
            case (("minimum" | "maximum" | "pymin" | "pymax"), [a, b]):
                plain = {"pymin": "minimum", "pymax": "maximum"}.get(fn, fn)
                return Interval(binary(at, plain, a.low, b.low), binary(at, plain, a.high, b.high))
            case "select", [a, b]:
                return Interval(
                    self._extreme("minimum", a.low, b.low), self._extreme("maximum", a.high, b.high)
                )
            case _:
                return None

    def _product(self, a: Interval, b: Interval) -> Interval:
        at = self.at
        for factor, other in ((a, b), (b, a)):
            known = integer_of(factor.low) if factor.low is factor.high else None
            if known is not None:
                ends = [binary(at, "mul", end, known) for end in (other.low, other.high)]
                return Interval(*(ends if known >= 0 else ends[::-1]))
        ends = [binary(at, "mul", x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        low = high = ends[0]
        for end in ends[1:]:
            low, high = binary(at, "minimum", low, end), binary(at, "maximum", high, end)
        return Interval(low, high)

    def contains(self, outer: Interval, inner: Interval) -> bool:
        """Whether one interval is told to lie in another."""
        return self._at_most(outer.low, inner.low) and self._at_most(inner.high, outer.high)

    def _at_most(self, low: Value, high: Value) -> bool:
        """Whether one value is told to be no more than another."""
        difference = self.polynomials.of(high) + self.polynomials.of(low) * -1
        known = difference.as_constant
        if known is not None:
            return known >= 0
        match high.op:
            case arith.Elementwise(fn="maximum", args=args) if any(self._at_most(low, arg) for arg in args):
                return True
            case arith.Elementwise(fn="minimum", args=args) if all(self._at_most(low, arg) for arg in args):
                return True
            case _:
                pass
        match low.op:
            case arith.Elementwise(fn="minimum", args=args):
                return any(self._at_most(arg, high) for arg in args)
            case arith.Elementwise(fn="maximum", args=args):
                return all(self._at_most(arg, high) for arg in args)
            case _:
                return False

    def _extreme(self, fn: str, a: Value, b: Value) -> Value:
        """The smaller or larger of two ends, one of them where that is told."""
        if self._at_most(a, b):
            return a if fn == "minimum" else b
        if self._at_most(b, a):
            return b if fn == "minimum" else a
        return binary(self.at, fn, a, b)

    def hold(self, register: Register, interval: Interval) -> None:
        """Note what a register holds. Raises NotVector for what cannot be in 32 bits."""
        self.fit(interval)
        self.known[register] = interval

    def fit(self, interval: Interval, bound: int = HIGHEST) -> None:
        """Ask for an interval within 32 bits, or up to a bound: now, or at launch where it depends on sizes."""
        low, high = integer_of(interval.low), integer_of(interval.high)
        if self._at_smallest(interval.low) < LOWEST or self._at_smallest(interval.high) > bound:
            raise refuse("integers of 64 bits", self.at.loc)
        if low is None or high is None:
            self.pending.append((interval, bound))

    def _at_smallest(self, end: Value) -> int:
        """An end where all sizes are 1, for what fits at hardly any; 0 where it is no polynomial of them."""
        expr = self.polynomials.of(end)
        known = not any(name in self.polynomials.atoms for name in expr.names)
        return sum(factor for _, factor in expr.terms) if known else 0

    def check(self) -> None:
        """The checks of all intervals, in front of the work."""
        at = self.at
        ends: list[tuple[Value, str, int]] = []
        for each, most in self.pending:
            ends += [(each.low, "ge", LOWEST)] if integer_of(each.low) is None else []
            ends += [(each.high, "le", most)] if integer_of(each.high) is None else []
        self.pending.clear()
        for value, fn, bound in dict.fromkeys(ends):
            if depends_on_data(needed([value])):
                raise refuse("a number of 64 bits that depends on data", at.loc)
            fits = at.value(arith.Elementwise(fn=fn, args=[value, index(at, bound)]))
            message = "a value of up to {} is computed in 32 bits on the vector unit"
            at.insert(
                py.Check(condition=fits, values=[value], error=LAUNCH_ERROR, message=message, launch=True)
            )


@dataclass(frozen=True)
class Counter:
    """A loop counter: its number in the nest, what it covers of a tile, and whether it grows along that."""

    dim: int
    cover: str
    walked: bool
    interval: Interval


@dataclass
class Wide:
    """64-bit operations of bodies, translated by a legaliser into int32 ones."""

    legaliser: Legaliser
    intervals: Intervals
    counters: dict[Value, Counter] = field(default_factory=lambda: dict[Value, Counter]())
    deferred: dict[Value, Operation] = field(default_factory=lambda: dict[Value, Operation]())

    def operand(self, value: Value) -> Operand | None:
        """A counter as a register, or what is computed from counters when it is first asked for."""
        counter = self.counters.get(value)
        if counter is not None:
            mode = f"{'walk' if counter.walked else 'fill'} {counter.dim}"
            register = self.legaliser.index(mode, counter.cover, value.name)
            self.intervals.hold(register, counter.interval)
            return register
        op = self.deferred.pop(value, None)
        if op is None:
            return None
        loc = self.legaliser.loc
        self.legaliser.run(op)
        self.legaliser.loc = loc
        return self.legaliser.operands[value]

    def takes(self, op: Operation, args: Sequence[Operand]) -> bool:
        """Whether an operation is one of 64-bit integers that registers of 32 bits hold."""
        match op:
            case arith.Cast():
                (arg,) = args
                narrow = isinstance(arg, Register) and not arg.dtype.is_float and arg.dtype is not dtypes.i64
                if _is_wide(arg):
                    return dtype_of(op.result.type) is dtypes.i32
                return narrow and dtype_of(op.result.type) is dtypes.i64
            case arith.Elementwise():
                if dtype_of(op.args[-1].type) is not dtypes.i64:
                    return False
                data = [arg for arg in self._data(op, args) if isinstance(arg, Register)]
                compared = op.fn in COMPARISONS
                return all(
                    arg in self.intervals.known or (compared and arg.dtype is dtypes.i64) for arg in data
                )
            case _:
                return False

    def _data(self, op: arith.Elementwise, args: Sequence[Operand]) -> list[Operand]:
        return list(args[1:] if op.fn == "select" else args)

    def run(self, op: Operation, args: Sequence[Operand]) -> Operand:
        """Translate one operation. Raises NotVector for what may leave 32 bits."""
        if isinstance(op, arith.Cast):
            (arg,) = args
            assert isinstance(arg, Register)
            made = self.low(arg) if _is_wide(arg) else self.legaliser.cast(arg, dtypes.i32)
            if made not in self.intervals.known:
                dtype = dtypes.i32 if _is_wide(arg) else arg.dtype
                self.intervals.hold(made, self.intervals.of_dtype(dtype))
            return made
        assert isinstance(op, arith.Elementwise)
        data = self._data(op, args)
        if op.fn in COMPARISONS:
            return self._compare(op.fn, data)
        narrow = [self.narrow(arg) for arg in data]
        interval = self.intervals.combine(op.fn, [self.interval(arg) for arg in data])
        if interval is None:
            raise refuse(f"`{op.fn}` of 64-bit integers", op.loc)
        made = self.legaliser.elementwise(op.fn, [*args[: len(args) - len(data)], *narrow])
        assert isinstance(made, Register)
        self.intervals.hold(made, interval)
        return made

    def low(self, wide: Register) -> Register:
        """The lower halves of elements of 64 bits."""
        return self.legaliser.emit("pick", dtypes.i32, wide, mode="2 0", name=wide.name)

    def _compare(self, fn: str, args: Sequence[Operand]) -> Register:
        """A mask of integers of 64 bits, of which those in memory may be any."""
        if not any(_is_wide(arg) for arg in args):
            return self.legaliser.compare(fn, [self.narrow(arg) for arg in args])
        if any(_is_within(arg) for arg in args):
            return self.legaliser.compare(fn, [self.narrow(self._saturated(arg)) for arg in args])
        legaliser = self.legaliser
        (a, low_a), (b, low_b) = (self._halves(arg) for arg in args)
        equal = legaliser.compare("eq", [a, b])
        if fn in ("eq", "ne"):
            equal = legaliser.emit("and", dtypes.i1, equal, legaliser.compare("eq", [low_a, low_b]))
            return equal if fn == "eq" else legaliser.inverted(equal)
        beyond = legaliser.compare({"le": "lt", "ge": "gt"}.get(fn, fn), [a, b])
        below = legaliser.compare(fn, [self._unsigned(low_a), self._unsigned(low_b)])
        return legaliser.emit("or", dtypes.i1, beyond, legaliser.emit("and", dtypes.i1, equal, below))

    def _halves(self, arg: Operand) -> tuple[Operand, Operand]:
        """The upper and the lower 32 bits of an operand, as signed numbers."""
        legaliser, i32 = self.legaliser, dtypes.i32
        if not isinstance(arg, Register):
            at = legaliser.at
            upper = at.value(arith.Elementwise(fn="shr", args=[arg, legaliser.number(32, dtypes.i64)]))
            return at.value(arith.Cast.to(upper, i32)), at.value(arith.Cast.to(arg, i32))
        if not _is_wide(arg):
            return legaliser.emit("shr", i32, arg, legaliser.number(31, i32)), arg
        return self._high(arg), self.low(arg)

    def _high(self, wide: Register) -> Register:
        return self.legaliser.emit("pick", dtypes.i32, wide, mode="2 1", name="high")

    def _unsigned(self, half: Operand) -> Operand:
        """A number that is to 32 signed bits what `half` is to unsigned ones: moved by half of the range."""
        legaliser, lowest = self.legaliser, self.legaliser.number(LOWEST, dtypes.i32)
        if isinstance(half, Register):
            return legaliser.emit("add", dtypes.i32, half, lowest)
        return legaliser.at.value(arith.Elementwise(fn="add", args=[half, lowest]))

    def _saturated(self, arg: Operand) -> Operand:
        """Elements of 64 bits as those of 32 that are nearest, which compare alike with a number between the ends."""
        if not isinstance(arg, Register) or arg.dtype is not dtypes.i64:
            return arg
        legaliser, i32 = self.legaliser, dtypes.i32
        low, high = self.low(arg), self._high(arg)
        all_bits = legaliser.number(31, i32)
        fits = legaliser.compare("eq", [legaliser.emit("shr", i32, low, all_bits), high])
        # HIGHEST + 1 is LOWEST.
        turned = legaliser.emit(
            "mul", i32, legaliser.emit("shr", i32, high, all_bits), legaliser.number(-1, i32)
        )
        limit = legaliser.emit("add", i32, turned, legaliser.number(HIGHEST, i32))
        made = legaliser.select([fits, low, limit])
        assert isinstance(made, Register)
        self.intervals.hold(made, self.intervals.of_dtype(i32))
        return made

    def interval(self, arg: Operand) -> Interval:
        """What an operand of 64 bits can be. Raises NotVector for elements, which can be anything."""
        if not isinstance(arg, Register):
            return Interval(arg, arg)
        found = self.intervals.known.get(arg)
        if found is None:
            raise refuse(
                f"{arg.dtype} elements among numbers that are counted in 32 bits", self.legaliser.loc
            )
        return found

    def narrow(self, arg: Operand) -> Operand:
        """An operand of 64 bits as one of 32. Raises NotVector for elements."""
        if isinstance(arg, Register):
            self.interval(arg)
            return arg
        self.intervals.fit(Interval(arg, arg))
        known = integer_of(arg)
        if known is not None:
            return self.legaliser.number(known, dtypes.i32)
        return self.legaliser.at.value(arith.Cast.to(arg, dtypes.i32))


def _is_wide(arg: Operand) -> bool:
    """Whether an operand is elements of 64 bits."""
    return isinstance(arg, Register) and arg.dtype is dtypes.i64


def _is_within(arg: Operand) -> bool:
    """Whether an operand is a number that is neither end of 32 bits, nor beyond."""
    known = None if isinstance(arg, Register) else integer_of(arg)
    return known is not None and LOWEST < known < HIGHEST
