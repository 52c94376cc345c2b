# SPDX-License-Identifier: Apache-2.0
"""A terse way to write loop-level IR: index arithmetic, loops and branches as method calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, scf, vec
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType, ScalarType, TileType, Type, VectorType, dtype_of
from pyasc.passes.analysis.affine import integer_of, materialise
from pyasc.passes.analysis.costs import UNKNOWN
from pyasc.passes.analysis.equality import SharingBuilder

I64 = ScalarType(dtypes.i64)
Index = Value | int


class Emitter:
    """Emits at one point of a block, the same value once; `loop` and `branch` call back with one for the inside.

    While such a callback runs, nothing is emitted through the emitters around it.
    """

    def __init__(self, at: Builder, outer: Emitter | None = None) -> None:
        self.builder = SharingBuilder(at, outer.builder if outer is not None else None)

    def insert(self, op: Operation) -> None:
        """Insert an operation."""
        self.builder.insert(op)

    def value(self, op: Operation, name: str = "") -> Value:
        """Insert an operation and return its result."""
        return self.builder.value(op, name)

    def index(self, number: Index) -> Value:
        """An i64 value."""
        return self.builder.integer(number) if isinstance(number, int) else number

    def call(self, fn: str, *args: Value) -> Value:
        """An elementwise function."""
        return self.value(arith.Elementwise(fn=fn, args=list(args)))

    def add(self, a: Index, b: Index) -> Value:
        """`a + b`."""
        return self._fold("add", a, b)

    def sub(self, a: Index, b: Index) -> Value:
        """`a - b`."""
        return self._fold("sub", a, b)

    def mul(self, a: Index, b: Index) -> Value:
        """`a * b`."""
        return self._fold("mul", a, b)

    def floordiv(self, a: Index, b: Index) -> Value:
        """`a // b`."""
        return self._fold("floordiv", a, b)

    def mod(self, a: Index, b: Index) -> Value:
        """`a % b`."""
        return self._fold("mod", a, b)

    def minimum(self, a: Index, b: Index) -> Value:
        """The smaller one."""
        return self._fold("pymin", a, b)

    def ceildiv(self, a: Index, b: int) -> Value:
        """`ceil(a / b)` for a non-negative `a`."""
        return self.floordiv(self.add(a, b - 1), b)

    def _fold(self, fn: str, a: Index, b: Index) -> Value:
        x = a if isinstance(a, int) else integer_of(a)
        y = b if isinstance(b, int) else integer_of(b)
        if x is not None and y is not None:
            known = {
                "add": x + y,
                "sub": x - y,
                "mul": x * y,
                "floordiv": x // y if y else 0,
                "mod": x % y if y else 0,
                "pymin": min(x, y),
            }
            return self.index(known[fn])
        neutral = {"add": 0, "sub": 0, "mul": 1, "floordiv": 1}.get(fn)
        if y is not None and y == neutral:
            return self.index(a)
        if x is not None and x == neutral and fn in ("add", "mul"):
            return self.index(b)
        return self.call(fn, self.index(a), self.index(b))

    def constant(self, number: bool | int | float, type_: Type) -> Value:
        """A constant of any type."""
        return self.value(arith.Constant(value=number, types=[type_]))

    def cast(self, value: Value, dtype: DType) -> Value:
        """The value as another dtype."""
        return value if dtype_of(value.type) is dtype else self.value(arith.Cast.to(value, dtype))

    def alloc(self, shape: Sequence[Index], dtype: DType, name: str) -> Value:
        """A local buffer; extents that are not Python ints or constants stay open in its type."""
        known = [n if isinstance(n, int) else integer_of(n) for n in shape]
        sizes = [self.index(n) for n, k in zip(shape, known, strict=True) if k is None]
        return self.value(mem.Alloc(sizes=sizes, types=[RefType(tuple(known), dtype, "local")]), name)

    def load(self, ref: Value, indices: Sequence[Index]) -> Value:
        """One element."""
        return self.value(mem.Load(ref=ref, indices=[self.index(i) for i in indices]))

    def store(self, value: Value, ref: Value, indices: Sequence[Index]) -> None:
        """Write one element."""
        self.insert(mem.Store(value=value, ref=ref, indices=[self.index(i) for i in indices]))

    def load_vector(
        self, ref: Value, indices: Sequence[Index], lanes: int, count: Value | None = None
    ) -> Value:
        """Neighbouring elements of the last axis, the first `count` of them if that is given."""
        type_ = VectorType(lanes, dtype_of(ref.type))
        used = [] if count is None else [count]
        at = [self.index(i) for i in indices]
        return self.value(vec.Load(ref=ref, indices=at, count=used, types=[type_]))

    def store_vector(
        self, value: Value, ref: Value, indices: Sequence[Index], count: Value | None = None
    ) -> None:
        """Write neighbouring elements of the last axis, the first `count` of them if that is given."""
        used = [] if count is None else [count]
        self.insert(vec.Store(value=value, ref=ref, indices=[self.index(i) for i in indices], count=used))

    def splat(self, value: Value, lanes: int) -> Value:
        """The scalar in every lane."""
        return self.value(vec.Splat(value=value, types=[VectorType(lanes, dtype_of(value.type))]))

    def fill(self, value: Value, rows: int, columns: int, lanes: int) -> Value:
        """A tile with the scalar in every lane."""
        return self.value(vec.Fill(value=value, types=[TileType(rows, columns, lanes, dtype_of(value.type))]))

    def load_tile(
        self, ref: Value, outer: Sequence[Index], starts: Sequence[Index], axis: int, rows: int, lanes: int
    ) -> Value:
        """Rows of vectors that start at `starts` of the last axis; rows follow each other along `axis`."""
        type_ = TileType(rows, len(starts), lanes, dtype_of(ref.type))
        indices, lasts = [self.index(i) for i in outer], [self.index(i) for i in starts]
        return self.value(vec.LoadTile(ref=ref, indices=indices, starts=lasts, axis=axis, types=[type_]))

    def store_tile(
        self, value: Value, ref: Value, outer: Sequence[Index], starts: Sequence[Index], axis: int
    ) -> None:
        """Write a tile to where `load_tile` reads one."""
        indices, lasts = [self.index(i) for i in outer], [self.index(i) for i in starts]
        self.insert(vec.StoreTile(value=value, ref=ref, indices=indices, starts=lasts, axis=axis))

    def affine(self, expr: AffineExpr, point: Sequence[Value], symbols: Sequence[Value]) -> Value:
        """An affine expression at a point."""
        iterator = expr.as_dim
        if iterator is not None:
            return point[iterator]
        return materialise(expr, point, symbols, self.builder)

    def at_map(self, map_: AffineMap, point: Sequence[Value], symbols: Sequence[Value]) -> list[Value]:
        """The indices of an access at a point."""
        return [self.affine(e, point, symbols) for e in map_.results]

    def loop(
        self,
        lower: Index,
        upper: Index,
        body: Callable[[Emitter, Value, list[Value]], Sequence[Value] | None],
        step: Index = 1,
        kind: str = "sequential",
        inits: Sequence[Value] = (),
        name: str = "",
        carried: Sequence[str] = (),
        unroll: int = 1,
        work: SizeExpr = UNKNOWN,
    ) -> list[Value]:
        """A counted loop; `body` returns the next carried values. Returns the last ones.

        `name` and `carried` are hints for the counter's and the carried values' names, `unroll` is one for the C++
        compiler. `work` is what an iteration costs, where the caller knows better than its operations tell.
        """
        types = [value.type for value in inits]
        op = scf.For(
            lower=self.index(lower),
            upper=self.index(upper),
            step=self.index(step),
            inits=list(inits),
            kind=kind,
            unroll=unroll,
            work=work,
            types=types,
            body=block_of([I64, *types], [name, *carried]),
        )
        self.insert(op)
        inner = Emitter(Builder(op.body.block, loc=self.builder.loc), self)
        following = body(inner, op.counter, list(op.carried))
        inner.insert(scf.Yield(values=list(following or ())))
        return list(op.values)

    def branch(
        self,
        condition: Value,
        then: Callable[[Emitter], None],
        otherwise: Callable[[Emitter], None] | None = None,
    ) -> None:
        """A branch that yields nothing."""
        op = scf.If(condition=condition, types=[], then=block_of(), otherwise=block_of())
        self.insert(op)
        for region, emit in ((op.then, then), (op.otherwise, otherwise)):
            inner = Emitter(Builder(region.block, loc=self.builder.loc), self)
            if emit is not None:
                emit(inner)
            inner.insert(scf.Yield())
