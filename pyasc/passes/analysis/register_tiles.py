# SPDX-License-Identifier: Apache-2.0
"""Loop nests for product-sums on a host processor: a register tile of rows by vectors, fed from packed panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects.arith import Cast
from pyasc.ir.dtypes import DType
from pyasc.ir.types import ScalarType, VectorType, dtype_of
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.contraction import Contraction
from pyasc.passes.analysis.emit import Emitter, Index

DEPTH = 512
"""Elements of the summed iterator in one panel: with a register tile's width it fills about a level-1 cache."""
WIDTH = 1024
"""Lanes whose panels are packed at a time: with DEPTH they fill about a level-2 cache."""
MIDDLE_ROWS = 4
"""Rows of the smaller tile that takes what full tiles leave over."""


@dataclass(frozen=True)
class Machine:
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
        blocks = -(-known // most)
        return -(-known // blocks)

    def even_rows(self, vectors: int) -> int:
        """Rows of a tile as a power of two, which counts of channels are likely to be a multiple of."""
        most = (self.registers - vectors - 1) // vectors
        return 1 << (most.bit_length() - 1)


def tile_contraction(c: Contraction, machine: Machine) -> bool:
    """Replace a product-sum by its tiled nest. Returns False, changing nothing, when no tile fits its maps."""
    if c.row is None or c.dtype not in (dtypes.f32, dtypes.f64):
        return False
    if any(bound.constant or bound.symbols for bound in c.op.lower):
        return False
    if c.is_projection and len(c.sums) == 1:
        _Packed(c, machine).emit()
    elif c.has_unit_stride and dtype_of(c.op.inputs[c.vector].type) is c.dtype:
        _Direct(c, machine).emit()
    else:
        return False
    c.op.drop()
    c.op.unlink()
    return True


class _Tile:
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

    def over_others(self, e: Emitter, blocks: Value, body: Callable[[Emitter, Value], None]) -> None:
        """One parallel loop over all remaining parallel iterators and `blocks` row blocks."""
        total = blocks
        for i in self.c.others:
            total = e.mul(total, self.extent(i))

        def inside(inner: Emitter, number: Value, _: list[Value]) -> None:
            if not self.c.others:
                body(inner, number)
                return
            self.bind_others(inner, inner.floordiv(number, blocks))
            body(inner, inner.mod(number, blocks))

        e.loop(0, total, inside, kind="parallel", name="block")

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
        self.point[self.row] = e.index(row)
        indices = e.at_map(self.c.scalar_map, self.point, self.op.symbols)
        return e.cast(e.load(self.op.inputs[self.c.scalar], indices), self.c.dtype)

    def vector_indices(self, e: Emitter, lane: Index) -> list[Value]:
        """Where the vector operand lies at the current point and a lane."""
        self.point[self.c.lane] = e.index(lane)
        return e.at_map(self.c.vector_map, self.point, self.op.symbols)

    def output_indices(self, e: Emitter, row: Index, lane: Index) -> list[Value]:
        """Where the output lies at the current point."""
        self.point[self.row] = e.index(row)
        self.point[self.c.lane] = e.index(lane)
        return e.at_map(self.op.output_maps[0], self.point, self.op.symbols)

    def fused(
        self, e: Emitter, row: Value, rows: int, vectors: Sequence[Value], sums: Sequence[Value]
    ) -> list[Value]:
        """The accumulators after one step of the sum."""
        width = len(vectors)
        for number, value in enumerate(vectors):
            value.name = f"vector{number}"
        following: list[Value] = []
        for r in range(rows):
            # Each factor is broadcast right before its use: compilers keep this order, and all at once would spill.
            factor = e.splat(self.scalar(e, e.add(row, r)), self.lanes)
            factor.name = f"row{r}"
            for v in range(width):
                running = sums[r * width + v]
                following.append(e.call("fma", factor, vectors[v], running))
        return following

    def sum_names(self, count: int, width: int) -> list[str]:
        """Names of the accumulators: row and vector."""
        return [f"sum{i // width}_{i % width}" for i in range(count)]

    def zeros(self, e: Emitter, count: int) -> list[Value]:
        """Fresh accumulators."""
        zero = e.constant(0.0, VectorType(self.lanes, self.c.dtype))
        return [zero] * count


class _Packed(_Tile):
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
        if self.op.inits:
            # A sum over nothing is the init alone, and then no panel writes it.
            e.branch(e.call("le", extent, e.index(0)), self._only_init)
        e.loop(0, extent, inside, step=DEPTH, name="depth")

    def _only_init(self, e: Emitter) -> None:
        def row(inner: Emitter, i: Value, _: list[Value]) -> None:
            def lane(deeper: Emitter, j: Value, _: list[Value]) -> None:
                deeper.store(self.op.inits[0], self.op.outputs[0], self.output_indices(deeper, i, j))

            inner.loop(self.first_lane, self.lane_end, lane, kind="parallel")

        def block(inner: Emitter, _: Value) -> None:
            inner.loop(0, self.extent(self.row), row)

        if self.batch:
            block(e, e.index(0))
        else:
            self.over_others(e, e.index(1), block)

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
            def tile(deeper: Emitter, row: Value, rows: int) -> None:
                deeper.loop(
                    0,
                    panels,
                    lambda i, panel, _: self._tile(i, packed, panel, row, rows, first, depth),
                    name="panel",
                )

            self.row_blocks(inner, number, self.rows, tile)

        if self.batch:
            e.loop(0, blocks, lambda inner, number, _: block(inner, number), kind="parallel", name="block")
        else:
            self.over_others(e, blocks, block)

    def _tile(
        self, e: Emitter, packed: Value, panel: Value, row: Value, rows: int, first: Value, depth: Value
    ) -> None:
        def step(inner: Emitter, k: Value, sums: list[Value]) -> list[Value]:
            vectors = [
                inner.load_vector(packed, [panel, k, v * self.lanes], self.lanes) for v in range(self.vectors)
            ]
            self.point[self.sum] = inner.add(first, k)
            return self.fused(inner, row, rows, vectors, sums)

        sums = e.loop(
            0,
            depth,
            step,
            kind="reduction",
            inits=self.zeros(e, rows * self.vectors),
            name="k",
            carried=self.sum_names(rows * self.vectors, self.vectors),
        )
        tile = e.alloc([rows, self.width], self.c.dtype, "tile")
        for number, value in enumerate(sums):
            r, v = divmod(number, self.vectors)
            e.store_vector(value, tile, [r, v * self.lanes])
        start = e.add(self.first_lane, e.mul(panel, self.width))
        lanes = e.minimum(e.sub(self.lane_end, start), self.width)
        self._write_back(e, tile, row, rows, start, lanes, first)

    def _write_back(
        self, e: Emitter, tile: Value, row: Value, rows: int, start: Value, lanes: Value, first: Value
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


class _Direct(_Tile):
    """Convolutions and the like: vectors are read where they lie, since neighbouring points share them."""

    @property
    def vectors(self) -> int:
        """Vectors of a tile along the lanes: more where registers allow, since each row's factor serves them all."""
        return 3 if self.machine.registers >= 32 else 2

    def emit(self) -> None:
        """The whole nest, and single elements where not even one vector fits.

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
        self.over_others(e, blocks, lambda inner, number: self.row_blocks(inner, number, rows, lanes))

    def _reaching_lanes(self, e: Emitter, row: Value, rows: int) -> None:
        extent = self.extent(self.c.lane)
        self._vectors(e, row, rows, e.ceildiv(extent, self.lanes), extent)

    def _whole_lanes(self, e: Emitter, row: Value, rows: int) -> None:
        extent = self.extent(self.c.lane)
        whole = e.floordiv(extent, self.lanes)
        self._vectors(e, row, rows, whole, None)
        first = e.mul(whole, self.lanes)
        end = e.add(row, rows)
        e.loop(row, end, lambda inner, r, _: self._one_by_one(inner, r, first), name="row")

    def _narrow(self, e: Emitter) -> None:
        self.over_others(
            e, self.extent(self.row), lambda inner, r: self._one_by_one(inner, r, inner.index(0))
        )

    def _one_by_one(self, e: Emitter, row: Value, first: Value) -> None:
        e.loop(first, self.extent(self.c.lane), lambda i, lane, _: self._scalar(i, row, lane), name="lane")

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
        if rows == MIDDLE_ROWS:
            return [(2, e.ceildiv(count, 2))]
        count = e.call("pymax", count, e.index(2))
        pairs = e.mod(e.sub(e.index(3), e.mod(count, 3)), 3)
        return [(3, e.floordiv(e.sub(count, e.mul(pairs, 2)), 3)), (2, pairs)]

    def _sum(
        self,
        e: Emitter,
        position: int,
        sums: list[Value],
        width: int,
        step: Callable[[Emitter, list[Value]], list[Value]],
    ) -> list[Value]:
        """The loops over the summed iterators around `step`."""
        if position == len(self.c.sums):
            return step(e, sums)
        iterator = self.c.sums[position]

        def inside(inner: Emitter, counter: Value, carried: list[Value]) -> list[Value]:
            self.point[iterator] = counter
            return self._sum(inner, position + 1, carried, width, step)

        names = self.sum_names(len(sums), width)
        return e.loop(0, self.extent(iterator), inside, kind="reduction", inits=sums, carried=names)

    def _tile(self, e: Emitter, row: Value, rows: int, lane: Value, vectors: int, end: Value | None) -> None:
        """One tile, whose vectors end at `end` at most."""
        starts = [e.add(lane, v * self.lanes) for v in range(vectors)]
        if end is not None:
            last = e.sub(end, self.lanes)
            # Only the last tile reaches so far, and of three vectors at least two are whole there.
            starts = [s if v < vectors - 2 else e.minimum(s, last) for v, s in enumerate(starts)]

        def step(inner: Emitter, sums: list[Value]) -> list[Value]:
            source = self.op.inputs[self.c.vector]
            loaded = [inner.load_vector(source, self.vector_indices(inner, s), self.lanes) for s in starts]
            return self.fused(inner, row, rows, loaded, sums)

        output = self.op.outputs[0]
        sums = self._sum(e, 0, self.zeros(e, rows * vectors), vectors, step)
        for number, value in enumerate(sums):
            r, v = divmod(number, vectors)
            to = self.output_indices(e, e.add(row, r), starts[v])
            old = (
                e.splat(self.op.inits[0], self.lanes)
                if self.op.inits
                else e.load_vector(output, to, self.lanes)
            )
            e.store_vector(e.call("add", old, value), output, to)

    def _scalar(self, e: Emitter, row: Value, lane: Value) -> None:
        output = self.op.outputs[0]
        to = self.output_indices(e, row, lane)
        old = self.op.inits[0] if self.op.inits else e.load(output, to)

        def step(inner: Emitter, sums: list[Value]) -> list[Value]:
            element = inner.load(self.op.inputs[self.c.vector], self.vector_indices(inner, lane))
            return [inner.call("fma", self.scalar(inner, row), element, sums[0])]

        (total,) = self._sum(e, 0, [old], 1, step)
        e.store(total, output, to)
