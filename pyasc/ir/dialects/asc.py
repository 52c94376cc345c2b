# SPDX-License-Identifier: Apache-2.0
"""The ascend level: one operation for each Ascend C call, named as the call; here resources, copies, synchronisation.

Operands stand in the order of the call. A GlobalTensor is a ref in `gm`, a LocalTensor a ref in a memory of the core;
pipes, queues, buffers and events are handles. Counts, strides and offsets are i64 values. Where a call has several
forms, a variadic operand tells them apart. What each call takes on which arch stands in `pyasc.ir.ascend_calls`.
The vector calls are in `asc_vector`, those of the cube unit in `asc_cube`; all print with the prefix `asc.`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir import dtypes
from pyasc.ir.ascend_calls import EVENTS, KERNEL_TYPES, PIPES, POSITION_SPACES, POSITIONS
from pyasc.ir.constraints import GLOBAL, I64, ON_CHIP, REF, SCALAR, handle
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operand, operands, region, result
from pyasc.ir.dialects.mem import same_dtype
from pyasc.ir.traits import EFFECT, PURE, READS, SINGLE_BLOCK, TERMINATOR, VIEW, WRITES
from pyasc.ir.types import OpaqueType, RefType, ScalarType, dtype_of

PIPE = handle("pipe")
QUEUE = handle("queue")
BUFFER = handle("buffer")
EVENT = handle("event")


class KernelType(Operation, name="asc.KernelType", traits=[EFFECT]):
    """KERNEL_TASK_TYPE_DEFAULT: which cores run the kernel."""

    type: str = attribute(choices=KERNEL_TYPES)


class Method(Operation, name="asc.Method", traits=[SINGLE_BLOCK, EFFECT]):
    """A part of the kernel's work that becomes a method of its class, such as CopyIn; it is called where it stands."""

    method: str = attribute()
    body: Region = region(default=None)


class End(Operation, name="asc.End", traits=[TERMINATOR]):
    """Ends the block of `asc.Method`."""


class Leave(Operation, name="asc.Leave", traits=[EFFECT]):
    """`return`: this core does no more work."""


class Printf(Operation, name="asc.printf", traits=[EFFECT]):
    """`AscendC::printf(format, values...)` into the core's print buffer; in debug builds alone."""

    values: Sequence[Value] = operands(SCALAR, default=())
    format: str = attribute()


class Pipe(Operation, name="asc.TPipe", traits=[EFFECT]):
    """The pipe that owns on-chip memory; one a kernel."""

    pipe: Value = result(lambda _: OpaqueType("pipe"))


class Queue(Operation, name="asc.TQue", traits=[EFFECT]):
    """A queue of LocalTensors between two pipes.

    With `bound`, tensors leave at another position than the one they come in at, and nothing is computed between
    (TQueBind).
    """

    position: str = attribute(choices=POSITIONS)
    depth: int = attribute(default=1)
    bound: str = attribute(default="", choices=("", *POSITIONS))
    queue: Value = result(lambda op: OpaqueType("queue", (op.position, op.depth)))


class Buf(Operation, name="asc.TBuf", traits=[EFFECT]):
    """On-chip memory without synchronisation."""

    position: str = attribute(choices=POSITIONS)
    buffer: Value = result(lambda op: OpaqueType("buffer", (op.position,)))


class InitQueue(Operation, name="asc.InitQueue", traits=[EFFECT]):
    """`pipe.InitBuffer(queue, number, bytes)`: gives a queue its buffers, rounded up to 32 bytes each."""

    pipe: Value = operand(PIPE)
    queue: Value = operand(QUEUE)
    bytes: Value = operand(I64)
    number: int = attribute(default=2)


class InitBuf(Operation, name="asc.InitBuf", traits=[EFFECT]):
    """`pipe.InitBuffer(buffer, bytes)`."""

    pipe: Value = operand(PIPE)
    buffer: Value = operand(BUFFER)
    bytes: Value = operand(I64)


