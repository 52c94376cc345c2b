# SPDX-License-Identifier: Apache-2.0
"""Many kernels compiled as one unit, at any level of optimisation and beside the cache of the user."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.ir.diagnostics import CompileError
from pyasc.ir.dialects.func import Module
from pyasc.ir.interpreter import interpret
from pyasc.ir.numbers_half import carrier
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import RefType
from pyasc.model.build import BuiltKernel, argv_compiler, build_kernel
from pyasc.runtime.ascend import AscendKernel, ascend_kernel
from pyasc.runtime.build import BuildOptions, build_shared
from pyasc.runtime.compiler import LoweredKernel, emit
from pyasc.runtime.cpu import entry_of
from pyasc.runtime.device import get_device
from pyasc.runtime.kernel import Kernel, Sizes, Types
from pyasc.runtime.launcher import Launcher, make_launcher
from pyasc.runtime.model import ModelRunner, launcher_of
from pyasc.runtime.specialise import Specialisation
from pyasc.runtime.threads import load_kernel_library
from pyasc.runtime.toolchain import default_toolchain


@dataclass(frozen=True)
class Level:
    """How far a unit is optimised: by our passes, and by the C++ compiler."""

    name: str
    pipeline: str
    opt_level: int


LEVELS = {
    each.name: each
    for each in (Level("O0", "O0", 0), Level("O1", "cpu", 1), Level("O2", "cpu", 2), Level("O3", "cpu", 3))
}

Request = tuple[Kernel, Types]
Failures = dict[int, Exception]


def build_unit(requests: Sequence[Request], level: Level) -> Failures:
    """Compile kernels together for the `cpu` device, so that calling them runs this build.

    The result has the error of each kernel, by position, that could not be lowered or compiled.
    """
    failures: Failures = {}
    ready: list[tuple[int, Specialisation, LoweredKernel]] = []
    for number, (kernel, types) in enumerate(requests):
        try:
            made = kernel.specialise(types)
            ready.append((number, made, made.lowered(level.pipeline, symbol=f"k{number}")))
        except Exception as error:
            failures[number] = error
    _compile(requests, ready, level, failures)
    return failures


def _compile(
    requests: Sequence[Request],
    ready: Sequence[tuple[int, Specialisation, LoweredKernel]],
    level: Level,
    failures: Failures,
) -> None:
    """One unit; where that fails, halves of it, down to the kernel that is to blame."""
    if not ready:
        return
    try:
        launchers = _launchers([lowered for _, _, lowered in ready], level)
    except Exception as error:
        if len(ready) == 1:
            failures[ready[0][0]] = error
            return
        middle = len(ready) // 2
        _compile(requests, ready[:middle], level, failures)
        _compile(requests, ready[middle:], level, failures)
        return
    for (number, made, _), launcher in zip(ready, launchers, strict=True):
        requests[number][0].adopt(get_device("cpu"), made, launcher)


def _launchers(kernels: Sequence[LoweredKernel], level: Level) -> list[Launcher]:
    unit = emit(kernels)
    options = BuildOptions(opt_level=level.opt_level)
    with tempfile.TemporaryDirectory(prefix="pyasc-unit-") as folder:
        path = build_shared(unit.text, Path(folder) / "unit.so", default_toolchain(), options)
        library = load_kernel_library(path)  # stays mapped when the file is gone
    return [
        make_launcher(abi, entry_of(library, abi, faults, kernel))
        for abi, faults, kernel in zip(unit.abis, unit.faults, kernels, strict=True)
    ]


def interpreted(
    kernel: Kernel, types: Types, pipeline: str = ""
) -> Callable[[Sequence[Any], dict[str, int]], list[Any]]:
    """The kernel in the reference interpreter after a pipeline (the py level by default): a function of all
    arguments and sizes that writes arrays in place and returns the results.

    As at a launch, sizes that break what the kernel assumes of them get a kernel of their own, if there is one.
    """
    general = kernel.specialise(types)
    modules: dict[Sizes, Module] = {(): _lowered(kernel, types, (), pipeline)}

    def module_for(sizes: dict[str, int]) -> Module:
        known = () if general.abi.assumptions.hold(sizes) else tuple(sizes.items())
        if known not in modules:
            modules[known] = _lowered(kernel, types, known, pipeline)
        return modules[known]

    def run(args: Sequence[Any], sizes: dict[str, int]) -> list[Any]:
        module = module_for(sizes)
        (func,) = (each for each in module.functions if each.kernel)
        outputs = [_output(func.params[k].type, sizes) for k in func.outputs]
        with np.errstate(all="ignore"):
            interpret(module, func.symbol, [*args, *outputs], sizes, emit=lambda _: None)
        return outputs

    return run


def _lowered(kernel: Kernel, types: Types, known: Sizes, pipeline: str) -> Module:
    try:
        made = kernel.specialise(types, known=known)
    except CompileError:
        made = kernel.specialise(types)
    return made.lowered(pipeline).module if pipeline else made.result.module


def _output(type_: Any, sizes: dict[str, int]) -> np.ndarray[Any, Any]:
    assert isinstance(type_, RefType)
    shape = [dim.evaluate(sizes) if isinstance(dim, SizeExpr) else dim or 0 for dim in type_.shape]
    return np.zeros(shape, carrier(type_.dtype))


def build_model_unit(requests: Sequence[Request], cache: Path) -> Failures:
    """Compile kernels together for the `model` device; the result is as that of `build_unit`."""
    failures: Failures = {}
    ready: list[tuple[int, Specialisation, LoweredKernel, AscendKernel]] = []
    for number, (kernel, types) in enumerate(requests):
        try:
            made = kernel.specialise(types)
            lowered = made.lowered("ascend", symbol=f"k{number}")
            ready.append((number, made, lowered, ascend_kernel(lowered, line_comments=True)))
        except Exception as error:
            failures[number] = error
    built = _model_library([ascend for *_, ascend in ready], cache) if ready else None
    for number, made, lowered, ascend in ready:
        assert built is not None
        launcher = launcher_of(lowered, ModelRunner(ascend, built))
        requests[number][0].adopt(get_device("model"), made, launcher)
    return failures


def _model_library(kernels: Sequence[AscendKernel], cache: Path) -> BuiltKernel:
    """One file for all, each kernel in a namespace of its own."""
    include = '#include "kernel_operator.h"'
    parts = [include]
    for kernel in kernels:
        space = f"unit_{kernel.abi.symbol}"
        uses = "".join(f"using {space}::{entry};\n" for entry in kernel.file.entries)
        parts.append(f"namespace {space} {{\n{kernel.file.text.replace(include, '')}\n}}\n{uses}")
    if not any(kernel.file.entries for kernel in kernels):
        # Kernels that do nothing have no entries, and a library has one.
        parts.append('extern "C" __global__ __aicore__ void nothing() {}')
    with tempfile.TemporaryDirectory(prefix="pyasc-unit-") as folder:
        source = Path(folder) / "unit.cpp"
        source.write_text("\n".join(parts), encoding="utf-8")
        toolchain = default_toolchain()
        built = build_kernel(
            source,
            cache,
            argv_compiler(toolchain.library_argv),
            toolchain.identity,
            ["-O1"],
        )
        return built
