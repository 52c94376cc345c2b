# SPDX-License-Identifier: Apache-2.0
"""The ascend level: calls of the vector unit.

`amount` is `[count]` in the count form; in the mask form it is `[mask, repeat]` or `[mask_low, mask_high, repeat]`, and
`strides` has the block strides, then the repeat strides, in the order of the call. With `set_mask` false the mask is
the one that SetVectorMask left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.ascend_calls import CASTS, MODES, ORDERS, ROUND_MODES, SELECT_MODES, VECTOR_CALLS
from pyasc.ir.constraints import I64, ON_CHIP, REF_OR_SCALAR, SCALAR
from pyasc.ir.core import Operation, Value
from pyasc.ir.declare import attribute, operand, operands
from pyasc.ir.dialects.asc import EVENT, form
from pyasc.ir.dialects.mem import same_dtype
from pyasc.ir.traits import EFFECT, READS, WRITES
from pyasc.ir.types import ScalarType, dtype_of

_EFFECTS = (READS, WRITES)


def _named(kind: str) -> tuple[str, ...]:
    return tuple(call.name for call in VECTOR_CALLS.values() if call.form == kind)


def _takes(call: str, dst: Value, sources: Sequence[Value]) -> Iterable[str]:
    """Messages unless all operands have one dtype, one of those that the call takes."""
    for source in sources:
        yield from same_dtype(source, dst)
    name = dtype_of(dst.type).name
    if name not in VECTOR_CALLS[call].dtypes:
        yield f"{call} takes {' '.join(VECTOR_CALLS[call].dtypes)}, not {name}"


def _forms(amount: Sequence[Value], strides: Sequence[Value], count: int) -> Iterable[str]:
    yield from form(amount, "amount", (1, 2, 3))
    yield from form(strides, "strides", (0,) if len(amount) == 1 else (0, 2 * count))


class Unary(Operation, name="asc.Unary", traits=_EFFECTS):
    """`Exp(dst, src, ...)` and its like."""

    call: str = attribute(choices=_named("unary"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())
    set_mask: bool = attribute(default=True)

    def verify_op(self) -> Iterable[str]:
        """Dtypes of the call and one of its forms."""
        yield from _takes(self.call, self.dst, [self.src])
        yield from _forms(self.amount, self.strides, 2)


class Binary(Operation, name="asc.Binary", traits=_EFFECTS):
    """`Add(dst, src0, src1, ...)` and its like."""

    call: str = attribute(choices=_named("binary"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    src0: Value = operand(ON_CHIP)
    src1: Value = operand(ON_CHIP)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())
    set_mask: bool = attribute(default=True)

    def verify_op(self) -> Iterable[str]:
        """Dtypes of the call and one of its forms."""
        yield from _takes(self.call, self.dst, [self.src0, self.src1])
        yield from _forms(self.amount, self.strides, 3)


class TensorScalar(Operation, name="asc.TensorScalar", traits=_EFFECTS):
    """`Adds(dst, src, scalar, ...)` and its like; the scalar has the elements' dtype."""

    call: str = attribute(choices=_named("scalar"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    scalar: Value = operand(SCALAR)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())
    set_mask: bool = attribute(default=True)

    def verify_op(self) -> Iterable[str]:
        """Dtypes of the call and one of its forms."""
        yield from _takes(self.call, self.dst, [self.src, self.scalar])
        yield from _forms(self.amount, self.strides, 2)


class Advanced(Operation, name="asc.Advanced", traits=_EFFECTS):
    """`Tanh(dst, src, scratch, count)` and its like: several instructions that use scratch bytes in UB.

    Source, destination and scratch do not overlap.
    """

    call: str = attribute(choices=_named("advanced"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    scratch: Value = operand(ON_CHIP, written=True)
    count: Value = operand(I64)

    def verify_op(self) -> Iterable[str]:
        """Dtypes of the call; scratch is bytes."""
        yield from _takes(self.call, self.dst, [self.src])
        if dtype_of(self.scratch.type).name != "u8":
            yield f"scratch is u8, not {dtype_of(self.scratch.type)}"


class Remainders(Operation, name="asc.Remainders", traits=_EFFECTS):
    """`Remainders(dst, src0, src1, scratch, ready, taken, count)`, a function of the file: `src0 - n * src1`, exactly.

    `n` is the quotient rounded towards zero. `ready` is a flag of V_S, `taken` one of S_V: how often it subtracts
    depends on the largest quotient, which the scalar unit reads. Sources, destination and scratch do not overlap.
    """

    dst: Value = operand(ON_CHIP, written=True)
    src0: Value = operand(ON_CHIP)
    src1: Value = operand(ON_CHIP)
    scratch: Value = operand(ON_CHIP, written=True)
    ready: Value = operand(EVENT)
    taken: Value = operand(EVENT)
    count: Value = operand(I64)

    def verify_op(self) -> Iterable[str]:
        """float32; scratch is bytes."""
        yield from same_dtype(self.src0, self.dst)
        yield from same_dtype(self.src1, self.dst)
        if dtype_of(self.dst.type).name != "f32":
            yield f"Remainders takes f32, not {dtype_of(self.dst.type)}"
        if dtype_of(self.scratch.type).name != "u8":
            yield f"scratch is u8, not {dtype_of(self.scratch.type)}"


class Cast(Operation, name="asc.Cast", traits=_EFFECTS):
    """`Cast(dst, src, mode, ...)`."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())
    mode: str = attribute(choices=ROUND_MODES)

    def verify_op(self) -> Iterable[str]:
        """The pair of dtypes has a Cast with this mode."""
        pair = (dtype_of(self.src.type).name, dtype_of(self.dst.type).name)
        modes = CASTS.get(pair, ())
        if not modes:
            yield f"there is no Cast from {pair[0]} to {pair[1]}"
        elif self.mode not in modes:
            yield f"Cast from {pair[0]} to {pair[1]} takes {' '.join(modes)}"
        yield from _forms(self.amount, self.strides, 2)


class Compare(Operation, name="asc.Compare", traits=_EFFECTS):
    """`Compare(dst, a, b, mode, count)`: a bit an element; count elements are a multiple of 256 bytes.

    CompareScalar has a scalar `b`.
    """

    call: str = attribute(choices=("Compare", "CompareScalar"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    a: Value = operand(ON_CHIP)
    b: Value = operand(REF_OR_SCALAR)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())
    mode: str = attribute(choices=MODES)

    def verify_op(self) -> Iterable[str]:
        """Half and float in all modes, int32 for equality alone; the result is bits in bytes."""
        yield from same_dtype(self.a, self.b)
        if isinstance(self.b.type, ScalarType) != (self.call == "CompareScalar"):
            yield f"{self.call} with {self.b.type}"
        name = dtype_of(self.a.type).name
        if name not in (("f16", "f32", "i32") if self.mode == "EQ" else ("f16", "f32")):
            yield f"Compare {self.mode} is not defined on {name}"
        if dtype_of(self.dst.type).name not in ("u8", "i8"):
            yield f"the mask is u8 or i8, not {dtype_of(self.dst.type)}"
        yield from _forms(self.amount, self.strides, 3)


class Select(Operation, name="asc.Select", traits=_EFFECTS):
    """`Select(dst, mask, a, b, mode, count)`: bit 1 picks `a`, bit 0 picks `b`, which may be a scalar."""

    dst: Value = operand(ON_CHIP, written=True)
    mask: Value = operand(ON_CHIP)
    a: Value = operand(ON_CHIP)
    b: Value = operand(REF_OR_SCALAR)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())
    mode: str = attribute(choices=SELECT_MODES)

    def verify_op(self) -> Iterable[str]:
        """Half or float elements, unsigned mask bits."""
        yield from same_dtype(self.a, self.dst)
        yield from same_dtype(self.b, self.dst)
        if dtype_of(self.dst.type).name not in ("f16", "f32"):
            yield f"Select takes f16 f32, not {dtype_of(self.dst.type)}"
        if dtype_of(self.mask.type).kind != "u":
            yield f"the mask is unsigned, not {dtype_of(self.mask.type)}"
        yield from _forms(self.amount, self.strides, 3)


class Gather(Operation, name="asc.Gather", traits=_EFFECTS):
    """`Gather(dst, src, byte_offsets, base, count)`; offsets are u32 bytes from `base`."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    offsets: Value = operand(ON_CHIP)
    base: Value = operand(I64)
    count: Value = operand(I64)

    def verify_op(self) -> Iterable[str]:
        """16- and 32-bit elements, u32 offsets."""
        yield from same_dtype(self.src, self.dst)
        yield from _bits(self.dst, (16, 32))
        if dtype_of(self.offsets.type).name != "u32":
            yield f"offsets are u32, not {dtype_of(self.offsets.type)}"


class GatherMask(Operation, name="asc.GatherMask", traits=_EFFECTS):
    """`GatherMask(dst, src, pattern, true, count, {1, repeat, stride, 0}, kept)` with a fixed pattern.

    Patterns 1 and 2 keep even and odd elements, 3 to 6 every fourth one, 7 all.
    """

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    count: Value = operand(I64)
    repeat: Value = operand(I64)
    stride: Value = operand(I64)
    pattern: int = attribute()

    def verify_op(self) -> Iterable[str]:
        """16- and 32-bit elements and a pattern from 1 to 7."""
        yield from same_dtype(self.src, self.dst)
        yield from _bits(self.dst, (16, 32))
        if not 1 <= self.pattern <= 7:
            yield f"patterns are 1 to 7, got {self.pattern}"


class WholeReduce(Operation, name="asc.WholeReduce", traits=_EFFECTS):
    """`WholeReduceMax(dst, src, mask, repeat, dstRep, srcBlk, srcRep, order)`: one result a repeat of 256 bytes."""

    call: str = attribute(choices=("WholeReduceSum", "WholeReduceMax", "WholeReduceMin"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64)
    order: str | None = attribute(default=None)

    def verify_op(self) -> Iterable[str]:
        """Half or float; an order for the extremes alone."""
        yield from _reduces(self.dst, self.src)
        yield from form(self.amount, "amount", (2, 3))
        yield from form(self.strides, "strides", (3,))
        if (self.order is None) != (self.call == "WholeReduceSum") or self.order not in (None, *ORDERS):
            yield f"{self.call} with order {self.order}"


class BlockReduce(Operation, name="asc.BlockReduce", traits=_EFFECTS):
    """`BlockReduceSum(dst, src, repeat, mask, dstRep, srcBlk, srcRep)`: one result a block of 32 bytes."""

    call: str = attribute(
        choices=("BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum"), in_name=True
    )
    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """Half or float."""
        yield from _reduces(self.dst, self.src)
        yield from form(self.amount, "amount", (2, 3))
        yield from form(self.strides, "strides", (3,))


class Reduce(Operation, name="asc.Reduce", traits=_EFFECTS):
    """`ReduceMax(dst, src, scratch, count, with_index)`: a whole tensor; it waits for the scalar unit."""

    call: str = attribute(choices=("ReduceSum", "ReduceMax", "ReduceMin"), in_name=True)
    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    scratch: Value = operand(ON_CHIP, written=True)
    count: Value = operand(I64)
    with_index: bool = attribute(default=False)

    def verify_op(self) -> Iterable[str]:
        """Half or float; a sum has no index."""
        yield from _reduces(self.dst, self.src)
        yield from same_dtype(self.scratch, self.src)
        if self.with_index and self.call == "ReduceSum":
            yield "a sum has no index"


class Duplicate(Operation, name="asc.Duplicate", traits=[WRITES]):
    """`Duplicate(dst, scalar, ...)`."""

    dst: Value = operand(ON_CHIP, written=True)
    scalar: Value = operand(SCALAR)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())

    def verify_op(self) -> Iterable[str]:
        """16- and 32-bit elements."""
        yield from same_dtype(self.scalar, self.dst)
        yield from _bits(self.dst, (16, 32))
        yield from _forms(self.amount, self.strides, 1)


class Brcb(Operation, name="asc.Brcb", traits=_EFFECTS):
    """`Brcb(dst, src, repeat, {dstBlk, dstRep})`: each of 8 elements fills a block of 32 bytes."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    repeat: Value = operand(I64)
    strides: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """16- and 32-bit elements."""
        yield from same_dtype(self.src, self.dst)
        yield from _bits(self.dst, (16, 32))
        yield from form(self.strides, "strides", (2,))


class CreateVecIndex(Operation, name="asc.CreateVecIndex", traits=[WRITES]):
    """`CreateVecIndex(dst, first, count)`."""

    dst: Value = operand(ON_CHIP, written=True)
    first: Value = operand(SCALAR)
    count: Value = operand(I64)

    def verify_op(self) -> Iterable[str]:
        """int16, half, int32 or float."""
        yield from same_dtype(self.first, self.dst)
        if dtype_of(self.dst.type).name not in ("i16", "f16", "i32", "f32"):
            yield f"CreateVecIndex takes i16 f16 i32 f32, not {dtype_of(self.dst.type)}"


class Transpose(Operation, name="asc.Transpose", traits=_EFFECTS):
    """`Transpose(dst, src)`: a square of 16 by 16 elements of 16 bits."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """int16, uint16 or half."""
        yield from same_dtype(self.src, self.dst)
        if dtype_of(self.dst.type).name not in ("i16", "u16", "f16"):
            yield f"Transpose takes i16 u16 f16, not {dtype_of(self.dst.type)}"


class MaskMode(Operation, name="asc.MaskMode", traits=[EFFECT]):
    """`SetMaskCount()`, `SetMaskNorm()`, `ResetMask()`."""

    call: str = attribute(choices=("SetMaskCount", "SetMaskNorm", "ResetMask"), in_name=True)


class SetVectorMask(Operation, name="asc.SetVectorMask", traits=[EFFECT]):
    """`SetVectorMask<T, mode>(high, low)`; in counter mode `low` is the number of elements."""

    high: Value = operand(I64)
    low: Value = operand(I64)
    dtype: str = attribute(choices=("f16", "f32", "i16", "i32", "u16", "u32"))
    counter: bool = attribute(default=False)


def _reduces(dst: Value, src: Value) -> Iterable[str]:
    yield from same_dtype(dst, src)
    if dtype_of(src.type).name not in ("f16", "f32"):
        yield f"reductions take f16 f32, not {dtype_of(src.type)}"


def _bits(tensor: Value, widths: tuple[int, ...]) -> Iterable[str]:
    dtype = dtype_of(tensor.type)
    if dtype.is_bool or dtype.bits not in widths:
        yield f"elements have {' or '.join(map(str, widths))} bits, not {dtype}"
