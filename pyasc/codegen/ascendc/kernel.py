# SPDX-License-Identifier: Apache-2.0
"""From a function at the ascend level to the nodes of its kernel class.

What stands before the first loop or method is Init, the rest Process; where single elements are stored before any
loop, Init only sets the tensors up. Every `asc.Method` is a method of its own. A value that is made in Init and used
later is a member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.codegen.ascendc import nodes
from pyasc.codegen.ascendc.contents import HANDLERS
from pyasc.codegen.ascendc.inlining import lowered, may_inline
from pyasc.codegen.ascendc.spelling import CTYPES, element, literal, zero
from pyasc.codegen.ascendc.statements import Statements
from pyasc.codegen.cpp.nodes import Expr
from pyasc.codegen.names import VendorNames, identifier
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, asc, func, scf
from pyasc.ir.dtypes import DType, i64
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of

_NESTED = (scf.For, scf.If, scf.While, asc.Method)
_STORES = (asc.SetValue, asc.DataCacheCleanAndInvalid)
_SETTING_UP = (asc.SetGlobalBuffer, asc.InitQueue, asc.InitBuf, asc.FetchEventID)
_RESERVED = ("pipe", "op", "Init", "Process")
_DOUBLE = "BUFFER_NUM"
_COUNTS = ("TILE", "MAX_ROWS", "STRIP")
"""Constants that say how many elements a buffer holds, or how many times over."""
_MEANINGS = {
    "BUFFER_NUM": "of a queue: one is copied while the other is computed with",
    "TILE": "most elements at once",
    "TILE_M": "rows of a block of the result",
    "TILE_N": "most columns of a block of the result",
    "TILE_K": "depth in L1",
    "TILE_K0": "depth in L0",
    "STRIP": "most columns at once",
    "MAX_ROWS": "most rows at once",
    "MAX_REPEATS": "most repeats of an instruction",
    "NUMBER": "elements of a buffer for one number: a repeat of any type",
    "COLUMN": "elements of a buffer for one value a row: MAX_ROWS in whole repeats",
    "CORES": "of the device",
    "WORD_BITS": "of the words that masks are combined in",
    "LEAST_N": "least columns of a block of several rows",
    "FRACTAL": "rows and columns of a fractal",
    "SQUARE": "side of a square of bytes that is turned at once",
    "FEW_FRACTALS": "in a block whose products have to wait for each other",
    **{f"FRACTAL_B{8 * size}": f"elements of {size} B in a fractal of 512 B" for size in (1, 2, 4)},
    **{f"LINE_B{8 * size}": f"elements of {size} B in a line of global memory" for size in (1, 2, 4, 8)},
    **{f"BLOCK_B{8 * size}": f"elements of {size} B in a block of 32 B" for size in (1, 2, 4, 8)},
    **{f"LANES_B{8 * size}": f"elements of {size} B in a repeat of 256 B" for size in (1, 2, 4, 8)},
}
"""What constants that passes name are, as the comment behind them says."""
_METHODS = {
    "Prepare": "What is the same for all tiles.",
    "LoadRows": "Rows that all tiles read stay on chip.",
    "LoadTables": "Tables stay on chip while elements are looked up in them.",
    "Clear": "A block of the result where there is nothing to add up.",
    "Combine": "Numbers of a whole line, from what its lanes have come to.",
    "Begin": "What the lanes and numbers of a line start from.",
}
"""What methods do whose names do not say all of it, as the comment in front of them says."""
_GROUPS = ("TQue", "TBuf", "GlobalTensor", "LocalTensor", "TEventID", "")
"""The order of members, by how their types start."""


@dataclass(frozen=True)
class EmitOptions:
    """How to print: `line_comments` names the Python line of each statement.

    `sync_parameter` gives mixed kernels a first parameter with the address where cores keep their flags, which CANN's
    own front end adds by itself.
    """

    line_comments: bool = False
    sync_parameter: bool = False


def entry_parameters(
    function: func.Func, names: VendorNames
) -> tuple[list[nodes.Variable], list[nodes.Variable]]:
    """The parameters of an entry: those of the function, then its sizes."""
    given = [nodes.Variable(_parameter_type(p), names.fresh(p.name or "argument")) for p in function.params]
    return given, [nodes.Variable("int64_t", names.fresh(symbol)) for symbol in function.sizes]


def _parameter_type(param: Value) -> str:
    return "GM_ADDR" if isinstance(param.type, RefType) else element(param)


def class_name(entry: str) -> str:
    """The name of a kernel's class: `row_softmax` gives `KernelRowSoftmax`, which no name of the library is."""
    return "Kernel" + "".join(part[:1].upper() + part[1:] for part in identifier(entry).split("_") if part)


