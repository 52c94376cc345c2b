# SPDX-License-Identifier: Apache-2.0
"""Loops around products are distributed over what stands in them, so that each product is one for all iterations.

    scf.for %0, %B, %1, [] {                          %scores = mem.alloc : ref<B x S x T x f32, local>
    ^(%b: i64):                                       st.apply ... [%q, %k], [%zero], [%scores] {over B, S, T, D}
      %scores = mem.alloc : ref<S x T x f32, local>   scf.for %0, %B, %1, [] {kind = "parallel"} {
      st.apply ... [%q, %k], [%zero], [%scores]    => ^(%b: i64):
      scf.for ... { rows of %scores }                   scf.for ... { rows of %scores }
      st.apply ... [%scores, %v], ...                 }
                                                      st.apply ... [%scores, %v], ...

Iterations share nothing: what they write they index by their counters, and buffers of theirs get a place for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, mem, py, scf, st
from pyasc.ir.traits import PURE
from pyasc.passes.analysis.affine import Nest, index, integer_of
from pyasc.passes.analysis.not_vector import NotVector
from pyasc.passes.analysis.product import is_product, match_product
from pyasc.passes.analysis.raising_expand import expand, extent_of
from pyasc.passes.analysis.structured import I64


@dataclass(frozen=True)
class _Loops:
    """Loops from zero that hold nothing but each other, outermost first, and what the innermost holds."""

    loops: Sequence[scf.For]
    body: Block

    @property
    def counters(self) -> list[Value]:
        """The counters, outermost first."""
        return [loop.counter for loop in self.loops]

    @property
    def work(self) -> list[Operation]:
        """What the body does, buffers and arithmetic aside."""
        return [op for op in self.body if not op.has(PURE) and not isinstance(op, (mem.Alloc, scf.Yield))]


def distribute_products(loop: scf.For) -> bool:
    """Replace loops around a product of matrices by that product and loops around the rest; says whether they are."""
    if not any(isinstance(op, st.Apply) and is_product(op) for op in loop.walk()):
        return False
    _drop_unused(loop)
    nest = _loops(loop)
    if nest is None or not (any(map(_multiplies, nest.work)) or _ends_sums(nest)) or not _are_free(nest):
        return False
    if not all(_grow(op.ref, nest) for op in list(nest.body) if isinstance(op, mem.Alloc)):
        return False
    at = Builder.before(loop)
    for op in nest.work:
        at.loc = op.loc
        match op:
            case st.Apply():
                _lift(op, nest, at)
            case py.Check():
                _check(op, nest, at)
            case _:
                _alone(op, nest, at)
    loop.drop()
    loop.unlink()
    return True


def _drop_unused(loop: scf.For) -> None:
    """Erase arithmetic and views that nothing uses any more."""
    for op in reversed(list(loop.walk())):
        if op is not loop and op.has(PURE) and op.results and not any(value.uses for value in op.results):
            op.erase()


def _loops(loop: scf.For) -> _Loops | None:
    loops: list[scf.For] = []
    here: scf.For | None = loop
    while here is not None:
        if here.inits or integer_of(here.lower) != 0 or integer_of(here.step) != 1:
            return None
        loops.append(here)
        inside = [op for op in here.body.block if not op.has(PURE) and not isinstance(op, scf.Yield)]
        here = inside[0] if len(inside) == 1 and isinstance(inside[0], scf.For) else None
    for each in loops:
        _hoist(each, loop)
    if any(extent_of(each.upper) is None for each in loops):
        return None
    return _Loops(loops, loops[-1].body.block)


def _hoist(inner: scf.For, outer: scf.For) -> None:
    """Move constants, and what is made of them and of values from outside, in front of the loops."""
    for op in list(inner.body.block):
        values = [value for each in op.walk() for value in each.operands]
        known = all(_is_outside(value, outer) for value in values)
        if op.has(PURE) and not op.regions and not isinstance(op, mem.View) and known:
            Builder.before(outer).insert(op)


def _is_outside(value: Value, loop: scf.For) -> bool:
    block = value.block if value.op is None else value.op.parent
    owner = block.parent_op if block is not None else None
    return owner is not loop and (owner is None or loop not in owner.ancestors())


def _multiplies(op: Operation) -> bool:
    """Whether an op is a product that the cube unit does, of a row and a matrix at least."""
    try:
        return isinstance(op, st.Apply) and is_product(op) and bool(match_product(op, op.output_maps[0]))
    except NotVector:
        return False


def _ends_sums(nest: _Loops) -> bool:
    """Whether each iteration adds up one element and then computes with that alone: a matrix times a vector."""
    first, *others = nest.work
    if not (isinstance(first, st.Apply) and is_product(first) and others):
        return False
    return set(first.iterators) == {"reduction"} and all(
        isinstance(op, st.Apply) and op.rank == 0 for op in others
    )


def _are_free(nest: _Loops) -> bool:
    """Whether iterations share nothing, and values outside of memory do not go from one op to another."""
    counters = nest.counters
    # What the counters are not part of has left the loops.
    if any(op.has(PURE) for loop in nest.loops for op in loop.body.block):
        return False
    for op in nest.work:
        if op.results or not isinstance(op, (st.Apply, scf.For, py.Check)):
            return False
        if isinstance(op, st.Apply) and not _lifts(op, counters):
            return False
    found = [access for op in nest.work for access in _accesses(op, nest)]
    if None in found:
        return False
    accesses = [access for access in found if access is not None]
    written = {ref for ref, writes, _ in accesses if writes}
    places: dict[Value, tuple[int, ...]] = {}
    for ref, _, axes in accesses:
        if ref in written and (-1 in axes or places.setdefault(ref, axes) != axes):
            return False
    return True


def _lifts(op: st.Apply, counters: Sequence[Value]) -> bool:
    """Whether counters are symbols of an op's accesses and nothing else in it."""
    numbers = [number for number, value in enumerate(op.symbols) if value in counters]
    if any(expr.symbol_coefficient(n) for expr in (*op.lower, *op.upper) for n in numbers):
        return False
    inside = [value for each in op.walk() if each is not op for value in each.operands]
    return not any(value in counters for value in (*op.inits, *inside))


