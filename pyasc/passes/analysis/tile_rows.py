# SPDX-License-Identifier: Apache-2.0
"""Work on rows: tiles of as many whole rows as fit, each row reduced, broadcast and written along its own axis.

A phase is one structured op, or a parallel loop over several that belong to one row each. Its last iterator walks the
columns, the one before it the rows; iterators before these are plain loops inside a core. Buffers that live for one
row are registers: one value a row, or all of it. Whole rows are dealt to the cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyasc.ir.affine import AffineExpr, AffineMap, const
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, func, mem, scf, st
from pyasc.ir.dtypes import i64
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import (
    Nest,
    Polynomials,
    constant_of,
    index,
    materialise,
)
from pyasc.passes.analysis.arg_extremes import arg_extreme
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.phases import written_operands
from pyasc.passes.analysis.row_placement import Placement, WholeMap
from pyasc.passes.analysis.row_work import Columns, RowWork
from pyasc.passes.analysis.structured import combining_functions
from pyasc.passes.analysis.tile_body import BodyBuilder, element_if_any
from pyasc.passes.analysis.tile_counters import Counter, Interval
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_gathered_rows import GatheredRows
from pyasc.passes.analysis.tile_loops import LoopReader
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW, SPACED, Operand, Register
from pyasc.passes.analysis.tile_reductions import RowReductions
from pyasc.passes.analysis.tile_row_windows import RowWindows

_EXTREMES = ("maximum", "minimum", "pymax", "pymin")


def of_apply(op: st.Apply, at: Builder, lines: bool = False) -> RowWork:
    """The rows of one structured op. Raises NotVector where its iterators are not rows and columns.

    With `lines` each row is on its own, so that rows may differ in length and elements of one row lie anywhere.
    """
    kinds = op.iterators
    if not kinds:
        raise refuse("work on one element", op.loc)
    if kinds[-1] not in ("parallel", "reduction") or any(kind != "parallel" for kind in kinds[:-1]):
        raise refuse("a reduction over an outer axis", op.loc)
    return _Reader(at, op, lines).apply_alone(op)


def is_column(op: st.Apply) -> bool:
    """Whether one parallel iterator walks elements that are rows apart."""
    return op.iterators == ("parallel",) and not op.combined


def one_wide(op: st.Apply) -> None:
    """Give an op of one iterator columns: a single one, so that what it walks are rows."""
    block = op.body.block
    column = block.add_arg(ScalarType(i64), "column")
    block.args.insert(1, block.args.pop())
    for number, arg in enumerate(block.args):
        arg.index = number
    assert not column.uses
    op.iterators = (*op.iterators, "parallel")
    op.lower = (*op.lower, const(0))
    op.upper = (*op.upper, const(1))


def of_columns(op: st.Apply, at: Builder, lines: bool) -> tuple[RowWork, list[Operand]]:
    """An op whose last iterator walks columns and the one before it rows that are combined; what its body yields."""
    return _Reader(at, op, lines).columns_alone(op)


def of_loop(loop: scf.For, at: Builder, lines: bool = False) -> RowWork:
    """The rows of a parallel loop. Raises NotVector for what does not belong to one row."""
    if loop.kind != "parallel":
        raise refuse("a loop whose iterations follow each other", loop.loc)
    return _Reader(at, loop, lines).nest(loop)


class _Reader:
    """Reads work on rows into a program."""

    def __init__(self, at: Builder, root: Operation, lines: bool) -> None:
        self.at = at
        self.root = root
        self.lines = lines
        self.polynomials = Polynomials()
        self.builder = BodyBuilder(at)
        self.legaliser = self.builder.legaliser
        # Integers are reduced where a row is folded by itself.
        self.legaliser.lines = lines
        self.readers: dict[Value, dict[AffineMap, Operation]] = {}
        self.current = root
        self.outputs = {ref for op in root.walk() for ref in written_operands(op)}

    def columns_alone(self, op: st.Apply) -> tuple[RowWork, list[Operand]]:
        """The inputs and the body of an op, whose outputs are somebody else's."""
        self._domain(op)
        block = op.body.block
        for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[op.rank :], strict=True):
            self.legaliser.operands[arg] = self._input(ref, map_, lambda map_: map_, False, op)
        return self.work, self.builder.body(op)

    def apply_alone(self, op: st.Apply) -> RowWork:
        """An op whose own iterators are the rows and columns."""
        self._domain(op)
        self._structured(op, lambda map_: map_)
        return self.work

    def _domain(self, op: st.Apply) -> None:
        block = op.body.block
        nest = Nest(block.args[: op.rank], op)
        nest.adopt(op.symbols)
        rows = list(zip(op.lower[:-1], op.upper[:-1], strict=True))
        self.work = RowWork(nest, rows, self.builder, self.polynomials)
        alone = self._columns(op, op.lower[-1], op.upper[-1])
        self._counters([*block.args[: op.rank]])
        self._column_counter(block.args[op.rank - 1], alone)

    def nest(self, loop: scf.For) -> RowWork:
        """Parallel loops around work on one row."""
        loops = [loop]
        while (inner := _inner_parallel(loops[-1])) is not None:
            loops.append(inner)
        for each in loops:
            if constant_of(each.step) != 1:
                raise refuse("a parallel loop with a step", each.loc)
        nest = Nest([each.counter for each in loops], loop)
        rows = [(self._bound(nest, each, each.lower), self._bound(nest, each, each.upper)) for each in loops]
        single = self.lines and any(isinstance(op, (scf.While, scf.For)) for op in loops[-1].body.block)
        self.work = RowWork(nest, rows[:-1] if single else rows, self.builder, self.polynomials)
        self._counters([each.counter for each in loops])
        if single:
            first = self._polynomial(rows[-1][0])
            self.work.columns = Columns(first, self._polynomial(rows[-1][1]) + first * -1, rows[-1])
            self._column_counter(loops[-1].counter, alone=False)
        for each in loops[:-1]:
            for op in each.body.block:
                if not isinstance(op, (scf.For, scf.Yield)):
                    self._number_operation(op)
        for op in loops[-1].body.block:
            self._row_operation(op)
        return self.work

    def _number_operation(self, op: Operation) -> None:
        """What an outer loop computes for all of an inner one."""
        if not isinstance(op, (arith.Constant, arith.Elementwise, arith.Cast, func.Size)):
            raise refuse("a loop with work before or behind an inner parallel loop", op.loc)
        self._row_operation(op)

    def _counters(self, counters: Sequence[Value]) -> None:
        """Let the counters of rows be data: those of a tile's rows grow, those of loops around it do not."""
        self.intervals: list[Interval] = []
        for number, (low, high) in enumerate(self.work.rows):
            interval = self._interval(low, high)
            walked = number == self.work.column - 1 and not self.lines
            self.builder.wide.counters[counters[number]] = Counter(number, COLUMN, walked, interval)
            self.intervals.append(interval)

    def _column_counter(self, counter: Value, alone: bool) -> None:
        """Let the counter of columns be data; that of the first column alone is a number."""
        if not counter.uses:
            return
        if alone:
            self.legaliser.operands[counter] = index(self.at, 0)
            return
        assert self.work.columns is not None
        cover = FULL if self.lines or not self.work.rows else ROW
        interval = self._interval(*self.work.columns.bounds)
        self.builder.wide.counters[counter] = Counter(self.work.column, cover, True, interval)

    def _interval(self, low: AffineExpr, high: AffineExpr) -> Interval:
        symbols, intervals = self.work.nest.symbols, self.builder.wide.intervals
        least, most = (intervals.of_expr(e, self.intervals, symbols) for e in (low, high))
        return Interval(least.low, binary(self.at, "sub", most.high, 1))

    def _bound(self, nest: Nest, loop: scf.For, value: Value) -> AffineExpr:
        expr = nest.expr(value)
        if expr is None:
            raise refuse("a bound that is not affine in the loops around it", loop.loc)
        return expr

    def _polynomial(self, expr: AffineExpr) -> SizeExpr:
        """An affine form of the nest as a polynomial."""
        total = constant(expr.constant)
        for coefficients, values in (
            (expr.dims, self.work.nest.counters),
            (expr.symbols, self.work.nest.symbols),
        ):
            for number, coefficient in enumerate(coefficients):
                if coefficient:
                    total = total + self.polynomials.of(values[number]) * coefficient
        return total

    def _columns(self, op: st.Apply, low: AffineExpr, high: AffineExpr) -> bool:
        """Note which columns an op walks; whether it walks the first alone, which is a value of the row."""
        first = self._polynomial(low)
        extent = self._polynomial(high) + first * -1
        if extent.as_constant == 1 and first.as_constant == 0 and self.work.rows:
            return True
        columns = Columns(first, extent, (low, high))
        if self.work.columns not in (None, columns):
            raise refuse("a loop over rows that walks different columns one after the other", op.loc)
        self.work.columns = columns
        return False

    def _row_operation(self, op: Operation) -> None:
        self.legaliser.loc = op.loc
        self.current = op
        match op:
            case st.Apply():
                self._row_apply(op)
            case mem.Alloc():
                pass
            case mem.Load():
                self.legaliser.operands[op.value] = self._scalar_load(op)
            case mem.Store():
                self._scalar_store(op)
            case scf.Yield():
                pass
            case scf.While() | scf.For() if self.lines:
                LoopReader(self.builder.wide, self._scalar_load).read(op)
            case func.Size():
                self.legaliser.operands[op.value] = self.at.insert(op.clone({})).results[0]
            case arith.Elementwise() | arith.Cast() if dtype_of(op.results[0].type) is i64:
                self.builder.wide.deferred[op.results[0]] = op
            case arith.Constant() | arith.Elementwise() | arith.Cast():
                self.legaliser.run(op)
            case _:
                raise refuse(f"{op.name} in a parallel loop", op.loc)

    def _row_apply(self, op: st.Apply) -> None:
        if op.rank > 1 or any(kind not in ("parallel", "reduction") for kind in op.iterators):
            raise refuse("a loop nest within a row", op.loc)
        place = Placement(self.work.column, [self.work.nest.expr(symbol) for symbol in op.symbols])
        if op.rank == 0:
            self._structured(op, place.access, alone=True)
            return
        counter = op.body.block.args[0]
        low, high = place.bound(op.lower[0]), place.bound(op.upper[0])
        if low is None or high is None:
            raise refuse("columns from or to a computed place", op.loc)
        if self._starts_before(op, place.access, low):
            low = low + -1
        if low.is_constant and low.constant and not counter.uses:
            place = replace(place, first=low.constant)
            low, high = const(0), high + -low.constant
        alone = self._columns(op, low, high)
        self._column_counter(counter, alone)
        self._structured(op, replace(place, alone=alone).access, alone)

    def _starts_before(self, op: st.Apply, whole: WholeMap, low: AffineExpr) -> bool:
        """Whether an extreme starts from the element before its first one, so that it may begin there."""
        value = op.body.block.terminator.operands[0]
        if len(op.inits) != 1 or op.guarded or value.owner is not op.body.block or value.index < op.rank:
            return False
        number = value.index - op.rank
        load = op.inits[0].owner
        if combining_functions(op)[0] not in _EXTREMES or not isinstance(load, mem.Load):
            return False
        walked, start = whole(op.input_maps[number]), self.work.nest.map(load.indices)
        if load.ref is not op.inputs[number] or walked is None or start is None:
            return False
        return start == AffineMap(tuple(_at_column(e, self.work.column, low + -1) for e in walked.results))

    def _structured(self, op: st.Apply, whole: WholeMap, alone: bool = False) -> None:
        """Bind the inputs, translate the body, hand the results on."""
        block = op.body.block
        gathered = None if alone or self.lines else self._gathered(op)
        for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[op.rank :], strict=True):
            if gathered is None or arg not in gathered.indices:
                self.legaliser.operands[arg] = self._input(ref, map_, whole, alone, op)
        if gathered is not None:
            gathered.read(self.builder)
        yielded = self.builder.body(op)
        extreme = None if alone or not op.inits else arg_extreme(op)
        if extreme is not None and _grows(op.body.block.terminator.operands[1], block.args[op.rank - 1]):
            value, place = self._reductions().place(op, extreme, yielded)
            self._output(op.outputs[0], op.output_maps[0], value, whole, op)
            self._output(op.outputs[1], op.output_maps[1], place, whole, op)
            return
        guard = yielded[-1] if op.guarded else None
        combined = dict(zip(op.combined, combining_functions(op), strict=True))
        position = 0
        for number, (ref, map_, role) in enumerate(zip(op.outputs, op.output_maps, op.roles, strict=True)):
            value = yielded[number]
            if role == "reduce" and not alone:
                init = op.inits[position] if op.inits else None
                start = (
                    self._input(ref, map_, whole, alone, op) if init is None else self.legaliser.operand(init)
                )
                whole_number = dtype_of(ref.type) is i64
                value = self._reductions().reduced(combined[number], value, guard, start, whole_number)
                self.work.reduces = True
            elif role != "write":
                raise refuse("a running value along a row", op.loc)
            elif guard is not None:
                old = self._input(ref, map_, whole, alone, op)
                value = self.legaliser.select([guard, value, old])
            position += role != "write"
            self._output(ref, map_, value, whole, op)

    def _gathered(self, op: st.Apply) -> GatheredRows:
        """What the body reads along rows at computed places."""
        counters = op.body.block.args[: op.rank]
        around = () if op is self.root else self.work.nest.counters
        return GatheredRows(op, [*around, *counters], self.root)

    def _reductions(self) -> RowReductions:
        return RowReductions(self.builder, self.work, self.at)

    def _input(self, ref: Value, map_: AffineMap, whole: WholeMap, alone: bool, op: st.Apply) -> Operand:
        if ref in self.work.locals:
            return self.work.locals[ref]
        placed = whole(map_)
        if placed is None:
            raise refuse(f"an element of `{ref.name}` at a computed place", op.loc)
        return self._read(ref, placed)

    def _read(self, ref: Value, map_: AffineMap) -> Operand:
        if ref in self.work.written:
            where, value = self.work.written[ref]
            if where == map_:
                return value
            raise refuse(f"`{ref.name}` is read elsewhere than it has been written", self.legaliser.loc)
        self.readers.setdefault(ref, {}).setdefault(map_, self.current)
        apart = self._apart(ref, map_)
        if apart is not None:
            return self.builder.loaded(apart, dtype_of(ref.type))
        cover = self._cover(ref, map_)
        if cover == "":
            return self._invariant(ref, map_)
        register = self.builder.read(ref, map_, ref.name, cover)
        if cover == SPACED:
            register = self.legaliser.pack(register)
        return self.builder.loaded(register, dtype_of(ref.type))

    def _apart(self, ref: Value, map_: AffineMap) -> Register | None:
        """The register of columns that do not lie side by side, but in a run or in rows that nobody writes."""
        if not self.work.nest.is_invariant(ref) or any(may_alias(ref, each) for each in self.outputs):
            return None
        if self.work.windows is None:
            self.work.windows = RowWindows(self.builder, self.at, self.work.column)
        return self.work.windows.read(ref, map_, self.lines)

    def _invariant(self, ref: Value, map_: AffineMap) -> Value:
        where = [materialise(e, (), self.work.nest.symbols, self.at) for e in map_.results]
        return element_if_any(self.at, ref, where, ref.name)

    def _cover(self, ref: Value, map_: AffineMap) -> str:
        """What an access covers of a tile; empty for one element for all. Raises NotVector."""
        column, row = self.work.column, self.work.column - 1
        assert isinstance(ref.type, RefType)
        if ref.type.layout != "row" or not self.work.nest.is_invariant(ref):
            raise refuse(f"`{ref.name}` is not laid out in rows", self.legaliser.loc)
        columns = [i for i, e in enumerate(map_.results) if e.coefficient(column)]
        rows = [i for i, e in enumerate(map_.results) if row >= 0 and e.coefficient(row)]
        last = len(map_.results) - 1
        if columns and (columns != [last] or map_.results[last].coefficient(column) != 1):
            raise refuse(f"the columns of a row of `{ref.name}` do not lie side by side", self.legaliser.loc)
        if self.lines:
            # The scalar unit reads what nobody writes; the rest stays in order by way of the queues.
            number = any(e.dims for e in map_.results) or ref in self.outputs
            return FULL if columns else COLUMN if number else ""
        if len(rows) > 1 and not columns and map_.results[rows[0]].coefficient(row) > 0:
            # Two places of an array whose first index grows are in the same order in memory.
            return SPACED
        if len(rows) > 1 or (rows and columns and rows == columns):
            raise refuse(f"rows of `{ref.name}` that overlap or run along a diagonal", self.legaliser.loc)
        if rows and map_.results[rows[0]].coefficient(row) < 0:
            raise refuse(f"rows of `{ref.name}` from the last to the first", self.legaliser.loc)
        if rows and not columns:
            apart = any(dim != 1 for dim in ref.type.shape[rows[0] + 1 :])
            if apart or map_.results[rows[0]].coefficient(row) != 1:
                return SPACED
        if columns:
            return FULL if rows or row < 0 else ROW
        if rows:
            return COLUMN
        if any(e.dims for e in map_.results):
            raise refuse(f"one element of `{ref.name}` for all rows of an outer loop", self.legaliser.loc)
        return ""

    def _scalar_load(self, op: mem.Load) -> Operand:
        if op.ref in self.work.locals:
            return self.work.locals[op.ref]
        map_ = self.work.nest.map(op.indices)
        if map_ is None:
            raise refuse(f"an element of `{op.ref.name}` at a computed place", op.loc)
        return self._read(op.ref, map_)

    def _scalar_store(self, op: mem.Store) -> None:
        map_ = self.work.nest.map(op.indices)
        value = self.legaliser.operand(op.value)
        if self._is_local(op.ref):
            self.work.locals[op.ref] = value
            return
        if map_ is None:
            raise refuse(f"a store to `{op.ref.name}` at a computed place", op.loc)
        self._write(op.ref, map_, value)

    def _is_local(self, ref: Value) -> bool:
        return isinstance(ref.owner, mem.Alloc) and not self.work.nest.is_invariant(ref)

    def _output(self, ref: Value, map_: AffineMap, value: Operand, whole: WholeMap, op: st.Apply) -> None:
        if self._is_local(ref):
            self.work.locals[ref] = value
            return
        placed = whole(map_)
        if placed is None:
            raise refuse(f"a store to `{ref.name}` at a computed place", op.loc)
        self._write(ref, placed, value)

    def _write(self, ref: Value, map_: AffineMap, value: Operand) -> None:
        cover = self._cover(ref, map_)
        if cover == "" and not self.work.rows:
            cover = COLUMN
        if cover == SPACED and dtype_of(ref.type).bits in (16, 32):
            value = self.legaliser.register(value, COLUMN)
        elif cover not in (FULL, COLUMN):
            raise refuse(f"one element of `{ref.name}` for several rows", self.legaliser.loc)
        if cover == FULL:
            value = self.legaliser.full(value)
        elif isinstance(value, Register) and value.cover != COLUMN:
            raise refuse(f"all of a row in one element of `{ref.name}`", self.legaliser.loc)
        self._alone(ref, map_)
        self.work.written[ref] = map_, value
        self.builder.write(ref, map_, value, cover)

    def _alone(self, ref: Value, map_: AffineMap) -> None:
        """Tiles are read before any is written, so what is written has to be what was read, if anything was."""
        if ref in self.work.written:
            raise refuse(f"`{ref.name}` is written twice in one row", self.legaliser.loc)
        earlier = self.readers.get(ref, {})
        if any(where != map_ and op is not self.current for where, op in earlier.items()):
            raise refuse(f"`{ref.name}` is written elsewhere than it was read", self.legaliser.loc)


def _inner_parallel(loop: scf.For) -> scf.For | None:
    """The one parallel loop inside another."""
    inner = [op for op in loop.body.block if isinstance(op, scf.For) and op.kind == "parallel"]
    return inner[0] if len(inner) == 1 else None


def _grows(value: Value, counter: Value) -> bool:
    """Whether a value is a counter but for a constant."""
    op = value.op
    if value is counter:
        return True
    return isinstance(op, arith.Elementwise) and (
        op.fn in ("add", "sub") and constant_of(op.args[1]) is not None and _grows(op.args[0], counter)
    )


def _at_column(expr: AffineExpr, column: int, value: AffineExpr) -> AffineExpr:
    """An affine form where the column has a value."""
    rest = AffineExpr(expr.dims[:column], expr.symbols, expr.constant)
    return rest + value * expr.coefficient(column)
