# SPDX-License-Identifier: Apache-2.0
"""Parallel loops that stay on the scalar unit, dealt to the scalar units of all vector cores.

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%i: i64):
      ...
      mem.store %v, %y, [%i]
    }

becomes

    tile.cores %blocks {unit = "scalar"} {
    ^(%core: i64):
      %begin, %end = the core's run of whole cache lines of %y
      scf.for %begin, %end, %1, [] { ... }
    }

Scalar writes go through a data cache that no other core sees, a line of 64 bytes at a time: two cores that write
into one line undo each other's work. So the loop is cut where rows of what it writes start a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import arith, mem, py, scf, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.sizes import SizeExpr, constant, lift
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import Nest, constant_of, index
from pyasc.passes.analysis.phases import needed, written_operands
from pyasc.passes.analysis.structured import size_value
from pyasc.passes.analysis.tile_emit import binary, cores_for, deal

LINE_BYTES = 64


def deal_to_cores(phase: Func, cores: int) -> Value | None:
    """Deal the one loop of a phase to up to `cores` cores; how many take part, or None where one has to do all."""
    loop = _only_loop(phase)
    if loop is None:
        return None
    rows = _written_rows(phase, loop)
    if not rows or any(isinstance(op, mem.Load) for op in needed([loop.lower, loop.upper])):
        return None
    (offset,) = {row.offset for row in rows} if len({row.offset for row in rows}) == 1 else (None,)
    return None if offset is None else _deal(loop, rows, offset, cores)


@dataclass(frozen=True)
class _Row:
    """What an iteration writes of an array: the row whose number is the counter plus `offset`."""

    ref: Value
    offset: int


def _only_loop(phase: Func) -> scf.For | None:
    work = [
        op
        for op in phase.body.block
        if op.regions or written_operands(op) or isinstance(op, (py.Check, py.Print))
    ]
    if len(work) != 1 or not isinstance(work[0], scf.For):
        return None
    loop = work[0]
    parallel = loop.kind == "parallel" and not loop.inits and constant_of(loop.step) == 1
    return loop if parallel else None


def _written_rows(phase: Func, loop: scf.For) -> list[_Row]:
    """The rows that each iteration writes, none where iterations may meet in a line for another reason."""
    nest = Nest([loop.counter], loop)
    outside = set(phase.params)
    made: dict[Value, _Row] = {}
    for op in loop.walk():
        if isinstance(op, (py.Check, mem.Atomic, mem.Copy)):
            return []
        if not isinstance(op, mem.Store) or op.ref not in outside:
            if any(ref not in outside and not _is_local(ref) for ref in written_operands(op)):
                return []
            continue
        row = _row(nest, op.ref, op.indices)
        if row is None or made.setdefault(op.ref, row) != row:
            return []
    for load in _loads(loop):
        row = made.get(_root(load.ref))
        if row is not None and (load.ref is not row.ref or _row(nest, load.ref, load.indices) != row):
            return []
    return list(made.values())


def _loads(loop: scf.For) -> Iterator[mem.Load]:
    return (op for op in loop.walk() if isinstance(op, mem.Load))


def _is_local(ref: Value) -> bool:
    return isinstance(ref.owner, mem.Alloc)


def _root(ref: Value) -> Value:
    while isinstance(ref.owner, mem.View):
        ref = ref.owner.ref
    return ref


def _row(nest: Nest, ref: Value, indices: Sequence[Value]) -> _Row | None:
    """The row of an access, where it is the counter but for a constant."""
    expr = nest.expr(indices[0]) if indices else None
    if expr is None or expr.symbols or expr.dims != (1,):
        return None
    if isinstance(ref.type, RefType) and None in ref.type.shape:
        return None
    return _Row(ref, expr.constant)


def _deal(loop: scf.For, rows: Sequence[_Row], offset: int, cores: int) -> Value:
    at = Builder.before(loop)
    at.loc = loop.loc
    unit = _rows_a_line(at, rows)
    low, high = binary(at, "add", loop.lower, offset), binary(at, "add", loop.upper, offset)
    first = binary(at, "floordiv", low, unit, "firstLine")
    beyond = binary(at, "floordiv", binary(at, "add", high, binary(at, "sub", unit, 1)), unit)
    total = binary(at, "maximum", binary(at, "sub", beyond, first), 0, "lines")
    blocks = cores_for(at, total, 1, cores)
    dealt = deal(at, blocks, total, 1, "scalar")
    inner, part = dealt.at, dealt.part
    start = binary(inner, "add", first, part.begin)
    begin = _row_at(inner, start, unit, offset)
    end = _row_at(inner, binary(inner, "add", start, part.length), unit, offset)
    lower = binary(inner, "maximum", begin, loop.lower, "begin")
    upper = binary(inner, "minimum", end, loop.upper, "end")
    copy = inner.insert(loop.clone({}))
    copy.operands = [lower, upper, *copy.operands[2:]]
    inner.insert(tile.Yield())
    loop.drop()
    loop.unlink()
    return blocks


def _row_at(at: Builder, line: Value, unit: Value, offset: int) -> Value:
    return binary(at, "sub", binary(at, "mul", line, unit), offset)


def _rows_a_line(at: Builder, rows: Sequence[_Row]) -> Value:
    """Iterations after which all arrays are at the start of a line."""
    fixed, open_ = 1, list[tuple[SizeExpr, int]]()
    for row in rows:
        width, extent = _row_extent(row.ref)
        known = extent.as_constant
        if known is None:
            open_.append((extent, width))
        elif known * width % LINE_BYTES:
            fixed = max(fixed, LINE_BYTES // width)
    unit = index(at, fixed)
    for extent, width in open_:
        if LINE_BYTES // width > fixed:
            unit = _larger(at, unit, extent, width, fixed)
    return unit


def _larger(at: Builder, unit: Value, extent: SizeExpr, width: int, least: int) -> Value:
    """As many rows as elements fill a line, unless each row fills whole ones."""
    rest = binary(at, "mod", binary(at, "mul", size_value(at, extent), width), LINE_BYTES)
    whole = at.value(arith.Elementwise(fn="eq", args=[rest, index(at, 0)]))
    choice = [whole, index(at, least), index(at, LINE_BYTES // width)]
    mine = at.value(arith.Elementwise(fn="select", args=choice), "rowsALine")
    return mine if constant_of(unit) == least else binary(at, "maximum", unit, mine, "rowsALine")


def _row_extent(ref: Value) -> tuple[int, SizeExpr]:
    """Bytes of an element, and elements of a row."""
    assert isinstance(ref.type, RefType)
    extent = constant(1)
    for dim in ref.type.shape[1:]:
        assert dim is not None
        extent = extent * lift(dim)
    return dtype_of(ref.type).bytes, extent


def is_scalar(op: Operation) -> bool:
    """Whether an operation deals scalar work to cores."""
    return isinstance(op, tile.Cores) and op.unit == "scalar"
