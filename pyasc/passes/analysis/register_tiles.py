# SPDX-License-Identifier: Apache-2.0
"""What loop nests for product-sums on a host processor share: a register tile of rows by vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import vec
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.passes.analysis.affine import Polynomials, integer_of
from pyasc.passes.analysis.contraction import Contraction
from pyasc.passes.analysis.costs import UNKNOWN, trips
from pyasc.passes.analysis.emit import Emitter, Index

MIDDLE_ROWS = 4
"""Rows of the smaller tile that takes what full tiles leave over."""


class Machine(Record):
    """The vector unit of the host."""

    vector_bytes: int
    registers: int

    def lanes(self, dtype: DType) -> int:
        """Elements of a vector."""
        return self.vector_bytes // dtype.bytes

    def rows(self, vectors: int, known: int | None) -> int:
        """Rows of a tile: as many accumulators as leave room for the operands; a known extent is divided evenly."""
        most = (self.registers - vectors - 1) // vectors
        if known is None or known == 0:
            return most
        even = [rows for rows in range(most, most // 2, -1) if known % rows == 0]
        if even:
            return even[0]
        blocks = -(-known // most)
        return -(-known // blocks)

    def even_rows(self, vectors: int) -> int:
        """Rows of a tile as a power of two, which counts of channels are likely to be a multiple of."""
        most = (self.registers - vectors - 1) // vectors
        return 1 << (most.bit_length() - 1)


class Tile:
    """What both kinds of nest share: extents, the point, and the elements of the operands."""

    def __init__(self, c: Contraction, machine: Machine) -> None:
        assert c.row is not None
        self.c = c
        self.row = c.row
        self.op = c.op
        self.e = Emitter(Builder.before(c.op))
        self.extents = [self.e.affine(bound, [], c.op.symbols) for bound in c.op.upper]
        self.lanes = machine.lanes(c.dtype)
        self.machine = machine
        self.point: list[Value] = [self.e.index(0)] * c.op.rank

    def extent(self, iterator: int) -> Value:
        """How far an iterator runs."""
        return self.extents[iterator]

    def over_others(
        self, e: Emitter, blocks: Value, body: Callable[[Emitter, Value], None], work: SizeExpr = UNKNOWN
    ) -> None:
        """One parallel loop over all remaining parallel iterators and `blocks` row blocks of some work each."""
        total = blocks
        for i in self.c.others:
            total = e.mul(total, self.extent(i))

        def inside(inner: Emitter, number: Value, _: list[Value]) -> None:
            if not self.c.others:
                body(inner, number)
                return
            self.bind_others(inner, inner.floordiv(number, blocks))
            body(inner, inner.mod(number, blocks))

        e.loop(0, total, inside, kind="parallel", name="block", work=work)

    def steps(self, rows: int) -> SizeExpr:
        """How many elements are added to sums in some rows of all lanes."""
        polynomials = Polynomials()
        total = constant(rows)
        for iterator in (self.c.lane, *self.c.sums):
            total = total * trips(polynomials.of(self.extent(iterator)))
        return total

    def bind_others(self, e: Emitter, number: Value) -> None:
        """Take the values of the remaining parallel iterators out of one running number, the last one fastest."""
        for i in reversed(self.c.others[1:]):
            self.point[i] = e.mod(number, self.extent(i))
            number = e.floordiv(number, self.extent(i))
        self.point[self.c.others[0]] = number

    def row_blocks(
        self, e: Emitter, block: Value, rows: int, tile: Callable[[Emitter, Value, int], None]
    ) -> None:
        """`tile` for the rows of one block: whole, or in smaller steps at the end of the extent."""
        extent = self.extent(self.row)
        first = e.mul(block, rows)
        known = integer_of(extent)
        if known is not None and known % rows == 0:
            tile(e, first, rows)
            return
        full = e.call("le", e.add(first, rows), extent)
        e.branch(
            full, lambda inner: tile(inner, first, rows), lambda inner: self._rest(inner, first, extent, tile)
        )

    def _rest(
        self, e: Emitter, first: Value, end: Value, tile: Callable[[Emitter, Value, int], None]
    ) -> None:
        middle = e.sub(end, e.mod(e.sub(end, first), MIDDLE_ROWS))
        e.loop(first, middle, lambda inner, i, _: tile(inner, i, MIDDLE_ROWS), step=MIDDLE_ROWS, name="row")
        e.loop(middle, end, lambda inner, i, _: tile(inner, i, 1), name="row")

    def scalar(self, e: Emitter, row: Index) -> Value:
        """The scalar operand at the current point and a row."""
        element = e.load(self.op.inputs[self.c.scalar], self._scalar_indices(e, row))
        return e.cast(element, self.c.dtype)

    def _scalar_indices(self, e: Emitter, row: Index) -> list[Value]:
        self.point[self.row] = e.index(row)
        return e.at_map(self.c.scalar_map, self.point, self.op.symbols)

    def vector_indices(self, e: Emitter, lane: Index) -> list[Value]:
        """Where the vector operand lies at the current point and a lane."""
        self.point[self.c.lane] = e.index(lane)
        return e.at_map(self.c.vector_map, self.point, self.op.symbols)

    def output_indices(self, e: Emitter, row: Index, lane: Index) -> list[Value]:
        """Where the output lies at the current point."""
        self.point[self.row] = e.index(row)
        self.point[self.c.lane] = e.index(lane)
        return e.at_map(self.op.output_maps[0], self.point, self.op.symbols)

    @property
    def row_axis(self) -> int:
        """The dimension of the output along which rows follow each other."""
        return next(i for i, e in enumerate(self.op.output_maps[0].results) if e.as_dim == self.row)

    def fused(self, e: Emitter, row: Value, columns: Sequence[Value], tile: Value) -> Value:
        """The tile after one step of the sum."""
        for number, value in enumerate(columns):
            value.name = f"vector{number}"
        steps = tuple(each.coefficient(self.row) for each in self.c.scalar_map.results)
        factors, first = self.op.inputs[self.c.scalar], self._scalar_indices(e, row)
        return e.value(vec.FmaTile(sum=tile, columns=list(columns), ref=factors, indices=first, steps=steps))
