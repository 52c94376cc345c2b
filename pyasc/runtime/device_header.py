# SPDX-License-Identifier: Apache-2.0
"""The C header beside an object for an Ascend SoC: what to launch, in which order, with which arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyasc import __version__
from pyasc.codegen.names import Names
from pyasc.runtime.ascend import AscendKernel, LaunchPlan, Parameter, Phase

_SMALLEST = 4
"""Bytes that an argument takes at least; pointers and 8-byte values stand at multiples of 8 (toolchain page, 5)."""


_LAUNCH = """\
/* Starts the kernel with number `entry` on `blocks` cores; `numbers` are its scalars, each in eight bytes, halves as
 * bits. */
typedef int32_t (*pyasc_launch)(void* context, uint32_t entry, uint32_t blocks, const uint64_t* numbers);"""


def device_header(stem: str, target: str, kernels: Sequence[AscendKernel]) -> str:
    """The text of the header called `stem`.h."""
    guard = f"PYASC_{re.sub(r'[^A-Za-z0-9]', '_', stem).upper()}_H"
    parts = [
        f"/* Kernels compiled by pyasc {__version__} for {target}: load the object with aclrtBinaryLoadFromFile. */",
        f"#ifndef {guard}\n#define {guard}",
        "#include <stdbool.h>\n#include <stdint.h>",
        _LAUNCH,
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        *(text for kernel in kernels for text in _kernel(kernel)),
        "#ifdef __cplusplus\n}\n#endif",
        "#endif",
    ]
    return "\n\n".join(parts) + "\n"


def _kernel(kernel: AscendKernel) -> Iterator[str]:
    yield _comment(kernel)
    yield host_prototype(kernel.host)
    for phase in kernel.phases:
        yield _arguments(phase)


def host_prototype(host: str) -> str:
    """The declaration of the function that a host text defines."""
    found = re.search(r'extern "C" (int32_t \w+\([^)]*\))', host)
    assert found is not None
    return f"{found[1]};"


def _comment(kernel: LaunchPlan) -> str:
    lines = [
        f"/* {kernel.abi.name}: {kernel.abi.symbol}_host launches some of these entries, each on so many blocks,",
        " * with the fields of the struct as arguments. Arrays are addresses on the device.",
    ]
    lines += [
        f" *   {number}  {phase.entry} ({phase.cores} cores)" for number, phase in enumerate(kernel.phases)
    ]
    own = {param.name for param in kernel.abi.params}
    seen: dict[str, Parameter] = {p.name: p for phase in kernel.phases for p in phase.parameters if p.array}
    for each in seen.values():
        role = "the kernel's" if each.name in own else "a workspace"
        access = "read and written" if each.written else "read"
        lines.append(
            f" *   {each.name}: {each.dtype.numpy}[{', '.join(map(str, each.shape))}], {role}, {access}"
        )
    return "\n".join([*lines, " */"])


def _arguments(phase: Phase) -> str:
    fields = (
        ["void* hardware_sync; /* what aclrtGetHardwareSyncAddr gives */"] if "mixed" in phase.cores else []
    )
    names = Names()
    fields += [line for each in phase.parameters for line in _field(each, names.fresh(each.name))]
    fields += [f"int64_t {names.fresh(size)};" for size in phase.sizes]
    body = "\n".join(f"  {line}" for line in fields)
    return f"typedef struct {phase.entry}_args {{\n{body}\n}} {phase.entry}_args;"


def _field(param: Parameter, name: str) -> list[str]:
    if param.array:
        return [f"void* {name};"]
    missing = _SMALLEST - param.dtype.bytes
    padding = [f"uint8_t {name}_padding[{missing}];"] if missing > 0 else []
    return [f"{_c_type(param)} {name};", *padding]


def _c_type(param: Parameter) -> str:
    kind, bits = param.dtype.kind, param.dtype.bits
    if kind == "f":
        return {32: "float", 64: "double"}.get(bits, f"uint{bits}_t")
    return "bool" if kind == "b" else f"{'u' if kind == 'u' else ''}int{bits}_t"
