# SPDX-License-Identifier: Apache-2.0
"""From the file on the command line, Python or IR, to kernels to compile."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType, TracebackType
from typing import Any

from pyasc.cli.failures import USAGE, Failure
from pyasc.ir.diagnostics import CompileError, Diagnostic, LaunchError, compile_error
from pyasc.ir.dialects.func import Module
from pyasc.ir.parser import parse
from pyasc.ir.verifier import check, verify
from pyasc.language import dtypes as language
from pyasc.runtime import compiler
from pyasc.runtime.abi import PythonParam, abi_of, weak_kinds
from pyasc.runtime.bug_reports import reporting_bugs
from pyasc.runtime.compiler import LoweredKernel, legalise_symbol, module_of
from pyasc.runtime.kernel import Kernel

MODULE_NAME = "pyasc_kernels"
IR_SUFFIX = ".ir"


@dataclass(frozen=True)
class Request:
    """What of a file to compile, and how.

    `sizes` fixes symbolic sizes (`N=1024`), `types` says what parameters without a full annotation take
    (`x=float32[N,4]`), `constants` the values of `asc.constexpr` parameters. `soc` is what tiles are for, the
    default one if it is None; `dump` receives every stage.
    """

    file: str
    names: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    pipeline: str = "cpu"
    soc: str | None = None
    dump: Path | None = None


def lowered_kernels(request: Request) -> list[LoweredKernel]:
    """The kernels of the file through the request's pipeline. Raises Failure or CompileError."""
    if request.file.endswith(IR_SUFFIX):
        return _from_ir(request)
    return _from_python(request)


def _from_python(request: Request) -> list[LoweredKernel]:
    lowered: list[LoweredKernel] = []
    mistakes: list[Diagnostic] = []
    kernels = chosen_kernels(request)
    _check_parameters(request, kernels)
    fixed = _sizes_in_types(request)
    for kernel in kernels:
        try:
            with reporting_bugs(kernel):
                found = specialise_for(kernel, request)
                fixed |= found.fixed
                lowered.append(found.lowered(request.pipeline, soc=request.soc, dump=request.dump))
        except CompileError as error:
            mistakes += error.diagnostics
    if mistakes:
        raise compile_error(*mistakes)
    for name in request.sizes:
        if name not in fixed:
            raise Failure(f"--shape {name}: no kernel that is compiled has a size {name}", USAGE)
    _check_symbols(lowered)
    return lowered


def _check_parameters(request: Request, kernels: Sequence[Kernel]) -> None:
    """Raises Failure for a parameter on the command line that no kernel has."""
    known = {parameter.name for kernel in kernels for parameter in kernel.signature.parameters}
    for option, given in (("--type", request.types), ("--const", request.constants)):
        for name in given:
            if name not in known:
                raise Failure(f"{option} {name}: no kernel that is compiled has a parameter {name}", USAGE)


def _sizes_in_types(request: Request) -> set[str]:
    dims = (dim for type_ in request.types.values() for dim in getattr(type_, "shape", ()))
    return {name for dim in dims if isinstance(dim, language.SizeSymbol) for name in dim.expr.names}


def _fixed_sizes(request: Request) -> dict[str, int]:
    """The sizes that are numbers: those of --shape, and extents that --type gives to parameters without sizes."""
    sizes = dict(request.sizes)
    for name, type_ in request.types.items():
        for axis, dim in enumerate(getattr(type_, "shape", ())):
            known = dim if isinstance(dim, int) else request.sizes.get(str(dim.expr))
            if known is not None:
                sizes[f"{name}_size{axis}"] = known
    return sizes


def _check_symbols(lowered: Sequence[LoweredKernel]) -> None:
    """Raises Failure when two kernels would have one symbol in the object."""
    owners: dict[str, str] = {}
    for kernel in lowered:
        other = owners.setdefault(kernel.abi.symbol, kernel.abi.name)
        if other != kernel.abi.name:
            raise Failure(
                f"`{other}` and `{kernel.abi.name}` would both be called {kernel.abi.symbol} in the object; "
                "give one another name: @asc.kernel(name=...)"
            )


def specialise_for(kernel: Kernel, request: Request) -> Any:
    """The specialisation that the annotations and the command line describe. Raises Failure if they do not."""
    hints = {p.name for p in kernel.signature.parameters}
    given = {n: v for n, v in {**request.types, **request.constants}.items() if n in hints}
    try:
        types = kernel.types_of((), given)
    except LaunchError as error:
        raise Failure(
            f"{error}\nSay what the parameter takes: --type x=float32[N,4] for arrays, --const k=3 for "
            "asc.constexpr, or annotate it in the source"
        ) from None
    return kernel.specialise(types, _fixed_sizes(request))


