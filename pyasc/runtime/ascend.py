# SPDX-License-Identifier: Apache-2.0
"""A kernel as Ascend C and how to launch it: its phases in order, the buffers between them, the cores of each."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyasc.codegen.ascendc.emitter import EmittedFile, emit_ascendc
from pyasc.codegen.ascendc.host import emit_host
from pyasc.codegen.ascendc.kernel import EmitOptions
from pyasc.ir import dtypes
from pyasc.ir.core import Operation
from pyasc.ir.diagnostics import LaunchError
from pyasc.ir.dialects import asc, py
from pyasc.ir.dtypes import DType
from pyasc.ir.interpreter import interpret
from pyasc.ir.sizes import lift
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.ascend_scalar import FAULT_WORDS
from pyasc.passes.analysis.phases import FAULT_SUFFIX, HOST_SUFFIX
from pyasc.runtime.abi import ArrayParam, KernelABI, ScalarParam, bfloat16_of, numpy_dtype
from pyasc.runtime.compiler import LoweredKernel
from pyasc.runtime.faults import Faults, Site
from pyasc.runtime.launcher import half_of

if TYPE_CHECKING:
    import numpy as np

    from pyasc.ir.dialects.func import Func, Module
    from pyasc.passes.analysis.covered import Covered


Cores = Literal["vector", "cube", "mixed 1:1", "mixed 1:2"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a phase: an array by name, or a number. Workspaces are arrays that the caller never sees."""

    name: str
    array: bool
    written: bool
    dtype: DType
    shape: tuple[Any, ...] = ()

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of its elements or of its number in memory (bfloat16: its bits as uint16)."""
        return numpy_dtype(self.dtype)

    def passed(self, number: Any) -> Any:
        """A number as the entry takes it, as a NumPy scalar."""
        if self.dtype is dtypes.bf16:
            number = half_of(number, dtypes.bf16).bits
        return self.numpy_dtype.type(number)


@dataclass(frozen=True)
class Phase:
    """What can be launched: its entry and its parameters in order; sizes follow them.

    `cores` says which cores run it: vector, cube, or both, and then how many of each a block has.
    """

    entry: str
    parameters: tuple[Parameter, ...]
    sizes: tuple[str, ...]
    cores: Cores = "vector"

    def named(self, numbers: Sequence[Any]) -> dict[str, Any]:
        """The scalars of a launch by name."""
        names = [each.name for each in self.parameters if not each.array]
        return dict(zip(names, numbers, strict=True))


@dataclass(frozen=True)
class PhaseLaunch:
    """A phase on a number of cores, and its scalars by name."""

    phase: Phase
    blocks: int
    scalars: Mapping[str, Any]


@dataclass(frozen=True)
class LaunchPlan:
    """What a launch needs to know of a kernel: its interface, its phases, and the functions that the host runs."""

    abi: KernelABI
    module: Module
    phases: tuple[Phase, ...]

    def launches(self, scalars: Mapping[str, Any], sizes: Mapping[str, int]) -> list[PhaseLaunch]:
        """The launches in order. Raises what the kernel's own checks of sizes and scalars raise."""
        host = self.module.function(self.abi.symbol + HOST_SUFFIX)
        phases = {phase.entry: phase for phase in self.phases}
        made: list[PhaseLaunch] = []

        def launch(entry: str, blocks: int, numbers: list[Any]) -> None:
            if blocks:
                made.append(PhaseLaunch(phases[entry], blocks, phases[entry].named(numbers)))

        given = [scalars[p.name] for p in host.params]
        interpret(self.module, host.symbol, given, dict(sizes), launch=launch, failed=self._raise)
        return made

    def fail(self, phase: Phase, fault: Sequence[int]) -> None:
        """Raise what the check that a phase reports stands for: its number, the values, then the core."""
        function = self.module.function(f"{phase.entry}{FAULT_SUFFIX}{fault[0]}")
        check = next(op for op in function.body.block if isinstance(op, py.Check))
        types = [dtype_of(param.type) for param in function.params]
        values = [_reported(int(word), dtype) for word, dtype in zip(fault[1:], types, strict=False)]
        self._raise(check, values, int(fault[FAULT_WORDS - 1]))

    def _raise(self, check: Operation, values: list[Any], core: int | None = None) -> None:
        assert isinstance(check, py.Check)
        Faults(self.abi.name, (Site(check.error, check.message, check.loc),), core).fail(1, values)


