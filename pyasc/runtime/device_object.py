# SPDX-License-Identifier: Apache-2.0
"""Kernel objects for an Ascend SoC: the object of CANN's linker, with what a launch has to know inside it.

Two sections are added, neither of which a loader reads. `.pyasc.kernels` is that of objects for the processor,
where the machine is the SoC. `.pyasc.ascend` is a JSON list with, for each kernel, its phases and the IR of the
functions that the host runs: which phases to launch, and what a failed check stands for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyasc.ir import dtypes
from pyasc.ir.dialects import py
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.parser import parse
from pyasc.ir.printer import print_op
from pyasc.ir.sizes import lift, parse_size
from pyasc.passes.analysis.phases import FAULT_SUFFIX, HOST_SUFFIX
from pyasc.runtime.abi import abi_of_description, describe
from pyasc.runtime.ascend import AscendKernel, LaunchPlan, Parameter, Phase
from pyasc.runtime.bisheng import Show, build_device_object
from pyasc.runtime.cann import Cann
from pyasc.runtime.compiler import cloned, module_of
from pyasc.runtime.device_header import device_header
from pyasc.runtime.elf import ElfError, parse_elf, with_section
from pyasc.runtime.faults import Site
from pyasc.runtime.files import scratch_directory, write_bytes_atomically
from pyasc.runtime.objects import SECTION, KernelDescription, ModuleDescription, ObjectError

DEVICE_SECTION = ".pyasc.ascend"


@dataclass(frozen=True)
class DeviceObject:
    """What an object for a SoC holds: its bytes as CANN loads them, and how to launch each kernel."""

    target: str
    data: bytes
    plans: tuple[LaunchPlan, ...]


def build_described_object(
    kernels: Sequence[AscendKernel],
    target: str,
    output: Path,
    cann: Cann,
    show: Show | None = None,
    save_temps: Path | None = None,
) -> Path:
    """Compile kernels for a SoC into `output` with their description inside.

    Beside it go a header and, for each kernel, the C++ of the function that makes its launches.
    Returns the header's path. Raises as `bisheng.build_device_object`; all files are then as they were.
    """
    output = output.absolute()
    header = output.with_suffix(".h")
    with scratch_directory(output.parent, ".pyasc-") as scratch:
        built = build_device_object(kernels, scratch / output.name, cann, show, save_temps)
        data = described(built.read_bytes(), kernels, target)
    write_bytes_atomically(output, data)
    write_bytes_atomically(header, device_header(header.stem, target, kernels).encode())
    for kernel in kernels:
        part = f"_{kernel.abi.symbol}" if len(kernels) > 1 else ""
        write_bytes_atomically(output.with_name(f"{output.stem}{part}_host.cpp"), kernel.host.encode())
    return header


def described(data: bytes, kernels: Sequence[AscendKernel], target: str) -> bytes:
    """The bytes of an object with both sections. Raises ObjectError if it is no ELF file."""
    descriptions = tuple(_describe(kernel, target) for kernel in kernels)
    module = ModuleDescription(descriptions, target, ())
    try:
        data = with_section(data, SECTION, f"{module.to_json()}\n\0".encode())
        return with_section(data, DEVICE_SECTION, json.dumps([_plan(k) for k in kernels], indent=1).encode())
    except ElfError as error:
        raise ObjectError(f"the linker of CANN wrote something unexpected: {error}") from error


def _describe(kernel: LaunchPlan, target: str) -> KernelDescription:
    return replace(describe(kernel.abi, _sites(kernel.module)), target=target)


def _host_functions(module: Module) -> list[Func]:
    """What the host runs: neither entries nor the parts that mixed ones run."""
    return [f for f in module.functions if f.symbol.endswith(HOST_SUFFIX) or FAULT_SUFFIX in f.symbol]


def _sites(module: Module) -> list[Site]:
    checks = [op for f in _host_functions(module) for op in f.walk() if isinstance(op, py.Check)]
    return [Site(op.error, op.message, op.loc) for op in checks]


def _plan(kernel: LaunchPlan) -> dict[str, Any]:
    host = module_of(map(cloned, _host_functions(kernel.module)))
    return {
        "kernel": kernel.abi.name,
        "phases": [_phase(p) for p in kernel.phases],
        "host": print_op(host, True),
    }


def _phase(phase: Phase) -> dict[str, Any]:
    parameters = [
        {
            "name": each.name,
            "array": each.array,
            "written": each.written,
            "dtype": each.dtype.numpy,
            "shape": [extent if isinstance(extent, int) else str(lift(extent)) for extent in each.shape],
        }
        for each in phase.parameters
    ]
    return {"entry": phase.entry, "cores": phase.cores, "parameters": parameters, "sizes": list(phase.sizes)}


def read_device_object(path: Path) -> DeviceObject:
    """The object in a file. Raises ObjectError for a file that is none, or a damaged one, and OSError."""
    data = path.read_bytes()
    try:
        elf = parse_elf(data)
        module = ModuleDescription.from_json(_section(elf.named(SECTION)).rstrip(b"\0").decode())
        plans = json.loads(_section(elf.named(DEVICE_SECTION)).decode())
        by_name = {each.name: each for each in module.kernels}
        made = tuple(_read_plan(plan, by_name[plan["kernel"]]) for plan in plans)
        return DeviceObject(module.machine, data, made)
    except ObjectError as error:
        raise ObjectError(f"{path} is not an object for an Ascend SoC: {error}") from error
    except (ElfError, ValueError, KeyError, TypeError) as error:
        raise ObjectError(f"{path} is not an object for an Ascend SoC, or is damaged: {error}") from error


def _section(found: Any) -> bytes:
    content = next(iter(found), None)
    if content is None:
        raise ObjectError(f"it has no sections {SECTION} and {DEVICE_SECTION}")
    return content


def _read_plan(plan: Any, description: KernelDescription) -> LaunchPlan:
    phases = tuple(_read_phase(each) for each in plan["phases"])
    return LaunchPlan(abi_of_description(description), parse(plan["host"], "<object>"), phases)


def _read_phase(phase: Any) -> Phase:
    parameters = tuple(
        Parameter(
            each["name"],
            bool(each["array"]),
            bool(each["written"]),
            dtypes.BY_NUMPY[each["dtype"]],
            tuple(extent if isinstance(extent, int) else parse_size(extent) for extent in each["shape"]),
        )
        for each in phase["parameters"]
    )
    return Phase(phase["entry"], parameters, tuple(phase["sizes"]), phase["cores"])
