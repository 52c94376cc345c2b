# SPDX-License-Identifier: Apache-2.0
"""One kernel for arguments of given types: through the front end, then through the passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyasc.frontend.compile import (
    MAPPED_SIZE,
    Constexpr,
    FrontendResult,
    ParamType,
    Weak,
    compile_function,
    compile_mapped,
)
from pyasc.frontend.dependencies import Dependency
from pyasc.frontend.signature import NO_DEFAULT, ArrayKind, Parameter, ScalarKind, Signature
from pyasc.frontend.visitor import CompileOptions
from pyasc.ir.record import changed
from pyasc.ir.sizes import Dim, SizeExpr, size
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.pipelines import watching
from pyasc.runtime.abi import REQUIRED, KernelABI, PythonParam, abi_of, with_symbol
from pyasc.runtime.arguments import ArgumentType, ArrayType, ConstantType, NumberType, WeakType
from pyasc.runtime.compiler import LoweredKernel, legalise_symbol, lower
from pyasc.runtime.fix_sizes import fix_sizes
from pyasc.runtime.host import vectors
from pyasc.runtime.options import KernelOptions

if TYPE_CHECKING:
    from pathlib import Path

    from pyasc.ir.diagnostics import Diagnostic
    from pyasc.ir.dialects.func import Func, Module
    from pyasc.passes.base import Context, Remark
    from pyasc.passes.pipeline_parser import Options
    from pyasc.runtime.kernel import Kernel, Same, Sizes, Types

_CONSTANT_MODULES = ("pyasc.", "numpy.", "math.")
"""Attributes of these modules are taken as constant: nobody rebinds `math.pi` or `asc.exp`."""


@dataclass
class Specialisation:
    """A kernel at the py level for arguments of `types`, with what it was made from besides them.

    `fixed` names the sizes that are numbers in it, `known` are those that were from the start, and `same`
    the parameters that are the array of an earlier one. `lowered` may be
    called once: passes work in place.
    """

    types: Types
    abi: KernelABI
    result: FrontendResult
    file: str
    options: KernelOptions
    remarks: tuple[Remark, ...] = ()
    fixed: frozenset[str] = frozenset()
    known: Sizes = ()
    same: Same = ()
    _module: Module | None = field(default=None)

    def __post_init__(self) -> None:
        self._module = self.result.module

    def fresh(self) -> bool:
        """Whether the globals, closure values and sources that were read are what they were."""
        return self.result.dependencies.still_valid()

    def lowered(
        self,
        pipeline: str = "cpu",
        *,
        soc: str | None = None,
        symbol: str | None = None,
        dump: Path | None = None,
    ) -> LoweredKernel:
        """Through the pipeline of a name, for a SoC (the default one) where it gets to tiles.

        The kernel gets another symbol if one is given; stages go to `dump`, as in `compiler.lower`. Raises
        RuntimeError at a second call.
        """
        if self._module is None:
            raise RuntimeError(f"{self.abi.name} has been lowered already")
        module, self._module = self._module, None
        if symbol is not None and symbol != self.abi.symbol:
            module.functions[0].attrs["symbol"] = symbol
            self.abi = with_symbol(self.abi, symbol)
        options = self.options.of_passes
        options["raise-loops"]["strict"] = self.result.strict
        size, registers = vectors()
        options["schedule-cpu"] = {"vector_bytes": size, "registers": registers}
        if soc is not None:
            options["lower-to-tiles"]["soc"] = soc
        if self.options.debug and pipeline == "ascend":
            module, found = _lowered_with_races_watched(module, bool(self.options.watch), options, dump)
        else:
            debug = self.options.debug and pipeline == "cpu"
            found = lower(module, "debug" if debug else pipeline, options, dump)
        self.remarks = (*map(_of_front_end, self.result.remarks), *found.remarks)
        watched = tuple((each.read, each.value) for each in self.result.dependencies if not _constant(each))
        return LoweredKernel(
            self.abi, module, self.file, self.remarks, self.options.debug, watched, tuple(found.covered)
        )


def _lowered_with_races_watched(
    module: Module, floats: bool, options: Options, dump: Path | None
) -> tuple[Module, Context]:
    """A module lowered to Ascend C calls with its parallel loops watched, or without where the target cannot have that.

    Its floats are watched too where that is asked for.
    """
    from pyasc.ir.diagnostics import ResourceError, UnsupportedError
    from pyasc.passes.base import Remark

    plain = module.clone()
    assert isinstance(plain, type(module))
    try:
        return module, lower(module, watching(floats, races=True), options, dump)
    except (UnsupportedError, ResourceError) as error:
        message = f"parallel loops are not watched for races: {error.diagnostics[0].message}"
        remark = Remark("watch-races", error.diagnostics[0].loc, message, "debug it with asc.device('cpu')")
        found = lower(plain, watching(floats, races=False), options, dump)
        found.remarks.insert(0, remark)
        return plain, found


def _of_front_end(remark: Diagnostic) -> Remark:
    from pyasc.passes.base import Remark

    return Remark("precision", remark.loc, remark.message, remark.hint)


def _constant(dependency: Dependency) -> bool:
    return dependency.kind == "attribute" and dependency.path.startswith(_CONSTANT_MODULES)


def specialise(
    kernel: Kernel, types: Types, sizes: Mapping[str, int], known: Sizes = (), same: Same = ()
) -> Specialisation:
    """The front end's part: `sizes` become numbers in its result, `known` ones are numbers from the start.

    Each of the parameters in `same` is the array of an earlier one.
    Raises CompileError with everything that is wrong with the kernel.
    """
    signature, source = kernel.signature, kernel.source_code
    mapped = signature.mapped and any(isinstance(each, ArrayType) for each in types)
    compile_ = compile_mapped if mapped else compile_function
    result = compile_(source, signature, param_types(signature, types), _options(kernel, known, same))
    (func,) = (each for each in result.module.functions if each.kernel)
    legalise_symbol(func)
    fixed = fix_sizes(func, sizes)
    abi = changed(_abi(kernel, func, signature, types, result.container), assumptions=result.assumptions)
    return Specialisation(
        types, abi, result, source.file, kernel.options, fixed=fixed, known=known, same=same
    )


def _options(kernel: Kernel, known: Sizes, same: Same) -> CompileOptions:
    chosen = kernel.options
    return CompileOptions(
        chosen.debug, chosen.unchecked, chosen.precision, chosen.name, chosen.tolerance, known, same
    )


def param_types(signature: Signature, types: Types) -> dict[str, ParamType]:
    """The type in the IR of each parameter."""
    taken = set(_declared_sizes(signature))
    pairs = zip(signature.parameters, types, strict=True)
    return {param.name: _param_type(param, type_, taken) for param, type_ in pairs}


def _param_type(param: Parameter, type_: ArgumentType, taken: set[str]) -> ParamType:
    match type_:
        case ArrayType(dtype=dtype) if isinstance(param.kind, ScalarKind):
            return RefType((size(MAPPED_SIZE),), dtype)
        case ArrayType(dtype=dtype, rank=rank):
            return RefType(_shape(param, rank, taken), dtype)
        case NumberType(dtype=dtype):
            return ScalarType(dtype)
        case WeakType(name=name):
            return Weak(name)
        case ConstantType(value=value):
            return Constexpr(value)


def _shape(param: Parameter, rank: int, taken: set[str]) -> tuple[Dim, ...]:
    """The declared sizes, with names for the leading ones, or for all of an array that declares none."""
    dims = param.kind.dims if isinstance(param.kind, ArrayKind) else ()
    leading = [size(_fresh(f"{param.name}_size{axis}", taken)) for axis in range(rank - len(dims))]
    return (*leading, *dims)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _declared_sizes(signature: Signature) -> Iterator[str]:
    for kind in (*(p.kind for p in signature.parameters), *(signature.returns or ())):
        for dim in kind.dims if isinstance(kind, ArrayKind) else ():
            if isinstance(dim, SizeExpr):
                yield from dim.names


def _abi(kernel: Kernel, func: Func, signature: Signature, types: Types, container: str) -> KernelABI:
    pairs = list(zip(signature.parameters, types, strict=True))
    weak = {param.name: type_.name for param, type_ in pairs if isinstance(type_, WeakType)}
    exact = {p.name for p, t in pairs if isinstance(t, NumberType) and not isinstance(p.kind, ScalarKind)}
    python = [_python_param(param, type_) for param, type_ in pairs]
    return abi_of(func, python, weak, container, kernel.__name__, exact)


def _python_param(param: Parameter, type_: ArgumentType) -> PythonParam:
    default: Any = REQUIRED if param.default is NO_DEFAULT else param.default
    constant = isinstance(type_, ConstantType)
    value = type_.value if isinstance(type_, ConstantType) else None
    return PythonParam(param.name, default, param.keyword_only, param.positional_only, constant, value)
