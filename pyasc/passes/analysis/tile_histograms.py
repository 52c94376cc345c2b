# SPDX-License-Identifier: Apache-2.0
"""Histograms of few bins: every core asks of all its elements, bin by bin, whether they belong there.

    tile.cores %blocks {
      %lanes = tile.buffer : ref<16384 x i32, ub>
      tile.fill 0, %lanes, [%bins * 64]
      scf.for %offset = the core's elements step TILE {
        tile.copy ..., %x, [%count]
        tile.tally %ones, %x, %lanes, %bins, [%count]
      }
      tile.totals %lanes, %counts, [%bins]
      tile.copy %counts, %h, [%bins] {accumulate = "add"}
    }

Elements that are equal do not wait for each other, as they would on the scalar unit, and cores add what they have found
in one atomic copy each.
"""

from __future__ import annotations

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, py, scf, st, tile, tile_lanes
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.histograms import Histogram
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.structured import apply_over
from pyasc.passes.analysis.tile_body import bind_inputs, extent_of
from pyasc.passes.analysis.tile_emit import I64, LINE_BYTES, binary, cores_for, deal
from pyasc.passes.analysis.tile_gathers import elements_in, table_size
from pyasc.passes.analysis.tile_legalise import number_of
from pyasc.passes.analysis.tile_program import Register
from pyasc.passes.analysis.tile_strides import Strided, StridedBody, line_view
from pyasc.passes.analysis.walks import walks_of

LANES = 64
MOST_BINS = 384
"""Beyond that the lanes of all bins leave no room for elements."""
MOST_ELEMENTS = 1 << 24
"""Up to this float32, in which lanes are added up, knows all integers."""
MOST_STEP = 1 << 10


def lower_histogram(found: Histogram, soc: Soc) -> Value:
    """Replace the loops by tile operations; the number of cores that take part. Raises NotVector."""
    return _Lowering(found, soc).lower()


class _Lowering:
    def __init__(self, found: Histogram, soc: Soc) -> None:
        self.found = found
        self.soc = soc
        self.loop = found.loops[0]
        self.at = Builder.before(self.loop)
        self.at.loc = self.loop.loc
        self.dtype = dtype_of(found.ref.type)
        known = elements_in(found.ref).as_constant
        if known is not None and known > MOST_BINS:
            raise refuse(f"a histogram of more than {MOST_BINS} bins", self.loop.loc)
        self.bins = MOST_BINS if known is None else max(known, 1)
        self.step = self._step()
        self.op = self._structured()
        walks = walks_of(self.op)
        if walks is None or not self.op.inputs:
            raise refuse("a histogram of elements that do not lie in order", self.loop.loc)
        self.body = StridedBody(self.at, walks)

    def _step(self) -> int:
        """How far a bin may move at a time. Raises NotVector for integers that float32 may not know the sums of."""
        if self.dtype is dtypes.f32:
            return 0
        known = integer_of(self.found.value)
        if known is None or abs(known) > MOST_STEP:
            raise refuse("a histogram of integers that are not all the same small number", self.loop.loc)
        return abs(known)

    def _structured(self) -> st.Apply:
        """The work of an iteration as an op that yields where it adds, and what."""
        loops, found = self.found.loops, self.found
        extents = [
            binary(self.at, "maximum", binary(self.at, "sub", each.upper, each.lower), 0) for each in loops
        ]

        def body(inner: Builder, point: list[Value]) -> list[Value]:
            mapping: dict[Value, Value] = {}
            for loop, place in zip(loops, point, strict=True):
                mapping[loop.counter] = binary(inner, "add", place, loop.lower)
            for op in found.work:
                made = inner.insert(op.clone(mapping))
                mapping.update(zip(op.results, made.results, strict=True))
            return [mapping.get(value, value) for value in (*found.indices, found.value)]

        return apply_over(self.at, extents, ["parallel"] * len(loops), [], body)

    def lower(self) -> Value:
        """Emit the split over cores, the loop over tiles, and what is added at the end."""
        at, op = self.at, self.op
        places, values = self._registers()
        self._check()
        total, first = extent_of(at, op)
        line = LINE_BYTES // min(dtype_of(ref.type).bytes for ref in op.inputs)
        blocks = cores_for(at, total, line, self.soc.vector_cores)
        dealt = deal(at, blocks, total, line)
        inner, part = dealt.at, dealt.part
        begin = binary(inner, "add", first, part.begin)
        tiles = _Tallied(op, self.body, self.soc, line, self.bins * (LANES + 1) * 4 + 512, 4.25)
        tiles.tally(inner, begin, part.length, self, (places, values))
        inner.insert(tile.Yield())
        for each in (op, self.loop):
            each.drop()
            each.unlink()
        return blocks

    def _registers(self) -> tuple[Register, Register]:
        """Where each element belongs, and what it adds."""
        op, body, legaliser = self.op, self.body, self.body.legaliser
        *indices, value = op.body.block.terminator.operands
        bind_inputs(body, op, self.at, runs_for_none=True)
        body.gathers.translate(op, indices)
        places = legaliser.full(legaliser.register(body.gathers.number(self.found.ref, indices)))
        values = legaliser.full(legaliser.register(legaliser.operand(value)))
        assert isinstance(places, Register) and isinstance(values, Register)
        if values.dtype is not self.dtype or places.dtype is not dtypes.i32:
            raise refuse(f"{values.dtype} elements added to {self.dtype}", op.loc)
        program = body.program
        program.outputs += [places, values]
        program.prune()
        program.outputs.clear()
        program.kept += list(dict.fromkeys([places, values]))
        body.wide.intervals.check()
        return places, values

    def _check(self) -> None:
        """Let the host check that there are no more bins than lanes, and no more elements than a lane can count."""
        at, limits = self.at, list[tuple[Value, int]]()
        if elements_in(self.found.ref).as_constant is None:
            limits.append((table_size(at, self.found.ref), self.bins))
        if self.step:
            most = MOST_ELEMENTS // self.step * self.soc.vector_cores
            limits.append((extent_of(at, self.op)[0], most))
        for value, most in limits:
            fits = at.value(arith.Elementwise(fn="le", args=[value, index(at, most)]))
            message = f"a histogram has {{}} bins or elements, and here at most {most} so far"
            at.insert(
                py.Check(condition=fits, values=[value], error="LaunchError", message=message, launch=True)
            )


