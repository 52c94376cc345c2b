# SPDX-License-Identifier: Apache-2.0
"""Convolutions on a host processor: register tiles whose vectors are read where they lie."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dialects.arith import Cast
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.costs import STEPS_A_COST
from pyasc.passes.analysis.emit import Emitter, Index
from pyasc.passes.analysis.register_tiles import MIDDLE_ROWS, Tile

UNROLLED_TAPS = 9
"""Taps of a filter that are written out, at most: each has addresses of its own, which then are constant offsets."""


class DirectTiles(Tile):
    """Convolutions and the like: vectors are read where they lie, since neighbouring points share them."""

    @property
    def vectors(self) -> int:
        """Vectors of a tile along the lanes: more where registers allow, since each row's factor serves them all."""
        return 3 if self.machine.registers >= 32 else 2

    def emit(self) -> None:
        """The whole nest, and a part of a vector where not even one fits.

        Where writing an element twice is harmless, the last vector reaches back over the one before instead of
        leaving lanes over.
        """
        extent = self.extent(self.c.lane)
        if self.op.inits:
            fits = self.e.call("ge", extent, self.e.index(self.lanes))
            self.e.branch(fits, lambda i: self._blocks(i, self._reaching_lanes), self._narrow)
        else:
            self._blocks(self.e, self._whole_lanes)

    def _blocks(self, e: Emitter, lanes: Callable[[Emitter, Value, int], None]) -> None:
        rows = self.machine.even_rows(self.vectors)
        blocks = e.ceildiv(self.extent(self.row), rows)
        self.over_others(
            e,
            blocks,
            lambda inner, number: self.row_blocks(inner, number, rows, lanes),
            work=self.steps(rows // STEPS_A_COST),
        )

    def _reaching_lanes(self, e: Emitter, row: Value, rows: int) -> None:
        extent = self.extent(self.c.lane)
        self._vectors(e, row, rows, e.ceildiv(extent, self.lanes), extent)

    def _whole_lanes(self, e: Emitter, row: Value, rows: int) -> None:
        extent = self.extent(self.c.lane)
        whole = e.floordiv(extent, self.lanes)
        self._vectors(e, row, rows, whole, None)
        first = e.mul(whole, self.lanes)
        end = e.add(row, rows)
        e.loop(row, end, lambda inner, r, _: self._part(inner, r, first), name="row")

    def _narrow(self, e: Emitter) -> None:
        self.over_others(e, self.extent(self.row), lambda inner, r: self._part(inner, r, inner.index(0)))

    def _vectors(self, e: Emitter, row: Value, rows: int, count: Value, end: Value | None) -> None:
        """Tiles that cover `count` vectors: all of them below `end`, or, without an end, every one once."""
        first: Index = 0
        for vectors, tiles in self._split(e, rows, count, end):
            stop = e.add(first, e.mul(tiles, vectors))
            e.loop(
                first,
                stop,
                lambda i, v, _, n=vectors: self._tile(i, row, rows, i.mul(v, self.lanes), n, end),
                step=vectors,
                name="vector",
            )
            first = stop

    def _split(self, e: Emitter, rows: int, count: Value, end: Value | None) -> list[tuple[int, Value]]:
        """How many tiles of each width, in vectors, make `count`: three and one become two and two.

        Vectors that may reach back make up for one too many, so that fewer widths do.
        """
        if self.vectors == 2:
            return [(2, e.floordiv(count, 2)), (1, e.mod(count, 2))]
        if end is None:
            single = e.value(Cast.to(e.call("eq", count, e.index(1)), dtypes.i64))
            pairs = e.mod(e.sub(e.index(3), e.mod(e.sub(count, single), 3)), 3)
            triples = e.floordiv(e.sub(e.sub(count, single), e.mul(pairs, 2)), 3)
            return [(3, triples), (2, pairs), (1, single)]
        if rows < 2 * MIDDLE_ROWS:
            vectors = max(2, MIDDLE_ROWS // rows)
            return [(vectors, e.ceildiv(count, vectors))]
        count = e.call("pymax", count, e.index(2))
        pairs = e.mod(e.sub(e.index(3), e.mod(count, 3)), 3)
        return [(3, e.floordiv(e.sub(count, e.mul(pairs, 2)), 3)), (2, pairs)]

    def _sum(
        self,
        e: Emitter,
        total: Value,
        step: Callable[[Emitter, Value], Value],
        position: int = 0,
    ) -> Value:
        """The loops over the summed iterators around `step`."""
        if position == len(self.c.sums):
            return step(e, total)
        iterator = self.c.sums[position]

        def inside(inner: Emitter, counter: Value, carried: list[Value]) -> list[Value]:
            self.point[iterator] = counter
            return [self._sum(inner, carried[0], step, position + 1)]

        extent, unroll = self.extent(iterator), self._unrolled(position)
        (last,) = e.loop(0, extent, inside, kind="reduction", inits=[total], carried=["total"], unroll=unroll)
        return last

    def _unrolled(self, position: int) -> int:
        """How often the C++ compiler is to write out the body of a loop over a summed iterator."""
        extents = [integer_of(self.extent(i)) for i in self.c.sums[position:]]
        known = [extent for extent in extents if extent]
        taps = prod(known)
        return known[0] if len(known) == len(extents) and taps <= UNROLLED_TAPS else 1

    def _tile(self, e: Emitter, row: Value, rows: int, lane: Value, vectors: int, end: Value | None) -> None:
        """One tile, whose vectors end at `end` at most."""
        starts = [e.add(lane, v * self.lanes) for v in range(vectors)]
        if end is not None:
            last = e.sub(end, self.lanes)
            # Only the last tile reaches so far, and of three vectors at least two are whole there.
            whole = 1 if vectors == 3 else 0
            starts = [*starts[:whole], *(e.minimum(s, last) for s in starts[whole:])]

        def step(inner: Emitter, tile: Value) -> Value:
            source = self.op.inputs[self.c.vector]
            loaded = [inner.load_vector(source, self.vector_indices(inner, s), self.lanes) for s in starts]
            return self.fused(inner, row, loaded, tile)

        output, axis = self.op.outputs[0], self.row_axis
        outer = self.output_indices(e, row, lane)[:-1]
        if self.op.inits:
            old = e.fill(self.op.inits[0], rows, vectors, self.lanes)
        else:
            old = e.load_tile(output, outer, starts, axis, rows, self.lanes)
        e.store_tile(self._sum(e, old, step), output, outer, starts, axis)

    def _part(self, e: Emitter, row: Value, lane: Value) -> None:
        """What is left of a row from `lane` on, which is less than a vector."""
        count = e.sub(self.extent(self.c.lane), lane)
        output = self.op.outputs[0]
        to = self.output_indices(e, row, lane)
        if self.op.inits:
            old = e.splat(self.op.inits[0], self.lanes)
        else:
            old = e.load_vector(output, to, self.lanes, count)

        def step(inner: Emitter, total: Value) -> Value:
            source = self.op.inputs[self.c.vector]
            loaded = inner.load_vector(source, self.vector_indices(inner, lane), self.lanes, count)
            return inner.call("fma", inner.splat(self.scalar(inner, row), self.lanes), loaded, total)

        e.store_vector(self._sum(e, old, step), output, to, count)
