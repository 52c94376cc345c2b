# SPDX-License-Identifier: Apache-2.0
"""The C++ function that the host calls before a launch: checks of sizes and scalars, and the blocks of each phase."""

from __future__ import annotations

from pyasc.codegen.ascendc.expressions import CTYPES, HELPERS, literal, scalar
from pyasc.codegen.ascendc.render import INDENT, broken
from pyasc.codegen.cpp.names import Names
from pyasc.codegen.cpp.nodes import Expr
from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, func, py
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import dtype_of

_HOST_TYPES = {**CTYPES, dtypes.f16: "float", dtypes.bf16: "float"}


def emit_host(host: Func, kernel: str, entries: tuple[str, ...]) -> str:
    """The text of the host function of a kernel.

    It fills `blocks`, one number an entry, 0 for one to leave out; it returns 0, or the number of the check that fails.
    """
    writer = _Writer(host)
    writer.run()
    listed = ", ".join(f"blocks[{number}] of {entry}" for number, entry in enumerate(entries))
    params = ", ".join([*writer.params, "uint32_t* blocks"])
    body = "\n".join(INDENT + line for line in writer.lines)
    helpers = "".join(
        f"{text.replace('__aicore__ inline', 'static inline')}\n\n"
        for name, text in HELPERS.items()
        if f"{name}<" in body
    )
    text = (
        f"// How many blocks each launch of {kernel} takes ({listed}); 0: it is left out.\n"
        "// Returns 0, or the number of the check that fails, and then nothing may be launched.\n"
        f'#include <stdint.h>\n\n{helpers}extern "C" int32_t {kernel}_blocks({params})\n{{\n{body}\n}}\n'
    )
    return "\n".join(part for line in text.split("\n") for part in broken(line))


class _Writer:
    def __init__(self, host: Func) -> None:
        self.host = host
        self.names = Names()
        self.names.fresh("blocks")
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
            return literal(op.value, dtype_of(op.result.type))
        assert isinstance(op, func.Size)
        return Expr(self.sizes[op.symbol])

    def run(self) -> None:
        """One statement an operation."""
        for op in self.host.body.block:
            self._operation(op)

    def _operation(self, op: Operation) -> None:
        match op:
            case arith.Constant() | func.Size():
                pass
            case py.Check():
                self.checks += 1
                self.lines.append(f"if (!({self.text(op.condition)})) {{")
                self.lines.append(f"{INDENT}return {self.checks};  // {op.error}: {op.message}")
                self.lines.append("}")
            case func.Return():
                for number, value in enumerate(op.values):
                    self.lines.append(f"blocks[{number}] = static_cast<uint32_t>({self.text(value)});")
                self.lines.append("return 0;")
            case _:
                value = op.results[0]
                made = scalar(op, self.text)
                name = self.names.fresh(value.name or "value")
                self.texts[value] = Expr(name)
                self.lines.append(f"const {_HOST_TYPES[dtype_of(value.type)]} {name} = {made};")
