# SPDX-License-Identifier: Apache-2.0
"""Square tiles for ops that walk two arrays in different directions, so that both are read by whole cache lines."""

from __future__ import annotations

from collections.abc import Mapping

from pyasc.ir.affine import AffineMap, symbol
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import st
from pyasc.ir.types import RefType
from pyasc.passes.analysis.affine import integer_of
from pyasc.passes.analysis.emit import Emitter

TILE = 32
"""Elements a side: two tiles of eight-byte elements fit a level-1 cache, and a row of one fills whole lines."""


def tile_transposed(op: st.Apply) -> bool:
    """Tile the last iterator and the one along which another access is contiguous. False when there is none."""
    if set(op.iterators) != {"parallel"} or set(op.roles) != {"write"}:
        return False
    if any(bound.dims for bound in (*op.lower, *op.upper)):
        return False
    last = op.rank - 1
    across = _contiguous_elsewhere(op, last)
    if across is None:
        return False
    e = Emitter(Builder.before(op))
    ranges = {
        i: (e.affine(op.lower[i], [], op.symbols), e.affine(op.upper[i], [], op.symbols))
        for i in (across, last)
    }
    if all(_is_small(*bounds) for bounds in ranges.values()):
        return False

    def rows(inner: Emitter, first: Value, _: list[Value]) -> None:
        inner.loop(
            *ranges[last],
            lambda deeper, other, _: _tile(op, deeper, {across: first, last: other}, ranges),
            step=TILE,
            kind="parallel",
            name="tile_column",
        )

    e.loop(*ranges[across], rows, step=TILE, kind="parallel", name="tile_row")
    op.drop()
    op.unlink()
    return True


def _contiguous_elsewhere(op: st.Apply, last: int) -> int | None:
    """The iterator that is contiguous in an access where the innermost one is not."""
    pairs = [*zip(op.inputs, op.input_maps, strict=True), *zip(op.outputs, op.output_maps, strict=True)]
    for ref, map_ in pairs:
        walker = _walker(ref, map_)
        if walker is not None and walker != last and map_.uses(last):
            return walker
    return None


def _walker(ref: Value, map_: AffineMap) -> int | None:
    """The iterator along which an access is contiguous."""
    type_ = ref.type
    assert isinstance(type_, RefType)
    if type_.layout != "row" or not map_.results:
        return None
    *outer, inner = map_.results
    dim = inner.as_dim
    return dim if dim is not None and not any(e.coefficient(dim) for e in outer) else None


def _is_small(lower: Value, upper: Value) -> bool:
    low, high = integer_of(lower), integer_of(upper)
    return low is not None and high is not None and high - low <= TILE


def _tile(
    op: st.Apply, e: Emitter, firsts: Mapping[int, Value], ranges: Mapping[int, tuple[Value, Value]]
) -> None:
    """A copy of the op over one tile."""
    piece = op.clone()
    assert isinstance(piece, st.Apply)
    lower, upper, symbols = list(piece.lower), list(piece.upper), list(piece.symbols)
    for iterator, first in firsts.items():
        stop = e.minimum(e.add(first, TILE), ranges[iterator][1])
        lower[iterator], upper[iterator] = symbol(len(symbols)), symbol(len(symbols) + 1)
        symbols += [first, stop]
    e.insert(piece)
    piece.set_operands("symbols", symbols)
    piece.lower, piece.upper = tuple(lower), tuple(upper)
