# SPDX-License-Identifier: Apache-2.0
"""Compiles a Python function to the py level, runs that in the reference interpreter, and the function beside it."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from pyasc.frontend import (
    AnyKind,
    ArrayKind,
    CompileOptions,
    Constexpr,
    ConstexprKind,
    FrontendResult,
    KernelSource,
    Parameter,
    ParamType,
    ScalarKind,
    Weak,
    compile_function,
    compile_mapped,
    parse_signature,
)
from pyasc.ir import dtypes
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.interpreter import interpret
from pyasc.ir.numbers_half import carrier
from pyasc.ir.sizes import SizeExpr, size
from pyasc.ir.types import RefType, ScalarType
from pyasc.ir.verifier import verify


def param_type(parameter: Parameter, value: Any) -> ParamType:
    """What a launcher would make of an argument."""
    match parameter.kind:
        case ArrayKind(dtype=dtype, dims=dims, leading=leading):
            lead = np.ndim(value) - len(dims) if leading else 0
            return RefType((*(size(f"{parameter.name}_{k}") for k in range(lead)), *dims), dtype)
        case ScalarKind(dtype=dtype):
            return ScalarType(dtype)
        case ConstexprKind():
            return Constexpr(value)
        case AnyKind():
            return _specialised(parameter.name, value)
        case kind:
            return Weak(kind.name)


def _specialised(name: str, value: Any) -> ParamType:
    if isinstance(value, np.ndarray):
        dims = tuple(size(f"{name}_{k}") for k in range(value.ndim))
        return RefType(dims, dtypes.BY_NUMPY[value.dtype.name])
    if isinstance(value, np.generic):
        return ScalarType(dtypes.BY_NUMPY[value.dtype.name])
    return Weak(type(value).__name__)


def lower(function: Callable[..., Any] | KernelSource, *args: Any, **options: Any) -> FrontendResult:
    """The py-level module for these arguments (annotations alone decide where none are given), verified."""
    source = function if isinstance(function, KernelSource) else KernelSource.from_function(function)
    signature = parse_signature(source)
    values = [*args, *[None] * (len(signature.parameters) - len(args))]
    param_types = {p.name: param_type(p, a) for p, a in zip(signature.parameters, values, strict=True)}
    result = compile_function(source, signature, param_types, CompileOptions(**options))
    verify(result.module)
    return result


def lower_mapped(function: Callable[..., Any]) -> FrontendResult:
    """The module of a function of scalars mapped over flat arrays."""
    source = KernelSource.from_function(function)
    signature = parse_signature(source)
    kinds = {p.name: p.kind for p in signature.parameters}
    param_types: dict[str, ParamType] = {
        name: RefType((size("n"),), kind.dtype) if isinstance(kind, ScalarKind) else Weak(str(kind))
        for name, kind in kinds.items()
    }
    result = compile_mapped(source, signature, param_types)
    verify(result.module)
    return result


def the_function(module: Module) -> Func:
    """The only function of a module."""
    (func,) = module.functions
    return func


def run(function: Callable[..., Any], *args: Any, emit: Callable[[str], None] = print, **options: Any) -> Any:
    """The result of the compiled function in the interpreter; arrays among the arguments are written in place."""
    return run_module(lower(function, *args, **options).module, args, emit)


def run_module(module: Module, args: tuple[Any, ...], emit: Callable[[str], None] = print) -> Any:
    """Run a module's function on Python arguments, compile-time ones left out."""
    func = the_function(module)
    count = len(func.params) - len(func.outputs)
    values = [a for a in args if isinstance(a, (np.ndarray, np.generic, bool, int, float))][:count]
    sizes = _sizes(func, values)
    outputs = [_output(func.params[k].type, sizes) for k in func.outputs]
    interpret(module, func.symbol, [*map(_carried, values), *outputs], sizes, emit=emit)
    results = tuple(out[()] if out.ndim == 0 else out for out in outputs)
    return results[0] if len(results) == 1 else results or None


def _carried(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _sizes(func: Func, values: list[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for param, value in zip(func.params, values, strict=False):
        if isinstance(param.type, RefType):
            for dim, extent in zip(param.type.shape, value.shape, strict=True):
                if isinstance(dim, SizeExpr) and dim.as_name is not None:
                    found.setdefault(dim.as_name, extent)
    return found


def _output(type_: Any, sizes: dict[str, int]) -> np.ndarray[Any, Any]:
    assert isinstance(type_, RefType)
    shape = [d.evaluate(sizes) if isinstance(d, SizeExpr) else d for d in type_.shape]
    return np.zeros(shape, carrier(type_.dtype))


def plain(function: Callable[..., Any], *args: Any, **sizes: int) -> Any:
    """The Python function itself, with sizes as globals."""
    bound = types.FunctionType(
        function.__code__,
        {**function.__globals__, **sizes},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    return bound(*args)


def check(function: Callable[..., Any], *args: Any, rtol: float = 0.0, **sizes: int) -> None:
    """The compiled function writes and returns what the Python function does."""
    compiled_args, python_args = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"):
        got = run(function, *compiled_args)
        want = plain(function, *python_args, **sizes)
    for a, b in zip(compiled_args, python_args, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=rtol, equal_nan=True)
    if want is None:
        assert got is None
        return
    many = isinstance(want, tuple)
    for a, b in zip(got if many else (got,), want if many else (want,), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, equal_nan=True)
