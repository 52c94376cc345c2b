# SPDX-License-Identifier: Apache-2.0
"""Interpretation of the structured op: point by point in the order of its iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import st
from pyasc.ir.interpreter_arith import convert_scalar
from pyasc.ir.interpreter_state import Frame, Handler, InterpreterError, element, set_element
from pyasc.ir.types import dtype_of

_Point = list[int]


def _apply(frame: Frame, op: st.Apply) -> Sequence[Any]:
    _Run(frame, op).run()
    return ()


class _Run:
    """One execution: the running values of combined outputs, by the place that they are for."""

    def __init__(self, frame: Frame, op: st.Apply) -> None:
        self.frame = frame
        self.op = op
        self.symbols: list[int] = frame.all(op.symbols)
        self.running: dict[tuple[tuple[int, ...], ...], list[Any]] = {}

    def run(self) -> None:
        """Start the running values, visit every point, write what is left in the running values."""
        if self.op.combined and self.op.inits:
            for point in self.points(lambda kind: kind not in ("reduction", "scan")):
                self.running[self.place(point)] = self.frame.all(self.op.inits)
        for point in self.points(lambda _: True):
            self.visit(point)
        for place, values in self.running.items():
            for k, indices, value in zip(self.op.combined, place, values, strict=True):
                if self.op.roles[k] == "reduce":
                    self.store(k, indices, value, self.op.combine.block.args[self.op.combined.index(k)])

    def points(self, taken: Callable[[str], bool]) -> Iterator[_Point]:
        """The points of the domain over the iterators whose kind is taken, the others standing at 0."""
        return self._points([], taken)

    def _points(self, outer: _Point, taken: Callable[[str], bool]) -> Iterator[_Point]:
        i = len(outer)
        if i == self.op.rank:
            yield outer
            return
        if not taken(self.op.iterators[i]):
            yield from self._points([*outer, 0], taken)
            return
        lower, upper = (bound[i].evaluate(outer, self.symbols) for bound in (self.op.lower, self.op.upper))
        values = range(lower, upper)
        backwards = self.op.iterators[i] == "parallel" and self.frame.runtime.reverse_parallel
        for value in reversed(values) if backwards else values:
            yield from self._points([*outer, value], taken)

    def visit(self, point: _Point) -> None:
        """One point: the body, then what its outputs do."""
        op = self.op
        elements = [
            element(self.frame[ref], dtype_of(ref.type), map_.evaluate(point, self.symbols))
            for ref, map_ in zip(op.inputs, op.input_maps, strict=True)
        ]
        values = self.frame.run(op.body.block, [*point, *elements])
        if op.guarded and not values[-1]:
            return
        if op.combined:
            self.combine(point, [values[k] for k in op.combined])
        yielded = op.body.block.terminator.operands
        for k, role in enumerate(op.roles):
            if role == "write":
                self.store(k, self.indices(k, point), values[k], yielded[k])

    def combine(self, point: _Point, new: list[Any]) -> None:
        """Combine new values into the running ones of their place; scans write what comes out."""
        place = self.place(point)
        running = self.running.get(place)
        if running is None:
            running = self.held(point)
        following = list(self.frame.run(self.op.combine.block, [*running, *new]))
        self.running[place] = following
        args = self.op.combine.block.args
        for number, k in enumerate(self.op.combined):
            if self.op.roles[k] == "scan":
                self.store(k, self.indices(k, point), following[number], args[number])

    def place(self, point: _Point) -> tuple[tuple[int, ...], ...]:
        """What tells apart the running values that a point belongs to: one tuple a combined output."""
        return tuple(
            self.indices(k, point) if self.op.roles[k] == "reduce" else self.line(point)
            for k in self.op.combined
        )

    def line(self, point: _Point) -> tuple[int, ...]:
        """The point without the iterators along which values run."""
        kinds = self.op.iterators
        return tuple(v for v, kind in zip(point, kinds, strict=True) if kind not in ("scan", "reduction"))

    def held(self, point: _Point) -> list[Any]:
        """What the outputs hold, where no inits are given."""
        if self.op.inits or "scan" in self.op.roles:
            raise InterpreterError("a combined output is reached at a place that has no init")
        return [
            element(self.frame[self.op.outputs[k]], dtype_of(self.op.outputs[k].type), self.indices(k, point))
            for k in self.op.combined
        ]

    def indices(self, output: int, point: _Point) -> tuple[int, ...]:
        """Where an output is written at a point."""
        return self.op.output_maps[output].evaluate(point, self.symbols)

    def store(self, output: int, indices: Sequence[int], value: Any, source: Value) -> None:
        """Write one element, rounded to the output's dtype where the running values are wider."""
        ref = self.op.outputs[output]
        dtype = dtype_of(ref.type)
        set_element(self.frame[ref], dtype, indices, convert_scalar(value, dtype_of(source.type), dtype))


HANDLERS: dict[type[Operation], Handler] = {st.Apply: _apply}
