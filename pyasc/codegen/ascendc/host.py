# SPDX-License-Identifier: Apache-2.0
"""The C++ function of the host for one kernel: checks of sizes and scalars, then its launches in order."""

from __future__ import annotations

import struct

from pyasc.codegen.ascendc.helpers import HELPERS
from pyasc.codegen.ascendc.host_scalars import HOST_FUNCTIONS, HOST_HELPERS, host_scalar
from pyasc.codegen.ascendc.inlining import hint_of, may_inline
from pyasc.codegen.ascendc.render import INDENT, broken
from pyasc.codegen.ascendc.spelling import CTYPES, literal
from pyasc.codegen.cpp.nodes import Expr
from pyasc.codegen.names import VendorNames
from pyasc.ir import dtypes
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, func, py, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import dtype_of

_HOST_TYPES = {**CTYPES, dtypes.f16: "uint16_t", dtypes.bf16: "uint16_t"}
"""What a number is on the host: a half is its bits, as the arguments of an entry have it."""


_INCLUDES = """// Returns 0, or the number of the check that fails, or what `launch` returned.
#include <math.h>
#include <stdint.h>"""
_TYPES = """// Starts the kernel with number `entry` on `blocks` cores; `numbers` are its scalars, each in eight bytes,
// halves as bits.
typedef int32_t (*pyasc_launch)(void* context, uint32_t entry, uint32_t blocks, const uint64_t* numbers);

template <typename T>
static inline uint64_t Bits(T value)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(value));
    return bits;
}"""


def emit_host(host: Func, kernel: str, entries: tuple[str, ...]) -> str:
    """The text of the host function of a kernel: its checks, then a call of `launch` for each launch in order.

    It returns 0, or the number of the check that fails, or what `launch` returned when that is not 0.
    """
    writer = _Writer(host, entries)
    writer.run()
    numbered = ", ".join(f"{number} is {entry}" for number, entry in enumerate(entries))
    params = ", ".join([*writer.params, "pyasc_launch launch", "void* context"])
    body = "\n".join(INDENT + line for line in writer.lines)
    helpers = [
        text.replace("__aicore__ inline", "static inline")
        for name, text in {**HELPERS, **HOST_HELPERS}.items()
        if f"{name}<" in body
    ]
    parts = [
        f"// What the host does to run {kernel}: checks, then launches, in order ({numbered}).",
        _INCLUDES,
        _TYPES,
        *helpers,
        f'extern "C" int32_t {kernel}_host({params})\n{{\n{body}\n}}\n',
    ]
    text = parts[0] + "\n" + "\n\n".join(parts[1:])
    return "\n".join(part for line in text.split("\n") for part in broken(line))


class _Writer:
    def __init__(self, host: Func, entries: tuple[str, ...]) -> None:
        self.host = host
        self.entries = entries
        self.names = VendorNames()
        for name in ("launch", "context", "failed", *HOST_FUNCTIONS):
            self.names.reserve(name)
        self.texts: dict[Value, Expr] = {}
        self.lines: list[str] = []
        self.checks = 0
        self.params: list[str] = []
        for param in host.params:
            self._parameter(param, param.name, _HOST_TYPES[dtype_of(param.type)])
        self.sizes = {symbol: self.names.fresh(symbol) for symbol in host.sizes}
        self.params += [f"int64_t {name}" for name in self.sizes.values()]

    def _parameter(self, value: Value, hint: str, type_: str) -> None:
        name = self.names.fresh(hint)
        self.texts[value] = Expr(name)
        self.params.append(f"{type_} {name}")

    def text(self, value: Value) -> Expr:
        """The expression of a value."""
        if value in self.texts:
            return self.texts[value]
        op = value.op
        if isinstance(op, arith.Constant):
            return _constant(op)
        if isinstance(op, func.Size):
            return Expr(self.sizes[op.symbol])
        assert op is not None
        return host_scalar(op, self.text)

    def run(self) -> None:
        """One statement an operation."""
        self._block(self.host.body.block, "")
        self.lines.append("return 0;")

    def _block(self, block: Block, indent: str) -> None:
        for op in block:
            self._operation(op, indent)

    def _operation(self, op: Operation, indent: str) -> None:
        match op:
            case arith.Constant() | func.Size() | func.Return() | scf.Yield():
                pass
            case py.Check():
                self.checks += 1
                self._line(indent, f"if (!({self.text(op.condition)})) {{")
                self._line(indent, f"{INDENT}return {self.checks};  // {op.error}: {op.message}")
                self._line(indent, "}")
            case scf.For():
                self._loop(op, indent)
            case func.Launch():
                self._launch(op, indent)
            case _:
                self._scalar(op, indent)

    def _scalar(self, op: Operation, indent: str) -> None:
        (value,) = op.results
        if may_inline(value):
            return
        made = host_scalar(op, self.text)
        name = self.names.fresh(value.name or hint_of(value))
        self.texts[value] = Expr(name)
        self._line(indent, f"const {_HOST_TYPES[dtype_of(value.type)]} {name} = {made};")

    def _line(self, indent: str, text: str) -> None:
        self.lines.append(indent + text)

    def _loop(self, op: scf.For, indent: str) -> None:
        name = self.names.fresh(op.counter.name or "i")
        lower, upper, step = self.text(op.lower), self.text(op.upper), self.text(op.step)
        self.texts[op.counter] = Expr(name)
        falls = isinstance(op.step.op, arith.Constant) and op.step.op.value < 0
        holds = f"{name} {'>' if falls else '<'} {upper}"
        if not isinstance(op.step.op, arith.Constant):
            holds = f"{step} < 0 ? {name} > {upper} : {holds}"
        self._line(indent, f"for (int64_t {name} = {lower}; {holds}; {name} += {step}) {{")
        self._block(op.body.block, indent + INDENT)
        self._line(indent, "}")

    def _launch(self, op: func.Launch, indent: str) -> None:
        """The numbers go in a row; what `launch` returns is passed on."""
        numbers = "nullptr"
        blocks = f"static_cast<uint32_t>({self.text(op.blocks)})"
        entry = f"{self.entries.index(op.callee)}"
        if op.args:
            numbers = self.names.fresh("numbers")
            listed = ", ".join(f"Bits<{self._type(arg)}>({self.text(arg)})" for arg in op.args)
            self._line(indent, f"const uint64_t {numbers}[] = {{{listed}}};")
        self._line(indent, f"if (const int32_t failed = launch(context, {entry}, {blocks}, {numbers})) {{")
        self._line(indent, f"{INDENT}return failed;")
        self._line(indent, "}")

    def _type(self, value: Value) -> str:
        return _HOST_TYPES[dtype_of(value.type)]


def _constant(op: arith.Constant) -> Expr:
    """A known number, a half as its bits."""
    dtype = dtype_of(op.result.type)
    if dtype is dtypes.f16:
        return Expr(str(int.from_bytes(struct.pack("<e", op.value), "little")))
    if dtype is dtypes.bf16:
        return Expr(str(int.from_bytes(struct.pack("<f", op.value)[2:], "little")))
    return literal(op.value, dtype)
