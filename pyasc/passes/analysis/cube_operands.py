# SPDX-License-Identifier: Apache-2.0
"""Operands of the cube unit on their way: rows of global memory to fractals in L1, fractals to L0A and L0B.

A fractal is 16 rows of 32 bytes: 16 x `c0` elements. The copy into L1 makes columns of fractals,
`[columns / c0][rows][c0]`; the unit wants `[rows / 16][depth / c0]` fractals of 16 rows of A in L0A, and
`[depth / c0][columns / 16]` fractals of 16 columns of B in L0B. An operand whose depth is contiguous is only put into
order on its way from L1. One whose rows or columns are contiguous is turned too: 16-bit elements by LoadData, others
by LoadDataWithTranspose in squares, of 16 x 16 32-bit elements, for which every 16 of the depth lie in L1 by
themselves, or of 32 x 32 bytes.

Behind the end of the depth both operands are zero, up to a multiple of `depth_unit`. Behind the last row or column
there may be anything: it reaches elements of the product alone that are not stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.core import Builder, Value, block_of
from pyasc.ir.dialects import arith, asc, asc_cube, mem, scf, tile
from pyasc.ir.dtypes import DType
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.tile_emit import a_block, binary, named

I64 = ScalarType(dtypes.i64)
OPERAND_SPACES = {"l0a": "A", "l0b": "B"}
_ROWS = 16
_BLOCK_BYTES = 32
_FRACTAL_BYTES = 512
_UNITS = {8: "BLOCK_B32", _ROWS: "FRACTAL", 32: "SQUARE"}
"""What emitted code calls the units that sizes are rounded up to."""

Pair = tuple[Value, Value]


def depth_unit(dtype: DType) -> int:
    """What the depth of a piece is rounded up to: a fractal, and a square where elements are turned in squares."""
    return 32 if dtype.bytes == 1 else 16


def space_of(value: Value) -> str:
    """The memory of a ref."""
    assert isinstance(value.type, RefType)
    return value.type.space


def operand_of(held: Value) -> CubeOperand | None:
    """Which operand a tile in L1 is, by where it goes; None for one that goes nowhere near."""
    for view in held.uses:
        if not isinstance(view, mem.View) or view.ref is not held:
            continue
        copies = [u for u in view.view.uses if isinstance(u, tile.Copy) and u.source is view.view]
        if not copies:
            continue
        target = copies[0].target
        letter = OPERAND_SPACES[space_of(target)]
        turned = view.axes == (1, 0)
        return CubeOperand(letter, turned == (letter == "B"), dtype_of(held.type))
    return None


def round_up(at: Builder, value: Value, unit: int, name: str) -> Value:
    """A size rounded up to whole units."""
    known = integer_of(value)
    if known is not None:
        return index(at, -(-known // unit) * unit)
    return at.value(asc_cube.RoundUp(value=value, unit=named(at, unit, _UNITS[unit])), name)


@dataclass(frozen=True)
class CubeOperand:
    """A ("rows") or B ("columns"), with the depth or the rows or columns contiguous in global memory."""

    letter: str
    depth_inner: bool
    dtype: DType

    @property
    def c0(self) -> int:
        """Elements in 32 bytes."""
        return _BLOCK_BYTES // self.dtype.bytes

    def a_line(self, at: Builder) -> Value:
        """The same as emitted code has it: a row of a fractal is a block of 32 bytes."""
        return a_block(at, self.dtype.bytes)

    def a_fractal(self, at: Builder) -> Value:
        """Elements of a fractal."""
        return named(at, _FRACTAL_BYTES // self.dtype.bytes, f"FRACTAL_B{self.dtype.bits}")

    @property
    def free_unit(self) -> int:
        """What rows or columns are rounded up to."""
        return 32 if self.dtype.bytes == 1 and not self.depth_inner else _ROWS

    def copy_in(
        self, at: Builder, dst: Value, src: Value, pitch: Value | None, free: Pair, depth: Pair
    ) -> None:
        """A piece of `free` x `depth` into L1; each size comes with its padded form, `pitch` from row to row."""
        if self.depth_inner:
            pitch = depth[0] if pitch is None else pitch
            to_fractals(at, dst, src, free[0], depth[0], pitch, free[1])
            if self.c0 < depth_unit(self.dtype):
                self._clear_columns(at, dst, free[1], depth)
        elif self.dtype.bytes == 4:
            assert pitch is not None
            self._strips(at, dst, src, pitch, free, depth)
        else:
            assert pitch is not None
            to_fractals(at, dst, src, depth[0], free[0], pitch, depth[1])
            self._clear_rows(at, dst, free[1], depth)

    def _clear_columns(self, at: Builder, dst: Value, padded: Value, depth: Pair) -> None:
        """The column of fractals between the end of the depth and a whole square."""
        if depth[0] is depth[1]:
            return
        filled = round_up(at, depth[0], self.c0, "filled")
        inner = _when(at, "lt", filled, depth[1])
        start = _part(inner, dst, binary(inner, "mul", filled, padded))
        _clear_part(inner, start, index(inner, 1), padded, index(inner, 0))

    def _clear_rows(self, at: Builder, dst: Value, padded: Value, depth: Pair) -> None:
        """The rows behind the end of the depth, in every column of fractals."""
        if depth[0] is depth[1]:
            return
        inner = _when(at, "lt", depth[0], depth[1])
        start = _part(inner, dst, binary(inner, "mul", depth[0], self.a_line(inner)))
        columns = binary(inner, "floordiv", padded, self.a_line(inner))
        _clear_part(inner, start, columns, binary(inner, "sub", depth[1], depth[0]), depth[0])

    def _strips(self, at: Builder, dst: Value, src: Value, pitch: Value, free: Pair, sizes: Pair) -> None:
        """Every 16 rows of the depth by themselves, so that two fractals beside each other are a square."""
        depth, padded = sizes
        if isinstance(src.owner, asc.Offset):
            src.owner.offset.name = "start"
        inner = _for(at, depth, fractal_rows(at), "row")
        row = inner.block.args[0]
        rows = fractal_rows(inner)
        if depth is not padded:
            rows = binary(inner, "minimum", binary(inner, "sub", depth, row, "below"), rows, "height")
        strip = _part(inner, dst, binary(inner, "mul", row, free[1]))
        line = _part(inner, src, binary(inner, "mul", row, pitch))
        to_fractals(inner, strip, line, rows, free[0], pitch, fractal_rows(inner))
        inner.insert(scf.Yield())
        self._clear_strip(at, dst, free[1], sizes)

    def _clear_strip(self, at: Builder, dst: Value, padded: Value, sizes: Pair) -> None:
        """What the last 16 rows of the depth lack."""
        depth = sizes[0]
        if depth is sizes[1]:
            return
        left = binary(at, "mod", depth, fractal_rows(at), "left")
        inner = _when(at, "gt", left, index(at, 0))
        whole = binary(inner, "mul", binary(inner, "sub", depth, left), padded)
        start = _part(inner, dst, binary(inner, "add", whole, binary(inner, "mul", left, self.a_line(inner))))
        columns = binary(inner, "floordiv", padded, self.a_line(inner))
        _clear_part(inner, start, columns, binary(inner, "sub", fractal_rows(inner), left), left)

    def copy_row(
        self, at: Builder, dst: Value, src: Value, row: Value, sizes: tuple[Value, Value, Value]
    ) -> None:
        """One row of the depth into L1; `sizes` are its columns, and what columns and depth are padded to."""
        columns, padded, depth = sizes
        if self.dtype.bytes == 4:
            fractal = fractal_rows(at)
            strip = binary(
                at, "mul", binary(at, "floordiv", row, fractal), binary(at, "mul", padded, fractal)
            )
            inside = binary(at, "mul", binary(at, "mod", row, fractal), self.a_line(at))
            place, stride = binary(at, "add", strip, inside), fractal
        else:
            place, stride = binary(at, "mul", row, self.a_line(at)), depth
        to_fractals(at, _part(at, dst, place), src, index(at, 1), columns, columns, stride)

    def clear_behind(self, at: Builder, dst: Value, padded: Value, depth: Pair) -> None:
        """Zeros behind rows that were copied one by one."""
        if self.dtype.bytes == 4:
            self._clear_strip(at, dst, padded, depth)
        else:
            self._clear_rows(at, dst, padded, depth)

    def load(self, at: Builder, dst: Value, src: Value, step: Pair, padded: Value, depth: Value) -> None:
        """A step of the depth, which begins at `step[0]` and is `step[1]` long, of `padded` rows or columns."""
        if self.depth_inner:
            self._in_order(at, dst, src, step, padded)
        elif self.dtype.bytes == 2:
            self._turned(at, dst, src, step, padded, depth)
        else:
            self._in_squares(at, dst, src, step, padded, depth)

    def _in_order(self, at: Builder, dst: Value, src: Value, step: Pair, padded: Value) -> None:
        """L0B is in the order of L1; for L0A, a column of fractals at a time goes to every so many fractals."""
        fractals = binary(at, "floordiv", padded, fractal_rows(at), "fractals")
        groups = binary(at, "floordiv", step[1], self.a_line(at), "groups")
        one = index(at, 1)
        if self.letter == "B":
            start = _part(at, src, binary(at, "mul", step[0], padded))
            self._load(at, (dst, start), binary(at, "mul", groups, fractals), one, index(at, 0), False)
            return
        gap = binary(at, "sub", groups, 1, "gap")
        inner = _for(at, groups, index(at, 1), "column")
        column = inner.block.args[0]
        place = binary(inner, "add", step[0], binary(inner, "mul", column, self.a_line(inner)))
        start = _part(inner, src, binary(inner, "mul", place, padded))
        to = _part(inner, dst, binary(inner, "mul", column, self.a_fractal(inner)))
        self._load(inner, (to, start), fractals, one, gap, False)
        inner.insert(scf.Yield())

    def _turned(self, at: Builder, dst: Value, src: Value, step: Pair, padded: Value, depth: Value) -> None:
        """A row of fractals at a time, each one turned."""
        fractals = binary(at, "floordiv", padded, fractal_rows(at), "fractals")
        groups = binary(at, "floordiv", step[1], self.a_line(at), "groups")
        stride = binary(at, "floordiv", depth, fractal_rows(at), "stride")
        gap = binary(at, "sub", groups, 1, "gap") if self.letter == "A" else index(at, 0)
        inner = _for(at, groups, index(at, 1), "row")
        row = inner.block.args[0]
        place = binary(inner, "add", step[0], binary(inner, "mul", row, fractal_rows(inner)))
        start = _part(inner, src, binary(inner, "mul", place, self.a_line(inner)))
        length = (
            self.a_fractal(inner) if self.letter == "A" else binary(inner, "mul", padded, fractal_rows(inner))
        )
        to = _part(inner, dst, binary(inner, "mul", row, length))
        self._load(inner, (to, start), fractals, stride, gap, True)
        inner.insert(scf.Yield())

    def _in_squares(
        self, at: Builder, dst: Value, src: Value, step: Pair, padded: Value, depth: Value
    ) -> None:
        """A row of squares at a time; the two fractals of each lie along the depth, or beside each other for bytes."""
        side = named(at, depth_unit(self.dtype), _UNITS[depth_unit(self.dtype)])
        wide = self.dtype.bytes == 4
        one, groups = index(at, 1), binary(at, "floordiv", step[1], self.a_line(at), "groups")
        squares = binary(at, "floordiv", padded, side, "squares")
        stride = one if wide else binary(at, "floordiv", depth, side, "stride")
        if self.letter == "B":
            gaps = (index(at, 0), binary(at, "sub", squares, 1, "gap")) if wide else (one, index(at, 0))
        else:
            next_row = binary(at, "sub", groups, 1, "gap")
            twice = binary(at, "sub", binary(at, "mul", groups, 2), 1, "wideGap")
            gaps = (next_row, index(at, 0)) if wide else (twice, next_row)
        inner = _for(at, step[1], side, "row")
        row = inner.block.args[0]
        place = binary(inner, "add", step[0], row)
        start = _part(inner, src, binary(inner, "mul", place, padded if wide else self.a_line(inner)))
        to = binary(inner, "mul", row, padded if self.letter == "B" else fractal_rows(inner))
        inner.insert(
            asc_cube.LoadDataWithTranspose(
                dst=_part(inner, dst, to),
                src=start,
                start=index(inner, 0),
                repeat=squares,
                src_stride=stride,
                dst_gap=gaps[0],
                dst_fractal_gap=gaps[1],
            )
        )
        inner.insert(scf.Yield())

    def _load(
        self, at: Builder, ends: Pair, repeat: Value, stride: Value, gap: Value, transpose: bool
    ) -> None:
        dst, src = ends
        at.insert(
            asc_cube.LoadData(
                dst=dst,
                src=src,
                start=index(at, 0),
                repeat=repeat,
                src_stride=stride,
                dst_gap=gap,
                transpose=transpose,
            )
        )


def to_fractals(
    at: Builder, dst: Value, src: Value, rows: Value, columns: Value, pitch: Value, padded: Value
) -> None:
    """Rows of global memory, `pitch` apart, to columns of fractals of `padded` rows."""
    zero, one = index(at, 0), index(at, 1)
    at.insert(
        asc_cube.Nd2Nz(
            dst=dst,
            src=src,
            matrices=one,
            rows=rows,
            columns=columns,
            src_matrix_stride=zero,
            src_row_stride=pitch,
            dst_c0_stride=padded,
            dst_row_stride=one,
            dst_matrix_stride=zero,
        )
    )


def clear(at: Builder, dst: Value, repeat: Value, blocks: Value, gap: Value) -> None:
    """Zeros on chip; bytes are cleared as 16-bit elements, which the call takes."""
    dtype = dtype_of(dst.type)
    if dtype.bytes == 1:
        assert isinstance(dst.type, RefType)
        dtype = dtypes.f16
        type_ = RefType((None,), dtype, dst.type.space, dst.type.layout)
        dst = at.value(asc.ReinterpretCast(tensor=dst, types=[type_]))
    zero = at.value(arith.Constant.of(0.0, dtype))
    at.insert(asc_cube.InitConstValue(dst=dst, repeat=repeat, blocks=blocks, gap=gap, value=zero))


def _clear_part(at: Builder, dst: Value, repeat: Value, blocks: Value, gap: Value) -> None:
    clear(at, dst, repeat, blocks, gap)
    at.insert(scf.Yield())


def fractal_rows(at: Builder) -> Value:
    """Rows of a fractal, and columns of its part of the product."""
    return named(at, _ROWS, "FRACTAL")


def _part(at: Builder, tensor: Value, offset: Value) -> Value:
    if integer_of(offset) == 0:
        return tensor
    assert isinstance(tensor.type, RefType)
    if isinstance(tensor.owner, asc.Offset):
        offset = binary(at, "add", tensor.owner.offset, offset)
        return _part(at, tensor.owner.tensor, offset)
    type_ = RefType((None,), tensor.type.dtype, tensor.type.space, tensor.type.layout)
    return at.value(asc.Offset(tensor=tensor, offset=offset, types=[type_]))


def _for(at: Builder, upper: Value, step: Value, name: str) -> Builder:
    """The inside of a loop from zero, which the caller ends."""
    body = block_of([I64], [name])
    loop = at.insert(scf.For(lower=index(at, 0), upper=upper, step=step, types=[], body=body))
    return Builder(loop.body.block, loc=at.loc)


def _when(at: Builder, fn: str, left: Value, right: Value) -> Builder:
    """The inside of a branch, which the caller ends."""
    condition = at.value(arith.Elementwise(fn=fn, args=[left, right]))
    branch = at.insert(scf.If(condition=condition, types=[], then=block_of(), otherwise=block_of()))
    Builder(branch.otherwise.block, loc=at.loc).insert(scf.Yield())
    return Builder(branch.then.block, loc=at.loc)
