# SPDX-License-Identifier: Apache-2.0
"""Operations that are one statement, or a few: memory, queues, copies, flags, calls."""

from __future__ import annotations

from pyasc.codegen.ascendc.calls import print_call, vector_call
from pyasc.codegen.ascendc.cube import Struct, cube_call, cube_struct
from pyasc.codegen.ascendc.inlining import reads_where_used
from pyasc.codegen.ascendc.spelling import CTYPE_BYTES, element, literal
from pyasc.codegen.ascendc.statements import Statements
from pyasc.codegen.cpp.nodes import PRODUCT
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc, asc_cube, asc_vector
from pyasc.ir.types import OpaqueType, RefType, dtype_of

_READINGS = {
    "half": "Half",
    "float": "Float",
    "int16_t": "Short",
    "int32_t": "Int",
    "int64_t": "Long",
    "uint8_t": "Bytes",
    "uint16_t": "Words",
    "uint32_t": "Unsigned",
}
"""What is added to the name of a tensor whose bytes are read as another type."""
_PATTERNS = ("", "EVEN", "ODD", "FIRST_OF_4", "SECOND_OF_4", "THIRD_OF_4", "FOURTH_OF_4", "ALL")
"""Names of the fixed patterns of GatherMask."""


def nothing(at: Statements, op: Operation) -> None:
    """What the class or its entry says, or what is written where it is used."""


def pure(at: Statements, op: Operation) -> None:
    """A scalar; a number of bytes is spelt as elements times their size, in the copies that it is for."""
    if not _is_byte_count(op):
        at.pure(op)


def reinterpret_cast(at: Statements, op: asc.ReinterpretCast) -> None:
    """A part of a queue's tensor, or what is used more than once, has a name of its own."""
    if isinstance(op.tensor.owner, asc.Offset) and op.same.name:
        at.tensor(op.same, str(at.text(op.same)), op.same.name)
    elif sum(op.same.uses.values()) > 1:
        base = op.tensor.name or "tensor"
        at.tensor(op.same, str(at.text(op.same)), f"{base}{_READINGS.get(element(op.same), 'Other')}")


def set_global_buffer(at: Statements, op: asc.SetGlobalBuffer) -> None:
    """`xGm.SetGlobalBuffer((__gm__ float*)x + first, length)`."""
    address = at.start(f"(__gm__ {element(op.tensor)}*){at.text(op.base)}", op.offset)
    length = "".join(f", {at.text(value)}" for value in op.length)
    at.say(f"{at.text(op.tensor)}.SetGlobalBuffer({address}{length})")


def init_queue(at: Statements, op: asc.InitQueue) -> None:
    """`pipe->InitBuffer(xQueue, BUFFER_NUM, TILE * sizeof(float))`."""
    number = at.kernel.buffer_number(op.number)
    at.say(f"pipe->InitBuffer({at.text(op.queue)}, {number}, {_size(at, op.queue, op.bytes)})")


def init_buf(at: Statements, op: asc.InitBuf) -> None:
    """`pipe->InitBuffer(tmpBuf, TILE * sizeof(float))`."""
    at.say(f"pipe->InitBuffer({at.text(op.buffer)}, {_size(at, op.buffer, op.bytes)})")


def fetch_event(at: Statements, op: asc.FetchEventID) -> None:
    """`eventV_S = pipe->FetchEventID<HardEvent::V_S>()`."""
    at.say(f"{at.text(op.id)} = pipe->FetchEventID<HardEvent::{op.event}>()")


def flag(at: Statements, op: asc.Flag) -> None:
    """`SetFlag<HardEvent::V_S>(eventV_S)`."""
    assert isinstance(op.id.type, OpaqueType)
    at.say(f"{op.call}<HardEvent::{op.id.type.parameters[0]}>({at.text(op.id)})")


def alloc_tensor(at: Statements, op: asc.AllocTensor) -> None:
    """`LocalTensor<float> x = xQueue.AllocTensor<float>()`."""
    at.tensor(op.tensor, f"{at.text(op.queue)}.AllocTensor<{element(op.tensor)}>()")


