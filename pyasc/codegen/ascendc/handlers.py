# SPDX-License-Identifier: Apache-2.0
"""Operations that are one statement, or a few: memory, queues, copies, flags, calls."""

from __future__ import annotations

import re

from pyasc.codegen.ascendc.calls import print_call, vector_call
from pyasc.codegen.ascendc.cube import Struct, cube_call, cube_struct
from pyasc.codegen.ascendc.inlining import READINGS, lowered, reads_where_used
from pyasc.codegen.ascendc.spelling import CTYPE_BYTES, element, literal
from pyasc.codegen.ascendc.statements import Statements
from pyasc.codegen.cpp.nodes import PRODUCT
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc, asc_cube, asc_vector, scf
from pyasc.ir.types import OpaqueType, RefType, dtype_of

_REPEAT_BYTES, _BLOCK_BYTES = 256, 32
_COLUMN = 256
"""Elements of a buffer for one value a row: the most rows, 248, in whole repeats of any type."""
_NUMBER = 128
"""Elements of a buffer for one number."""
_BLOCKS = {
    "CO1": ("TILE_M", "TILE_N"),
    "A1": ("TILE_M", "TILE_K"),
    "A2": ("TILE_M", "TILE_K0"),
    "B1": ("TILE_N", "TILE_K"),
    "B2": ("TILE_N", "TILE_K0"),
}
"""The sides of what a buffer of the cube unit holds."""
_SIDES = {"l0a": "A", "l0b": "B"}
_OWNER = re.compile(r"(\w+?)(?:Queue|Buf)(_?\d*)")
"""The name of a queue or buffer: that of the tensors it gives, and a number where there are several."""
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
        shown = str(at.text(op.tensor))
        base = shown if shown.isidentifier() else op.tensor.name or "tensor"
        at.tensor(op.same, str(at.text(op.same)), f"{base}{READINGS.get(element(op.same), 'Other')}")


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
    _given(at, op.tensor, op.queue, "AllocTensor")


def deque(at: Statements, op: asc.DeQue) -> None:
    """`LocalTensor<float> x = xQueue.DeQue<float>()`."""
    _given(at, op.tensor, op.queue, "DeQue")


def get(at: Statements, op: asc.Get) -> None:
    """`LocalTensor<float> tmp = tmpBuf.Get<float>()`."""
    _given(at, op.tensor, op.buffer, "Get")


def _given(at: Statements, tensor: Value, owner: Value, call: str) -> None:
    """What a queue or buffer gives, by its name: `tmpBuf2` gives `tmp2`."""
    source, name = str(at.text(owner)), tensor.name or "tensor"
    found = _OWNER.fullmatch(source)
    number = found[2] if found is not None and found[1] == lowered(name) else ""
    at.tensor(tensor, f"{source}.{call}<{element(tensor)}>()", f"{name}{number}")


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
    hint = f"zero{_SIDES.get(_space(op.dst), '')}"
    zero = at.once(("InitConstValueParams", element(op.dst), params), hint, declaration)
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
    at.say(f"DataCopyPad({', '.join([at.join([op.dst, op.src]), *copy_structs(at, op)])})")


def copy_structs(at: Statements, op: asc.DataCopyPad) -> list[str]:
    """The names of the parameters of a copy: of what is copied, and on the way in of what fills blocks up."""
    inwards = isinstance(op.src.type, RefType) and op.src.type.space == "gm"
    type_ = element(op.dst)
    params = ", ".join([
        at.narrowed(op.block_count, "uint16_t"),
        _bytes(at, op.block_len, type_),
        _gap(at, op.src_stride, type_ if inwards else ""),
        _gap(at, op.dst_stride, "" if inwards else type_),
        "0",
    ])  # fmt: skip
    hint = at.free_name("copy", f"copy{tensor_word(at, op.dst if inwards else op.src)}")
    made = [at.once(("DataCopyExtParams", params), hint, f"const DataCopyExtParams {{name}}{{{params}}}")]
    if inwards:
        fields = f"false, 0, 0, {literal(0, dtype_of(op.dst.type))}"
        declaration = f"const DataCopyPadExtParams<{type_}> {{name}}{{{fields}}}"
        hint = at.free_name("noPad", f"noPad{READINGS.get(type_, 'Other')}")
        made.append(at.once(("DataCopyPadExtParams", type_), hint, declaration))
    return made


