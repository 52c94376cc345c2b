# SPDX-License-Identifier: Apache-2.0
"""The ascend level: calls of the cube unit and the copies that feed and drain it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.ascend_calls import QUANT_MODES
from pyasc.ir.constraints import BOOL, GLOBAL, I64, ON_CHIP, REF, SCALAR
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands, result
from pyasc.ir.dialects.mem import same_dtype
from pyasc.ir.traits import PURE, READS, WRITES
from pyasc.ir.types import RefType, dtype_of

_EFFECTS = (READS, WRITES)


class RoundUp(Operation, name="asc.RoundUp", traits=[PURE]):
    """A size, not negative, rounded up to whole units, which are positive: fractals."""

    value: Value = operand(I64)
    unit: Value = operand(I64)
    result: Value = result(lambda op: op.value.type)


class Nd2Nz(Operation, name="asc.DataCopyNd2Nz", traits=_EFFECTS):
    """`DataCopy(dst, src, Nd2NzParams)`: rows of global memory into the fractal order of L1, tails of rows zeroed.

    Rows further apart than the call can step over (65,535 elements) are copied one by one.
    """

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(GLOBAL)
    matrices: Value = operand(I64)
    rows: Value = operand(I64)
    columns: Value = operand(I64)
    src_matrix_stride: Value = operand(I64)
    src_row_stride: Value = operand(I64)
    dst_c0_stride: Value = operand(I64)
    dst_row_stride: Value = operand(I64)
    dst_matrix_stride: Value = operand(I64)

    def verify_op(self) -> Iterable[str]:
        """The target lies in L1."""
        yield from same_dtype(self.dst, self.src)
        yield from _lies_in(self.dst, ("l1",))


class LoadData(Operation, name="asc.LoadData", traits=_EFFECTS):
    """`LoadData(dst, src, LoadData2DParams)`: fractals of 512 bytes from L1 to L0A or L0B."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(REF)
    start: Value = operand(I64)
    repeat: Value = operand(I64)
    src_stride: Value = operand(I64)
    dst_gap: Value = operand(I64)
    transpose: bool = attribute(default=False)

    def verify_op(self) -> Iterable[str]:
        """From L1 or global memory to an operand memory; 16-bit elements alone are transposed."""
        yield from same_dtype(self.dst, self.src)
        yield from _lies_in(self.dst, ("l0a", "l0b"))
        yield from _lies_in(self.src, ("l1", "gm"))
        if self.transpose and dtype_of(self.dst.type).bits != 16:
            yield f"LoadData transposes 16-bit elements, not {dtype_of(self.dst.type)}"


class LoadDataWithTranspose(Operation, name="asc.LoadDataWithTranspose", traits=_EFFECTS):
    """`LoadDataWithTranspose(dst, src, LoadData2dTransposeParams)`: square blocks of fractals, transposed."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    start: Value = operand(I64)
    repeat: Value = operand(I64)
    src_stride: Value = operand(I64)
    dst_gap: Value = operand(I64)
    dst_fractal_gap: Value = operand(I64)

    def verify_op(self) -> Iterable[str]:
        """From L1 to an operand memory."""
        yield from same_dtype(self.dst, self.src)
        yield from _lies_in(self.dst, ("l0a", "l0b"))
        yield from _lies_in(self.src, ("l1",))


class InitConstValue(Operation, name="asc.InitConstValue", traits=[WRITES]):
    """`InitConstValue(dst, InitConstValueParams)`: `blocks` units of one value, `repeat` times with gaps between."""

    dst: Value = operand(ON_CHIP, written=True)
    repeat: Value = operand(I64)
    blocks: Value = operand(I64)
    gap: Value = operand(I64)
    value: Value = operand(SCALAR)

    def verify_op(self) -> Iterable[str]:
        """A memory of the cube, 16- or 32-bit elements."""
        yield from same_dtype(self.value, self.dst)
        yield from _lies_in(self.dst, ("l1", "l0a", "l0b"))
        if dtype_of(self.dst.type).bits not in (16, 32):
            yield f"InitConstValue takes 16- and 32-bit elements, not {dtype_of(self.dst.type)}"


class Mmad(Operation, name="asc.Mmad", traits=_EFFECTS):
    """`Mmad(dst, fm, filter, [bias,] MmadParams)`: dst = (fresh ? 0 : dst) + fm @ filter.

    A bias is the start value when `fresh` is false. Sizes are at most 4095; m = 1 reads L0A flat.
    """

    dst: Value = operand(ON_CHIP, written=True)
    fm: Value = operand(ON_CHIP)
    filter: Value = operand(ON_CHIP)
    bias: Sequence[Value] = operands(ON_CHIP, default=())
    m: Value = operand(I64)
    n: Value = operand(I64)
    k: Value = operand(I64)
    fresh: Value = operand(BOOL)

    def verify_op(self) -> Iterable[str]:
        """Memories, and the dtypes that the unit multiplies."""
        yield from same_dtype(self.fm, self.filter)
        for value, space in ((self.dst, "l0c"), (self.fm, "l0a"), (self.filter, "l0b")):
            yield from _lies_in(value, (space,))
        pair = (dtype_of(self.fm.type).name, dtype_of(self.dst.type).name)
        if pair not in (("i8", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f32")):
            yield f"there is no Mmad of {pair[0]} into {pair[1]}"
        if len(self.bias) > 1:
            yield f"at most one bias, got {len(self.bias)}"


class Fixpipe(Operation, name="asc.Fixpipe", traits=_EFFECTS):
    """`Fixpipe<T, U, CFG_ROW_MAJOR>(dst, src, FixpipeParamsV220)`: a corner of L0C to rows of global memory.

    `src_stride` is in 16 elements, `dst_stride` the length of a row in elements.
    """

    dst: Value = operand(GLOBAL, written=True)
    src: Value = operand(ON_CHIP)
    n: Value = operand(I64)
    m: Value = operand(I64)
    src_stride: Value = operand(I64)
    dst_stride: Value = operand(I64)
    quant: str = attribute(default="NoQuant", choices=QUANT_MODES)
    relu: bool = attribute(default=False)

    def verify_op(self) -> Iterable[str]:
        """The source is L0C and the quantisation fits the pair of dtypes."""
        yield from _lies_in(self.src, ("l0c",))
        pair = (dtype_of(self.src.type).name, dtype_of(self.dst.type).name)
        modes = _QUANT.get(pair, ())
        if self.quant not in modes:
            yield f"Fixpipe from {pair[0]} to {pair[1]} takes {' '.join(modes) or 'no mode'}, got {self.quant}"


_QUANT: dict[tuple[str, str], tuple[str, ...]] = {
    ("f32", "f32"): ("NoQuant",),
    ("i32", "i32"): ("NoQuant",),
    ("f32", "f16"): ("F322F16",),
    ("f32", "bf16"): ("F322BF16",),
    ("f32", "i8"): ("QF322B8_PRE", "VQF322B8_PRE"),
    ("f32", "u8"): ("QF322B8_PRE", "VQF322B8_PRE"),
    ("i32", "f16"): ("DEQF16", "VDEQF16"),
    ("i32", "i8"): ("REQ8", "VREQ8"),
    ("i32", "u8"): ("REQ8", "VREQ8"),
}


def _lies_in(value: Value, spaces: tuple[str, ...]) -> Iterable[str]:
    if isinstance(value.type, RefType) and value.type.space not in spaces:
        yield f"expected a tensor in {' or '.join(spaces)}, got {value.type}"
