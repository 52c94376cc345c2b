# SPDX-License-Identifier: Apache-2.0
"""Finds values that are constant on every path that can run, around loops and through branches.

A value counts as constant until the opposite is seen, and a branch as never taken until its condition may take
it (Wegman and Zadeck, Constant Propagation with Conditional Branches, 1991); control flow is structured here, so
regions take the place of edges. Found values are replaced by constants; `canonicalize` removes what is then dead.

Before:

    %r = scf.for %0, %n, %1, [%seven] : i64 {
    ^(%i: i64, %k: i64):
      %c = arith.eq %k, %seven
      %next = scf.if %c : i64 {
        scf.yield %k
      } {
        scf.yield %i
      }
      scf.yield %next
    }

After (all uses of `%r`, `%k`, `%c` and `%next` are constants):

    %r = scf.for %0, %n, %1, [%seven] : i64 {
    ^(%i: i64, %k: i64):
      %next = scf.if %true : i64 {
        scf.yield %seven
      } {
        scf.yield %i
      }
      scf.yield %seven
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.core import Block, Operation, Region, Value
from pyasc.ir.dialects import arith, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import PURE
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.constants import Number, fold_operation
from pyasc.passes.base import Context, FunctionPass


class Sccp(FunctionPass):
    """Sparse conditional constant propagation."""

    name = "sccp"

    def run(self, func: Func, context: Context) -> bool:
        """Replace constant values of one function by constants."""
        return propagate_constants(func, context)


def propagate_constants(func: Func, context: Context) -> bool:
    """Replace values that are constant on all paths that can run."""
    solver = _Solver()
    solver.enter(func.body)
    solver.solve()
    found = 0
    constants: dict[tuple[str, str], Value] = {}
    block = func.body.block
    for value, state in solver.states.items():
        if state.number is None or not value.uses or isinstance(value.op, arith.Constant):
            continue
        key = (repr(state.number), str(value.type))
        if key not in constants:
            op = arith.Constant(value=state.number, types=[value.type])
            block.insert_before(block.first, op)
            constants[key] = op.result
        value.replace_uses(constants[key])
        found += 1
    context.count("values found constant", found)
    return found > 0


@dataclass(frozen=True, slots=True)
class _State:
    """What is known of a value that can be computed at all: one number, or (None) more than one."""

    number: Number | None

    def meets(self, other: _State) -> bool:
        return repr(self.number) == repr(other.number)


_VARIES = _State(None)


class _Solver:
    def __init__(self) -> None:
        self.states: dict[Value, _State] = {}
        self._running: set[Block] = set()
        self._worklist: list[Operation] = []

    def solve(self) -> None:
        """Visit operations until nothing changes."""
        while self._worklist:
            op = self._worklist.pop()
            if op.parent in self._running:
                self._visit(op)

    def enter(self, region: Region) -> None:
        """Note that a region can run."""
        for block in region.blocks:
            if block not in self._running:
                self._running.add(block)
                parent = block.parent_op
                if not isinstance(parent, (scf.For, scf.While, scf.If)):
                    for arg in block.args:
                        self._join(arg, _VARIES)
                self._worklist += reversed(block)

    def _join(self, value: Value, state: _State | None) -> None:
        known = self.states.get(value)
        if state is None or known is _VARIES:
            return
        if known is None:
            self.states[value] = state if isinstance(value.type, ScalarType) else _VARIES
        elif not known.meets(state):
            self.states[value] = _VARIES
        else:
            return
        self._worklist += value.uses

    def _join_all(self, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        for target, source in zip(targets, sources, strict=True):
            self._join(target, self.states.get(source))

    def _visit(self, op: Operation) -> None:
        match op:
            case arith.Constant():
                self._join(op.result, _State(op.value))
            case scf.If():
                self._visit_if(op)
            case scf.For():
                self._visit_for(op)
            case scf.While():
                self.enter(op.before)
                self._join_all(op.before.block.args, op.inits)
            case scf.Condition():
                self._visit_condition(op)
            case scf.Yield():
                self._visit_yield(op)
            case _:
                self._visit_other(op)

    def _visit_if(self, op: scf.If) -> None:
        condition = self.states.get(op.condition)
        if condition is None:
            return
        for region in op.regions:
            if condition.number is None or bool(condition.number) == (region is op.then):
                self.enter(region)

    def _visit_for(self, op: scf.For) -> None:
        bounds = [self.states.get(value) for value in op.operands[:3]]
        if any(bound is None for bound in bounds):
            return
        numbers = [bound.number for bound in bounds if bound is not None and bound.number is not None]
        trips = len(range(*(int(number) for number in numbers))) if len(numbers) == 3 else None
        if trips != 0:
            self.enter(op.body)
            self._join(op.counter, _VARIES)
            self._join_all(op.carried, op.inits)
        if not trips:
            self._join_all(op.results, op.inits)

    def _visit_condition(self, op: scf.Condition) -> None:
        condition = self.states.get(op.condition)
        loop = op.parent_op
        assert isinstance(loop, scf.While)
        if condition is None:
            return
        if condition.number is None or condition.number:
            self.enter(loop.after)
            self._join_all(loop.after.block.args, op.forwarded)
        if not condition.number:
            self._join_all(loop.results, op.forwarded)

    def _visit_yield(self, op: scf.Yield) -> None:
        match op.parent_op:
            case scf.If() as parent:
                self._join_all(parent.results, op.operands)
            case scf.For() as parent:
                self._join_all(parent.carried, op.operands)
                self._join_all(parent.results, op.operands)
            case scf.While() as parent:
                self._join_all(parent.before.block.args, op.operands)
            case _:
                return

    def _visit_other(self, op: Operation) -> None:
        for region in op.regions:
            self.enter(region)
        if not op.results:
            return
        state: _State | None = _VARIES
        if PURE in op.spec.traits and not op.regions and op.operands:
            state = self._folded(op)
        for result in op.results:
            self._join(result, state)

    def _folded(self, op: Operation) -> _State | None:
        states = [self.states.get(operand) for operand in op.operands]
        chooses = isinstance(op, arith.Elementwise) and op.fn == "select"
        if chooses and (condition := states[0]) is not None and condition.number is not None:
            return states[1 if condition.number else 2]
        if any(state is _VARIES for state in states):
            return _VARIES
        numbers = [state.number for state in states if state is not None and state.number is not None]
        if len(numbers) < len(states):
            return None
        result = fold_operation(op, numbers)
        return _VARIES if result is None else _State(result)