def _process_begins(ops: Sequence[Operation]) -> int:
    """The number of the first operation of Process."""
    nested = next((i for i, op in enumerate(ops) if isinstance(op, _NESTED)), len(ops))
    set_up = max((i + 1 for i, op in enumerate(ops[:nested]) if isinstance(op, _SETTING_UP)), default=nested)
    rest = [op for op in ops[set_up:nested] if PURE not in op.spec.traits]
    straight = nested == len(ops)
    alone = straight or all(isinstance(op, (asc.GetValue, func.Return, *_STORES)) for op in rest)
    return set_up if alone and any(isinstance(op, _STORES) for op in rest) else nested


def _init_and_process(ops: Sequence[Operation]) -> tuple[list[Operation], list[Operation]]:
    """The operations of Init and those of Process, with the numbers that are written out in the only one that uses it.

    A member would hide what such a number is made of, by which a quotient is told to be rounded up.
    """
    first = _process_begins(ops)
    before: list[Operation] = []
    after = list(ops[first:])
    later = set(after)
    for op in reversed(ops[:first]):
        if _is_number(op) and may_inline(op.results[0]) and later.issuperset(op.results[0].uses):
            later.add(op)
            after.insert(0, op)
        else:
            before.insert(0, op)
    return before, after


def _is_number(op: Operation) -> bool:
    return isinstance(op, arith.Elementwise) and op.result.type == ScalarType(i64)


