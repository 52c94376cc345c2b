# SPDX-License-Identifier: Apache-2.0
"""Structured ops whose arrays are all walked one element after the other: one axis, cut into lines for the cores.

    st.apply [%n], [%x, %y], [], [%o] {iterators = ["parallel"], ...}

becomes

    tile.cores %blocks {
    ^(%core: i64):
      %begin, %length = the core's run of 512-byte lines
      tile.loop [%length] {tile = [7168]} {
      ^(%offset: i64, %count: i64):
        %x = tile.buffer {depth = 2} : ref<7168 x f32, ub>
        tile.copy ..., %x, [%count]
        tile.mul [%x, %y], %o, [%count]
        tile.copy %o, ..., [%count]
      }
    }
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import mem, st, tile
from pyasc.ir.sizes import SizeExpr, constant, lift
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import Polynomials, index, materialise
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_body import (
    Access,
    BodyBuilder,
    bind_inputs,
    extent_of,
    guarded_writes,
    stored_dtype,
)
from pyasc.passes.analysis.tile_buffers import assign, scratch_bytes
from pyasc.passes.analysis.tile_emit import (
    I64,
    LINE_BYTES,
    Footprint,
    TileEmitter,
    binary,
    block_losses,
    bytes_an_element,
    cores_or_none,
    deal,
    queue_depths,
)
from pyasc.passes.analysis.tile_program import FULL


def is_flat(op: st.Apply) -> bool:
    """Whether every array is walked in memory order, or not at all, and nothing is combined."""
    if op.combined or any(kind != "parallel" for kind in op.iterators):
        return False
    if op.rank > 1 and any(counter.uses for counter in op.body.block.args[: op.rank]):
        return False
    if op.rank == 1:
        pairs = list(zip((*op.inputs, *op.outputs), (*op.input_maps, *op.output_maps), strict=True))
        return all(
            _walks(ref, map_) or (ref in op.inputs and not map_.uses(0)) for ref, map_ in pairs
        ) and all(map_.uses(0) for map_ in op.output_maps)
    return op.rank > 1 and all(walks_whole(op, ref, map_) for ref, map_ in _accesses(op))


def _accesses(op: st.Apply) -> list[tuple[Value, AffineMap]]:
    refs = (*op.inputs, *op.outputs)
    return list(zip(refs, (*op.input_maps, *op.output_maps), strict=True))


def _walks(ref: Value, map_: AffineMap) -> bool:
    """Whether the last axis alone is walked, by one element at a time."""
    if not map_.results or not isinstance(ref.type, RefType) or ref.type.layout != "row":
        return False
    return map_.results[-1].coefficient(0) == 1 and not any(e.coefficient(0) for e in map_.results[:-1])


def walks_whole(op: st.Apply, ref: Value, map_: AffineMap) -> bool:
    """Whether all of an array is walked in order."""
    if [e.as_dim for e in map_.results] != list(range(op.rank)):
        return False
    assert isinstance(ref.type, RefType)
    extents = bounds_of(op)
    return ref.type.layout == "row" and all(
        dim is not None and lift(dim) == extent for dim, extent in zip(ref.type.shape, extents, strict=True)
    )


def bounds_of(op: st.Apply) -> list[SizeExpr | None]:
    """The upper bound of each iterator as a polynomial of sizes, None where it starts elsewhere than at zero."""
    polynomials = Polynomials()
    made: list[SizeExpr | None] = []
    for low, high in zip(op.lower, op.upper, strict=True):
        if not (low.is_constant and low.constant == 0) or high.dims:
            made.append(None)
            continue
        total = constant(high.constant)
        for number, coefficient in enumerate(high.symbols):
            total = total + polynomials.of(op.symbols[number]) * coefficient
        made.append(total)
    return made


def lower_flat(op: st.Apply, soc: Soc) -> Value:
    """Replace the op by tile operations; the number of cores that take part. Raises NotVector."""
    at = Builder.before(op)
    at.loc = op.loc
    builder = BodyBuilder(at)
    bind_inputs(builder, op, at)
    guarded_writes(builder, op, builder.body(op))
    builder.program.prune()
    builder.wide.intervals.check()
    total, lower = extent_of(at, op)
    line = LINE_BYTES // min(stored_dtype(dtype_of(ref.type)).bytes for ref in (*op.inputs, *op.outputs))
    blocks = cores_or_none(at, total, line, soc.vector_cores)
    dealt = deal(at, blocks, total, line)
    _Flat(op, builder, soc, line).emit(dealt.at, dealt.part.begin, dealt.part.length, lower)
    dealt.at.insert(tile.Yield())
    op.drop()
    op.unlink()
    return blocks


class _Flat:
    def __init__(self, op: st.Apply, builder: BodyBuilder, soc: Soc, line: int) -> None:
        self.op = op
        self.elements = builder.elements
        self.assignment = assign(builder.program)
        self.depths = queue_depths(self.assignment)
        per_element = bytes_an_element(self.assignment, self.depths)
        free = soc.arch.ub - scratch_bytes(builder.program.instructions) - block_losses(self.assignment)
        self.tile = int(free / per_element) // line * line

    def emit(self, at: Builder, begin: Value, length: Value, lower: Value) -> None:
        """The loop over a core's tiles."""
        views = {
            a: self._view(at, a, begin, length, lower) for a in (*self.elements.reads, *self.elements.writes)
        }
        loop = at.insert(
            tile.Loop(
                extents=[length], tile=(self.tile,), body=block_of([ScalarType(I64)] * 2, ["offset", "count"])
            )
        )
        inner = Builder(loop.body.block, loc=self.op.loc)
        offset, count = loop.body.block.args
        emitter = TileEmitter(
            inner,
            self.assignment,
            self.depths,
            {FULL: Footprint((self.tile,), [count])},
            [binary(inner, "add", binary(inner, "add", lower, begin), offset)],
        )
        for access in self.elements.reads:
            target = emitter.tile_of(access.register)
            inner.insert(
                tile.Copy(source=_part(inner, views[access], offset, count), target=target, sizes=[count])
            )
        emitter.run(self.elements.program)
        for access in self.elements.writes:
            inner.loc = self.op.loc
            source = emitter.tile_of(access.register)
            inner.insert(
                tile.Copy(source=source, target=_part(inner, views[access], offset, count), sizes=[count])
            )
        inner.insert(tile.Yield())

    def _view(self, at: Builder, access: Access, begin: Value, length: Value, lower: Value) -> Value:
        """What the core walks of an array, as one axis."""
        ref = access.ref
        assert isinstance(ref.type, RefType)
        type_ = RefType((None,), stored_dtype(ref.type.dtype), ref.type.space)
        if self.op.rank > 1:
            flat = at.value(tile.Flatten(ref=ref, types=[type_]), ref.name)
            return _view(at, flat, [begin], [length], (0,), type_)
        first = binary(at, "add", lower, begin)
        offsets = [materialise(e, [first], self.op.symbols, at) for e in access.map.results]
        one = index(at, 1)
        sizes: list[Value] = [one] * (len(offsets) - 1) + [length]
        return _view(at, ref, offsets, sizes, (len(offsets) - 1,), type_)


def _view(
    at: Builder,
    ref: Value,
    offsets: Sequence[Value],
    sizes: Sequence[Value],
    axes: tuple[int, ...],
    type_: RefType,
) -> Value:
    steps = [index(at, 1)] * len(offsets)
    return at.value(
        mem.View(ref=ref, offsets=offsets, sizes=sizes, steps=steps, axes=axes, types=[type_]), ref.name
    )


def _part(at: Builder, view: Value, offset: Value, count: Value) -> Value:
    assert isinstance(view.type, RefType)
    return _view(at, view, [offset], [count], (0,), view.type)