def _accesses(top: Operation, nest: _Loops) -> Iterator[tuple[Value, bool, tuple[int, ...]] | None]:
    """Arrays that an op and what it holds touch, whether they are written, and the axis of each counter (-1: none).

    Buffers that the loops hold are left out; None stands for what cannot be told.
    """
    counters = nest.counters
    for op in top.walk():
        match op:
            case st.Apply():
                pairs = [(ref, map_, False) for ref, map_ in zip(op.inputs, op.input_maps, strict=True)]
                pairs += [(ref, map_, True) for ref, map_ in zip(op.outputs, op.output_maps, strict=True)]
                for ref, map_, writes in pairs:
                    if not _is_own(ref, nest):
                        yield ref, writes, tuple(_symbol_axis(op, map_, each) for each in counters)
            case mem.Load() | mem.Store():
                if not _is_own(op.ref, nest):
                    axes = tuple(_position(op.indices, each) for each in counters)
                    yield op.ref, isinstance(op, mem.Store), axes
            case mem.Alloc() | scf.For() | scf.If() | scf.Yield() | st.Yield():
                pass
            case py.Check() if op is top:
                pass
            case _ if op.has(PURE) and not isinstance(op, mem.View):
                pass
            case _:
                yield None


def _is_own(ref: Value, nest: _Loops) -> bool:
    """Whether a buffer belongs to one iteration."""
    return isinstance(ref.op, mem.Alloc) and nest.loops[0] in ref.op.ancestors()


def _symbol_axis(op: st.Apply, map_: AffineMap, counter: Value) -> int:
    """The axis whose index is a counter and nothing else."""
    numbers = [number for number, value in enumerate(op.symbols) if value is counter]
    found = [axis for axis, expr in enumerate(map_.results) for n in numbers if expr == affine.symbol(n)]
    return found[0] if found else -1


def _position(indices: Sequence[Value], counter: Value) -> int:
    return next((axis for axis, value in enumerate(indices) if value is counter), -1)


def _grow(ref: Value, nest: _Loops) -> bool:
    """Give a buffer of the body a place for every iteration, in front of the loops."""
    whole: Value | None = ref
    for loop in reversed(nest.loops):
        whole = None if whole is None else expand(whole, loop, Nest((loop.counter,), loop))
    return whole is not None


def _lift(op: st.Apply, nest: _Loops, at: Builder) -> None:
    """An op with an iterator in front for every loop."""
    rank, number = len(nest.loops), len(op.symbols)
    places = {n: nest.counters.index(value) for n, value in enumerate(op.symbols) if value in nest.counters}
    mapping: dict[Value, Value] = {counter: index(at, 0) for counter in nest.counters}
    made = op.clone(mapping)
    assert isinstance(made, st.Apply)
    made.set_operands("symbols", [*made.symbols, *(loop.upper for loop in nest.loops)])
    made.iterators = ("parallel",) * rank + op.iterators
    bounds = tuple(affine.symbol(number + i) for i in range(rank))
    made.lower = (*(AffineExpr(),) * rank, *(_shifted(expr, rank, places) for expr in op.lower))
    made.upper = (*bounds, *(_shifted(expr, rank, places) for expr in op.upper))
    made.input_maps = tuple(_moved(map_, rank, places) for map_ in op.input_maps)
    made.output_maps = tuple(_moved(map_, rank, places) for map_ in op.output_maps)
    block = made.body.block
    names = [counter.name for counter in nest.counters]
    block.args[:0] = [Value(I64, block, i, name) for i, name in enumerate(names)]
    for place, arg in enumerate(block.args):
        arg.index = place
    at.insert(made)


def _moved(map_: AffineMap, rank: int, places: dict[int, int]) -> AffineMap:
    return AffineMap(tuple(_shifted(expr, rank, places) for expr in map_.results))


def _shifted(expr: AffineExpr, rank: int, places: dict[int, int]) -> AffineExpr:
    """An expression whose symbols at `places` are iterators in front of its own."""
    front, symbols = [0] * rank, list(expr.symbols)
    for number, place in places.items():
        front[place] += expr.symbol_coefficient(number)
        if number < len(symbols):
            symbols[number] = 0
    return AffineExpr((*front, *expr.dims), tuple(symbols), expr.constant)


def _check(op: py.Check, nest: _Loops, at: Builder) -> None:
    """A check that holds for all iterations, unless there are none."""
    holds = op.condition
    for loop in nest.loops:
        none = at.value(arith.Elementwise(fn="le", args=[loop.upper, index(at, 0)]))
        holds = at.value(arith.Elementwise(fn="or", args=[holds, none]))
    made = op.clone()
    assert isinstance(made, py.Check)
    made.set_operands("condition", [holds])
    at.insert(made)


def _alone(op: Operation, nest: _Loops, at: Builder) -> None:
    """An op in loops of its own."""
    mapping: dict[Value, Value] = {}
    inner = at
    for loop in nest.loops:
        body = block_of([I64], [loop.counter.name])
        made = inner.insert(
            scf.For(lower=loop.lower, upper=loop.upper, step=loop.step, types=[], body=body, kind="parallel")
        )
        mapping[loop.counter] = made.counter
        inner = Builder.before(Builder(made.body.block).insert(scf.Yield()))
        inner.loc = op.loc
    inner.insert(op.clone(mapping))
