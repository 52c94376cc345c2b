# SPDX-License-Identifier: Apache-2.0
"""The `cpu` device: C++ from the loop level, compiled once and cached on disk, called through ctypes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyasc.ir.core import Value
from pyasc.ir.dialects.arith import Constant
from pyasc.ir.dialects.func import Module
from pyasc.ir.dialects.scf import For
from pyasc.ir.traits import PURE
from pyasc.runtime.abi import KernelABI, describe, with_symbol
from pyasc.runtime.build import BuildOptions, cached_library, environment_parts
from pyasc.runtime.cache import CacheKey, default_cache
from pyasc.runtime.compiler import LoweredKernel, Unit, emit
from pyasc.runtime.faults import Faults
from pyasc.runtime.launcher import Entry, Launcher, argument_types, make_launcher
from pyasc.runtime.loader import LoadedLibrary
from pyasc.runtime.objects import ModuleDescription, description_source
from pyasc.runtime.threads import load_kernel_library
from pyasc.runtime.toolchain import default_toolchain

PRINT = "py.print"
_SHORT_LOOP = 1 << 16
"""The largest constant trip count of a loop that counts as short."""

_SLOW = frozenset({"scf.while", PRINT})
"""Operations that may take long on little data, or call back into Python: with them the lock is released."""


@dataclass(frozen=True, eq=False)
class CpuDevice:
    """The processor of this machine."""

    name: str = "cpu"
    pipeline: str = "cpu"
    soc: None = None

    def unavailable(self) -> str:
        """Empty: whether there is a compiler shows when one is needed."""
        return ""

    def build(self, kernels: Sequence[LoweredKernel]) -> list[Launcher]:
        """Compile the kernels as one unit, unless the cache has it, and load them.

        Raises ToolchainMissing, BuildError, CacheError or LoadError.
        """
        kernels = [_with_own_symbol(kernel) for kernel in kernels]
        unit = emit(kernels)
        _receive_prints(unit)
        library = load_kernel_library(build_library(unit))
        return [
            make_launcher(abi, entry_of(library, abi, faults, kernel))
            for abi, faults, kernel in zip(unit.abis, unit.faults, kernels, strict=True)
        ]


def _with_own_symbol(kernel: LoweredKernel) -> LoweredKernel:
    """A kernel that prints gets a symbol that no other kernel of the process has: its prints go by it."""
    if not any(op.name == PRINT for op in kernel.module.walk()):
        return kernel
    digest = hashlib.sha256(str(kernel.module).encode()).hexdigest()[:8]
    symbol = f"{kernel.abi.symbol}_{digest}"
    kernel.module.function(kernel.abi.symbol).attrs["symbol"] = symbol
    return replace(kernel, abi=with_symbol(kernel.abi, symbol))


def _receive_prints(unit: Unit) -> None:
    for abi, prints in zip(unit.abis, unit.prints, strict=True):
        if prints:
            from pyasc.runtime.prints import print_receiver

            print_receiver().formats[abi.symbol] = prints


def build_library(unit: Unit, options: BuildOptions | None = None) -> Path:
    """The path of the shared library of a unit, from the cache or built now."""
    toolchain = default_toolchain()
    options = options or BuildOptions()
    source = unit.text + description_source(module_description(unit))
    name = unit.abis[0].name if len(unit.abis) == 1 else f"{unit.abis[0].name}_and_{len(unit.abis) - 1}_more"
    key = CacheKey.of(name, [("source", source), *environment_parts(toolchain, options)])
    return cached_library(key, source, default_cache(), toolchain, options).library


def module_description(unit: Unit) -> ModuleDescription:
    """What a kernel object says of its kernels."""
    kernels = [describe(abi, faults.sites) for abi, faults in zip(unit.abis, unit.faults, strict=True)]
    return ModuleDescription.for_this_machine(kernels)


def entry_of(
    library: LoadedLibrary, abi: KernelABI, faults: Faults, kernel: LoweredKernel | None = None
) -> Entry:
    """The function of one kernel in a loaded library; `kernel` is what it was made from, if that is known."""
    types = argument_types(abi)
    releasing = library.function(abi.symbol, types)
    holding = library.function(abi.symbol, types, hold_gil=True)
    if kernel is None:
        return Entry(releasing, holding, faults.fail)
    can_fail = bool(faults.sites) or any(op.name == "mem.alloc" for op in kernel.module.walk())
    quick = holding if is_quick_on_little_data(kernel.module) else releasing
    return Entry(releasing, quick, faults.fail, can_fail, kernel.watched)


def is_quick_on_little_data(module: Module) -> bool:
    """Whether the time of a launch is bounded by the sizes of its arrays, and it does not call back into Python.

    Then a launch on little data may keep the interpreter's lock.
    """
    for op in module.walk():
        if op.name in _SLOW or (
            isinstance(op, For) and not all(map(_follows_from_sizes, (op.lower, op.upper)))
        ):
            return False
    return True


def _follows_from_sizes(value: Value) -> bool:
    op = value.op
    if op is None:
        # A counter is as bounded as its loop; a parameter can be anything.
        return value.block is not None and isinstance(value.block.parent_op, For) and value.index == 0
    if isinstance(op, Constant):
        return abs(op.value) <= _SHORT_LOOP
    return op.has(PURE) and all(map(_follows_from_sizes, op.operands))
