# SPDX-License-Identifier: Apache-2.0
"""The C header that stands beside a kernel object: readable prototypes, valid in C and C++."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pyasc import __version__
from pyasc.codegen.names import Names

if TYPE_CHECKING:
    from pyasc.runtime.objects import KernelDescription, ParameterDescription

_C_TYPES = {
    "f16": "pyasc_f16",
    "bf16": "pyasc_bf16",
    "f32": "float",
    "f64": "double",
    "i1": "bool",
    **{
        f"{sign}{bits}": f"{prefix}{bits}_t"
        for sign, prefix in (("i", "int"), ("u", "uint"))
        for bits in (8, 16, 32, 64)
    },
}
_HALF_TYPES = {"f16": "IEEE binary16", "bf16": "bfloat16"}
_COLUMNS = 100


def c_header(stem: str, kernels: Sequence[KernelDescription]) -> str:
    """The text of the header called `stem`.h."""
    guard = f"PYASC_{re.sub(r'[^A-Za-z0-9]', '_', stem).upper()}_H"
    used = {parameter.dtype for kernel in kernels for parameter in kernel.parameters}
    parts = [
        f"/* Kernels compiled by pyasc {__version__}. */",
        f"#ifndef {guard}\n#define {guard}",
        "#include <stdbool.h>\n#include <stdint.h>",
        *(_half_type(dtype, meaning) for dtype, meaning in _HALF_TYPES.items() if dtype in used),
        _FAULT,
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        *(f"{_comment(kernel)}\n{prototype(kernel)}" for kernel in kernels),
        "#ifdef __cplusplus\n}\n#endif",
        "#endif",
    ]
    return "\n\n".join(parts) + "\n"


_FAULT = """\
/* The values that failed a check, such as an index and its bound. */
#ifndef PYASC_FAULT_DEFINED
#define PYASC_FAULT_DEFINED
typedef struct pyasc_fault {
  int64_t values[4];
} pyasc_fault;
#endif"""


def _half_type(dtype: str, meaning: str) -> str:
    macro = f"PYASC_{dtype.upper()}_DEFINED"
    return (
        f"/* The bits of one {meaning} number. */\n#ifndef {macro}\n#define {macro}\n"
        f"typedef struct pyasc_{dtype} {{\n  uint16_t bits;\n}} pyasc_{dtype};\n#endif"
    )


def prototype(kernel: KernelDescription) -> str:
    """The declaration of a kernel's C function, wrapped to 100 columns."""
    names = Names()
    arguments = [text for parameter in kernel.parameters for text in _arguments(parameter, names)]
    arguments.append("pyasc_fault* fault")
    start = f"int32_t {kernel.symbol}("
    one_line = f"{start}{', '.join(arguments)});"
    return one_line if len(one_line) <= _COLUMNS else _wrapped(start, arguments)


def _wrapped(start: str, arguments: Iterable[str]) -> str:
    indent = " " * len(start)
    lines = [start]
    for argument in arguments:
        if len(lines[-1]) > len(indent) and len(lines[-1]) + len(argument) + 2 > _COLUMNS:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += f"{argument}, "
    lines[-1] = lines[-1].rstrip(", ") + ");"
    return "\n".join(lines)


def _arguments(parameter: ParameterDescription, names: Names) -> list[str]:
    name = names.fresh(parameter.name)
    c_type = _C_TYPES[parameter.dtype]
    if parameter.kind != "array":
        return [f"{c_type} {name}"]
    pointer = f"{'' if parameter.written else 'const '}{c_type}* {name}"
    if parameter.layout == "contiguous":
        return [pointer]
    return [pointer, *(f"int64_t {name}_stride{axis}" for axis in range(len(parameter.shape)))]


def _comment(kernel: KernelDescription) -> str:
    width = max((len(parameter.name) for parameter in kernel.parameters), default=0)
    lines = [f"/* {kernel.name}"]
    lines += [f" *   {each.name:{width}}  {_meaning(each)}" for each in kernel.parameters]
    lines.append(
        " * Returns 0" + (", or the number of the check that failed:" if kernel.check_sites else ".")
    )
    for number, site in enumerate(kernel.check_sites, 1):
        lines.append(f" *   {number}  {site.file}:{site.line}: {site.message}")
    return (
        "\n".join(line.replace("*/", "* /") if index else line for index, line in enumerate(lines)) + "\n */"
    )


def _meaning(parameter: ParameterDescription) -> str:
    if parameter.kind == "size":
        return "a size of the arrays, in elements"
    if parameter.kind == "scalar":
        return "a number"
    shape = ", ".join(map(str, parameter.shape))
    layout = "contiguous" if parameter.layout == "contiguous" else "with strides in elements"
    return f"[{shape}], {'read and written' if parameter.written else 'read'}, {layout}"