def deque(at: Statements, op: asc.DeQue) -> None:
    """`LocalTensor<float> x = xQueue.DeQue<float>()`."""
    at.tensor(op.tensor, f"{at.text(op.queue)}.DeQue<{element(op.tensor)}>()")


def get(at: Statements, op: asc.Get) -> None:
    """`LocalTensor<float> tmp = tmpBuf.Get<float>()`."""
    at.tensor(op.tensor, f"{at.text(op.buffer)}.Get<{element(op.tensor)}>()")


def enque(at: Statements, op: asc.EnQue) -> None:
    """`xQueue.EnQue(x)`."""
    at.say(f"{at.text(op.queue)}.EnQue({at.text(op.tensor)})")


def free_tensor(at: Statements, op: asc.FreeTensor) -> None:
    """`xQueue.FreeTensor(x)`."""
    at.say(f"{at.text(op.queue)}.FreeTensor({at.text(op.tensor)})")


def get_value(at: Statements, op: asc.GetValue) -> None:
    """A number of memory, read where it is used if nothing is written before that."""
    if at.is_member(op.value) or not reads_where_used(op):
        at.declare(op.value, at.text(op.value))


def set_value(at: Statements, op: asc.SetValue) -> None:
    """`oGm.SetValue(i, total)`."""
    at.say(f"{at.text(op.tensor)}.SetValue({at.join([op.index, op.value])})")


def clean_cache(at: Statements, op: asc.DataCacheCleanAndInvalid) -> None:
    """Writes the scalar cache back."""
    lines = "ENTIRE_DATA_CACHE" if op.whole else "SINGLE_CACHE_LINE"
    parameters = f"{element(op.tensor)}, CacheLine::{lines}, DcciDst::CACHELINE_OUT"
    at.say(f"DataCacheCleanAndInvalid<{parameters}>({at.text(op.tensor)})")


def leave(at: Statements, op: asc.Leave) -> None:
    """`return`."""
    at.say("return")


def printf(at: Statements, op: asc.Printf) -> None:
    """The debug print."""
    at.say(print_call(op, at))


def vector(at: Statements, op: Operation) -> None:
    """A call of the vector unit."""
    at.say(vector_call(op, at))


def cube(at: Statements, op: Operation) -> None:
    """A call of the cube unit, behind the struct that it takes."""
    struct = cube_struct(op, at)
    at.say(cube_call(op, "" if struct is None else filled(at, struct), at))


def init_const(at: Statements, op: asc_cube.InitConstValue) -> None:
    """A number in parts of L1, L0A or L0B, behind what says which."""
    sizes = ", ".join(at.narrowed(value, "uint16_t") for value in (op.repeat, op.blocks, op.gap))
    params = f"{sizes}, {at.text(op.value)}"
    declaration = f"const InitConstValueParams<{element(op.dst)}> {{name}}({params})"
    zero = at.once(("InitConstValueParams", element(op.dst), params), "zero", declaration)
    at.say(f"InitConstValue({at.text(op.dst)}, {zero})")


def filled(at: Statements, struct: Struct) -> str:
    """The name of a parameter struct, filled once for equal values."""
    known = struct.key in at.shared
    name = at.once(struct.key, struct.hint, f"{struct.type} {{name}}")
    if not known:
        for field, text in struct.fields:
            at.say(f"{name}.{field} = {text}")
    return name


def gather_mask(at: Statements, op: asc_vector.GatherMask) -> None:
    """A call with a fixed pattern; how many elements it kept is known before."""
    params = f"1, {at.text(op.repeat)}, {at.text(op.stride)}, 0"
    once = at.once(("GatherMaskParams", params), "once", f"const GatherMaskParams {{name}}{{{params}}}")
    kept = at.once("kept", "kept", "uint64_t {name} = 0")
    pattern = at.kernel.file_constant(_PATTERNS[op.pattern], "uint8_t", str(op.pattern))
    at.say(f"GatherMask({at.join([op.dst, op.src])}, {pattern}, true, {at.text(op.count)}, {once}, {kept})")


