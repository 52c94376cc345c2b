# SPDX-License-Identifier: Apache-2.0
"""Reductions along a row, as instructions that the vector unit has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import st
from pyasc.ir.dtypes import bf16, f32, i8, i16, i32, u8
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import constant_of, index, integer_of
from pyasc.passes.analysis.arg_extremes import ArgExtreme
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.row_work import IDENTITIES, RowWork
from pyasc.passes.analysis.tile_body import BodyBuilder
from pyasc.passes.analysis.tile_counters import Interval
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_legalise import number_of
from pyasc.passes.analysis.tile_program import Operand, Register

_IN_FLOAT = (bf16, i8, u8, i16)
_TRUTHS = {"or": "maximum", "and": "minimum"}
NARROW_START = (
    "start from a number of the elements' type, such as asc.int32(0): the running value then has it too"
)
_PYTHON = {"pymax": "maximum", "pymin": "minimum"}


@dataclass
class RowReductions:
    """Translates what is combined along the rows of some work; `at` stands where the host's values are."""

    builder: BodyBuilder
    work: RowWork
    at: Builder

    def place(self, op: st.Apply, extreme: ArgExtreme, yielded: Sequence[Operand]) -> tuple[Operand, Operand]:
        """An extreme, then the least number of an element that equals it; NaN equals nothing."""
        legaliser, wide = self.builder.legaliser, self.builder.wide
        element, number = self._comparable(legaliser.register(yielded[0])), legaliser.register(yielded[1])
        dtype = dtype_of(op.inits[0].type)
        interval = wide.intervals.known.get(number)
        if interval is None:
            raise refuse("a place that is no counter of the row", op.loc)
        wide.intervals.fit(interval, 1 << 24)
        plain = legaliser.compare("eq", [element, element])
        identity = legaliser.number(IDENTITIES[extreme.fn], element.dtype)
        real = element
        if not extreme.nan_wins:
            real = legaliser.register(legaliser.select([plain, element, identity]))
        best = legaliser.reduce(extreme.fn, real)
        hit = legaliser.compare("eq", [element, best])
        if extreme.nan_wins:
            hit = legaliser.logical("or", [hit, legaliser.inverted(plain)])
        beyond = legaliser.number(float(1 << 24), f32)
        where = legaliser.select([hit, legaliser.cast(number, f32), beyond])
        place = legaliser.cast(legaliser.reduce("minimum", where), i32)
        wide.intervals.hold(place, wide.intervals.between(0, 1 << 24))
        self.work.reduces = True
        first, init = (legaliser.operand(value) for value in op.inits)
        best = legaliser.cast(best, dtype)
        if extreme.nan_wins and isinstance(first, Value) and constant_of(first) == IDENTITIES[extreme.fn]:
            return best, place
        if extreme.nan_wins:
            raise refuse("an extreme with its place that starts from some element", op.loc)
        wins = legaliser.elementwise("gt" if extreme.fn == "maximum" else "lt", [best, first])
        return legaliser.select([wins, best, first]), legaliser.select([wins, place, wide.narrow(init)])

    def reduced(
        self, fn: str | None, value: Operand, guard: Operand | None, start: Operand, wide: bool
    ) -> Operand:
        """What a row is combined to by a function, from a start; `wide` numbers are of 64 bits. Raises NotVector."""
        if fn is None:
            raise refuse("a reduction with results that depend on each other", self.builder.legaliser.loc)
        if fn in _TRUTHS and _is_truth(start):
            return self._truth(fn, value, guard, start)
        plain = _PYTHON.get(fn, fn)
        if plain not in IDENTITIES:
            raise refuse(f"a reduction by `{fn}`", self.builder.legaliser.loc)
        register = self.builder.legaliser.register(value)
        dtype = register.dtype
        if plain != "add":
            register = self._comparable(register)
        identity = self.builder.legaliser.number(IDENTITIES[plain], register.dtype)
        element = register
        if guard is not None:
            register = self.builder.legaliser.register(
                self.builder.legaliser.select([guard, register, identity])
            )
        if fn in _PYTHON and register.dtype.is_float:
            # A NaN among the elements never wins; one in the running value stays.
            real = self.builder.legaliser.compare("eq", [register, register])
            register = self.builder.legaliser.register(
                self.builder.legaliser.select([real, register, identity])
            )
        made = self.builder.legaliser.cast(self.builder.legaliser.reduce(plain, register), dtype)
        if wide:
            return self._of_wide(plain, element, made, start)
        if isinstance(start, Value) and constant_of(start) == number_of(IDENTITIES[plain], dtype).value:
            return made
        return self.builder.legaliser.elementwise(fn, [start, made])

    def _truth(self, fn: str, value: Operand, guard: Operand | None, start: Operand) -> Operand:
        """Whether any or all of a row are true, as an extreme of ones and zeros."""
        legaliser = self.builder.legaliser
        number, begin = (legaliser.convert(each, f32) for each in (value, start))
        made = self.reduced(_TRUTHS[fn], number, guard, begin, False)
        return legaliser.compare("ne", [made, legaliser.number(0.0, f32)])

    def _comparable(self, register: Register) -> Register:
        """Numbers that an instruction finds the extreme of: narrow ones are all in float32, which tells them apart."""
        return self.builder.legaliser.cast(register, f32) if register.dtype in _IN_FLOAT else register

    def _of_wide(self, fn: str, element: Register, made: Register, start: Operand) -> Operand:
        """A reduction of 64-bit integers that stays within 32. Raises NotVector unless the elements are small."""
        wide = self.builder.wide
        interval = wide.intervals.known.get(element)
        ends = [] if interval is None else [integer_of(interval.low), integer_of(interval.high)]
        if interval is None or any(end is None or abs(end) > 1 << 16 for end in ends):
            raise refuse("a reduction of integers of 64 bits", self.builder.legaliser.loc, NARROW_START)
        if fn == "add":
            _, extent = self.work.column_values(self.at, ()) if self.work.even else (None, None)
            if extent is None:
                raise refuse("a sum of integers of 64 bits over rows that differ", self.builder.legaliser.loc)
            most = binary(self.at, "maximum", extent, 0)
            sums = wide.intervals.combine("mul", [interval, Interval(index(self.at, 0), most)])
            assert sums is not None
            interval = sums
        wide.intervals.hold(made, interval)
        if isinstance(start, Value) and constant_of(start) == 0 and fn == "add":
            return made
        result = self.builder.legaliser.elementwise(fn, [wide.narrow(start), made])
        both = wide.intervals.combine(fn, [wide.interval(start), interval])
        assert both is not None
        assert isinstance(result, Register)
        wide.intervals.hold(result, both)
        return result


def _is_truth(operand: Operand) -> bool:
    """Whether it is a bool, of which `and` and `or` are extremes; those of integers work bit by bit."""
    return operand.is_mask if isinstance(operand, Register) else dtype_of(operand.type).is_bool
