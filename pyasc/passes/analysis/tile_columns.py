# SPDX-License-Identifier: Apache-2.0
"""Reductions over rows: every core takes a strip of columns and adds row after row to accumulators of one row.

tile.cores %blocks {
  scf.for %column = 0 to %length step %piece {
    %out = tile.buffer [%pitch] {depth = 2} : ref<1 x ? x f32, ub>
    tile.fill %init, %out, [1, %width]
    scf.for %row = 0 to %rows step %tileRows {
      %x = tile.buffer [%tileRows, %pitch] {depth = 2} : ref<? x ? x f32, ub>
      tile.copy ..., %x, [%n, %width]
      tile.reduce %x, %out, [%n, %width] {fn = "add", axis = 0, continued = true}
    }
    tile.copy %out, ..., [1, %width]
  }
}

Where rows overlap, as those of a convolution do, a tile is one row.

The iterators may come in any order: the one along which memory is contiguous walks the columns, a reduction the rows.
Other reductions are loops around the rows, other parallel ones loops around the strips, the first of them dealt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import mem, scf, st, tile
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.not_vector import NotVector, refuse
from pyasc.passes.analysis.permute import permute
from pyasc.passes.analysis.row_work import IDENTITIES
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.structured import combining_functions
from pyasc.passes.analysis.tile_emit import (
    MAX_QUEUES,
    TileEmitter,
    binary,
)
from pyasc.passes.analysis.tile_program import Operand, Register
from pyasc.passes.analysis.tile_row_tiles import RowTiles
from pyasc.passes.analysis.tile_rows import of_columns
from pyasc.passes.analysis.tile_strips import SCALAR, ColumnStrips


def reduces_rows(op: st.Apply) -> bool:
    """Whether an op combines along some iterators into what a parallel one walks side by side, and does no more."""
    return over_rows(op) and set(op.roles) == {"reduce"}


def over_rows(op: st.Apply) -> bool:
    """Whether one of an op's parallel iterators walks neighbours in all outputs, and others combine."""
    known = set(op.iterators) <= {"parallel", "reduction"} and "reduction" in op.iterators
    return known and not op.strict and bool(op.inputs) and _column(op) is not None


def _column(op: st.Apply) -> int | None:
    """The parallel iterator that walks neighbours of all outputs, if a reduction does not walk those of an input."""
    maps = list(zip(op.outputs, op.output_maps, strict=True))
    for number, kind in enumerate(op.iterators):
        if kind == "parallel" and all(_beside(ref, map_, number) for ref, map_ in maps):
            reads = zip(op.inputs, op.input_maps, strict=True)
            steps = all(not map_.uses(number) or _beside(ref, map_, number) for ref, map_ in reads)
            return number if steps and any(map_.uses(number) for map_ in op.input_maps) else None
    return None


def _beside(ref: Value, map_: AffineMap, iterator: int) -> bool:
    if not map_.results or not isinstance(ref.type, RefType) or ref.type.layout != "row":
        return False
    *outer, last = map_.results
    return last.coefficient(iterator) == 1 and not any(e.coefficient(iterator) for e in outer)


def lower_columns(op: st.Apply, soc: Soc) -> Value:
    """Replace the op by tile operations; the number of cores that take part. Raises NotVector."""
    column = _column(op)
    assert column is not None
    outer = [i for i, kind in enumerate(op.iterators) if kind == "parallel" and i != column]
    reductions = [i for i, kind in enumerate(op.iterators) if kind == "reduction"]
    order = [*outer, *reductions, column]
    permute(op, order)
    _check_order(op, len(outer))
    try:
        columns = _Columns(op, len(outer), soc, single=False)
    except NotVector:
        columns = _Columns(op, len(outer), soc, single=True)
    return columns.lower()


def _check_order(op: st.Apply, outer: int) -> None:
    for number, bound in chain(enumerate(op.lower), enumerate(op.upper)):
        last = number == op.rank - 1
        if any(dim >= (outer if last else number) and c for dim, c in enumerate(bound.dims)):
            raise refuse("bounds that follow from an iterator that walks inside", op.loc)