def copy_pad(at: Statements, op: asc.DataCopyPad) -> None:
    """A copy of rows of any length, behind its parameters."""
    inwards = isinstance(op.src.type, RefType) and op.src.type.space == "gm"
    type_ = element(op.dst)
    params = ", ".join([
        at.narrowed(op.block_count, "uint16_t"),
        _bytes(at, op.block_len, type_),
        _gap(at, op.src_stride, type_ if inwards else ""),
        _gap(at, op.dst_stride, "" if inwards else type_),
        "0",
    ])  # fmt: skip
    copy = at.once(("DataCopyExtParams", params), "copy", f"const DataCopyExtParams {{name}}{{{params}}}")
    end = ""
    if inwards:
        fields = f"false, 0, 0, {literal(0, dtype_of(op.dst.type))}"
        declaration = f"const DataCopyPadExtParams<{type_}> {{name}}{{{fields}}}"
        end = ", " + at.once(("DataCopyPadExtParams", type_), "noPad", declaration)
    at.say(f"DataCopyPad({at.join([op.dst, op.src])}, {copy}{end})")


def _gap(at: Statements, value: Value, type_: str) -> str:
    """A stride: in global memory a number of bytes, on chip one of blocks."""
    zero = isinstance(value.op, arith.Constant) and value.op.value == 0
    return _bytes(at, value, type_) if type_ and not zero else at.narrowed(value, "uint32_t")


def _bytes(at: Statements, value: Value, type_: str) -> str:
    """A number of bytes as uint32_t, as elements times their size where it is that."""
    op = None if value in at.kernel.texts else value.op
    if isinstance(op, arith.Elementwise) and op.fn == "mul" and isinstance(op.args[1].op, arith.Constant):
        return f"static_cast<uint32_t>({at.text(op.args[0]).inside(PRODUCT)} * sizeof({type_}))"
    if isinstance(op, arith.Constant) and op.value % CTYPE_BYTES[type_] == 0:
        count = op.value // CTYPE_BYTES[type_]
        return f"sizeof({type_})" if count == 1 else f"{count} * sizeof({type_})"
    return at.narrowed(value, "uint32_t")


def _is_byte_count(op: Operation) -> bool:
    """Whether a product is only ever a number of bytes of copies, where it is spelt as elements times their size."""
    value = op.results[0]
    product = (
        isinstance(op, arith.Elementwise) and op.fn == "mul" and isinstance(op.args[1].op, arith.Constant)
    )
    return product and not value.name and all(_counts_bytes(user, value) for user in value.uses)


def _counts_bytes(user: Operation, value: Value) -> bool:
    """Whether a copy takes a value as bytes and as nothing else."""
    if not isinstance(user, asc.DataCopyPad):
        return False
    inwards = isinstance(user.src.type, RefType) and user.src.type.space == "gm"
    bytes_ = (user.block_len, user.src_stride if inwards else user.dst_stride)
    others = (user.block_count, user.dst_stride if inwards else user.src_stride)
    return any(each is value for each in bytes_) and all(each is not value for each in others)


def _size(at: Statements, owner: Value, value: Value) -> str:
    """The bytes of a buffer, as the elements that it holds times their size."""
    user = next((u for u in owner.uses if isinstance(u, asc.AllocTensor | asc.Get)), None)
    op = value.op
    if user is None or not isinstance(op, arith.Constant):
        return str(at.text(value))
    type_ = element(user.results[0])
    count, rest = divmod(int(op.value), CTYPE_BYTES[type_])
    if CTYPE_BYTES[type_] == 1 and at.kernel.count_name(count).isdigit():
        # A mask is a bit an element.
        bits = at.kernel.count_name(count * 8)
        return str(count) if bits.isdigit() else f"{bits} / 8"
    if rest:
        return str(op.value)
    return f"{at.kernel.count_name(count)} * sizeof({type_})"
