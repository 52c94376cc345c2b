# SPDX-License-Identifier: Apache-2.0
"""From a kernel in the py level of the IR to the text of a C++ unit, with every stage to look at on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyasc import knobs
from pyasc.ir.record import Record
from pyasc.passes.base import Context, Remark, run_passes
from pyasc.passes.instrument import Instrument
from pyasc.passes.pipeline_parser import Options, parse_pipeline
from pyasc.passes.pipelines import PIPELINES
from pyasc.runtime.abi import KernelABI
from pyasc.runtime.collection import collection_paused
from pyasc.runtime.faults import Faults, Site
from pyasc.runtime.files import write_atomically

if TYPE_CHECKING:
    from pyasc.codegen.cpp.emitter import EmittedKernel, EmittedUnit
    from pyasc.ir.dialects.func import Func, Module
    from pyasc.passes.analysis.covered import Covered

PIPELINE_BY_LEVEL = {0: "O0", 1: "cpu", 2: "cpu", 3: "cpu"}
"""The pipeline for each `-O` level."""

LEVELS = {"py": ""} | {name: name for name in ("loop", "structured", "cpu") if name in PIPELINES}
"""From the name of a level that can be shown to the pipeline that ends there."""


Watched = tuple[Callable[[], Any], Any]
"""What reads a value from outside the kernel, and the value that the kernel was compiled for."""


@dataclass(frozen=True)
class LoweredKernel:
    """A kernel at the loop level, ready to be emitted: its C interface, its IR, what the passes said.

    A launch has to find all that is `watched` unchanged. What is `covered` is found on the way to an Ascend core.
    """

    abi: KernelABI
    module: Module
    file: str
    remarks: tuple[Remark, ...] = ()
    line_comments: bool = False
    watched: tuple[Watched, ...] = ()
    covered: tuple[Covered, ...] = ()


class Unit(Record):
    """The C++ text of some kernels, with the interface and the check sites of each, in order."""

    text: str
    abis: tuple[KernelABI, ...]
    faults: tuple[Faults, ...]
    prints: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]


def lower(
    module: Module, pipeline: str = "cpu", options: Options | None = None, dump: Path | None = None
) -> Context:
    """Run the passes of a pipeline over `module` in place; what they counted and remarked.

    `options` are those of passes, by the name of the pass. Every stage is written to a directory of its own in
    `dump` (PYASC_DUMP by default). With PYASC_VERIFY, the IR is verified after every pass.
    """
    settings = knobs.read()
    root = dump or settings.dump
    if root is None and not settings.verify:
        return run_passes(module, parse_pipeline(pipeline, options))
    directory = None if root is None else dump_directory(root, module)
    if directory is not None:
        dump_stage(directory, "00-py.ir", f"{module}\n")
    hook = Instrument(verify=settings.verify, dump=directory, first_number=1)
    return run_passes(module, parse_pipeline(pipeline, options), hook)


def dump_directory(root: Path, module: Module) -> Path:
    """The directory of the stages of a module, named after its first kernel."""
    name = next((func.symbol for func in module.functions if func.kernel), "module")
    return root / name


def dump_stage(directory: Path, name: str, text: str) -> None:
    """Write one stage to read, or to edit and feed to `pyasc opt` and `pyasc compile`."""
    directory.mkdir(parents=True, exist_ok=True)
    write_atomically(directory / name, text)


def legalise_symbol(function: Func) -> str:
    """Give the function a symbol that C++ takes (`double_` for `double`), and return the one it had."""
    from pyasc.codegen.names import entry_name

    name = function.symbol
    function.attrs["symbol"] = entry_name(name)
    return name


def module_of(functions: Iterable[Func]) -> Module:
    """A module of these functions, which leave the modules they were in."""
    from pyasc.ir.core import block_of
    from pyasc.ir.dialects.func import Module

    module = Module(body=block_of())
    for function in functions:
        function.attach(module.body.block)
    return module


def cloned(function: Func) -> Func:
    """A copy that belongs to no module."""
    from pyasc.ir.dialects.func import Func

    copy = function.clone()
    assert isinstance(copy, Func)
    return copy


@collection_paused()
def emit(kernels: Sequence[LoweredKernel]) -> Unit:
    """One C++ unit for all kernels. Their symbols have to differ."""
    from pyasc.codegen.cpp.emitter import emit_cpp
    from pyasc.codegen.cpp.lower import EmitOptions

    files = list(dict.fromkeys(Path(kernel.file).name for kernel in kernels))
    options = EmitOptions(line_comments=any(kernel.line_comments for kernel in kernels))
    emitted = emit_cpp([kernel.module for kernel in kernels], ", ".join(files), options)
    _dump_source(kernels, emitted)
    described = {each.symbol: each for each in emitted.kernels}
    ours = [described[kernel.abi.symbol] for kernel in kernels]
    return Unit(
        emitted.text,
        tuple(kernel.abi for kernel in kernels),
        tuple(map(_faults, kernels, ours)),
        tuple(each.prints for each in ours),
    )


def _faults(kernel: LoweredKernel, emitted: EmittedKernel) -> Faults:
    # The loops of a debug build all run on the calling thread.
    core = 0 if kernel.line_comments else None
    return Faults(kernel.abi.name, tuple(Site(s.error, s.message, s.loc) for s in emitted.sites), core)


def _dump_source(kernels: Iterable[LoweredKernel], emitted: EmittedUnit) -> None:
    root = knobs.read().dump
    if root is not None:
        for kernel in kernels:
            dump_stage(root / kernel.abi.symbol, "99-kernel.cpp", emitted.text)
