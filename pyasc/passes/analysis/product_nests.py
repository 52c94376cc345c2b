# SPDX-License-Identifier: Apache-2.0
"""Loops around one product and what reads it become iterators of both.

scf.for %0, %B, %1, [] {                            %sums = mem.alloc : ref<B x N x f32, local>
^(%b: i64):                                         st.apply [..., %B], [%x, %w], [%zero], [%sums]
  %row = mem.alloc : ref<N x f32, local>              {iterators = ["parallel", "parallel", "reduction"], ...}
  st.apply ... [%x, %w], [%zero], [%row]      =>    st.apply [..., %B], [%sums], [], [%out]
  st.apply ... [%row], [], [%out]                     {iterators = ["parallel", "parallel"], ...}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Value
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.product import is_product
from pyasc.passes.analysis.raising_expand import extent_of
from pyasc.passes.analysis.structured import I64


@dataclass(frozen=True)
class _Nest:
    """Loops without bounds of their own making, a buffer, a product into it, and the op that reads that."""

    loops: Sequence[scf.For]
    buffer: mem.Alloc
    product: st.Apply
    reader: st.Apply

    @property
    def counters(self) -> list[Value]:
        """The counters, outermost first."""
        return [loop.counter for loop in self.loops]


def raise_nest(loop: scf.For) -> st.Apply | None:
    """Replace a nest by a product and its reader over all of it; the product, or None where it is no such nest."""
    nest = _matched(loop)
    if nest is None or not _is_free(nest):
        return None
    at = Builder.before(loop)
    at.loc = nest.product.loc
    mapping: dict[Value, Value] = {counter: index(at, 0) for counter in nest.counters}
    for each in nest.loops:
        for op in each.body.block:
            if op.has(PURE) and not op.regions:
                at.insert(op.clone(mapping))
    extents = [extent_of(each.upper) for each in nest.loops]
    inner = nest.buffer.ref.type
    assert isinstance(inner, RefType)
    type_ = RefType((*extents, *inner.shape), inner.dtype, inner.space, inner.layout)
    sums = at.value(mem.Alloc(purpose=nest.buffer.purpose, types=[type_]), nest.buffer.ref.name)
    product = _lifted(nest.product, nest, sums, mapping, at)
    _lifted(nest.reader, nest, sums, mapping, at)
    loop.erase()
    return product


def _matched(loop: scf.For) -> _Nest | None:
    loops: list[scf.For] = []
    block: Block | None = loop.parent
    here: scf.For | None = loop
    while here is not None:
        if here.inits or integer_of(here.lower) != 0 or integer_of(here.step) != 1:
            return None
        loops.append(here)
        block = here.body.block
        ops = [op for op in block if not op.has(PURE) and not isinstance(op, scf.Yield)]
        here = ops[0] if len(ops) == 1 and isinstance(ops[0], scf.For) else None
    assert block is not None
    ops = [op for op in block if not op.has(PURE) and not isinstance(op, scf.Yield)]
    match ops:
        case [mem.Alloc() as buffer, st.Apply() as product, st.Apply() as reader]:
            nest = _Nest(loops, buffer, product, reader)
        case _:
            return None
    fits = (
        is_product(product)
        and list(product.outputs) == [buffer.ref]
        and set(buffer.ref.uses) == {product, reader}
    )
    return nest if fits and not buffer.sizes else None


def _is_free(nest: _Nest) -> bool:
    """Whether iterations touch nothing of each other's, and nothing but indices depends on the counters."""
    counters = nest.counters
    written = nest.reader.outputs
    if any(extent_of(loop.upper) is None for loop in nest.loops):
        return False
    if any(ref in written for op in (nest.product, nest.reader) for ref in op.inputs):
        return False
    for op in (nest.product, nest.reader):
        numbers = [number for number, value in enumerate(op.symbols) if value in counters]
        if any(expr.symbol_coefficient(n) for expr in (*op.lower, *op.upper) for n in numbers):
            return False
        if any(value in counters for value in (*op.inits, *_used_inside(op))):
            return False
    # An index that a counter goes into by way of arithmetic is a symbol of its own.
    for counter in counters:
        if any(user not in (nest.product, nest.reader) for user in counter.uses):
            return False
    return all(
        _steps_alone(nest.reader, map_, counter) for map_ in nest.reader.output_maps for counter in counters
    )


def _used_inside(op: st.Apply) -> list[Value]:
    return [value for each in op.walk() if each is not op for value in each.operands]


def _steps_alone(op: st.Apply, map_: AffineMap, counter: Value) -> bool:
    """Whether a counter is all of one index."""
    numbers = [number for number, value in enumerate(op.symbols) if value is counter]
    return any(expr == affine.symbol(number) for expr in map_.results for number in numbers)


def _lifted(op: st.Apply, nest: _Nest, sums: Value, mapping: dict[Value, Value], at: Builder) -> st.Apply:
    """An op with an iterator in front for every loop."""
    rank, number = len(nest.loops), len(op.symbols)
    places = {n: nest.counters.index(value) for n, value in enumerate(op.symbols) if value in nest.counters}
    made = op.clone(mapping)
    assert isinstance(made, st.Apply)
    made.set_operands(
        "symbols", [*made.symbols, *(mapping.get(loop.upper, loop.upper) for loop in nest.loops)]
    )
    made.iterators = ("parallel",) * rank + op.iterators
    zero = (AffineExpr(),) * rank
    made.lower = (*zero, *(_shifted(expr, rank, places) for expr in op.lower))
    bounds = tuple(affine.symbol(number + i) for i in range(rank))
    made.upper = (*bounds, *(_shifted(expr, rank, places) for expr in op.upper))
    buffer = nest.buffer.ref

    def lifted(ref: Value, map_: AffineMap) -> AffineMap:
        results = tuple(_shifted(expr, rank, places) for expr in map_.results)
        front = tuple(affine.dim(i) for i in range(rank)) if ref is buffer else ()
        return AffineMap((*front, *results))

    made.input_maps = tuple(lifted(r, m) for r, m in zip(op.inputs, op.input_maps, strict=True))
    made.output_maps = tuple(lifted(r, m) for r, m in zip(op.outputs, op.output_maps, strict=True))
    made.set_operands("inputs", [sums if r is buffer else r for r in op.inputs])
    made.set_operands("outputs", [sums if r is buffer else r for r in op.outputs])
    block = made.body.block
    names = [counter.name for counter in nest.counters]
    block.args[:0] = [Value(I64, block, i, name) for i, name in enumerate(names)]
    for place, arg in enumerate(block.args):
        arg.index = place
    at.insert(made)
    return made


def _shifted(expr: AffineExpr, rank: int, places: dict[int, int]) -> AffineExpr:
    """An expression whose symbols at `places` are iterators in front of its own."""
    front, symbols = [0] * rank, list(expr.symbols)
    for number, place in places.items():
        front[place] += expr.symbol_coefficient(number)
        if number < len(symbols):
            symbols[number] = 0
    return AffineExpr((*front, *expr.dims), tuple(symbols), expr.constant)
