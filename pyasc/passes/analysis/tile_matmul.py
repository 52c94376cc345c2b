# SPDX-License-Identifier: Apache-2.0
"""Product-sums in blocks for the cube unit.

    st.apply [%M, %N, %K], [%a, %b], [%zero], [%c] {iterators = ["parallel", "parallel", "reduction"], ...}

becomes

    tile.cores %pieces {unit = "cube", cores = 24, order = "cyclic"} {
    ^(%piece: i64):
      %i, %j, %rows, %columns = the block of the output
      %sum = tile.buffer : ref<128 x 256 x f32, l0c, nz>
      %aL0, %bL0 = tile.buffer {depth = 2}
      tile.loop [%K] {tile = [256]} {
      ^(%k: i64, %depth: i64):
        %aL1, %bL1 = tile.buffer {depth = 2}, filled by tile.copy, zero behind the end of the depth
        tile.loop [%depth] {tile = [64]} {
        ^(%kk: i64, %step: i64):
          tile.copy to %aL0 and %bL0
          tile.matmul %aL0, %bL0, %sum, %fresh, [%rows, %columns, %step]
        }
      }
      tile.copy %sum, %block, [%rows, %columns]
    }
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, func, mem, scf, tile
from pyasc.ir.dtypes import DType, i1, i64
from pyasc.ir.sizes import constant, lift, simplify
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of, materialise
from pyasc.passes.analysis.product import ACCUMULATORS, Factor, Product, axis_of
from pyasc.passes.analysis.soc import Architecture, Soc
from pyasc.passes.analysis.tile_emit import binary, ceil_div, named
from pyasc.passes.analysis.writeback import Access, Writeback

I64 = ScalarType(i64)
FRACTAL = 16
"""Rows and columns of a block of the output are multiples of this inside the unit."""
_NUMBERED = re.compile(r"i\d+")
_LEAST_COLUMNS = 64
"""Blocks of several rows are not made narrower than this to occupy more cores."""


@dataclass(frozen=True)
class CubeTile:
    """The most rows, columns and depth of a block: `depth` fits L1 and `step` fits L0A and L0B, two buffers each."""

    rows: int
    columns: int
    depth: int
    step: int


def cube_tile(arch: Architecture, dtype: DType) -> CubeTile:
    """The largest block that fills L0C, twice as wide as it is high as L0A is filled twice as fast as L0B."""
    accumulators = arch.l0c // 4
    rows = 1 << ((accumulators // 2).bit_length() - 1) // 2
    columns = accumulators // rows
    step = min(arch.l0b // 2 // columns, arch.l0a // 2 // rows) // dtype.bytes
    in_l1 = arch.l1 // 2 // ((rows + columns) * dtype.bytes) // step
    return CubeTile(rows, columns, step << (in_l1.bit_length() - 1), step)


def lower_product(product: Product, writeback: Writeback, soc: Soc) -> Value:
    """Replace a product, and what its way out does, by blocks; how many cores take part."""
    blocks = _Emitter(product, writeback, soc, Builder.before(writeback.consumed[0])).emit()
    for op in writeback.consumed:
        op.drop()
        op.unlink()
    return blocks


class _Emitter:
    def __init__(self, product: Product, writeback: Writeback, soc: Soc, at: Builder) -> None:
        self.product = product
        self.writeback = writeback
        self.soc = soc
        self.tile = cube_tile(soc.arch, product.dtype)
        self.total = ACCUMULATORS[product.dtype]
        self.point: dict[int, Value] = {}
        self.folded: Value | None = None
        self.at = at
        at.loc = product.op.loc

    def emit(self) -> Value:
        """The split into blocks over the cores."""
        at, p = self.at, self.product
        rows = index(at, 1) if p.row is None else self._extent(at, p.row)
        columns = self._extent(at, p.column)
        batch = [self._extent(at, i) for i in p.batch]
        height = at.value(arith.Constant.of(self.tile.rows, i64), "TILE_M")
        down = ceil_div(at, rows, height, "down")
        others = down
        for number, extent in enumerate(batch, 1):
            others = binary(at, "mul", others, extent, "lines" if number == len(batch) else "")
        width = self._width(at, columns, others)
        across = self._across(at, columns, width)
        pieces = binary(at, "mul", others, across, "pieces")
        blocks = binary(at, "minimum", pieces, self.soc.cube_cores, "blocks")
        body = block_of([I64], ["piece"])
        self._folded(p.left)
        cores = at.insert(
            tile.Cores(count=pieces, unit="cube", cores=self.soc.cube_cores, order="cyclic", body=body)
        )
        inner = Builder(cores.body.block, loc=at.loc)
        piece = cores.body.block.args[0]
        line = binary(inner, "floordiv", piece, across, "line" if batch else "")
        self._batch(inner, line, down, batch)
        if batch:
            line = binary(inner, "mod", line, down)
        i = binary(inner, "mul", line, height, "i" if p.row is None else self._named(p.row, "i"))
        j = binary(inner, "mul", binary(inner, "mod", piece, across), width, self._named(p.column, "j"))
        if p.row is not None:
            self.point[p.row] = i
        self.point[p.column] = j
        below, beside = binary(inner, "sub", rows, i, "below"), binary(inner, "sub", columns, j, "beside")
        rows_here = binary(inner, "minimum", below, height, "rows")
        columns_here = binary(inner, "minimum", beside, width, "columns")
        self._block(inner, rows_here, columns_here)
        inner.insert(tile.Yield())
        return blocks

    def _named(self, iterator: int, otherwise: str) -> str:
        """The name of an iterator in Python, if it has one."""
        args = self.product.op.body.block.args
        name = "" if iterator == self.product.op.rank else args[iterator].name
        return otherwise if not name or _NUMBERED.fullmatch(name) else name

    def _extent(self, at: Builder, iterator: int) -> Value:
        """How far an iterator goes; nowhere, where a difference of sizes is negative."""
        if iterator == self.product.op.rank:
            return self._merged(at)
        extent = materialise(self.product.op.upper[iterator], (), self.product.op.symbols, at)
        if isinstance(extent.owner, func.Size) or integer_of(extent) is not None:
            return extent
        return binary(at, "maximum", extent, 0, f"{self._named(iterator, 'axis')}End")

    def _merged(self, at: Builder) -> Value:
        """The extent of a depth of several iterators."""
        total = index(at, 1)
        for iterator in self.product.merged:
            total = binary(at, "mul", total, self._extent(at, iterator))
        total.name = total.name or "all"
        return total

    def _width(self, at: Builder, columns: Value, others: Value) -> Value:
        """Columns of a block: fewer than fit where the last round over the cores would leave some of them idle."""
        most = at.value(arith.Constant.of(self.tile.columns, i64), "TILE_N")
        known = integer_of(columns)
        fewest = FRACTAL if self.product.row is None else _LEAST_COLUMNS
        if known is not None and known <= fewest:
            return most
        cores = named(at, self.soc.cube_cores, "CORES")
        least = binary(at, "mul", others, ceil_div(at, columns, most))
        places = binary(at, "mul", ceil_div(at, least, cores), cores, "places")
        share = binary(at, "floordiv", places, binary(at, "maximum", others, 1), "share")
        wanted = binary(at, "maximum", share, 1, "wanted")
        each = binary(at, "floordiv", binary(at, "sub", binary(at, "add", columns, wanted), 1), wanted)
        fractal = named(at, FRACTAL, "FRACTAL")
        even = binary(at, "mul", ceil_div(at, each, fractal), fractal, "even")
        narrowest = named(at, fewest, "FRACTAL" if fewest == FRACTAL else "LEAST_N")
        wide = binary(at, "maximum", even, narrowest, "wide")
        return binary(at, "minimum", wide, most, "width")

    def _across(self, at: Builder, columns: Value, width: Value) -> Value:
        up = binary(at, "sub", binary(at, "add", columns, width), 1)
        return binary(at, "floordiv", up, width, "across")

    def _batch(self, at: Builder, number: Value, down: Value, extents: Sequence[Value]) -> None:
        """The batch iterators as digits of the number of a row of blocks."""
        rest = binary(at, "floordiv", number, down, "matrix") if extents else number
        for place in range(len(extents) - 1, -1, -1):
            iterator = self.product.batch[place]
            digit = rest
            if place:
                digit = binary(at, "mod", rest, extents[place])
                rest = binary(at, "floordiv", rest, extents[place], "rest")
            digit.name = self._named(iterator, f"batch{place or ''}")
            self.point[iterator] = digit

    def _block(self, at: Builder, rows: Value, columns: Value) -> None:
        """One block of the output: the sum over all of the depth, then its way out."""
        type_ = RefType((self.tile.rows, self.tile.columns), self.total, "l0c", "nz")
        total = at.value(tile.Buffer(types=[type_]), "sum")
        self._bias(at, total, rows, columns)
        self._steps_buffers(at)
        self._empty(at, total, rows, columns)
        inner = at
        for iterator in self.product.sums:
            name = self._named(iterator, "outer")
            bounds = (index(inner, 0), self._extent(inner, iterator), index(inner, 1))
            body = block_of([I64], [name])
            loop = inner.insert(
                scf.For(lower=bounds[0], upper=bounds[1], step=bounds[2], types=[], body=body)
            )
            self.point[iterator] = loop.counter
            inner = Builder.before(Builder(loop.body.block).insert(scf.Yield()))
            inner.loc = at.loc
        self._depth(inner, total, rows, columns)
        self._out(at, total, rows, columns)

    def _bias(self, at: Builder, total: Value, rows: Value, columns: Value) -> None:
        """A row of start values through L1 and the bias table."""
        bias = self.writeback.bias
        if bias is None:
            return
        name, one = bias.ref.name or "bias", index(at, 1)
        view = self._view(at, bias, (-1, 0), [one, columns])
        dtype = dtype_of(bias.ref.type)
        held = [
            at.value(tile.Buffer(types=[RefType((1, self.tile.columns), dtype, space)]), f"{name}{word}")
            for space, word in (("l1", "L1"), ("bt", "Table"))
        ]
        at.insert(tile.Copy(source=view, target=held[0], sizes=[one, columns]))
        at.insert(tile.Copy(source=held[0], target=held[1], sizes=[one, columns]))
        at.insert(tile.Broadcast(source=held[1], target=total, sizes=[rows, columns]))

    def _steps_buffers(self, at: Builder) -> None:
        """A step of each operand in L0A and L0B."""
        p, step = self.product, self.tile.step
        left = RefType((self.tile.rows, step), p.dtype, "l0a", "zz")
        right = RefType((step, self.tile.columns), p.dtype, "l0b", "zn")
        self.left = at.value(tile.Buffer(depth=2, types=[left]), f"{_name_of(p.left.ref, 'left')}L0")
        self.right = at.value(tile.Buffer(depth=2, types=[right]), f"{_name_of(p.right.ref, 'right')}L0")

    def _empty(self, at: Builder, total: Value, rows: Value, columns: Value) -> None:
        """A sum of nothing is zero: one step of zeros, where the sizes do not rule that out."""
        sizes = [self._extent(at, i) for i in (self.product.depth, *self.product.sums)]
        if all(integer_of(size) for size in sizes):
            return
        points = index(at, 1)
        for size in sizes:
            points = points if integer_of(size) else binary(at, "mul", points, size)
        condition = at.value(arith.Elementwise(fn="eq", args=[points, index(at, 0)]))
        branch = at.insert(scf.If(condition=condition, types=[], then=block_of(), otherwise=block_of()))
        Builder(branch.otherwise.block, loc=at.loc).insert(scf.Yield())
        inner = Builder(branch.then.block, loc=at.loc)
        step = index(inner, 32 // self.product.dtype.bytes)
        zero = inner.value(arith.Constant.of(0.0 if self.product.dtype.is_float else 0, self.product.dtype))
        inner.insert(tile.Fill(value=zero, target=self.left, sizes=[rows, step]))
        inner.insert(tile.Fill(value=zero, target=self.right, sizes=[step, columns]))
        fresh = inner.value(arith.Constant.of(self.writeback.bias is None, i1))
        sizes = [rows, columns, step]
        inner.insert(tile.Matmul(lhs=self.left, rhs=self.right, acc=total, fresh=fresh, sizes=sizes))
        inner.insert(scf.Yield())

    def _depth(self, at: Builder, total: Value, rows: Value, columns: Value) -> None:
        """The depth in pieces that fit L1."""
        loop = at.insert(
            tile.Loop(
                extents=[self._extent(at, self.product.depth)],
                tile=(self.tile.depth,),
                body=block_of([I64, I64], [self._named(self.product.depth, "k"), "depth"]),
            )
        )
        k, depth = loop.body.block.args
        inner = Builder(loop.body.block, loc=at.loc)
        self.point[self.product.depth] = k
        left = self._fetch(inner, "left", rows, depth)
        right = self._fetch(inner, "right", columns, depth)
        self._steps(inner, (left, right, total), (rows, columns), k, depth)
        inner.insert(tile.Yield())

    def _fetch(self, at: Builder, side: str, free: Value, depth: Value) -> Value:
        """A piece of an operand in L1, as it is stored."""
        is_left = side == "left"
        factor = self.product.left if is_left else self.product.right
        extents = (self.tile.rows if is_left else self.tile.columns, self.tile.depth)
        sizes = [free, depth] if factor.depth_inner else [depth, free]
        shape = extents if factor.depth_inner else extents[::-1]
        type_ = RefType(shape, self.product.dtype, "l1", "nz")
        made = at.value(tile.Buffer(depth=2, types=[type_]), f"{_name_of(factor.ref, side)}L1")
        if factor.gathered:
            self._gather(at, factor, made, depth, free)
            return made
        access = Access(self._folded(factor), factor.map, self.product.op.symbols)
        view = self._view(at, access, factor.axes, sizes)
        zero = 0.0 if self.product.dtype.is_float else 0
        at.insert(tile.Copy(source=view, target=made, sizes=sizes, pad=zero))
        return made

    def _folded(self, factor: Factor) -> Value:
        """The array of an operand, its last axes as one where they are the depth together."""
        if factor.folded is None:
            return factor.ref
        if self.folded is None:
            assert isinstance(factor.ref.type, RefType)
            shape = factor.ref.type.shape
            total = constant(1)
            for extent in shape[factor.folded :]:
                assert extent is not None
                total = total * lift(extent)
            type_ = RefType((*shape[: factor.folded], simplify(total)), self.product.dtype)
            made = tile.Merge(ref=factor.ref, axis=factor.folded, types=[type_])
            self.folded = self.at.value(made, factor.ref.name)
        return self.folded

    def _gather(self, at: Builder, factor: Factor, held: Value, depth: Value, columns: Value) -> None:
        """Rows of a piece one by one, from where each stands in its array."""
        zero, one = index(at, 0), index(at, 1)
        body = block_of([I64], ["row"])
        loop = at.insert(scf.For(lower=zero, upper=depth, step=one, types=[], body=body))
        inner = Builder(loop.body.block, loc=at.loc)
        rest = binary(inner, "add", self.point[self.product.depth], loop.counter, "tap")
        for place in range(len(self.product.merged) - 1, -1, -1):
            iterator = self.product.merged[place]
            extent = self._extent(inner, iterator)
            self.point[iterator] = binary(inner, "mod", rest, extent) if place else rest
            rest = binary(inner, "floordiv", rest, extent) if place else rest
        axes = (-1, len(factor.map.results) - 1)
        access = Access(factor.ref, factor.map, self.product.op.symbols)
        view = self._view(inner, access, axes, [one, columns])
        part = mem.View(
            ref=held,
            offsets=[loop.counter, zero],
            sizes=[one, columns],
            steps=[one, one],
            axes=(0, 1),
            types=[RefType((None, None), self.product.dtype, "l1", "nz")],
        )
        inner.insert(tile.Copy(source=view, target=inner.value(part), sizes=[one, columns]))
        inner.insert(scf.Yield())

    def _view(self, at: Builder, access: Access, axes: tuple[int, int], sizes: Sequence[Value]) -> Value:
        """The box of an array that the iterators' present values begin."""
        one, ref = index(at, 1), access.ref
        point = [self.point.get(i, index(at, 0)) for i in range(self.product.op.rank + 1)]
        offsets = [materialise(expr, point, access.symbols, at) for expr in access.map.results]
        extents, steps = [one] * len(offsets), [one] * len(offsets)
        for axis, size in zip(axes, sizes, strict=True):
            if axis >= 0:
                extents[axis], steps[axis] = size, index(at, self._step_of(access.map, axis))
        type_ = RefType((None, None), dtype_of(ref.type), "gm", "strided")
        made = mem.View(ref=ref, offsets=offsets, sizes=extents, steps=steps, axes=axes, types=[type_])
        return at.value(made, ref.name)

    def _step_of(self, map_: AffineMap, axis: int) -> int:
        """Elements of an axis from one row to the next: the factor of the row, column or depth that walks it."""
        p = self.product
        walking = [i for i in (p.row, p.column, p.depth) if i is not None and axis_of(map_, i) == axis]
        return map_.results[axis].coefficient(walking[0])

    def _steps(
        self,
        at: Builder,
        tiles: tuple[Value, Value, Value],
        sizes: tuple[Value, Value],
        k: Value,
        depth: Value,
    ) -> None:
        """What lies in L1 in steps that fit L0A and L0B."""
        body = block_of([I64, I64], ["kk", "step"])
        loop = at.insert(tile.Loop(extents=[depth], tile=(self.tile.step,), body=body))
        kk, step = loop.body.block.args
        inner = Builder(loop.body.block, loc=at.loc)
        p, (rows, columns) = self.product, sizes
        self._load(inner, p.left, tiles[0], (rows, kk, step), self.left)
        self._load(inner, p.right, tiles[1], (columns, kk, step), self.right)
        fresh = self._fresh(inner, binary(inner, "add", k, kk))
        sums = [rows, columns, step]
        inner.insert(tile.Matmul(lhs=self.left, rhs=self.right, acc=tiles[2], fresh=fresh, sizes=sums))
        inner.insert(tile.Yield())

    def _load(
        self, at: Builder, factor: Factor, held: Value, part: tuple[Value, Value, Value], target: Value
    ) -> None:
        """A step of an operand from L1, turned where it is stored the other way around."""
        free, kk, step = part
        zero, one = index(at, 0), index(at, 1)
        offsets, sizes = [zero, kk], [free, step]
        if not factor.depth_inner:
            offsets, sizes = offsets[::-1], sizes[::-1]
        turned = factor.depth_inner == (target is self.right)
        view = mem.View(
            ref=held,
            offsets=offsets,
            sizes=sizes,
            steps=[one, one],
            axes=(1, 0) if turned else (0, 1),
            types=[RefType((None, None), self.product.dtype, "l1", "nz")],
        )
        part_ = at.value(view)
        at.insert(tile.Copy(source=part_, target=target, sizes=sizes[::-1] if turned else sizes))

    def _fresh(self, at: Builder, done: Value) -> Value:
        """Whether nothing has been added up yet; a bias has."""
        if self.writeback.bias is not None:
            return at.value(arith.Constant.of(False, i1))
        for iterator in self.product.sums:
            done = binary(at, "add", done, self.point[iterator])
        return at.value(arith.Elementwise(fn="eq", args=[done, index(at, 0)]), "fresh")

    def _out(self, at: Builder, total: Value, rows: Value, columns: Value) -> None:
        """The block into global memory, converted on its way."""
        target = self.writeback.target
        row = -1 if self.product.row is None else axis_of(target.map, self.product.row)
        assert row is not None
        view = self._view(at, target, (row, len(target.map.results) - 1), [rows, columns])
        at.insert(
            tile.Copy(
                source=total,
                target=view,
                sizes=[rows, columns],
                relu=self.writeback.relu,
                accumulate="add" if self.product.accumulates else None,
            )
        )


def _name_of(ref: Value, otherwise: str) -> str:
    """What tiles of an array are called."""
    return ref.name or otherwise