def invariant_copies(loop: scf.For) -> list[asc.DataCopyPad]:
    """The copies of a loop's own block whose parameters do not change in it."""
    inside = {value for op in loop.body.block for value in op.results if not isinstance(op, arith.Constant)}
    inside |= set(loop.body.block.args)
    copies = [op for op in loop.body.block if isinstance(op, asc.DataCopyPad)]
    return [op for op in copies if not any(value in inside for value in op.operands[2:])]


def _space(tensor: Value) -> str:
    assert isinstance(tensor.type, RefType)
    return tensor.type.space


def tensor_word(at: Statements, tensor: Value) -> str:
    """The name of a local tensor, or of what it is a part of, as the end of another name."""
    while isinstance(tensor.owner, asc.Offset | asc.ReinterpretCast):
        tensor = tensor.owner.tensor
    return str(at.text(tensor))[:1].upper() + str(at.text(tensor))[1:]


def _gap(at: Statements, value: Value, type_: str) -> str:
    """A stride: in global memory a number of bytes, on chip one of blocks."""
    zero = isinstance(value.op, arith.Constant) and value.op.value == 0
    return _bytes(at, value, type_) if type_ and not zero else at.narrowed(value, "uint32_t")


def _bytes(at: Statements, value: Value, type_: str) -> str:
    """A number of bytes as uint32_t, as elements times their size where it is that."""
    op = None if value in at.kernel.texts else value.op
    if isinstance(op, arith.Elementwise) and op.fn == "mul" and isinstance(op.args[1].op, arith.Constant):
        times, rest = divmod(op.args[1].op.value, CTYPE_BYTES[type_])
        if not rest:
            more = f" * {times}" if times > 1 else ""
            return f"static_cast<uint32_t>({at.text(op.args[0]).inside(PRODUCT)}{more} * sizeof({type_}))"
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
    type_ = _held(user.results[0])
    count, rest = divmod(int(op.value), CTYPE_BYTES[type_])
    if CTYPE_BYTES[type_] == 1 and at.kernel.count_name(count).isdigit():
        # A mask is a bit an element.
        bits = at.kernel.count_name(count * 8)
        return str(count) if bits.isdigit() else f"{bits} / 8"
    if rest:
        return str(op.value)
    assert isinstance(owner.type, OpaqueType)
    return f"{_capacity(at, str(owner.type.parameters[0]), count, CTYPE_BYTES[type_])} * sizeof({type_})"


def _capacity(at: Statements, position: str, count: int, width: int) -> str:
    """How many elements a buffer has, in the constants that say why."""
    sides = [at.kernel.named_constants.get(name) for name in _BLOCKS.get(position, ())]
    if len(sides) == 2 and sides[0] and sides[1] and int(sides[0].value) * int(sides[1].value) == count:
        return " * ".join(str(at.kernel.constant(side)) for side in sides if side)
    shown = at.kernel.count_name(count)
    if not shown.isdigit():
        return shown
    for name, bytes_ in (("LANES", _REPEAT_BYTES), ("BLOCK", _BLOCK_BYTES)):
        if count * width == bytes_:
            return at.kernel.file_constant(f"{name}_B{8 * width}", "int64_t", shown)
    block = _BLOCK_BYTES // width
    if not (padded := at.kernel.count_name(count - block)).isdigit():
        return f"({padded} + {at.kernel.file_constant(f'BLOCK_B{8 * width}', 'int64_t', str(block))})"
    if count == _NUMBER:
        return at.kernel.file_constant("NUMBER", "int64_t", shown)
    times, rest = divmod(count, _COLUMN)
    if "MAX_ROWS" in at.kernel.named_constants and not rest and times in (1, block):
        column = at.kernel.file_constant("COLUMN", "int64_t", str(_COLUMN))
        return column if times == 1 else f"{times} * {column}"
    return shown


def _held(tensor: Value) -> str:
    """The type of what a tensor holds: of its parts, where these are all of one type."""
    parts = [use for use in tensor.uses if isinstance(use, asc.Offset | asc.ReinterpretCast)]
    views = [part.rest for part in parts if isinstance(part, asc.Offset)] + [tensor]
    read = {element(use.same) for view in views for use in view.uses if isinstance(use, asc.ReinterpretCast)}
    return (
        read.pop() if element(tensor) == "uint8_t" and len(read) == 1 and len(parts) > 1 else element(tensor)
    )
