# SPDX-License-Identifier: Apache-2.0
"""The `model` device: the Ascend C of a kernel, on pyasc's own model of a core, with its checks on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyasc import knobs
from pyasc.passes.analysis.ascend_scalar import FAULT_WORDS
from pyasc.passes.analysis.phases import FAULT
from pyasc.passes.analysis.soc import DEFAULT_SOC
from pyasc.runtime.faults import Faults
from pyasc.runtime.files import write_atomically
from pyasc.runtime.toolchain import BuildError, ToolchainError, default_toolchain

if TYPE_CHECKING:
    import numpy as np

    from pyasc.model.build import BuiltKernel
    from pyasc.model.driver import Finding
    from pyasc.model.memory import Argument, GlobalMemory
    from pyasc.passes.analysis.covered import Covered
    from pyasc.runtime.ascend import AscendKernel, Parameter, PhaseLaunch
    from pyasc.runtime.compiler import LoweredKernel
    from pyasc.runtime.launcher import Launcher

    _Part = tuple[Covered, tuple[slice, ...]]


class ModelFindings(RuntimeError):
    """The hardware would refuse what a kernel did, or do something else; `findings` lists what."""

    def __init__(self, kernel: str, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        lines = "\n".join(f"  {finding}" for finding in findings)
        super().__init__(f"the model found {len(findings)} mistake(s) in kernel `{kernel}`:\n{lines}")


@dataclass(eq=False)
class ModelDevice:
    """The model of an Ascend core. Kernels that are compiled for it while `check` is off run without its checks."""

    name: str = "model"
    pipeline: str = "ascend"
    check: bool = field(default_factory=lambda: knobs.read().model_check)
    soc: str = DEFAULT_SOC

    def unavailable(self) -> str:
        """Empty, or that there is no C++ compiler."""
        try:
            default_toolchain()
        except ToolchainError as error:
            return str(error)
        return ""

    def build(self, kernels: Sequence[LoweredKernel]) -> list[Launcher]:
        """Emit Ascend C and compile it for the model, each kernel as a file of its own. Raises BuildError."""
        return [launcher_of(kernel, build_runner(kernel, self.check)) for kernel in kernels]


def build_runner(kernel: LoweredKernel, check: bool = True) -> ModelRunner:
    """What runs the phases of one kernel, compiled."""
    from pyasc.runtime.ascend import ascend_kernel

    made = ascend_kernel(kernel, line_comments=True)
    # A kernel that only checks its arguments has nothing for the cores to do.
    return ModelRunner(
        made, build_text(made.file.text, made.abi.symbol) if made.phases else None, check=check
    )


def launcher_of(kernel: LoweredKernel, runner: ModelRunner) -> Launcher:
    """A launcher that checks arguments as that of the cpu does, and then calls the runner."""
    from pyasc.runtime.launcher import Entry, make_launcher

    faults = Faults(kernel.abi.name, ())
    return make_launcher(kernel.abi, Entry(runner, runner, faults.fail, False, kernel.watched))


def predicted_seconds(kernel: LoweredKernel, arguments: Mapping[str, Any]) -> float:
    """The predicted time of all phases of a launch, which is made on copies of the arrays."""
    from pyasc.runtime.prepare import prepare

    runner = build_runner(kernel)
    prepared = prepare(kernel.abi, arguments)
    copies = {
        name: each.copy() if hasattr(each, "dtype") else each for name, each in prepared.arguments.items()
    }
    launcher_of(kernel, runner).by_name(copies)
    return runner.predicted_us * 1e-6


def build_text(text: str, name: str) -> BuiltKernel:
    """Compile Ascend C text for the model, or find it built. Raises BuildError."""
    folder = model_cache()
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    source = folder / "sources" / f"{name}-{digest}.cpp"
    if not source.exists():
        source.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(source, text)
    return build_file(source)


def build_file(source: Path) -> BuiltKernel:
    """Compile an Ascend C file for the model. Raises BuildError."""
    from pyasc.model.build import BuildError as ModelBuildError
    from pyasc.model.build import argv_compiler, build_kernel

    toolchain = default_toolchain()
    try:
        return build_kernel(source, model_cache(), argv_compiler(toolchain.library_argv), toolchain.identity)
    except ModelBuildError as error:
        raise BuildError(
            "the Ascend C does not compile for the model", toolchain.library_argv, str(error), source
        ) from None


def model_cache() -> Path:
    """Where the model's library and kernels built for it are kept."""
    from pyasc.runtime.cache import default_cache

    return default_cache().root / "model"