class _Tallied(Strided):
    """Tiles of which each is added to lanes."""

    def tally(
        self,
        at: Builder,
        begin: Value,
        length: Value,
        owner: _Lowering,
        registers: tuple[Register, Register],
    ) -> None:
        """Lanes that start from zero, the loop over tiles, and their sums."""
        runs = {access: self._run(at, access, begin, length) for access in self.elements.reads}
        ref, dtype = owner.found.ref, owner.dtype
        bins = table_size(at, ref)
        target = line_view(at, self._flat(at, ref), index(at, 0), bins, RefType((None,), dtype))
        lanes_type = RefType((owner.bins * LANES,), dtype, "ub")
        lanes = at.value(tile.Buffer(types=[lanes_type]), "lanes")
        zero = at.value(number_of(0, dtype))
        at.insert(tile.Fill(value=zero, target=lanes, sizes=[binary(at, "mul", bins, LANES)]))
        step = at.value(arith.Constant.of(self.tile, I64), "TILE")
        body = block_of([ScalarType(I64)], ["offset"])
        loop = at.insert(scf.For(lower=index(at, 0), upper=length, step=step, types=[], body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        left = binary(inner, "sub", length, loop.counter, "left")
        count = binary(inner, "minimum", left, step, "count")
        emitter = self._emitter(inner, [binary(inner, "add", begin, loop.counter)], count)
        for access in self.elements.reads:
            source, size = self._part(inner, runs[access], loop.counter, count)
            inner.insert(tile.Copy(source=source, target=emitter.tile_of(access.register), sizes=[size]))
        emitter.run(self.elements.program)
        places, values = (emitter.tile_of(register) for register in registers)
        inner.insert(tile_lanes.Tally(source=values, places=places, lanes=lanes, bins=bins, sizes=[count]))
        inner.insert(scf.Yield())
        counts_type = RefType((-(-owner.bins // 64) * 64,), dtype, "ub")
        counts = at.value(tile.Buffer(types=[counts_type]), "counts")
        at.insert(tile_lanes.Totals(lanes=lanes, target=counts, sizes=[bins]))
        box = line_view(at, target, index(at, 0), bins, RefType((None,), dtype))
        at.insert(tile.Copy(source=counts, target=box, sizes=[bins], accumulate="add"))
