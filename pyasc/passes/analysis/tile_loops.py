# SPDX-License-Identifier: Apache-2.0
"""Loops that every element runs for itself, run by all lanes at once: each stops by a mask, the loop when none is left.

A value that a loop carries becomes a register that each round overwrites, in lanes that have not stopped. Rounds of
stopped lanes change nothing, so whether any lane is left is asked once in several rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import constant_of, index
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.phases import free_values
from pyasc.passes.analysis.tile_counters import Interval, Wide
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_program import Instruction, Operand, Register

FOREVER = 1 << 62
_UNBOUNDED = "a loop that carries integers of 64 bits without a bound"
_STATES = ("f16", "f32", "i16", "i32")


@dataclass
class LoopReader:
    """Translates loops within a body; `load` reads an element of an array."""

    wide: Wide
    load: Callable[[mem.Load], Operand]

    def __post_init__(self) -> None:
        self.legaliser = self.wide.legaliser
        self.program = self.legaliser.program

    def read(self, op: scf.While | scf.For) -> None:
        """Translate a loop; its results become operands. Raises NotVector."""
        self.legaliser.loc = op.loc
        self._outside(op)
        known = self.legaliser.entered()
        if isinstance(op, scf.While):
            results = self._while(op)
        else:
            results = self._for(op)
        self.legaliser.left(known)
        for value, register in zip(op.values, results, strict=True):
            copy = self._copied(register)
            if register in self.wide.intervals.known:
                self.wide.intervals.known[copy] = self.wide.intervals.known[register]
            self.legaliser.operands[value] = copy

    def _outside(self, op: Operation) -> None:
        """What the loop reads stands in full registers before it."""
        for load in [each for each in op.walk() if isinstance(each, mem.Load)]:
            self.legaliser.operands[load.value] = self.legaliser.full(self.load(load))
        for value in free_values(op):
            operand = self.legaliser.operand(value)
            if isinstance(operand, Register):
                full = self.legaliser.full(operand)
                self.legaliser.operands[value] = full
                if operand in self.wide.intervals.known and isinstance(full, Register):
                    self.wide.intervals.known[full] = self.wide.intervals.known[operand]

    def _append(self, fn: str, target: Register, *args: Operand) -> None:
        self.program.instructions.append(Instruction(fn, target, args, loc=self.legaliser.loc))

    def _end(self, target: Register, *args: Operand) -> None:
        work = Register(dtypes.f32, "lanes")
        self.program.instructions.append(
            Instruction("end", target, args, loc=self.legaliser.loc, scratch=work)
        )

    def _copied(self, register: Register) -> Register:
        if register.is_mask:
            copy = Register(dtypes.i1, register.name)
            self._append("or", copy, register, register)
            return copy
        copy = Register(register.dtype, register.name)
        self._append("move", copy, register)
        return copy

    def _state(self, init: Value, name: str) -> Register:
        """A register of its own for a carried value."""
        operand = self.legaliser.operand(init)
        dtype = dtype_of(init.type)
        if dtype is dtypes.i1:
            return self._mask_state(operand, name)
        if dtype is dtypes.i64:
            operand, dtype = self.wide.narrow(operand), dtypes.i32
        if dtype.name not in _STATES:
            raise refuse(f"a loop that carries {dtype} elements", self.legaliser.loc)
        state = Register(dtype, name)
        self._append("move" if isinstance(operand, Register) else "fill", state, self.legaliser.full(operand))
        return state

    def _mask_state(self, operand: Operand, name: str) -> Register:
        state = Register(dtypes.i1, name)
        if isinstance(operand, Register):
            self._append("or", state, operand, operand)
            return state
        known = constant_of(operand)
        if known is None:
            raise refuse("a loop that carries a condition from outside", self.legaliser.loc)
        self._append("gt" if known else "lt", state, self._ones(), self.legaliser.number(0.0, dtypes.f32))
        return state

    def _ones(self) -> Register:
        return self.legaliser.register(self.legaliser.number(1.0, dtypes.f32))

    def _for(self, op: scf.For) -> list[Register]:
        """A loop of as many rounds for every element."""
        intervals, at = self.wide.intervals, self.legaliser.at
        low, high, step = (self.legaliser.operand(value) for value in (op.lower, op.upper, op.step))
        if not (isinstance(low, Value) and isinstance(high, Value) and isinstance(step, Value)):
            raise refuse("a loop whose length differs between elements", op.loc)
        if constant_of(step) != 1:
            raise refuse("a loop with a step within a loop over elements", op.loc)
        counter = self._state(op.lower, op.counter.name)
        last = binary(at, "sub", high, 1)
        intervals.hold(counter, Interval(low, binary(at, "maximum", last, low)))
        states = [self._state(init, value.name) for init, value in zip(op.inits, op.carried, strict=True)]
        self._assume(op.inits, states, Interval(low, high))
        rounds = binary(at, "maximum", binary(at, "sub", high, low), 0)
        ones = self._ones()
        self._append("repeat", ones, ones, rounds)
        self.legaliser.operands |= {op.counter: counter} | dict(zip(op.carried, states, strict=True))
        made = self._block(op.body.block)
        self._assign(states, made, None)
        self._append("add", counter, counter, self.legaliser.number(1, dtypes.i32))
        self._end(ones, ones, *states, counter)
        return states

    def _while(self, op: scf.While) -> list[Register]:
        before, after = op.before.block, op.after.block
        states = [self._state(init, value.name) for init, value in zip(op.inits, before.args, strict=True)]
        bound = self._bound(op)
        if bound is None and any(map(_is_wide, op.inits)):
            raise refuse(_UNBOUNDED, op.loc)
        if bound is not None:
            self._assume(op.inits, states, Interval(index(self.legaliser.at, 0), bound))
        ones = self._ones()
        active = Register(dtypes.i1, "active")
        self._append("gt", active, ones, self.legaliser.number(0.0, dtypes.f32))
        rounds = index(self.legaliser.at, FOREVER)
        self._append("repeat", active, active, ones, rounds)
        self.legaliser.operands |= dict(zip(before.args, states, strict=True))
        condition, *forwarded = self._block(before)
        assert isinstance(condition, Register) and condition.is_mask
        self._append("and", active, active, condition)
        left = [self.legaliser.register(value) for value in forwarded]
        loose = self._tighten(op, left, bound)
        self.legaliser.operands |= dict(zip(after.args, left, strict=True))
        following = self._block(after)
        self.wide.intervals.known |= loose
        self._assign(states, following, active)
        self._end(active, active, ones, *states, *left)
        order = {value: number for number, value in enumerate(before.args)}
        forwarded_values = before.terminator.operands[1:]
        if not all(value in order for value in forwarded_values):
            raise refuse("a loop that leaves behind what its condition computes", op.loc)
        return [states[order[value]] for value in forwarded_values]

    def _bound(self, op: scf.While) -> Value | None:
        """What some carried number stays below while the loop runs."""
        conditions = [op.before.block.terminator.operands[0]]
        while conditions:
            made = conditions.pop().op
            if isinstance(made, arith.Elementwise) and made.fn == "and":
                conditions += made.args
            elif isinstance(made, arith.Elementwise) and made.fn == "lt":
                limit = self.legaliser.operand(made.args[1])
                if dtype_of(made.args[1].type) is dtypes.i64 and isinstance(limit, Value):
                    return limit
        return None

    def _tighten(
        self, op: scf.While, left: Sequence[Register], bound: Value | None
    ) -> dict[Register, Interval]:
        """In the body a number that the condition keeps below the bound is less than it; what held before."""
        known = self.wide.intervals.known
        if bound is None:
            return {}
        limited = self._limited(op, bound)
        loose: dict[Register, Interval] = {}
        for value, register in zip(op.before.block.terminator.operands[1:], left, strict=True):
            if value in limited:
                loose[register] = known[register]
                known[register] = Interval(known[register].low, binary(self.legaliser.at, "sub", bound, 1))
        return loose

    def _limited(self, op: scf.While, bound: Value) -> set[Value]:
        found: set[Value] = set()
        conditions = [op.before.block.terminator.operands[0]]
        while conditions:
            made = conditions.pop().op
            if isinstance(made, arith.Elementwise) and made.fn == "and":
                conditions += made.args
            elif isinstance(made, arith.Elementwise) and made.fn == "lt":
                found |= {made.args[0]} if self.legaliser.operand(made.args[1]) is bound else set()
        return found

    def _assume(self, inits: Sequence[Value], states: Sequence[Register], range_: Interval) -> None:
        """Let carried 64-bit numbers lie between the least start and the bound; `_assign` checks that they do."""
        at, intervals = self.legaliser.at, self.wide.intervals
        low, high = range_.low, range_.high
        wide = [(init, state) for init, state in zip(inits, states, strict=True) if _is_wide(init)]
        for init, _ in wide:
            start = self.legaliser.operand(init)
            interval = self.wide.interval(start)
            low, high = binary(at, "minimum", low, interval.low), binary(at, "maximum", high, interval.high)
        for _, state in wide:
            intervals.hold(state, Interval(low, high))

    def _block(self, block: Block) -> list[Operand]:
        """Translate a region; what it hands on."""
        for op in block:
            self.legaliser.loc = op.loc
            match op:
                case mem.Load() | scf.Yield() | scf.Condition():
                    pass
                case scf.If():
                    self._if(op)
                case arith.Constant() | arith.Elementwise() | arith.Cast():
                    self.legaliser.run(op)
                case _:
                    raise refuse(f"{op.name} in a loop within a loop over elements", op.loc)
        return [self.legaliser.operand(value) for value in block.terminator.operands]

    def _if(self, op: scf.If) -> None:
        """Both branches, and a choice of what they give."""
        mask = self.legaliser.operand(op.condition)
        if not isinstance(mask, Register):
            raise refuse("a branch that all elements take alike", op.loc)
        pairs = zip(self._block(op.then.block), self._block(op.otherwise.block), op.values, strict=True)
        for then, otherwise, value in pairs:
            if dtype_of(value.type) is dtypes.i1:
                raise refuse("a branch that gives a condition", op.loc)
            self.legaliser.operands[value] = self._chosen(mask, then, otherwise, value)

    def _chosen(self, mask: Register, then: Operand, otherwise: Operand, value: Value) -> Operand:
        if not _is_wide(value):
            return self.legaliser.select([mask, then, otherwise])
        intervals = self.wide.intervals
        ends = [self.wide.interval(each) for each in (then, otherwise)]
        made = self.legaliser.select([mask, self.wide.narrow(then), self.wide.narrow(otherwise)])
        assert isinstance(made, Register)
        hull = intervals.combine("select", ends)
        assert hull is not None
        intervals.hold(made, hull)
        return made

    def _assign(
        self, states: Sequence[Register], following: Sequence[Operand], active: Register | None
    ) -> None:
        """Overwrite the carried values at once, in the lanes that have not stopped."""
        fresh = [
            self._following(state, value, states) for state, value in zip(states, following, strict=True)
        ]
        for state, value in zip(states, fresh, strict=True):
            if value is state:
                continue
            if state.is_mask:
                self._append("or", state, value, value)
            elif active is None:
                self._append("move", state, value)
            else:
                self._append("select", state, active, value, state)

    def _following(self, state: Register, value: Operand, states: Sequence[Register]) -> Register:
        """The next value, not in a register that another assignment overwrites. Raises NotVector out of bounds."""
        intervals = self.wide.intervals
        if state in intervals.known:
            interval = self.wide.interval(value)
            if not intervals.contains(intervals.known[state], interval):
                raise refuse(_UNBOUNDED, self.legaliser.loc)
            value = self.wide.narrow(value)
        elif state.dtype is dtypes.i32 and isinstance(value, Register) and value in intervals.known:
            raise refuse(_UNBOUNDED, self.legaliser.loc)
        register = self.legaliser.register(value)
        register = self.legaliser.full(register)
        assert isinstance(register, Register)
        return self._copied(register) if register in states and register is not state else register


def _is_wide(value: Value) -> bool:
    return dtype_of(value.type) is dtypes.i64