@dataclass
class ModelRunner:
    """Runs the phases of a kernel. It is called as the C function of a kernel would be: addresses, numbers, sizes.

    A phase that takes longer than `limit_seconds` of real time is given up with a finding (0: never).
    """

    kernel: AscendKernel
    built: BuiltKernel | None
    soc: str = "Ascend910B1"
    check: bool = True
    limit_seconds: float = 0.0
    predicted_us: float = 0.0

    def __call__(self, *values: Any) -> int:
        """Run all phases; raises ModelFindings when the model has something to complain about."""
        from pyasc.runtime.ascend import arrays_at, split_arguments

        addresses, scalars, sizes = split_arguments(self.kernel.abi, values)
        arrays = arrays_at(self.kernel.abi, addresses, sizes)
        results = {param.name for param in self.kernel.abi.returned}
        memory = _Memory(arrays, results, sizes, shared=not self.check)
        if self.check:
            memory.expect(self.kernel.covered, {**scalars, **sizes})
        self.predicted_us = 0.0
        for launch in self.kernel.launches(scalars, sizes):
            self._phase(launch, memory, sizes)
        memory.finish(self.kernel.abi.name, self.check)
        return 0

    def _phase(self, launch: PhaseLaunch, memory: _Memory, sizes: Mapping[str, int]) -> None:
        import numpy as np

        from pyasc.model.driver import Scalar, run

        assert self.built is not None
        phase = launch.phase
        arguments: list[Argument] = [
            memory.of(param) if param.array else Scalar(param.passed(launch.scalars[param.name]))
            for param in phase.parameters
        ]
        arguments += [Scalar(np.int64(sizes[name])) for name in phase.sizes]
        result = run(
            self.built,
            arguments,
            entry=phase.entry,
            blocks=launch.blocks,
            soc=self.soc,
            check=self.check,
            seconds=self.limit_seconds,
            # As `bisheng` is told to build them: a kernel writes its scalar results back itself.
            flushed=False,
        )
        if result.printed:
            print(result.printed, end="")
        if result.findings:
            raise ModelFindings(self.kernel.abi.name, result.findings)
        if any(param.name == FAULT for param in phase.parameters):
            fault = memory.held[FAULT].array(np.int64, (FAULT_WORDS,)).tolist()
            if fault[0]:
                self.kernel.fail(phase, fault)
        self.predicted_us += result.predicted_us


@dataclass
class _Memory:
    """The global memory of one launch, through all of its phases: arguments, results and workspaces by name.

    The caller's arrays are copied when a phase first uses them, and written when all phases are done; with `shared`,
    phases use them as they are.
    """

    arrays: Mapping[str, np.ndarray]
    results: set[str]
    sizes: Mapping[str, int]
    shared: bool = False
    held: dict[str, GlobalMemory] = field(default_factory=lambda: dict[str, "GlobalMemory"]())
    written: set[str] = field(default_factory=lambda: set[str]())
    covered: dict[str, list[_Part]] = field(default_factory=lambda: dict[str, list["_Part"]]())

    def expect(self, covered: Sequence[Covered], numbers: Mapping[str, Any]) -> None:
        """Have the phases write what the compiler says that every launch writes."""
        for box in covered:
            part = box.at(numbers, self.arrays[box.param].shape)
            if part is not None:
                self.covered.setdefault(box.param, []).append((box, part))

    def of(self, param: Parameter) -> GlobalMemory:
        """The memory behind a parameter, which a phase may write if it says so."""
        if param.name not in self.held:
            self.held[param.name] = self._made(param)
        memory = self.held[param.name]
        memory.writable = param.written
        if param.written and param.name in self.arrays:
            self.written.add(param.name)
        return memory

    def _made(self, param: Parameter) -> GlobalMemory:
        import numpy as np

        from pyasc.model.memory import GlobalMemory
        from pyasc.runtime.ascend import workspace_shape

        if param.name == FAULT:
            return GlobalMemory.holding(np.zeros(FAULT_WORDS, np.int64), FAULT)
        if param.name in self.arrays and self.shared:
            return GlobalMemory.over(self.arrays[param.name], param.name)
        if param.name in self.arrays and param.name not in self.results:
            return self._argument(param.name)
        shape = workspace_shape(param, self.sizes)
        return GlobalMemory(int(np.prod(shape)) * param.dtype.bytes, param.name)

    def _argument(self, name: str) -> GlobalMemory:
        """A copy of an argument, some of which the phases have to write."""
        from pyasc.model.memory import GlobalMemory

        array = self.arrays[name]
        memory = GlobalMemory.holding(array, name)
        for _, part in self.covered.get(name, ()):
            memory.expect(part, array.shape, array.itemsize)
        return memory

    def finish(self, kernel: str, check: bool) -> None:
        """Give the caller what was written. Raises ModelFindings for elements that a phase should have written."""
        from pyasc.model.driver import unwritten

        findings: list[Finding] = []
        for name in dict.fromkeys((*self.results, *self.covered)) if check else ():
            array = self.arrays[name]
            memory = self.held.get(name) or self._unused(name)
            findings += unwritten(memory, array, partial(self._line, name))
        if findings:
            raise ModelFindings(kernel, findings)
        for name in () if self.shared else self.written:
            array = self.arrays[name]
            array[...] = self.held[name].array(array.dtype, array.shape)

    def _unused(self, name: str) -> GlobalMemory:
        """The memory of an array that no phase has used."""
        from pyasc.model.memory import GlobalMemory

        return GlobalMemory(self.arrays[name].nbytes, name) if name in self.results else self._argument(name)

    def _line(self, name: str, index: Sequence[int]) -> str:
        """The line of Python that writes an element in every launch."""
        for box, part in self.covered.get(name, ()):
            if all(each.start <= place < each.stop for each, place in zip(part, index, strict=True)):
                return f"{Path(box.loc.file).name}:{box.loc.line}" if box.loc.known else ""
        return ""