def _reported(word: int, dtype: dtypes.DType) -> float:
    """A value in the record of a failure: an int, or a float by its bits in float32."""
    return struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0] if dtype.is_float else word


@dataclass(frozen=True)
class AscendKernel(LaunchPlan):
    """A kernel lowered to the ascend level, from `python_file`. Each launch writes all that is `covered`."""

    file: EmittedFile
    python_file: str = ""
    covered: tuple[Covered, ...] = ()

    @property
    def host(self) -> str:
        """The C++ of the function that checks sizes and scalars and makes the launches in order."""
        function = self.module.function(self.abi.symbol + HOST_SUFFIX)
        return emit_host(function, self.abi.symbol, self.file.entries)


def ascend_kernel(kernel: LoweredKernel, line_comments: bool = False) -> AscendKernel:
    """The text of a kernel that went through the `ascend` pipeline, and what its launch needs to know."""
    title = text_title(kernel.abi, kernel.file)
    file = emit_ascendc(kernel.module, title, EmitOptions(line_comments))
    phases = tuple(_phase(func) for func in kernel.module.functions if func.kernel)
    return AscendKernel(kernel.abi, kernel.module, phases, file, kernel.file, kernel.covered)


def text_title(abi: KernelABI, python_file: str) -> str:
    """The first line of an emitted file."""
    return f"{abi.name}, generated by pyasc from {Path(python_file).name}"


def _phase(func: Func) -> Phase:
    parameters: list[Parameter] = []
    for number, param in enumerate(func.params):
        dtype = dtype_of(param.type)
        if isinstance(param.type, ScalarType):
            parameters.append(Parameter(param.name, False, False, dtype))
        else:
            assert isinstance(param.type, RefType)
            parameters.append(Parameter(param.name, True, number in func.written, dtype, param.type.shape))
    return Phase(func.symbol, tuple(parameters), func.sizes, cores_of(func))


def cores_of(phase: Func) -> Cores:
    """Which cores a phase runs on, as its KERNEL_TASK_TYPE_DEFAULT says; vector cores if it says nothing."""
    marked = next((op.type for op in phase.body.block if isinstance(op, asc.KernelType)), "")
    if marked.endswith("_MIX_AIC_1_1"):
        return "mixed 1:1"
    if marked.endswith("_MIX_AIC_1_2"):
        return "mixed 1:2"
    return "cube" if "_AIC_" in marked else "vector"


def workspace_shape(parameter: Parameter, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a buffer between phases; a difference of sizes that is negative leaves nothing to keep."""
    return tuple(max(lift(dim).evaluate(sizes), 0) for dim in parameter.shape)


def split_arguments(
    abi: KernelABI, values: Sequence[Any]
) -> tuple[dict[str, int], dict[str, Any], dict[str, int]]:
    """The arguments of the C interface by name: addresses of arrays, numbers as Python has them, sizes."""
    addresses: dict[str, int] = {}
    scalars: dict[str, Any] = {}
    given = iter(values)
    for param in abi.params:
        value = next(given)
        if isinstance(param, ScalarParam):
            scalars[param.name] = _plain_number(value, param.dtype)
        else:
            addresses[param.name] = value
    return addresses, scalars, {name: int(next(given)) for name in abi.sizes}


def _plain_number(value: Any, dtype: DType) -> Any:
    """A number as Python has it: the launcher passes halves as their bits."""
    if not isinstance(value, ctypes.Structure):
        return value
    import numpy as np

    bits = np.array(value.bits, np.uint16)
    return bfloat16_of(bits) if dtype is dtypes.bf16 else float(bits.view(np.float16)[()])


def arrays_at(
    abi: KernelABI, addresses: Mapping[str, int], sizes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Views of the caller's memory, which the launcher has checked. Raises LaunchError for a strided parameter."""
    return {param.name: _array_at(abi, param, addresses[param.name], sizes) for param in abi.arrays}


def _array_at(abi: KernelABI, param: ArrayParam, address: int, sizes: Mapping[str, int]) -> np.ndarray:
    import numpy as np

    if param.strided:
        raise LaunchError(f"{abi.name}: `{param.name}` is strided, which the Ascend back end does not take")
    shape = tuple(e if isinstance(e, int) else e.evaluate(sizes) for e in param.shape)
    # A bool is a byte on the core, as it is here.
    dtype = np.dtype(np.uint8) if param.dtype is dtypes.i1 else numpy_dtype(param.dtype)
    count = int(np.prod(shape))
    if count == 0:
        return np.zeros(shape, dtype)
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)
