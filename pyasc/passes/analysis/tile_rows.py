# SPDX-License-Identifier: Apache-2.0
"""Work on rows: tiles of as many whole rows as fit, each row reduced, broadcast and written along its own axis.

A phase is one structured op, or a parallel loop over several that belong to one row each. Its last iterator walks the
columns, the one before it the rows; iterators before these are plain loops inside a core. Buffers that live for one
row are registers: one value a row, or all of it. Whole rows are dealt to the cores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, func, mem, scf, st
from pyasc.ir.sizes import SizeExpr, lift
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import Nest, Polynomials, constant_of, materialise
from pyasc.passes.analysis.structured import combining_function
from pyasc.passes.analysis.tile_body import BodyBuilder
from pyasc.passes.analysis.tile_legalise import refuse
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW, SPACED, Operand, Register

_IDENTITIES = {"add": 0.0, "maximum": float("-inf"), "minimum": float("inf")}
_PYTHON = {"pymax": "maximum", "pymin": "minimum"}

WholeMap = Callable[[AffineMap], "AffineMap | None"]
"""From an access of an op within a row to the access of the whole nest."""


@dataclass
class RowWork:
    """What is done to every row: the nest around it, its columns, and the program."""

    nest: Nest
    rows: list[tuple[Value, Value]]
    columns: SizeExpr | None
    builder: BodyBuilder
    reduces: bool = False
    locals: dict[Value, Operand] = field(default_factory=lambda: dict[Value, Operand]())

    @property
    def column(self) -> int:
        """The number of the column iterator in maps."""
        return len(self.rows)


def of_apply(op: st.Apply, at: Builder) -> RowWork:
    """The rows of one structured op. Raises NotVector where its iterators are not rows and columns."""
    kinds = op.iterators
    if kinds[-1] not in ("parallel", "reduction") or any(kind != "parallel" for kind in kinds[:-1]):
        raise refuse("a reduction over an outer axis", op.loc)
    return _Reader(at, op).apply_alone(op)


def of_loop(loop: scf.For, at: Builder) -> RowWork:
    """The rows of a parallel loop. Raises NotVector for what does not belong to one row."""
    if loop.kind != "parallel":
        raise refuse("a loop whose iterations follow each other", loop.loc)
    return _Reader(at, loop).nest(loop)


class _Reader:
    """Reads work on rows into a program."""

    def __init__(self, at: Builder, root: Operation) -> None:
        self.at = at
        self.root = root
        self.polynomials = Polynomials()
        self.builder = BodyBuilder(at)
        self.legaliser = self.builder.legaliser

    def apply_alone(self, op: st.Apply) -> RowWork:
        """An op whose own iterators are the rows and columns."""
        block = op.body.block
        nest = Nest(block.args[: op.rank], op)
        for symbol in op.symbols:
            nest.symbol(symbol)
        rows = [(self._bound(op, i, nest, low=True), self._bound(op, i, nest)) for i in range(op.rank - 1)]
        self.work = RowWork(nest, rows, None, self.builder)
        self._columns(op, op.rank - 1)
        for counter in block.args[: op.rank]:
            _unused(counter)
        self._structured(op, lambda map_: map_)
        return self.work

    def nest(self, loop: scf.For) -> RowWork:
        """Parallel loops around work on one row."""
        loops = [loop]
        while isinstance(inner := loops[-1].body.block.first, scf.For) and inner.kind == "parallel":
            loops.append(inner)
        for each in loops:
            if constant_of(each.step) != 1:
                raise refuse("a parallel loop with a step", each.loc)
        nest = Nest([each.counter for each in loops], loop)
        self.work = RowWork(nest, [(each.lower, each.upper) for each in loops], None, self.builder)
        for op in loops[-1].body.block:
            self._row_operation(op)
        for each in loops[:-1]:
            if sum(1 for _ in each.body.block) > 2:
                raise refuse("a loop with work before or behind an inner parallel loop", each.loc)
        return self.work

    def _bound(self, op: st.Apply, number: int, nest: Nest, low: bool = False) -> Value:
        expr = (op.lower if low else op.upper)[number]
        if expr.dims:
            raise refuse("a bound that depends on an outer iterator", op.loc)
        return materialise(expr, (), op.symbols, self.at)

    def _columns(self, op: st.Apply, number: int) -> bool:
        """Note how many columns an op walks; whether it walks one alone, which is a value of the row."""
        low, high = op.lower[number], op.upper[number]
        if high.dims or low.dims or not (low.is_constant and low.constant == 0):
            raise refuse("columns that start elsewhere than at zero, or end where the row says", op.loc)
        extent = lift(high.constant)
        for symbol, coefficient in enumerate(high.symbols):
            extent = extent + self.polynomials.of(op.symbols[symbol]) * coefficient
        if extent.as_constant == 1 and self.work.rows:
            return True
        if any(name.startswith("%") for name in extent.names):
            raise refuse("a number of columns that is computed", op.loc)
        if self.work.columns not in (None, extent):
            raise refuse(f"rows of {self.work.columns} and of {extent} columns in one loop", op.loc)
        self.work.columns = extent
        return False

    def _row_operation(self, op: Operation) -> None:
        self.legaliser.loc = op.loc
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
            case func.Size():
                self.legaliser.operands[op.value] = self.at.insert(op.clone({})).results[0]
            case arith.Constant() | arith.Elementwise() | arith.Cast():
                self.legaliser.run(op)
            case _:
                raise refuse(f"{op.name} in a parallel loop", op.loc)

    def _row_apply(self, op: st.Apply) -> None:
        if op.rank != 1 or op.iterators[0] not in ("parallel", "reduction"):
            raise refuse("a loop nest within a row", op.loc)
        _unused(op.body.block.args[0])
        alone = self._columns(op, 0)
        outer = [self.work.nest.expr(symbol) for symbol in op.symbols]

        def whole(map_: AffineMap) -> AffineMap | None:
            made: list[AffineExpr] = []
            for expr in map_.results:
                total = AffineExpr((0,) * self.work.column + expr.dims, (), expr.constant)
                for number, coefficient in enumerate(expr.symbols):
                    known = outer[number]
                    if coefficient and known is None:
                        return None
                    if coefficient and known is not None:
                        total = total + known * coefficient
                made.append(total)
            return AffineMap(tuple(made))

        self._structured(op, whole, alone)

    def _structured(self, op: st.Apply, whole: WholeMap, alone: bool = False) -> None:
        """Bind the inputs, translate the body, hand the results on."""
        block = op.body.block
        for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[op.rank :], strict=True):
            self.legaliser.operands[arg] = self._input(ref, map_, whole, alone, op)
        yielded = self.builder.body(op)
        guard = yielded[-1] if op.guarded else None
        position = 0
        for number, (ref, map_, role) in enumerate(zip(op.outputs, op.output_maps, op.roles, strict=True)):
            value = yielded[number]
            if role == "reduce" and not alone:
                init = op.inits[position] if op.inits else None
                value = self._reduced(op, value, guard, init)
                self.work.reduces = True
            elif role != "write":
                raise refuse("a running value along a row", op.loc)
            elif guard is not None:
                old = self._input(ref, map_, whole, alone, op)
                value = self.legaliser.select([guard, value, old])
            position += role != "write"
            self._output(ref, map_, value, whole, op)

    def _reduced(self, op: st.Apply, value: Operand, guard: Operand | None, init: Value | None) -> Operand:
        fn = combining_function(op)
        if fn is None or init is None:
            raise refuse("a reduction with more than one result, or into what an array holds", op.loc)
        plain = _PYTHON.get(fn, fn)
        if plain not in _IDENTITIES:
            raise refuse(f"a reduction by `{fn}`", op.loc)
        register = self.legaliser.register(value)
        identity = self.legaliser.number(_IDENTITIES[plain], register.dtype)
        if guard is not None:
            register = self.legaliser.register(self.legaliser.select([guard, register, identity]))
        if fn in _PYTHON:
            # A NaN among the elements never wins; one in the running value stays.
            real = self.legaliser.compare("eq", [register, register])
            register = self.legaliser.register(self.legaliser.select([real, register, identity]))
        made = self.legaliser.reduce(plain, register)
        start = self.legaliser.operand(init)
        if isinstance(start, Value) and constant_of(start) == _IDENTITIES[plain]:
            return made
        return self.legaliser.elementwise(fn, [start, made])

    def _input(self, ref: Value, map_: AffineMap, whole: WholeMap, alone: bool, op: st.Apply) -> Operand:
        if ref in self.work.locals:
            return self.work.locals[ref]
        placed = whole(map_)
        if placed is None:
            raise refuse(f"an element of `{ref.name}` at a computed place", op.loc)
        return self._read(ref, placed)

    def _read(self, ref: Value, map_: AffineMap) -> Operand:
        cover = self._cover(ref, map_)
        if cover == "":
            return self._invariant(ref, map_)
        register = self.builder.read(ref, map_, ref.name, cover)
        if cover == SPACED:
            register = self.legaliser.pack(register)
        return self.builder.loaded(register, dtype_of(ref.type))

    def _invariant(self, ref: Value, map_: AffineMap) -> Value:
        where = [materialise(e, (), self.work.nest.symbols, self.at) for e in map_.results]
        return self.at.value(mem.Load(ref=ref, indices=where), ref.name)

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
        if len(rows) > 1 or (rows and columns and rows == columns):
            raise refuse(f"rows of `{ref.name}` that overlap or run along a diagonal", self.legaliser.loc)
        if rows and not columns:
            apart = any(dim != 1 for dim in ref.type.shape[rows[0] + 1 :])
            if apart or map_.results[rows[0]].coefficient(row) != 1:
                return SPACED
        if rows and map_.results[rows[0]].coefficient(row) < 0:
            raise refuse(f"rows of `{ref.name}` from the last to the first", self.legaliser.loc)
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
        if cover not in (FULL, COLUMN):
            raise refuse(f"one element of `{ref.name}` for several rows", self.legaliser.loc)
        if cover == FULL:
            value = self.legaliser.full(value)
        elif isinstance(value, Register) and value.cover != COLUMN:
            raise refuse(f"all of a row in one element of `{ref.name}`", self.legaliser.loc)
        self.builder.write(ref, map_, value, cover)


def _unused(counter: Value) -> None:
    if counter.uses:
        raise refuse("the loop counter as a value", next(iter(counter.uses)).loc)
