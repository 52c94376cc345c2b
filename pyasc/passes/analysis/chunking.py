# SPDX-License-Identifier: Apache-2.0
"""Cutting long reductions and scans into chunks, so that threads and vectors have independent work.

Chunks depend on sizes alone and partial results are combined in order, so the bits do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir.affine import AffineExpr, AffineMap, symbol
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.traits import CHECKS
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.emit import Emitter, Index
from pyasc.passes.analysis.structured import combine, combining_function, instantiate
from pyasc.passes.analysis.tensor_kernels import neutral

STRIP = 256
"""Rows that one task adds up into its own row of sums."""
COLUMNS = 2048
"""Columns of such a row: eight KiB of float32, which stay in a level-1 cache."""
JAM = 8
"""Rows added before a sum is stored again."""


def chunk_reduction(op: st.Apply, chunk: int) -> bool:
    """Cut a reduction to one element along its first iterator. Returns False when it is not worth or not possible."""
    fn = _cuttable(op)
    if fn is None or set(op.iterators) != {"reduction"} or set(op.roles) - {"write", "reduce"}:
        return False
    e = Emitter(Builder.before(op))
    lower, upper = _range(op, e)
    length = _chunk_length(op, e, chunk)
    if length is None:
        return False
    chunks = _Chunks(lower, upper, length)
    if chunks.is_one:
        return False
    (number,) = op.combined
    dtype = dtype_of(op.outputs[number].type)
    count = chunks.count(e)
    partial = e.alloc([count], dtype, "partial")

    def inside(inner: Emitter, c: Value, _: list[Value]) -> None:
        start = inner.constant(neutral(fn, dtype), op.inits[0].type)
        piece = _restricted(op, inner, chunks.ends(inner, c), [start])
        symbols = [*piece.symbols, c]
        piece.set_operands("symbols", symbols)
        _redirect(piece, number, partial, AffineMap((symbol(len(symbols) - 1),)))

    e.loop(0, count, inside, kind="parallel", name="chunk")
    _combine_partials(op, e, partial, count, number)
    _remove(op)
    return True


class _Chunks(Record):
    """A range in chunks of one length; the last of them may be shorter."""

    lower: Value
    upper: Value
    length: Value

    @property
    def is_one(self) -> bool:
        """Whether one chunk is known to be all."""
        a, b, n = (integer_of(value) for value in (self.lower, self.upper, self.length))
        return a is not None and b is not None and n is not None and b - a <= n

    def count(self, e: Emitter) -> Value:
        """How many there are."""
        distance = e.call("pymax", e.sub(self.upper, self.lower), e.index(0))
        return e.floordiv(e.add(distance, e.sub(self.length, 1)), self.length)

    def ends(self, e: Emitter, number: Value) -> tuple[Value, Value]:
        """Where a chunk begins, and where it stops."""
        low = e.add(self.lower, e.mul(number, self.length))
        return low, e.minimum(e.add(low, self.length), self.upper)


def _cuttable(op: st.Apply) -> str | None:
    """The one function that combines, when order is free and nothing around runs in parallel already."""
    if op.strict or not op.combined or not op.inits or op.rank == 0:
        return None
    if op.lower[0].dims or op.upper[0].dims or any(isinstance(p, scf.For) for p in op.ancestors()):
        return None
    fn = combining_function(op)
    return fn if fn in ("add", "mul", "maximum", "minimum", "pymax", "pymin", "and", "or") else None


def _range(op: st.Apply, e: Emitter) -> tuple[Value, Value]:
    return e.affine(op.lower[0], [], op.symbols), e.affine(op.upper[0], [], op.symbols)


def _chunk_length(op: st.Apply, e: Emitter, chunk: int) -> Value | None:
    """Steps of the first iterator that make a chunk of elements; None when the inner ones depend on it."""
    if any(b.dims for b in (*op.lower[1:], *op.upper[1:])):
        return None
    inner = e.index(1)
    for low, high in zip(op.lower[1:], op.upper[1:], strict=True):
        inner = e.mul(inner, e.sub(e.affine(high, [], op.symbols), e.affine(low, [], op.symbols)))
    known = integer_of(inner)
    if known is not None:
        return e.index(max(1, chunk // max(known, 1)))
    return e.call("pymax", e.index(1), e.floordiv(e.index(chunk), inner))


def _restricted(op: st.Apply, e: Emitter, ends: tuple[Value, Value], inits: Sequence[Value]) -> st.Apply:
    """A copy whose first iterator runs over one chunk."""
    piece = op.clone()
    assert isinstance(piece, st.Apply)
    e.insert(piece)
    number = len(piece.symbols)
    piece.set_operands("symbols", [*piece.symbols, *ends])
    piece.lower = (symbol(number), *piece.lower[1:])
    piece.upper = (symbol(number + 1), *piece.upper[1:])
    piece.set_operands("inits", list(inits))
    return piece


def _redirect(op: st.Apply, number: int, ref: Value, map_: AffineMap) -> None:
    """Give one output another place."""
    op.set_operands("outputs", [ref if k == number else old for k, old in enumerate(op.outputs)])
    op.output_maps = tuple(map_ if k == number else old for k, old in enumerate(op.output_maps))


def _combine_partials(op: st.Apply, e: Emitter, partial: Value, count: Value, number: int) -> None:
    """The partial results in order, starting from the init."""

    def step(inner: Emitter, c: Value, running: list[Value]) -> list[Value]:
        return combine(op, running, [inner.load(partial, [c])], inner.builder)

    (total,) = e.loop(0, count, step, kind="reduction", inits=[op.inits[0]], name="chunk")
    indices = [e.affine(x, [], op.symbols) for x in op.output_maps[number].results]
    e.store(total, op.outputs[number], indices)


def chunk_scan(op: st.Apply, bytes_of_chunk: int) -> bool:
    """Cut a running combination: the total of a chunk, then, as soon as what stands before it is known, the chunk
    again while it is in a near cache. Chunks are begun in order, and each tells the next one its total."""
    fn = _cuttable(op)
    if fn is None or op.iterators != ("scan",) or op.roles != ("scan",) or op.guarded:
        return False
    if any(each.has(CHECKS) for each in op.walk()):
        # A chunk that fails would leave those after it waiting.
        return False
    e = Emitter(Builder.before(op))
    lower, upper = _range(op, e)
    length = e.index(max(1, bytes_of_chunk // dtype_of(op.outputs[0].type).bytes))
    chunks = _Chunks(lower, upper, length)
    if chunks.is_one:
        return False
    _Scan(op, fn, chunks).emit(e)
    _remove(op)
    return True


class _Relay:
    """What stands before each chunk, and beside it whether that is known."""

    def __init__(self, e: Emitter, count: Value, dtype: DType) -> None:
        self.before = e.alloc([count, 2], dtype, "before")
        nothing = e.constant(0.0 if dtype.is_float else 0, ScalarType(dtype))
        e.loop(0, count, lambda i, c, _: i.store(nothing, self.before, [c, 1]), name="chunk")

    def leave(self, e: Emitter, number: Index, value: Value) -> None:
        """Tell a chunk what stands before it."""
        e.store(value, self.before, [number, 0])
        e.insert(mem.Signal(ref=self.before, indices=[e.index(number), e.index(1)]))

    def take(self, e: Emitter, number: Value) -> Value:
        """Wait for what stands before a chunk."""
        e.insert(mem.Await(ref=self.before, indices=[number, e.index(1)]))
        return e.load(self.before, [number, 0])


class _Scan(Record):
    """The loop over the chunks of a running combination by `fn`."""

    op: st.Apply
    fn: str
    chunks: _Chunks

    def emit(self, e: Emitter) -> None:
        """Chunks side by side, each begun after the one before it."""
        count = self.chunks.count(e)
        relay = _Relay(e, e.add(count, 1), dtype_of(self.op.outputs[0].type))
        relay.leave(e, 0, self.op.inits[0])

        def task(inner: Emitter, c: Value, _: list[Value]) -> None:
            ends = self.chunks.ends(inner, c)
            own = self._total(inner, ends)
            start, after = relay.take(inner, c), inner.add(c, 1)
            (total,) = combine(self.op, [start], [own], inner.builder)
            relay.leave(inner, after, total)
            _restricted(self.op, inner, ends, [start])

        e.loop(0, count, task, kind="parallel", name="chunk")
        loop = self.op.prev
        assert isinstance(loop, scf.For)
        loop.ordered = True

    def _total(self, e: Emitter, ends: tuple[Value, Value]) -> Value:
        """All of a chunk combined."""
        dtype = dtype_of(self.op.outputs[0].type)
        own = e.alloc([], dtype, "own")
        start = e.constant(neutral(self.fn, dtype), self.op.inits[0].type)
        piece = _restricted(self.op, e, ends, [start])
        piece.iterators, piece.roles = ("reduction",), ("reduce",)
        _redirect(piece, 0, own, AffineMap(()))
        return e.load(own, [])


def chunk_columns(op: st.Apply) -> bool:
    """Sums over an outer iterator: tasks add strips of rows into sums of their own, several rows at a time."""
    if (
        _cuttable(op) is None
        or op.iterators != ("reduction", "parallel")
        or op.roles != ("reduce",)
        or op.guarded
    ):
        return False
    if op.output_maps[0].uses(0) or op.lower[1] != AffineExpr() or op.upper[1].dims:
        return False
    _Columns(op).emit()
    _remove(op)
    return True


class _Columns:
    """The nest of a column reduction."""

    def __init__(self, op: st.Apply) -> None:
        self.op = op
        self.e = Emitter(Builder.before(op))
        self.strips = _Chunks(*_range(op, self.e), self.e.index(STRIP))
        self.columns = self.e.affine(op.upper[1], [], op.symbols)
        self.dtype = dtype_of(op.outputs[0].type)
        fn = combining_function(op)
        assert fn is not None
        self.fn = fn

    def emit(self) -> None:
        """Strips into partial rows, then the partial rows into the output."""
        e = self.e
        strips = self.strips.count(e)
        widths = e.ceildiv(self.columns, COLUMNS)
        partial = e.alloc([strips, self.columns], self.dtype, "partial")

        def task(inner: Emitter, number: Value, _: list[Value]) -> None:
            strip, block = inner.floordiv(number, widths), inner.mod(number, widths)
            first = inner.mul(block, COLUMNS)
            count = inner.minimum(inner.sub(self.columns, first), COLUMNS)
            sums = inner.alloc([COLUMNS], self.dtype, "sums")
            start = inner.constant(neutral(self.fn, self.dtype), self.op.inits[0].type)
            self._each(inner, count, lambda i, j: i.store(start, sums, [j]))
            self._rows(inner, *self.strips.ends(inner, strip), first, count, sums)
            self._each(
                inner, count, lambda i, j: i.store(i.load(sums, [j]), partial, [strip, i.add(first, j)])
            )

        e.loop(0, e.mul(strips, widths), task, kind="parallel", name="task")
        self._finish(e, partial, strips)

    def _each(self, e: Emitter, count: Value, body: Callable[[Emitter, Value], None]) -> None:
        e.loop(0, count, lambda i, j, _: body(i, j), kind="parallel", name="j")

    def _rows(self, e: Emitter, low: Value, high: Value, first: Value, count: Value, sums: Value) -> None:
        jammed = e.sub(high, e.mod(e.sub(high, low), JAM))
        for begin, end, step in ((low, jammed, JAM), (jammed, high, 1)):

            def row(inner: Emitter, i: Value, _: list[Value], step: int = step) -> None:
                self._each(inner, count, lambda deeper, j: self._add(deeper, i, step, first, j, sums))

            e.loop(begin, end, row, step=step, name="row")

    def _add(self, e: Emitter, row: Value, rows: int, first: Value, j: Value, sums: Value) -> None:
        column = e.add(first, j)
        values = [instantiate(self.op, [e.add(row, r), column], e.builder)[0] for r in range(rows)]
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [combine(self.op, [a], [b], e.builder)[0] for a, b in pairs]
        (total,) = combine(self.op, [e.load(sums, [j])], values, e.builder)
        e.store(total, sums, [j])

    def _finish(self, e: Emitter, partial: Value, strips: Value) -> None:
        output = self.op.outputs[0]

        def place(inner: Emitter, j: Value) -> list[Value]:
            return inner.at_map(self.op.output_maps[0], [j, j], self.op.symbols)

        self._each(e, self.columns, lambda i, j: i.store(self.op.inits[0], output, place(i, j)))

        def strip(inner: Emitter, s: Value, _: list[Value]) -> None:
            def add(deeper: Emitter, j: Value) -> None:
                old = deeper.load(output, place(deeper, j))
                (total,) = combine(self.op, [old], [deeper.load(partial, [s, j])], deeper.builder)
                deeper.store(total, output, place(deeper, j))

            self._each(inner, self.columns, add)

        e.loop(0, strips, strip, name="strip")


def _remove(op: st.Apply) -> None:
    op.drop()
    op.unlink()
