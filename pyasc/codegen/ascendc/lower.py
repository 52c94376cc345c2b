# SPDX-License-Identifier: Apache-2.0
"""From a function at the ascend level to the nodes of its kernel class.

What stands before the first loop or method is Init, the rest Process; every `asc.Method` is a method of its own. A
value that is made in Init and used later is a member.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.calls import narrowed, print_call, vector_call
from pyasc.codegen.ascendc.cube import CUBE_CALLS, cube_call, cube_struct, invariant_structs
from pyasc.codegen.ascendc.expressions import CTYPE_BYTES, CTYPES, literal, scalar
from pyasc.codegen.ascendc.loops import Doubling, doubling
from pyasc.codegen.ascendc.names import VendorNames
from pyasc.codegen.cpp.names import Names, identifier
from pyasc.codegen.cpp.nodes import Expr
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, asc, asc_vector, func, scf
from pyasc.ir.traits import PURE
from pyasc.ir.types import OpaqueType, RefType, ScalarType, dtype_of

_NESTED = (scf.For, scf.If, scf.While, asc.Method)
_ALWAYS_INLINE = (asc.Offset, asc.ReinterpretCast)
_PATTERNS = ("", "EVEN", "ODD", "FIRST_OF_4", "SECOND_OF_4", "THIRD_OF_4", "FOURTH_OF_4", "ALL")
"""Names of the fixed patterns of GatherMask."""
_RESERVED = ("pipe", "op", "Init", "Process", "Shape", "BT")


@dataclass(frozen=True)
class EmitOptions:
    """How to print: `line_comments` names the Python line of each statement.

    `sync_parameter` gives mixed kernels a first parameter with the address where cores keep their flags, which CANN's
    own front end adds by itself.
    """

    line_comments: bool = False
    sync_parameter: bool = False


@dataclass
class KernelLowering:
    """Lowers one function."""

    function: func.Func
    options: EmitOptions
    entry: str
    constants: dict[str, nodes.Variable]
    members: list[nodes.Variable] = field(default_factory=lambda: list[nodes.Variable]())
    methods: list[nodes.Method] = field(default_factory=lambda: list[nodes.Method]())
    texts: dict[Value, Expr] = field(default_factory=lambda: dict[Value, Expr]())
    names: Names = field(default_factory=VendorNames)
    method_names: Names = field(default_factory=Names)

    def run(self) -> nodes.Kernel:
        """The class, its members and its entry."""
        for name in _RESERVED:
            self.names.fresh(name)
        params = self._parameters()
        ops = list(self.function.body.block)
        first = next((i for i, op in enumerate(ops) if isinstance(op, _NESTED)), len(ops))
        # What only a later loop uses is computed where it is used, unless Init has to know it too.
        self.member_values = self._used_later(ops[:first], ops[first:])
        init = Statements(self, in_init=True)
        init.block(ops[:first])
        process = Statements(self, in_init=False)
        process.block(ops[first:])
        pipe = nodes.Variable("TPipe*", "pipe")
        head = self._copied_parameters()
        public = [
            nodes.Method("Init", (pipe, *params), [*head, *init.nodes]),
            nodes.Method("Process", (), process.nodes),
        ]
        kernel_type = next((op.type for op in ops if isinstance(op, asc.KernelType)), "")
        return nodes.Kernel(
            self.entry, class_name(self.entry), params, public, self.methods, tuple(self.members), kernel_type
        )

    def _parameters(self) -> tuple[nodes.Variable, ...]:
        made: list[nodes.Variable] = []
        for param in self.function.params:
            name = self.names.fresh(param.name or "argument")
            self.texts[param] = Expr(name)
            gm = isinstance(param.type, RefType)
            made.append(nodes.Variable("GM_ADDR" if gm else CTYPES[dtype_of(param.type)], name))
        self.sizes = {symbol: self.names.fresh(symbol) for symbol in self.function.sizes}
        return (*made, *(nodes.Variable("int64_t", name) for name in self.sizes.values()))

    def _used_later(self, before: Sequence[Operation], after: Sequence[Operation]) -> set[Value]:
        """Values made in Init, parameters and sizes included, that Process or a method uses."""
        inside = {value for op in before for value in op.results} | set(self.function.params)
        found: set[Value] = set()
        for top in after:
            for op in top.walk():
                found.update(value for value in op.operands if value in inside)
                if isinstance(op, func.Size):
                    found.add(op.value)
        # Constants and sizes are spelt where they are used.
        return found

    def _copied_parameters(self) -> list[nodes.Node]:
        """Scalars and sizes that Process uses become members of the same name."""
        made: list[nodes.Node] = []
        sizes = {
            op.symbol
            for op in self.function.walk()
            if isinstance(op, func.Size) and op.value in self.member_values
        }
        for value in self.function.params:
            if value in self.member_values and isinstance(value.type, ScalarType):
                made.append(self._copied(str(self.texts[value]), CTYPES[dtype_of(value.type)]))
        made += [
            self._copied(self.sizes[symbol], "int64_t") for symbol in self.function.sizes if symbol in sizes
        ]
        return made

    def _copied(self, name: str, type_: str) -> nodes.Node:
        self.members.append(nodes.Variable(type_, name, "0"))
        return nodes.Statement(f"this->{name} = {name}")

    def member(self, value: Value, type_: str, hint: str, initial: str = "") -> str:
        """A member of the class for a value."""
        name = self.names.fresh(hint)
        self.members.append(nodes.Variable(type_, name, initial))
        self.texts[value] = Expr(name)
        return name

    def constant(self, op: arith.Constant) -> Expr:
        """A number, or the name of a constant of the file."""
        name = op.result.name
        if not name.isupper() or not dtype_of(op.result.type).is_integer:
            return literal(op.value, dtype_of(op.result.type))
        name = f"{class_constant(self.entry)}_{name}" if self._taken(name, op.value) else name
        self.constants[name] = nodes.Variable("int64_t", name, str(op.value))
        return Expr(name)

    def _taken(self, name: str, value: object) -> bool:
        return name in self.constants and self.constants[name].value != str(value)


class Statements:
    """Statements of one method, in order."""

    def __init__(self, kernel: KernelLowering, in_init: bool, names: Names | None = None) -> None:
        self.kernel = kernel
        self.in_init = in_init
        self.names = names or kernel.names
        self.nodes: list[nodes.Node] = []
        self.line = ""
        self.copies: dict[str, str] = {}
        self.structs: dict[Hashable, str] = {}

    def block(self, ops: Sequence[Operation] | Block) -> None:
        """Lower operations one after the other."""
        for op in ops:
            self.line = self._line(op)
            self.operation(op)

    def _line(self, op: Operation) -> str:
        if not self.kernel.options.line_comments or not op.loc.known:
            return ""
        return f"{Path(op.loc.file).name}:{op.loc.line}"

    def say(self, text: str) -> None:
        """Append a statement, under the Python line it came from where that changes."""
        shown = next((node.comment for node in reversed(self.nodes) if node.comment), "")
        comment = self.line if self.line != shown else ""
        self.nodes.append(nodes.Statement(text, comment=comment))

    def text(self, value: Value) -> Expr:
        """The expression of a value."""
        known = self.kernel.texts.get(value)
        if known is not None:
            return known
        op = value.op
        if isinstance(op, arith.Constant):
            return self.kernel.constant(op)
        if isinstance(op, func.Size):
            return Expr(self.kernel.sizes[op.symbol])
        if isinstance(op, asc.Offset):
            offset = str(self.text(op.offset))
            return Expr(f"{self.text(op.tensor)}{f'[{offset}]' if offset != '0' else ''}")
        if isinstance(op, asc.ReinterpretCast):
            return Expr(f"{self.text(op.tensor)}.ReinterpretCast<{CTYPES[dtype_of(value.type)]}>()")
        assert op is not None
        return scalar(op, self.text)

    def operation(self, op: Operation) -> None:
        """Lower one operation."""
        match op:
            case (
                arith.Constant()
                | func.Size()
                | func.Return()
                | scf.Yield()
                | asc.End()
                | asc.KernelType()
                | asc.Pipe()
            ):
                pass
            case asc.ReinterpretCast() if op.same.name and isinstance(op.tensor.owner, asc.Offset):
                self._tensor(op.same, str(self.text(op.same)))
            case asc.Offset() | asc.ReinterpretCast():
                pass
            case scf.For():
                self._for(op)
            case scf.If():
                self._if(op)
            case scf.While():
                self._while(op)
            case asc.Leave():
                self.say("return")
            case asc.Printf():
                self.say(print_call(op, self.text))
            case asc.Flag():
                assert isinstance(op.id.type, OpaqueType)
                self.say(f"{op.call}<HardEvent::{op.id.type.parameters[0]}>({self.text(op.id)})")
            case asc.FetchEventID():
                name = self.kernel.member(op.id, "TEventID", op.id.name or "event")
                self.say(f"{name} = pipe->FetchEventID<HardEvent::{op.event}>()")
            case asc.Method():
                self._method(op)
            case asc.SetGlobalBuffer():
                self._global(op)
            case asc.Queue() | asc.Buf():
                self._resource(op)
            case asc.InitQueue():
                self.say(f"pipe->InitBuffer({self.text(op.queue)}, {op.number}, {self.text(op.bytes)})")
            case asc.InitBuf():
                self.say(f"pipe->InitBuffer({self.text(op.buffer)}, {self.text(op.bytes)})")
            case asc.AllocTensor() | asc.DeQue():
                call = "AllocTensor" if isinstance(op, asc.AllocTensor) else "DeQue"
                self._tensor(op.tensor, f"{self.text(op.queue)}.{call}<{_element(op.tensor)}>()")
            case asc.Get():
                self._tensor(op.tensor, f"{self.text(op.buffer)}.Get<{_element(op.tensor)}>()")
            case asc.EnQue() | asc.FreeTensor():
                call = "EnQue" if isinstance(op, asc.EnQue) else "FreeTensor"
                self.say(f"{self.text(op.queue)}.{call}({self.text(op.tensor)})")
            case asc.DataCopyPad():
                self._copy_pad(op)
            case asc.GetValue():
                self._declare(op.value, Expr(f"{self.text(op.tensor)}.GetValue({self.text(op.index)})"))
            case asc.SetValue():
                self.say(f"{self.text(op.tensor)}.SetValue({self.text(op.index)}, {self.text(op.value)})")
            case asc.DataCacheCleanAndInvalid():
                lines = "ENTIRE_DATA_CACHE" if op.whole else "SINGLE_CACHE_LINE"
                element = _element(op.tensor)
                self.say(
                    f"DataCacheCleanAndInvalid<{element}, CacheLine::{lines}, DcciDst::CACHELINE_OUT>"
                    f"({self.text(op.tensor)})"
                )
            case asc_vector.GatherMask():
                self._gather_mask(op)
            case _ if isinstance(op, CUBE_CALLS):
                self.say(cube_call(op, self._struct(op), self.text))
            case _ if op.has(PURE) and op.results:
                self._pure(op)
            case _:
                self.say(vector_call(op, self.text))

    def _pure(self, op: Operation) -> None:
        value = op.results[0]
        if _is_byte_count(op):
            return
        if self._is_member(value) or not may_inline(value):
            self._declare(value, self.text(value))

    def _is_member(self, value: Value) -> bool:
        return self.in_init and value in self.kernel.member_values

    def _declare(self, value: Value, expr: Expr) -> None:
        type_ = CTYPES[dtype_of(value.type)]
        if self._is_member(value):
            name = self.kernel.member(value, type_, value.name or "value", "0")
            self.say(f"{name} = {expr}")
            return
        name = self.names.fresh(value.name or "value")
        self.kernel.texts[value] = Expr(name)
        self.say(f"const {type_} {name} = {expr}")

    def _tensor(self, value: Value, made: str) -> None:
        if self._is_member(value):
            name = self.kernel.member(value, f"LocalTensor<{_element(value)}>", value.name or "tensor")
            self.say(f"{name} = {made}")
            return
        name = self.names.fresh(value.name or "tensor")
        self.kernel.texts[value] = Expr(name)
        self.say(f"LocalTensor<{_element(value)}> {name} = {made}")

    def _global(self, op: asc.SetGlobalBuffer) -> None:
        element = _element(op.tensor)
        name = self.kernel.member(
            op.tensor, f"GlobalTensor<{element}>", f"{op.tensor.name or op.base.name}Gm"
        )
        address = f"(__gm__ {element}*){self.text(op.base)}"
        offset = str(self.text(op.offset))
        address += "" if offset == "0" else f" + {self.text(op.offset).inside(14)}"
        length = "".join(f", {self.text(value)}" for value in op.length)
        self.say(f"{name}.SetGlobalBuffer({address}{length})")

    def _resource(self, op: asc.Queue | asc.Buf) -> None:
        if isinstance(op, asc.Queue):
            self.kernel.member(
                op.queue, f"TQue<TPosition::{op.position}, {op.depth}>", op.queue.name or "queue"
            )
        else:
            self.kernel.member(op.buffer, f"TBuf<TPosition::{op.position}>", op.buffer.name or "buffer")

    def _copy_pad(self, op: asc.DataCopyPad) -> None:
        inwards = isinstance(op.src.type, RefType) and op.src.type.space == "gm"
        element = _element(op.dst)
        params = ", ".join([
            narrowed(op.block_count, self.text, "uint16_t"),
            f"static_cast<uint32_t>({self._bytes(op.block_len, element)})",
            narrowed(op.src_stride, self.text, "uint32_t"),
            narrowed(op.dst_stride, self.text, "uint32_t"),
            "0",
        ])  # fmt: skip
        copy = self._shared(f"DataCopyExtParams {{name}}{{{{{params}}}}}", "copy")
        end = ""
        if inwards:
            zero = literal(0, dtype_of(op.dst.type))
            end = ", " + self._shared(
                f"DataCopyPadExtParams<{element}> {{name}}{{{{false, 0, 0, {zero}}}}}", "noPad"
            )
        self.say(f"DataCopyPad({self.text(op.dst)}, {self.text(op.src)}, {copy}{end})")

    def _bytes(self, value: Value, element: str) -> str:
        """A number of bytes, as elements times their size where it is that."""
        op = None if value in self.kernel.texts else value.op
        if isinstance(op, arith.Elementwise) and op.fn == "mul" and isinstance(op.args[1].op, arith.Constant):
            return f"{self.text(op.args[0]).inside(14)} * sizeof({element})"
        if isinstance(op, arith.Constant) and op.value == CTYPE_BYTES[element]:
            return f"sizeof({element})"
        return str(self.text(value))

    def _shared(self, declaration: str, hint: str) -> str:
        """A constant struct, declared once for equal values."""
        if declaration not in self.copies:
            name = self.copies[declaration] = self.names.fresh(hint)
            self.say(f"const {declaration.format(name=name)}")
        return self.copies[declaration]

    def _gather_mask(self, op: asc_vector.GatherMask) -> None:
        """A call with a fixed pattern; how many elements it kept is known before."""
        params = f"1, {self.text(op.repeat)}, {self.text(op.stride)}, 0"
        once = self._shared(f"GatherMaskParams {{name}}{{{{{params}}}}}", "once")
        if "kept" not in self.copies:
            self.copies["kept"] = self.names.fresh("kept")
            self.say(f"uint64_t {self.copies['kept']} = 0")
        pattern = _PATTERNS[op.pattern]
        self.kernel.constants[pattern] = nodes.Variable("uint8_t", pattern, str(op.pattern))
        operands = f"{self.text(op.dst)}, {self.text(op.src)}, {pattern}, true, {self.text(op.count)}"
        self.say(f"GatherMask({operands}, {once}, {self.copies['kept']})")

    def _struct(self, op: Operation) -> str:
        """The parameter struct of a call, filled once for equal values."""
        struct = cube_struct(op, self.text)
        if struct is None:
            return ""
        if struct.key not in self.structs:
            name = self.structs[struct.key] = self.names.fresh(struct.hint)
            self.say(f"{struct.type} {name}")
            for field_, text in struct.fields:
                self.say(f"{name}.{field_} = {text}")
        return self.structs[struct.key]

    def _for(self, op: scf.For) -> None:
        for call in invariant_structs(op):
            self._struct(call)
        carried = self._variables(op.carried, op.inits)
        for value, name in zip(op.values, carried, strict=True):
            self.kernel.texts[value] = Expr(name)
        name = self.names.fresh(op.counter.name or "i")
        self.kernel.texts[op.counter] = Expr(name)
        step = str(self.text(op.step))
        advance = f"++{name}" if step == "1" else f"{name} += {step}"
        down = isinstance(op.step.op, arith.Constant) and op.step.op.value < 0
        lower, upper = self.text(op.lower), self.text(op.upper).inside(11)
        body = self._nested(op.body.block, carried)
        test = f"{name} {'>' if down else '<'} {upper}"
        self.nodes.append(nodes.For("int64_t", name, str(lower), test, advance, body))

    def _if(self, op: scf.If) -> None:
        condition = str(self.text(op.condition))
        targets = self._variables(op.values, ())
        then = self._nested(op.then.block, targets)
        otherwise = self._nested(op.otherwise.block, targets)
        if not then and not targets:
            condition, then, otherwise = f"!({condition})", otherwise, []
        self.nodes.append(nodes.If(condition, then, otherwise))

    def _while(self, op: scf.While) -> None:
        """`before` up to its condition, then `after`, whose arguments are what `before` forwards."""
        counted = doubling(op)
        if counted is not None:
            self._doubling(counted)
            return
        carried = self._variables(op.before.block.args, op.inits)
        forwarded = self._variables(op.values, ())
        for value, name in zip(op.after.block.args, forwarded, strict=True):
            self.kernel.texts[value] = Expr(name)
        inner = Statements(self.kernel, self.in_init, self.names)
        inner.block([each for each in op.before.block if each is not op.before.block.last])
        condition = op.before.block.terminator
        assert isinstance(condition, scf.Condition)
        inner.assign(forwarded, condition.forwarded)
        leave = nodes.Statement("break")
        inner.nodes.append(nodes.If(f"!({inner.text(condition.condition)})", [leave], []))
        inner.nodes += self._nested(op.after.block, carried)
        self.nodes.append(nodes.While(inner.nodes))

    def _doubling(self, loop: Doubling) -> None:
        name = self.names.fresh(loop.counter.name or "i")
        self.kernel.texts[loop.counter] = Expr(name)
        body = Statements(self.kernel, self.in_init, self.names)
        body.block([each for each in loop.body if each is not loop.body.terminator.operands[0].op])
        test = f"{name} < {self.text(loop.bound).inside(11)}"
        start = str(self.text(loop.start))
        self.nodes.append(nodes.For("int64_t", name, start, test, f"{name} *= 2", body.nodes))

    def _variables(self, values: Sequence[Value], inits: Sequence[Value]) -> list[str]:
        """Variables that change, for what loops carry and branches give."""
        made: list[str] = []
        starts = [str(self.text(init)) for init in inits] or [""] * len(values)
        for value, start in zip(values, starts, strict=True):
            name = self.names.fresh(value.name or "value")
            self.kernel.texts[value] = Expr(name)
            made.append(name)
            self.say(f"{CTYPES[dtype_of(value.type)]} {name}{f' = {start}' if start else ''}")
        return made

    def assign(self, targets: Sequence[str], values: Sequence[Value]) -> None:
        """Set all variables at once: a value that reads one that is set before is kept first."""
        texts = [str(self.text(value)) for value in values]
        for number, text in enumerate(texts):
            if any(re.search(rf"\b{target}\b", text) for target in targets[:number]):
                kept = self.names.fresh("next")
                self.say(f"const {CTYPES[dtype_of(values[number].type)]} {kept} = {text}")
                texts[number] = kept
        for target, text in zip(targets, texts, strict=True):
            if target != text:
                self.say(f"{target} = {text}")

    def _nested(self, block: Block, targets: Sequence[str] = ()) -> list[nodes.Node]:
        inner = Statements(self.kernel, self.in_init, self.names)
        inner.structs.update(self.structs)
        inner.block(block)
        if targets:
            inner.assign(targets, block.terminator.operands)
        return inner.nodes

    def _method(self, op: asc.Method) -> None:
        """A method that takes what it uses of the loop around it."""
        passed = [value for value in _free(op) if self._is_local(value)]
        name = self.kernel.method_names.fresh(op.method)
        arguments = ", ".join(str(self.text(value)) for value in passed)
        names = VendorNames()
        for taken in (*(member.name for member in self.kernel.members), *_RESERVED):
            names.fresh(taken)
        saved = {value: self.kernel.texts[value] for value in passed}
        params: list[nodes.Variable] = []
        for value in passed:
            param = names.fresh(value.name or "value")
            self.kernel.texts[value] = Expr(param)
            params.append(nodes.Variable(_type(value), param))
        inner = Statements(self.kernel, False, names)
        inner.block(op.body.block)
        self.kernel.texts.update(saved)
        self.kernel.methods.append(nodes.Method(name, tuple(params), inner.nodes))
        self.say(f"{name}({arguments})")

    def _is_local(self, value: Value) -> bool:
        return (
            value in self.kernel.texts
            and value not in self.kernel.member_values
            and not isinstance(value.type, OpaqueType)
        )


def _free(op: Operation) -> Iterator[Value]:
    inside = {block for each in op.walk() for region in each.regions for block in region.blocks}
    seen: dict[Value, None] = {}
    for each in op.walk():
        for value in each.operands:
            if value.block not in inside:
                seen[value] = None
    return iter(seen)


def may_inline(value: Value) -> bool:
    """Whether a pure value is written where it is used: once, in its own block, and without a name of its own."""
    if value.name or len(value.uses) != 1:
        return False
    ((user, count),) = value.uses.items()
    return count == 1 and value.op is not None and user.parent is value.op.parent and not _repeats(user)


def _is_byte_count(op: Operation) -> bool:
    """Whether a product is only ever the length of copies, where it is spelt as elements times their size."""
    value = op.results[0]
    product = (
        isinstance(op, arith.Elementwise) and op.fn == "mul" and isinstance(op.args[1].op, arith.Constant)
    )
    return product and all(
        isinstance(user, asc.DataCopyPad) and user.block_len is value and count == 1
        for user, count in value.uses.items()
    )


def _repeats(user: Operation) -> bool:
    """Whether the text of an operand appears more than once in that of its user."""
    return isinstance(user, arith.Elementwise) and user.fn in ("minimum", "maximum")


def _element(value: Value) -> str:
    return CTYPES[dtype_of(value.type)]


def _type(value: Value) -> str:
    if isinstance(value.type, RefType):
        return f"const LocalTensor<{_element(value)}>&"
    return _element(value)


def class_name(entry: str) -> str:
    """The name of a kernel's class: `row_softmax` gives `KernelRowSoftmax`, which no name of the library is."""
    return "Kernel" + "".join(part[:1].upper() + part[1:] for part in identifier(entry).split("_") if part)


def class_constant(entry: str) -> str:
    """The prefix of constants that two kernels of a file would share."""
    return identifier(entry).upper()