class _Columns(ColumnStrips):
    piece = 2040
    """A row of 8 KiB, and as many rows as fit beside it."""

    def __init__(self, op: st.Apply, outer: int, soc: Soc, single: bool) -> None:
        self.op = op
        self.single = single
        self.outer = outer
        self.soc = soc
        self.at = Builder.before(op)
        self.at.loc = op.loc
        self.work, yielded = of_columns(op, self.at, lines=single)
        legaliser = self.work.builder.legaliser
        self.functions = [self._function(fn) for fn in combining_functions(op)]
        self.values: list[Register] = []
        for fn, value in zip(self.functions, yielded, strict=False):
            register = self._full(value)
            if op.guarded:
                identity = legaliser.number(IDENTITIES[fn], register.dtype)
                register = self._full(legaliser.select([yielded[-1], register, identity]))
            total = dtype_of(op.outputs[len(self.values)].type)
            # Elements of 64 bits that were proved to fit in 32 add up to more.
            if register.dtype.name not in ("f16", "f32", "i16", "i32") or register.dtype is not total:
                raise refuse(f"a reduction of {total} elements", op.loc)
            self.values.append(register)
        self._size(soc.arch.ub)

    def _full(self, value: Operand) -> Register:
        legaliser = self.work.builder.legaliser
        register = legaliser.full(legaliser.register(value))
        assert isinstance(register, Register)
        return register

    def _function(self, fn: str | None) -> str:
        if fn not in IDENTITIES:
            raise refuse(f"a reduction by `{fn or 'several functions'}`", self.op.loc)
        return fn

    def _size(self, ub: int) -> None:
        program = self.work.builder.program
        # What is reduced lives to the end, in a temporary or in the input it is.
        program.outputs += self.values
        program.prune()
        self.work.builder.wide.intervals.check()
        program.outputs.clear()
        program.kept += list(dict.fromkeys(self.values))
        buffers = 2 * len(self.values) + (0 if self.op.inits else len(self.values))
        self.tiles = RowTiles(self.op, self.work, ub - buffers * self.piece * 4)
        if sum(slot.kind == "in" for slot in self.tiles.assignment.slots) > MAX_QUEUES // 2 - len(
            self.values
        ):
            raise refuse(f"a reduction over rows of more than {MAX_QUEUES // 2 - 1} arrays", self.op.loc)

    def lower(self) -> Value:
        """Emit the split over cores, the strips, and the rows of each."""
        return self.deal(self.at, min(value.dtype.bytes for value in self.values), self.soc.vector_cores)

    def _strip(self, at: Builder, point: list[Value], column: Value, width: Value) -> None:
        one = index(at, 1)
        totals = [self._accumulator(at, number, point, column, width) for number in range(len(self.values))]
        self._rows(at, totals, point, column, width)
        for number, total in enumerate(totals):
            target = self._output(at, number, point, column, width)
            at.insert(tile.Copy(source=total, target=target, sizes=[one, width]))

    def _accumulator(
        self, at: Builder, number: int, point: list[Value], column: Value, width: Value
    ) -> Value:
        """A row that starts from its initial value, or from what the array holds."""
        one = index(at, 1)
        name = self.op.outputs[number].name or "total"
        total = self._line(at, number, 2, name)
        if self.op.inits:
            at.insert(tile.Fill(value=self.op.inits[number], target=total, sizes=[one, width]))
            return total
        old = self._line(at, number, 1, f"{name}Old")
        source = self._output(at, number, point, column, width)
        at.insert(tile.Copy(source=source, target=old, sizes=[one, width]))
        at.insert(tile.Broadcast(source=old, target=total, sizes=[one, width]))
        return total

    def _line(self, at: Builder, number: int, depth: int, name: str) -> Value:
        type_ = RefType((1, None), self.values[number].dtype, "ub")
        op = tile.Buffer(extents=[self.tiles.pitch], depth=depth, capacity=self.piece, types=[type_])
        return at.value(op, name)

    def _output(self, at: Builder, number: int, point: list[Value], column: Value, width: Value) -> Value:
        ref, map_ = self.op.outputs[number], self.op.output_maps[number]
        one = index(at, 1)
        zeros = [index(at, 0)] * (self.op.rank - 1 - len(point))
        offsets = [materialise(e, [*point, *zeros, column], self.op.symbols, at) for e in map_.results]
        last = len(offsets) - 1
        view = RefType((1, None), dtype_of(ref.type), "gm", "strided")
        made = mem.View(
            ref=ref,
            offsets=offsets,
            sizes=[*[one] * last, width],
            steps=[one] * (last + 1),
            axes=(-1, last),
            types=[view],
        )
        return at.value(made, ref.name)

    def _rows(
        self, at: Builder, totals: Sequence[Value], point: list[Value], column: Value, width: Value
    ) -> None:
        """Reductions before the last are loops; the last one walks tiles of rows."""
        low, high = self.work.row_bounds(at, point)
        last = len(point) == self.op.rank - 2
        step = self.tiles.rows if last and not self.single else index(at, 1)
        name = "row" if last else self.work.nest.counters[len(point)].name or "outer"
        loop = at.insert(scf.For(lower=low, upper=high, step=step, types=[], body=block_of([SCALAR], [name])))
        inner = Builder(loop.body.block, loc=self.op.loc)
        if last:
            left = binary(inner, "sub", high, loop.counter, "rowsLeft")
            count = step if self.single else binary(inner, "minimum", left, step, "n")
            emitter = self.tiles.filled(inner, [*point, loop.counter, column], count, width)
            self._add(inner, emitter, totals, [count, width])
        else:
            self._rows(inner, totals, [*point, loop.counter], column, width)
        inner.insert(scf.Yield())

    def _add(self, at: Builder, emitter: TileEmitter, totals: Sequence[Value], sizes: list[Value]) -> None:
        for fn, value, total in zip(self.functions, self.values, totals, strict=True):
            source = emitter.tile_of(value)
            at.insert(
                tile.Reduce(
                    source=source, target=total, sizes=sizes, scratch=(), fn=fn, axis=0, continued=True
                )
            )