@dataclass
class KernelLowering:
    """Lowers one function. `constants` are those of the file, which several kernels share."""

    function: func.Func
    options: EmitOptions
    entry: str
    constants: dict[str, nodes.Variable]
    members: list[nodes.Variable] = field(default_factory=lambda: list[nodes.Variable]())
    methods: list[nodes.Method] = field(default_factory=lambda: list[nodes.Method]())
    texts: dict[Value, Expr] = field(default_factory=lambda: dict[Value, Expr]())
    narrow: dict[Value, str] = field(default_factory=lambda: dict[Value, str]())
    class_names: VendorNames = field(default_factory=VendorNames)
    """Names that every method sees."""
    method_counts: dict[str, int] = field(default_factory=lambda: dict[str, int]())

    def run(self) -> nodes.Kernel:
        """The class, its members and its entry."""
        ops = list(self.function.body.block)
        before, after = _init_and_process(ops)
        self.member_values = self._used_later(before, after)
        self.named_constants = self._name_constants()
        self.init_names = self.class_names.inner()
        given, sizes = entry_parameters(self.function, self.init_names)
        self.texts.update(zip(self.function.params, (Expr(p.name) for p in given), strict=True))
        self.sizes = dict(zip(self.function.sizes, (size.name for size in sizes), strict=True))
        head = self._copied_parameters()
        self._declare_resources()
        init = Statements(self, HANDLERS, True, self.init_names)
        init.block(before)
        process = Statements(self, HANDLERS, False, self.class_names.inner())
        process.block(after)
        params = (*given, *sizes)
        taken = {str(self.texts[value]) for value in self.used_params()} | set(
            map(self.sizes.__getitem__, self.used_sizes())
        )
        needed = [param for param in params if param.name in taken]
        pipe = nodes.Variable("TPipe*", "pipe")
        return nodes.Kernel(
            entry=self.entry,
            name=class_name(self.entry),
            params=params,
            arguments=("&pipe", *(param.name for param in needed)),
            public=[
                nodes.Method("Init", (pipe, *needed), [*head, *init.nodes]),
                nodes.Method("Process", (), process.nodes),
            ],
            private=self.methods,
            members=self._sorted_members(),
            type=next((op.type for op in ops if isinstance(op, asc.KernelType)), ""),
        )

    def used_params(self) -> list[Value]:
        """The parameters that Init takes."""
        return [value for value in self.function.params if value.uses]

    def used_sizes(self) -> list[str]:
        """The sizes that Init takes."""
        found = {op.symbol for op in self.function.walk() if isinstance(op, func.Size) and op.value.uses}
        return [symbol for symbol in self.function.sizes if symbol in found]

    def _used_later(self, before: Sequence[Operation], after: Sequence[Operation]) -> set[Value]:
        """Values made in Init, parameters and sizes included, that Process or a method uses."""
        inside = {value for op in before for value in op.results} | set(self.function.params)
        found: set[Value] = set()
        for op in (op for top in after for op in top.walk()):
            found.update(value for value in op.operands if value in inside)
            if isinstance(op, func.Size):
                found.add(op.value)
        return found

    def _name_constants(self) -> dict[str, arith.Constant]:
        """The constants of the file that this kernel uses, whose names nothing else of it may have."""
        for name in _RESERVED:
            self.class_names.reserve(name)
        self.class_names.reserve(_DOUBLE)
        found: dict[str, arith.Constant] = {}
        for op in self.function.walk():
            if isinstance(op, arith.Constant) and _is_named(op):
                found.setdefault(op.result.name, op)
                self.class_names.reserve(self._constant_name(op))
        return found

    def _copied_parameters(self) -> list[nodes.Node]:
        """Scalars and sizes that Process uses become members of the same name."""
        used = {
            op.symbol
            for op in self.function.walk()
            if isinstance(op, func.Size) and op.value in self.member_values
        }
        made = [
            self._copied(str(self.texts[value]), dtype_of(value.type))
            for value in self.function.params
            if value in self.member_values and isinstance(value.type, ScalarType)
        ]
        return [*made, *(self._copied(name, None) for symbol, name in self.sizes.items() if symbol in used)]

    def _copied(self, name: str, dtype: DType | None) -> nodes.Node:
        self.class_names.reserve(name)
        type_ = "int64_t" if dtype is None else CTYPES[dtype]
        self.members.append(nodes.Variable(type_, name, "0" if dtype is None else zero(dtype)))
        return nodes.Statement(f"this->{name} = {name}")

    def _declare_resources(self) -> None:
        """Members for arrays, queues, buffers and events, before anything else is named."""
        for op in self.function.walk():
            match op:
                case asc.Queue():
                    name, ends = (
                        ("TQueBind", (op.position, op.bound)) if op.bound else ("TQue", (op.position,))
                    )
                    positions = ", ".join(f"TPosition::{end}" for end in ends)
                    type_ = f"{name}<{positions}, {self.buffer_number(op.depth)}>"
                    self._member(op.queue, type_, lowered(op.queue.name or "queue"))
                case asc.Buf():
                    type_ = f"TBuf<TPosition::{op.position}>"
                    self._member(op.buffer, type_, lowered(op.buffer.name or "buffer"))
                case asc.SetGlobalBuffer():
                    hint = (op.tensor.name or op.base.name).rpartition(".")[2]
                    self._member(op.tensor, f"GlobalTensor<{element(op.tensor)}>", lowered(f"{hint}Gm"))
                case asc.FetchEventID():
                    self._member(op.id, "TEventID", f"event{op.event.replace('_', 'To')}")
                case _:
                    pass

    def _member(self, value: Value, type_: str, hint: str, initial: str = "") -> str:
        name = self.init_names.fresh(hint)
        self.class_names.reserve(name)
        self.members.append(nodes.Variable(type_, name, initial))
        self.texts[value] = Expr(name)
        return name

    def member(self, value: Value, dtype: DType, hint: str) -> str:
        """A scalar member for a value of Init that is used later."""
        return self._member(value, CTYPES[dtype], hint, zero(dtype))

    def tensor_member(self, value: Value, type_: str, hint: str) -> str:
        """The same for a LocalTensor."""
        return self._member(value, type_, hint)

    def _sorted_members(self) -> tuple[nodes.Variable, ...]:
        def group(member: nodes.Variable) -> int:
            return next(i for i, start in enumerate(_GROUPS) if member.type.startswith(start))

        return tuple(sorted(self.members, key=group))

    def method(self, base: str, params: tuple[nodes.Variable, ...], body: list[nodes.Node]) -> str:
        """The name of a method: of an earlier one that does the same, or a new one."""
        for made in self.methods:
            if made.base == base and made.params == params and made.body == body:
                return made.name
        count = self.method_counts[base] = self.method_counts.get(base, 0) + 1
        name = base if count == 1 else f"{base}{count}"
        comment = _METHODS.get(base, "") if count == 1 else ""
        self.methods.append(nodes.Method(name, params, body, base, comment=comment))
        return name

    def constant(self, op: arith.Constant) -> Expr:
        """A number, or the name of a constant of the file."""
        if not _is_named(op):
            return literal(op.value, dtype_of(op.result.type))
        return Expr(self.file_constant(self._constant_name(op), "int64_t", str(op.value)))

    def _constant_name(self, op: arith.Constant) -> str:
        """The name in Python or in a pass; that of the kernel before it where another kernel has another value."""
        name = identifier(op.result.name)
        taken = name in self.constants and self.constants[name].value != str(op.value)
        return f"{identifier(self.entry).upper()}_{name}" if taken else name

    def file_constant(self, name: str, type_: str, value: str) -> str:
        """A constant in front of the classes."""
        bare = name.removeprefix(f"{identifier(self.entry).upper()}_")
        self.constants[name] = nodes.Variable(type_, name, value, _MEANINGS.get(bare, ""))
        return name

    def buffer_number(self, number: int) -> str:
        """How many buffers a queue has: the usual number by name."""
        return self.file_constant(_DOUBLE, "int32_t", "2") if number == 2 else str(number)

    def count_name(self, count: int) -> str:
        """A number of elements, by the constant that says how many a tile has where it is that."""
        for name, op in self.named_constants.items():
            times, rest = divmod(count, int(op.value) or 1)
            if name in _COUNTS and times and not rest:
                return f"{times} * {self.constant(op)}" if times > 1 else str(self.constant(op))
        return str(count)


def _is_named(op: arith.Constant) -> bool:
    return op.result.name.isupper() and dtype_of(op.result.type).is_integer
