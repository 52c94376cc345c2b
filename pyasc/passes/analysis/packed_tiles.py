# SPDX-License-Identifier: Apache-2.0
"""Matrix products on a host processor: register tiles fed from packed panels that fit its caches."""

from __future__ import annotations

from collections.abc import Callable

from pyasc.ir.core import Value
from pyasc.ir.types import ScalarType
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.contraction import Contraction
from pyasc.passes.analysis.emit import Emitter, Index
from pyasc.passes.analysis.register_tiles import Machine, Tile

DEPTH = 512
"""Elements of the summed iterator in one panel: with a register tile's width it fills about a level-1 cache."""
WIDTH = 1024
"""Lanes whose panels are packed at a time: with DEPTH they fill about a level-2 cache."""

UNROLLED_STEPS = 4
"""Steps of the sum that are written out: each row has an address, more than there are registers for."""


class PackedTiles(Tile):
    """Matrix products: panels of the vector operand are copied to be contiguous, then shared by all row blocks."""

    vectors = 2

    def __init__(self, c: Contraction, machine: Machine) -> None:
        super().__init__(c, machine)
        self.width = self.vectors * self.lanes
        self.sum = c.sums[0]
        self.rows = machine.rows(self.vectors, integer_of(self.extent(self.row)))
        self.batch = bool(c.others) and any(c.vector_map.uses(i) for i in c.others)
        self.first_lane = self.lane_end = self.extent(c.lane)

    def emit(self) -> None:
        """The whole nest."""
        e = self.e
        depth = e.minimum(self.extent(self.sum), DEPTH)
        panels = e.ceildiv(e.minimum(self.extent(self.c.lane), WIDTH), self.width)
        if self.batch:
            self._batched(e, panels, depth)
        else:
            packed = e.alloc([panels, depth, self.width], self.c.dtype, "packed")
            self._columns(e, packed)

    def _batched(self, e: Emitter, panels: Value, depth: Value) -> None:
        """Each batch packs for itself; batches run in parallel."""
        total = e.index(1)
        for i in self.c.others:
            total = e.mul(total, self.extent(i))

        def inside(inner: Emitter, number: Value, _: list[Value]) -> None:
            self.bind_others(inner, number)
            packed = inner.alloc([panels, depth, self.width], self.c.dtype, "packed")
            self._columns(inner, packed)

        e.loop(0, total, inside, kind="parallel", name="batch")

    def _columns(self, e: Emitter, packed: Value) -> None:
        extent = self.extent(self.c.lane)

        def inside(inner: Emitter, first: Value, _: list[Value]) -> None:
            self.first_lane = first
            self.lane_end = inner.add(first, inner.minimum(inner.sub(extent, first), WIDTH))
            self._depths(inner, packed)

        known = integer_of(extent)
        if known is not None and known <= WIDTH:
            inside(e, e.index(0), [])
        else:
            e.loop(0, extent, inside, step=WIDTH, name="column")

    def _depths(self, e: Emitter, packed: Value) -> None:
        extent = self.extent(self.sum)
        panels = e.ceildiv(e.sub(self.lane_end, self.first_lane), self.width)

        def inside(inner: Emitter, first: Value, _: list[Value]) -> None:
            depth = inner.minimum(inner.sub(extent, first), DEPTH)
            inner.loop(
                0,
                panels,
                lambda deeper, panel, _: self._pack(deeper, packed, panel, first, depth),
                kind="parallel",
                name="panel",
            )
            self._rows(inner, packed, panels, first, depth)

        known = integer_of(extent)
        if known is not None and 0 < known <= DEPTH:
            inside(e, e.index(0), [])
            return
        # A sum over nothing is the init alone, which one turn over no depth writes.
        end = e.call("pymax", extent, e.index(1)) if self.op.inits else extent
        e.loop(0, end, inside, step=DEPTH, name="depth")

    def _pack(self, e: Emitter, packed: Value, panel: Value, first: Value, depth: Value) -> None:
        """Copy one panel, with zeros in the lanes past the end."""
        start = e.add(self.first_lane, e.mul(panel, self.width))
        full = e.call("le", e.add(start, self.width), self.lane_end)

        def copy(inner: Emitter, lane: Value, k: Value) -> None:
            self.point[self.sum] = inner.add(first, k)
            indices = self.vector_indices(inner, inner.add(start, lane))
            element = inner.cast(inner.load(self.op.inputs[self.c.vector], indices), self.c.dtype)
            inner.store(element, packed, [panel, k, lane])

        def guarded(inner: Emitter, lane: Value, k: Value) -> None:
            exists = inner.call("lt", inner.add(start, lane), self.lane_end)
            zero = inner.constant(0.0, ScalarType(self.c.dtype))
            inner.branch(
                exists, lambda i: copy(i, lane, k), lambda i: i.store(zero, packed, [panel, k, lane])
            )

        def nest(inner: Emitter, element: Callable[[Emitter, Value, Value], None], kind: str) -> None:
            def line(deeper: Emitter, k: Value, _: list[Value]) -> None:
                deeper.loop(0, self.width, lambda i, lane, _: element(i, lane, k), kind=kind, name="lane")

            inner.loop(0, depth, line, name="k")

        e.branch(
            full,
            lambda inner: nest(inner, copy, "parallel"),
            lambda inner: nest(inner, guarded, "sequential"),
        )

    def _rows(self, e: Emitter, packed: Value, panels: Value, first: Value, depth: Value) -> None:
        blocks = e.ceildiv(self.extent(self.row), self.rows)

        def block(inner: Emitter, number: Value) -> None:
            inner.loop(
                0,
                panels,
                lambda deeper, panel, _: self._panel(deeper, packed, panel, number, first, depth),
                name="panel",
            )

        if self.batch:
            e.loop(0, blocks, lambda inner, number, _: block(inner, number), kind="parallel", name="block")
        else:
            self.over_others(e, blocks, block)

    def _panel(
        self, e: Emitter, packed: Value, panel: Value, block: Value, first: Value, depth: Value
    ) -> None:
        """The sums of a block of rows over one panel: gathered in a buffer, then written back by one loop."""
        top = e.mul(block, self.rows)
        buffer = e.alloc([self.rows, self.width], self.c.dtype, "tile")

        def tile(inner: Emitter, row: Value, rows: int) -> None:
            total = self._sum(inner, packed, panel, row, rows, first, depth)
            inner.store_tile(total, buffer, [inner.sub(row, top)], self._starts, axis=0)

        self.row_blocks(e, block, self.rows, tile)
        start = e.add(self.first_lane, e.mul(panel, self.width))
        lanes = e.minimum(e.sub(self.lane_end, start), self.width)
        rows = e.minimum(e.sub(self.extent(self.row), top), self.rows)
        self._write_back(e, buffer, top, rows, start, lanes, first)

    @property
    def _starts(self) -> list[Index]:
        """Where the vectors of a tile start in a panel."""
        return [v * self.lanes for v in range(self.vectors)]

    def _sum(
        self, e: Emitter, packed: Value, panel: Value, row: Value, rows: int, first: Value, depth: Value
    ) -> Value:
        """The tile of some rows after one panel."""

        def step(inner: Emitter, k: Value, carried: list[Value]) -> list[Value]:
            vectors = [inner.load_vector(packed, [panel, k, start], self.lanes) for start in self._starts]
            self.point[self.sum] = inner.add(first, k)
            return [self.fused(inner, row, vectors, carried[0])]

        zero = e.constant(0.0, ScalarType(self.c.dtype))
        unroll = UNROLLED_STEPS if rows == self.rows else 1
        (total,) = e.loop(
            0,
            depth,
            step,
            kind="reduction",
            inits=[e.fill(zero, rows, self.vectors, self.lanes)],
            name="k",
            carried=["total"],
            unroll=unroll,
        )
        return total

    def _write_back(
        self, e: Emitter, tile: Value, row: Value, rows: Value, start: Value, lanes: Value, first: Value
    ) -> None:
        """Add the tile to what the output holds, or to the init in the first panel of the sum."""
        output = self.op.outputs[0]

        def write(inner: Emitter, fresh: bool) -> None:
            def line(middle: Emitter, r: Value, _: list[Value]) -> None:
                def lane(deeper: Emitter, j: Value, _: list[Value]) -> None:
                    to = self.output_indices(deeper, deeper.add(row, r), deeper.add(start, j))
                    old = self.op.inits[0] if fresh else deeper.load(output, to)
                    deeper.store(deeper.call("add", old, deeper.load(tile, [r, j])), output, to)

                middle.loop(0, lanes, lane, kind="parallel", name="lane")

            inner.loop(0, rows, line, name="r")

        if not self.op.inits:
            write(e, fresh=False)
        elif integer_of(first) == 0:
            write(e, fresh=True)
        else:
            begins = e.call("eq", first, e.index(0))
            e.branch(begins, lambda inner: write(inner, fresh=True), lambda inner: write(inner, fresh=False))