def chosen_kernels(request: Request) -> list[Kernel]:
    """The kernels of a Python file, all or those named. Raises Failure when there is none."""
    return _chosen(request, kernels_of(run_file(request.file)))


def _chosen(request: Request, kernels: Sequence[Any]) -> list[Any]:
    by_name = {kernel.__name__: kernel for kernel in kernels}
    if not by_name:
        raise Failure(f"{request.file} defines no kernels: decorate a function with @asc.kernel")
    for name in request.names:
        if name not in by_name:
            raise Failure(f"{request.file} has no kernel {name!r}; it has {', '.join(by_name)}", USAGE)
    return [by_name[name] for name in request.names] if request.names else list(kernels)


def run_file(file: str) -> ModuleType:
    """Execute a Python file as a module of its own, with its folder importable, as Python does.

    What it prints goes to the error stream: standard output is for what pyasc was asked for.

    Raises Failure if there is no such file; an exception of the file itself passes through.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise Failure(f"cannot read {file}: {'it is a folder' if path.is_dir() else 'no such file'}")
    spec = importlib.util.spec_from_file_location(MODULE_NAME, path)
    if spec is None or spec.loader is None:
        raise Failure(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE_NAME] = module
    sys.path.insert(0, str(path.parent))
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except Exception as error:
        if isinstance(error, CompileError):
            raise
        raise Failure(f"{file} could not be executed\n{_user_traceback(error)}") from None
    except SystemExit as ended:
        raise Failure(f"{file} ends the program when it is executed: SystemExit({ended.code!r})") from None
    finally:
        sys.path.remove(str(path.parent))
        sys.modules.pop(MODULE_NAME, None)
    return module


def _user_traceback(error: Exception) -> str:
    """The traceback from the file on, without the frames that executed it."""
    frames = error.__traceback__
    while frames is not None and _is_ours(frames):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()


def _is_ours(frames: TracebackType) -> bool:
    file = frames.tb_frame.f_code.co_filename
    return file == __file__ or "importlib" in file


def kernels_of(module: ModuleType) -> list[Kernel]:
    """The kernels that a module defines (not those it imports), in the order of the source, each once.

    One that is made of no Python function, as from a text, counts as defined where a name stands for it.
    """
    found = {id(v): v for v in vars(module).values() if isinstance(v, Kernel)}
    return [
        each
        for each in found.values()
        if not isinstance(each.py_func, FunctionType) or each.__module__ == module.__name__
    ]


def _from_ir(request: Request) -> list[LoweredKernel]:
    from pyasc.cli.output import read_text

    if request.sizes or request.types or request.constants:
        raise Failure("--shape, --type and --const are for Python files: IR has its types already", USAGE)
    module = parse(read_text(request.file), request.file)
    check(module)
    options = {} if request.soc is None else {"lower-to-tiles": {"soc": request.soc}}
    remarks = (
        ()
        if is_lowered(module)
        else tuple(compiler.lower(module, request.pipeline, options, request.dump).remarks)
    )
    kernels = [IrKernel(func, legalise_symbol(func)) for func in module.functions if func.kernel]
    return [
        LoweredKernel(
            abi_of(kernel.func, kernel.signature, weak_kinds(kernel.func), name=kernel.name),
            module_of([kernel.func]),
            request.file,
            remarks,
        )
        for kernel in _chosen(request, kernels)
    ]


@dataclass(frozen=True)
class IrKernel:
    """A kernel that is given as IR."""

    func: Any
    name: str

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def signature(self) -> list[PythonParam]:
        """Its parameters, outputs left out."""
        return [PythonParam(v.name) for n, v in enumerate(self.func.params) if n not in self.func.outputs]


def is_lowered(module: Module) -> bool:
    """Whether the C++ emitter takes the module as it is: the loop level with no structured op left."""
    return not verify(module, "loop") and not any(op.name.startswith("st.") for op in module.walk())


def parse_type(text: str) -> Any:
    """The type that `float32[N,4]`, `float32` or `int` names on the command line. Raises ValueError."""
    from pyasc.ir.sizes import parse_size

    weak = {"int": int, "float": float, "bool": bool}
    name, bracket, rest = text.partition("[")
    if not bracket and name in weak:
        return weak[name]
    element = next((e for e in language.ALL if name in (e.name, e.ir.name, e.ir.numpy)), None)
    if element is None or (bracket and not rest.endswith("]")):
        raise ValueError(f"{text!r} is not a type such as float32[N,4], int32 or float")
    if not bracket:
        return element
    dims = [_dim(parse_size(part)) for part in rest[:-1].split(",") if part.strip()]
    return language.ArrayAnnotation(element, tuple(dims))


def _dim(size: Any) -> Any:
    known = size.as_constant
    return language.SizeSymbol(size) if known is None else known
