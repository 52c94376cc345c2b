# SPDX-License-Identifier: Apache-2.0
"""Reductions over rows: every core takes a strip of columns and adds row after row to one accumulator row.

tile.cores %blocks {
  scf.for %column = 0 to %length step %piece {
    %out = tile.buffer [%pitch] {depth = 2} : ref<1 x ? x f32, ub>
    tile.fill %init, %out, [1, %width]
    scf.for %row = 0 to %rows step %tileRows {
      %x = tile.buffer [%tileRows, %pitch] {depth = 2} : ref<? x ? x f32, ub>
      tile.copy ..., %x, [%n, %width]
      tile.reduce %x, %out, [%n, %width] {fn = "add", axis = 0, continued = true}
    }
    tile.copy %out, ..., [1, %width]
  }
}
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, mem, scf, st, tile
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, materialise
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.structured import combining_function
from pyasc.passes.analysis.tile_body import BodyBuilder
from pyasc.passes.analysis.tile_buffers import assign, scratch_bytes
from pyasc.passes.analysis.tile_emit import (
    I64,
    LINE_BYTES,
    TileEmitter,
    binary,
    bytes_an_element,
    ceil_div,
    cores_for,
    queue_depths,
    share,
)
from pyasc.passes.analysis.tile_legalise import refuse
from pyasc.passes.analysis.tile_program import FULL

_FUNCTIONS = ("add", "maximum", "minimum")
_PIECE = 2048
"""Columns of a strip at most: a row of 8 KiB, and as many rows as fit beside it."""
_MAX_ROWS = 4095
SCALAR = ScalarType(I64)


def reduces_rows(op: st.Apply) -> bool:
    """Whether an op combines along its first iterator into what its second one walks."""
    return (
        op.iterators == ("reduction", "parallel")
        and op.roles == ("reduce",)
        and not op.guarded
        and combining_function(op) in _FUNCTIONS
        and len(op.inits) == 1
        and all(low.is_constant and low.constant == 0 for low in op.lower)
        and not any(high.dims for high in op.upper)
        and _walks(op)
    )


def _walks(op: st.Apply) -> bool:
    rows = all(
        len(m.results) == 2 and [e.as_dim for e in m.results] == [0, 1] and _dense(ref)
        for ref, m in zip(op.inputs, op.input_maps, strict=True)
    )
    out = op.output_maps[0].results
    return rows and bool(op.inputs) and len(out) == 1 and out[0].as_dim == 1 and _dense(op.outputs[0])


def _dense(ref: Value) -> bool:
    return isinstance(ref.type, RefType) and ref.type.layout == "row"


def lower_columns(op: st.Apply, soc: Soc) -> Value:
    """Replace the op by tile operations; the number of cores that take part. Raises NotVector."""
    return _Columns(op, soc).lower()


class _Columns:
    def __init__(self, op: st.Apply, soc: Soc) -> None:
        self.op = op
        self.soc = soc
        self.at = Builder.before(op)
        self.at.loc = op.loc
        builder = self.builder = BodyBuilder(self.at)
        block = op.body.block
        for counter in block.args[:2]:
            if counter.uses:
                raise refuse("the loop counter as a value", next(iter(counter.uses)).loc)
        for ref, map_, arg in zip(op.inputs, op.input_maps, block.args[2:], strict=True):
            register = builder.read(ref, map_, ref.name)
            builder.legaliser.operands[arg] = builder.loaded(register, dtype_of(ref.type))
        self.value = builder.legaliser.register(builder.body(op)[0])
        if self.value.dtype.name not in ("f16", "f32", "i16", "i32"):
            raise refuse(f"a reduction of {self.value.dtype} elements", op.loc)
        self._size(soc.arch.ub)

    def _size(self, ub: int) -> None:
        program = self.builder.program
        # The reduced value lives to the end, in a temporary or in the input it is.
        program.outputs.append(self.value)
        program.prune()
        program.outputs.clear()
        program.kept = self.value
        self.assignment = assign(program)
        self.depths = queue_depths(self.assignment)
        widths = [slot.width for slot in self.assignment.slots if slot.kind != "mask"]
        self.unit = 32 // min(widths)
        fixed = 2 * _PIECE * self.value.dtype.bytes + scratch_bytes(program.instructions)
        self.tile = int((ub - fixed) / bytes_an_element(self.assignment, self.depths)) // 256 * 256

    def lower(self) -> Value:
        """Emit the split over cores, the strips, and the rows of each."""
        at, op = self.at, self.op
        rows, columns = (materialise(high, (), op.symbols, at) for high in op.upper)
        line = LINE_BYTES // self.value.dtype.bytes
        blocks = cores_for(at, columns, line, self.soc.vector_cores)
        cores = at.insert(tile.Cores(count=blocks, body=block_of([SCALAR], ["core"])))
        inner = Builder(cores.body.block, loc=op.loc)
        part = share(inner, cores.body.block.args[0], blocks, columns, line)
        piece = binary(inner, "maximum", binary(inner, "minimum", part.length, _PIECE, "strip"), 1, "piece")
        self.pitch = binary(inner, "mul", ceil_div(inner, piece, self.unit, "parts"), self.unit, "pitch")
        capacity = inner.value(arith.Constant.of(self.tile, I64), "TILE")
        fitting = inner.value(arith.Elementwise(fn="floordiv", args=[capacity, self.pitch]), "fitting")
        self.tile_rows = binary(inner, "minimum", fitting, _MAX_ROWS, "tileRows")
        body = block_of([SCALAR], ["column"])
        loop = inner.insert(
            scf.For(lower=index(inner, 0), upper=part.length, step=piece, types=[], body=body)
        )
        strip = Builder(loop.body.block, loc=op.loc)
        left = binary(strip, "sub", part.length, loop.counter, "left")
        width = binary(strip, "minimum", left, piece, "width")
        self._strip(strip, binary(strip, "add", part.begin, loop.counter, "firstColumn"), width, rows)
        strip.insert(scf.Yield())
        inner.insert(tile.Yield())
        op.drop()
        op.unlink()
        return blocks

    def _strip(self, at: Builder, column: Value, width: Value, rows: Value) -> None:
        one = index(at, 1)
        out = self.op.outputs[0]
        type_ = RefType((1, None), self.value.dtype, "ub")
        total = at.value(
            tile.Buffer(extents=[self.pitch], depth=2, capacity=_PIECE, types=[type_]), out.name or "total"
        )
        at.insert(tile.Fill(value=self.op.inits[0], target=total, sizes=[one, width]))
        body = block_of([SCALAR], ["row"])
        loop = at.insert(scf.For(lower=index(at, 0), upper=rows, step=self.tile_rows, types=[], body=body))
        inner = Builder(loop.body.block, loc=self.op.loc)
        left = binary(inner, "sub", rows, loop.counter, "left")
        count = binary(inner, "minimum", left, self.tile_rows, "n")
        self._tile(inner, total, [loop.counter, column], [count, width])
        inner.insert(scf.Yield())
        view = RefType((1, None), self.value.dtype, "gm", "strided")
        made = mem.View(ref=out, offsets=[column], sizes=[width], steps=[one], axes=(-1, 0), types=[view])
        at.insert(tile.Copy(source=total, target=at.value(made, out.name), sizes=[one, width]))

    def _tile(self, at: Builder, total: Value, point: list[Value], sizes: list[Value]) -> None:
        emitter = TileEmitter(
            at,
            self.assignment,
            self.depths,
            {FULL: (None, None)},
            {FULL: [self.tile_rows, self.pitch]},
            {FULL: self.tile},
            {FULL: sizes},
        )
        one = index(at, 1)
        for access in self.builder.elements.reads:
            ref = access.ref
            target = emitter.tile_of(access.register)
            type_ = RefType((None, None), dtype_of(target.type), "gm", "strided")
            view = mem.View(ref=ref, offsets=point, sizes=sizes, steps=[one, one], axes=(0, 1), types=[type_])
            at.insert(tile.Copy(source=at.value(view, ref.name), target=target, sizes=sizes))
        emitter.run(self.builder.program)
        at.loc = self.op.loc
        fn = combining_function(self.op)
        assert fn is not None
        source = emitter.tile_of(self.value)
        at.insert(
            tile.Reduce(source=source, target=total, sizes=sizes, scratch=(), fn=fn, axis=0, continued=True)
        )