class Get(Operation, name="asc.Get", traits=[PURE]):
    """`buffer.Get<T>()`: the memory of a TBuf as a LocalTensor, the same one for every method that asks."""

    buffer: Value = operand(BUFFER)
    tensor: Value = result(constraint=ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """The tensor lies where the buffer's position says."""
        yield from _in_position(self.buffer, self.tensor)


class AllocTensor(Operation, name="asc.AllocTensor", traits=[EFFECT]):
    """`queue.AllocTensor<T>()`: a free buffer of the queue, with undefined contents."""

    queue: Value = operand(QUEUE)
    tensor: Value = result(constraint=ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """The tensor lies where the queue's position says."""
        yield from _in_position(self.queue, self.tensor)


class FreeTensor(Operation, name="asc.FreeTensor", traits=[EFFECT]):
    """`queue.FreeTensor(tensor)`."""

    queue: Value = operand(QUEUE)
    tensor: Value = operand(ON_CHIP)


class EnQue(Operation, name="asc.EnQue", traits=[EFFECT]):
    """`queue.EnQue(tensor)`: hands a filled tensor to the consumer's pipe."""

    queue: Value = operand(QUEUE)
    tensor: Value = operand(ON_CHIP)


class DeQue(Operation, name="asc.DeQue", traits=[EFFECT]):
    """`queue.DeQue<T>()`: waits for the oldest tensor that was handed over."""

    queue: Value = operand(QUEUE)
    tensor: Value = result(constraint=ON_CHIP)

    def verify_op(self) -> Iterable[str]:
        """The tensor lies where the queue's position says."""
        yield from _in_position(self.queue, self.tensor)


class SetGlobalBuffer(Operation, name="asc.SetGlobalBuffer", traits=[PURE, VIEW]):
    """`tensor.SetGlobalBuffer(base + offset, length)`: a GlobalTensor on part of a parameter; no length: the rest."""

    base: Value = operand(GLOBAL)
    offset: Value = operand(I64)
    length: Sequence[Value] = operands(I64, default=())
    tensor: Value = result(constraint=GLOBAL)

    def verify_op(self) -> Iterable[str]:
        """Dtype and memory stay."""
        yield from same_dtype(self.base, self.tensor)
        yield from form(self.length, "length", (0, 1))


class Offset(Operation, name="asc.Offset", traits=[PURE, VIEW]):
    """`tensor[offset]`: the rest of a tensor from an element on."""

    tensor: Value = operand(REF)
    offset: Value = operand(I64)
    rest: Value = result(constraint=REF)

    def verify_op(self) -> Iterable[str]:
        """Dtype and memory stay."""
        yield from same_dtype(self.tensor, self.rest)
        yield from _same_space(self.tensor, self.rest)


class ReinterpretCast(Operation, name="asc.ReinterpretCast", traits=[PURE, VIEW]):
    """`tensor.ReinterpretCast<U>()`: the same bytes as elements of another dtype."""

    tensor: Value = operand(REF)
    same: Value = result(constraint=REF)

    def verify_op(self) -> Iterable[str]:
        """The memory stays."""
        yield from _same_space(self.tensor, self.same)


class GetValue(Operation, name="asc.GetValue", traits=[READS]):
    """`tensor.GetValue(index)` on the scalar pipe."""

    tensor: Value = operand(REF)
    index: Value = operand(I64)
    value: Value = result(lambda op: ScalarType(dtype_of(op.tensor.type)))


class SetValue(Operation, name="asc.SetValue", traits=[WRITES]):
    """`tensor.SetValue(index, value)` on the scalar pipe; global memory needs a cache clean afterwards."""

    tensor: Value = operand(REF, written=True)
    index: Value = operand(I64)
    value: Value = operand(SCALAR)

    def verify_op(self) -> Iterable[str]:
        """The value has the tensor's dtype."""
        yield from same_dtype(self.value, self.tensor)


class DataCacheCleanAndInvalid(Operation, name="asc.DataCacheCleanAndInvalid", traits=[EFFECT]):
    """Writes the scalar cache back to global memory."""

    tensor: Value = operand(GLOBAL)
    whole: bool = attribute(default=True, doc="the entire cache, not one line")


class DataCopy(Operation, name="asc.DataCopy", traits=[READS, WRITES]):
    """A copy in units of 32 bytes: `[count]` elements, or `[block_count, block_len, src_stride, dst_stride]`."""

    dst: Value = operand(REF, written=True)
    src: Value = operand(REF)
    amount: Sequence[Value] = operands(I64)

    def verify_op(self) -> Iterable[str]:
        """One of the two forms, between two memories."""
        yield from same_dtype(self.dst, self.src)
        yield from form(self.amount, "amount", (1, 4))


class DataCopyPad(Operation, name="asc.DataCopyPad", traits=[READS, WRITES]):
    """A copy of rows of any length between global memory and UB.

    `block_len` and the stride on the global side are in bytes, the stride on chip in 32 bytes; strides are gaps.
    `padding` is empty or `[left, right]`, in elements, filled with `value`.
    """

    dst: Value = operand(REF, written=True)
    src: Value = operand(REF)
    block_count: Value = operand(I64)
    block_len: Value = operand(I64)
    src_stride: Value = operand(I64)
    dst_stride: Value = operand(I64)
    padding: Sequence[Value] = operands(I64, default=())
    value: int | float = attribute(default=0)

    def verify_op(self) -> Iterable[str]:
        """One side is global, the other UB; only the way in is padded."""
        yield from same_dtype(self.dst, self.src)
        yield from form(self.padding, "padding", (0, 2))
        spaces = [value.type.space for value in (self.dst, self.src) if isinstance(value.type, RefType)]
        if sorted(spaces) != ["gm", "ub"]:
            yield f"copies between gm and ub, got {self.src.type} to {self.dst.type}"
        if self.padding and spaces[0] != "ub":
            yield "padding is filled on the way in alone"


class Copy(Operation, name="asc.Copy", traits=[READS, WRITES]):
    """A copy inside UB by the vector pipe: `amount` is `[mask, repeat]`, then strides in 32 bytes."""

    dst: Value = operand(ON_CHIP, written=True)
    src: Value = operand(ON_CHIP)
    amount: Sequence[Value] = operands(I64)
    strides: Sequence[Value] = operands(I64, default=())

    def verify_op(self) -> Iterable[str]:
        """Mask and repeat, and no strides or all of them."""
        yield from same_dtype(self.dst, self.src)
        yield from form(self.amount, "amount", (2, 3))
        yield from form(self.strides, "strides", (0, 4))


class SetAtomic(Operation, name="asc.SetAtomic", traits=[EFFECT]):
    """`SetAtomicAdd<T>()` and its like: later copies to global memory combine instead of overwriting."""

    call: str = attribute(choices=("SetAtomicAdd", "SetAtomicMax", "SetAtomicMin"), in_name=True)
    dtype: str = attribute(choices=("i8", "i16", "f16", "bf16", "i32", "f32"))


class SetAtomicNone(Operation, name="asc.SetAtomicNone", traits=[EFFECT]):
    """Ends what SetAtomicAdd, Max or Min began."""


class PipeBarrier(Operation, name="asc.PipeBarrier", traits=[EFFECT]):
    """Earlier work of one pipe, or of all, ends before later work of it starts."""

    pipe: str = attribute(choices=PIPES)

    def verify_op(self) -> Iterable[str]:
        """The scalar pipe keeps its order by itself and refuses a barrier."""
        if self.pipe == "PIPE_S":
            yield "PIPE_S takes no barrier"


class FetchEventID(Operation, name="asc.FetchEventID", traits=[EFFECT]):
    """`pipe.FetchEventID(event)`: an event that is free now, not reserved."""

    pipe: Value = operand(PIPE)
    event: str = attribute(choices=EVENTS)
    id: Value = result(lambda op: OpaqueType("event", (op.event,)))


class AllocEventID(Operation, name="asc.AllocEventID", traits=[EFFECT]):
    """`pipe.AllocEventID<event>()`: reserves an event."""

    pipe: Value = operand(PIPE)
    event: str = attribute(choices=EVENTS)
    id: Value = result(lambda op: OpaqueType("event", (op.event,)))


class ReleaseEventID(Operation, name="asc.ReleaseEventID", traits=[EFFECT]):
    """`pipe.ReleaseEventID<event>(id)`."""

    pipe: Value = operand(PIPE)
    id: Value = operand(EVENT)


class Flag(Operation, name="asc.Flag", traits=[EFFECT]):
    """`SetFlag<event>(id)` signals that one pipe has done its earlier work, `WaitFlag<event>(id)` blocks the other."""

    call: str = attribute(choices=("SetFlag", "WaitFlag"), in_name=True)
    id: Value = operand(EVENT)


class CrossCoreSetFlag(Operation, name="asc.CrossCoreSetFlag", traits=[EFFECT]):
    """Signals other cores when a pipe has done its earlier work.

    Mode 0 is among all cores of a kind, 1 among the vector cores of one AI core, 2 between its cube and vector cores.
    """

    id: int = attribute()
    mode: int = attribute()
    pipe: str = attribute(choices=PIPES)

    def verify_op(self) -> Iterable[str]:
        """Flag and mode exist on arch 2201."""
        if not 0 <= self.id <= 10:
            yield f"flag ids are 0 to 10, got {self.id}"
        if self.mode not in (0, 1, 2):
            yield f"modes are 0, 1 and 2, got {self.mode}"


class CrossCoreWaitFlag(Operation, name="asc.CrossCoreWaitFlag", traits=[EFFECT]):
    """Waits for a flag of other cores; every flag that is set is waited for."""

    id: int = attribute()


class SyncAll(Operation, name="asc.SyncAll", traits=[EFFECT]):
    """Waits until all cores have come here; with `vector_only`, all vector cores."""

    vector_only: bool = attribute(default=True)


class Run(Operation, name="asc.Run", traits=[EFFECT]):
    """A part of a mixed kernel on the first `cores` cores of one kind: a class of its own, Init and Process.

    The callee is a function of the module that is no kernel by itself; `args` are its parameters in order.
    """

    callee: str = attribute()
    unit: str = attribute(choices=("cube", "vector"))
    cores: Value = operand(I64)
    args: Sequence[Value] = operands(default=())


class CoreNumber(Operation, name="asc.CoreNumber", traits=[PURE]):
    """The core's place in the launch."""

    call: str = attribute(
        choices=("GetBlockIdx", "GetBlockNum", "GetSubBlockIdx", "GetSubBlockNum"), in_name=True
    )
    number: Value = result(lambda _: ScalarType(dtypes.i64))


def form(values: Sequence[Value], words: str, counts: tuple[int, ...]) -> Iterable[str]:
    """A message unless a variadic operand has one of the lengths that the call's forms have."""
    if len(values) not in counts:
        yield f"{words} has {' or '.join(map(str, counts))} values, got {len(values)}"


def _in_position(owner: Value, tensor: Value) -> Iterable[str]:
    if isinstance(owner.type, OpaqueType) and isinstance(tensor.type, RefType):
        space = POSITION_SPACES[str(owner.type.parameters[0])]
        if tensor.type.space != space:
            yield f"{owner.type} lies in {space}, got {tensor.type}"


def _same_space(left: Value, right: Value) -> Iterable[str]:
    if (
        isinstance(left.type, RefType)
        and isinstance(right.type, RefType)
        and left.type.space != right.type.space
    ):
        yield f"memories differ: {left.type} and {right.type}"
