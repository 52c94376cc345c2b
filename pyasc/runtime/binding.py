# SPDX-License-Identifier: Apache-2.0
"""From the arguments of a call to the parameters of a kernel: who gets what, and whether its type fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyasc.frontend.signature import (
    NO_DEFAULT,
    AnyKind,
    ArrayKind,
    ConstexprKind,
    Kind,
    Parameter,
    ScalarKind,
    Signature,
    WeakKind,
)
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import KernelTypeError, LaunchError
from pyasc.ir.dtypes import DType
from pyasc.language.dtypes import ArrayAnnotation, ElementType
from pyasc.runtime.abi import bfloat16_of, numpy_dtype
from pyasc.runtime.arguments import (
    ArgumentType,
    ArrayType,
    ConstantType,
    NumberType,
    WeakType,
    constant_key,
    type_name,
    type_of,
)
from pyasc.runtime.shapes import shape_text


def bind(name: str, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The argument of each parameter, by name, as Python binds them. Raises LaunchError naming the kernel."""
    positional = [p for p in signature.parameters if not p.keyword_only]
    if len(args) > len(positional):
        raise LaunchError(
            f"{name}() takes {_counted(len(positional), 'positional argument')}, got {len(args)}"
        )
    bound = {p.name: value for p, value in zip(positional, args, strict=False)}
    for keyword, value in kwargs.items():
        _check_keyword(name, signature, keyword, bound)
        bound[keyword] = value
    for param in signature.parameters:
        if param.name not in bound and param.default is not NO_DEFAULT:
            bound[param.name] = param.default
    missing = [f"`{p.name}`" for p in signature.parameters if p.name not in bound]
    if missing:
        raise LaunchError(f"{name}() misses {_counted(len(missing), 'argument')}: {', '.join(missing)}")
    return {p.name: bound[p.name] for p in signature.parameters}


def _check_keyword(name: str, signature: Signature, keyword: str, bound: Mapping[str, Any]) -> None:
    param = next((p for p in signature.parameters if p.name == keyword), None)
    if param is None or param.positional_only:
        names = ", ".join(p.name for p in signature.parameters)
        raise LaunchError(f"{name}() has no parameter `{keyword}` to be named; its parameters are {names}")
    if keyword in bound:
        raise LaunchError(f"{name}() got two arguments for `{keyword}`")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def argument_type(name: str, param: Parameter, value: Any, mapped: bool = False) -> tuple[ArgumentType, Any]:
    """What the argument makes of its parameter, and the argument as the launcher takes it.

    `mapped` allows flat arrays for the scalars of a mapped kernel.
    Raises KernelTypeError or LaunchError for an argument that does not fit the annotation.
    """
    where = f"{name}: parameter `{param.name}`"
    if isinstance(param.kind, ConstexprKind):
        return _constant(where, value), value
    if value is None and param.kind == AnyKind():
        # An optional parameter that was left out: known when the kernel is compiled.
        return _constant(where, value), value
    found, plain = type_of(value, where)
    match param.kind:
        case ArrayKind():
            return _check_array(where, param.kind, found), plain
        case ScalarKind(dtype=dtype):
            if mapped and isinstance(found, ArrayType) and found.rank == 1:
                return ArrayType(dtype, 1), plain
            return NumberType(dtype), scalar_of(where, dtype, found, plain)
        case WeakKind(name=kind):
            return WeakType(kind), _weak(where, kind, found, plain)
        case AnyKind(array=array):
            return _anything(where, array, found), _number(where, found, plain)


def _constant(where: str, value: Any) -> ConstantType:
    if type(value).__hash__ is None and type(value).__module__ in ("builtins", "numpy"):
        raise LaunchError(
            f"{where} is a compile-time value and so must be hashable; {type_name(value)} is not"
        )
    return ConstantType(constant_key(value), value)


def _check_array(where: str, kind: ArrayKind, found: ArgumentType) -> ArrayType:
    expected = f"{kind.dtype.numpy} arrays of shape {declared_shape(kind)}"
    if not isinstance(found, ArrayType):
        raise KernelTypeError(f"{where} takes {expected}, got the number type {found}")
    if found.dtype is not kind.dtype:
        if not _bits_of_bfloat16(kind.dtype, found.dtype):
            raise KernelTypeError(
                f"{where} takes {expected}, got {found.dtype.numpy}; "
                f"convert it with .astype({kind.dtype.numpy!r}) first"
            )
        found = ArrayType(kind.dtype, found.rank)
    if found.rank < len(kind.dims) or (found.rank > len(kind.dims) and not kind.leading):
        raise LaunchError(f"{where} takes {expected}, got an array of {_counted(found.rank, 'dimension')}")
    return found


def _bits_of_bfloat16(expected: DType, found: DType) -> bool:
    """NumPy has no bfloat16 of its own, so arrays of its bits stand for it."""
    return expected.name == "bf16" and found.name == "u16"


def declared_shape(kind: ArrayKind) -> str:
    """The declared shape as Python would write it."""
    if kind.leading:
        return f"(..., {', '.join(str(d) for d in kind.dims)})" if kind.dims else "(...)"
    return shape_text(kind.dims)


def scalar_of(where: str, dtype: DType, found: ArgumentType, value: Any) -> Any:
    """The Python number for a parameter of this element type. Raises KernelTypeError if it does not convert.

    A number converts where its type says so for every value: a Python float to any float, a Python int to any
    integer that holds it, a NumPy scalar to its own type or a wider one of its kind.
    """
    match found:
        case ArrayType(dtype=source, rank=0) if widens(source, dtype):
            return bfloat16_of(value) if source is dtypes.bf16 else value.item()
        case NumberType(dtype=source) if widens(source, dtype):
            return value.item()
        case WeakType(name="float") if dtype.is_float:
            return float(value)
        case WeakType(name="bool") if dtype.is_bool:
            return value
        case WeakType(name="int") if dtype.is_integer:
            return _in_range(where, dtype, int(value))
    hint = _scalar_hint(dtype, found, value)
    raise KernelTypeError(f"{where} takes asc.{dtype.numpy}, got {found}{hint}")


def widens(source: DType, target: DType) -> bool:
    """Whether every value of `source` is one of `target`, which is of the same kind."""
    if source is target:
        return True
    import numpy as np

    return (
        source.kind == target.kind
        and source.bits < target.bits
        and np.can_cast(numpy_dtype(source), numpy_dtype(target), "safe")
    )


def _in_range(where: str, dtype: DType, value: int) -> int:
    import numpy as np

    info = np.iinfo(numpy_dtype(dtype))
    if not info.min <= value <= info.max:
        raise LaunchError(f"{where} takes asc.{dtype.numpy} ({info.min} to {info.max}), got {value}")
    return value


def _scalar_hint(dtype: DType, found: ArgumentType, value: Any) -> str:
    if isinstance(found, WeakType) and found.name == "int" and dtype.is_float:
        return f" ({value!r}), and ints do not convert to floats by themselves; pass {value}.0"
    if isinstance(found, NumberType | WeakType):
        return f" ({value!r}); convert it first, with numpy.{dtype.numpy}(...)"
    return "; convert it first"


def _weak(where: str, kind: str, found: ArgumentType, value: Any) -> int | float | bool:
    match kind, found:
        case "bool", WeakType(name="bool") | NumberType(dtype=DType(kind="b")):
            return bool(value)
        case "int", WeakType(name="int") | NumberType(dtype=DType(kind="i" | "u")):
            return _int64(where, int(value))
        case "float", WeakType(name="int" | "float") | NumberType(dtype=DType(kind="f" | "i" | "u")):
            return float(value)
        case _:
            raise KernelTypeError(f"{where} takes a Python {kind}, got {found}")


def _number(where: str, found: ArgumentType, value: Any) -> Any:
    """A Python number as the launcher takes it, without the class that a subclass of `int` or `float` gives it."""
    if not isinstance(found, WeakType) or found.name == "bool":
        return value
    return _int64(where, int(value)) if found.name == "int" else float(value)


def _int64(where: str, value: int) -> int:
    if not -(1 << 63) <= value < 1 << 63:
        raise LaunchError(f"{where} takes a Python int of at most 64 bits, got {value}")
    return value


def _anything(where: str, array: bool, found: ArgumentType) -> ArgumentType:
    if array and not isinstance(found, ArrayType):
        raise KernelTypeError(f"{where} is an asc.tensor and takes arrays, got {found}")
    return found


def classify(
    name: str, signature: Signature, bound: Mapping[str, Any]
) -> tuple[tuple[ArgumentType, ...], dict[str, Any]]:
    """The type of every argument, and the arguments as a launcher takes them. Raises as `argument_type`."""
    types: list[ArgumentType] = []
    plain: dict[str, Any] = {}
    for param in signature.parameters:
        type_, plain[param.name] = argument_type(name, param, bound[param.name], signature.mapped)
        types.append(type_)
    return tuple(types), plain


def declared_types(
    name: str, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[ArgumentType, ...]:
    """The type of every parameter from arguments, types in their place, annotations and defaults.

    Raises LaunchError for a parameter that nothing says the type of.
    """
    positional = [p.name for p in signature.parameters if not p.keyword_only]
    if len(args) > len(positional):
        raise LaunchError(f"{name} has {_counted(len(positional), 'positional parameter')}, got {len(args)}")
    given = dict(zip(positional, args, strict=False))
    for keyword, value in kwargs.items():
        _check_keyword(name, signature, keyword, given)
        given[keyword] = value
    return tuple(_declared_type(name, p, given, signature.mapped) for p in signature.parameters)


def _declared_type(name: str, param: Parameter, given: Mapping[str, Any], mapped: bool) -> ArgumentType:
    value = given.get(param.name, param.default)
    if mapped and isinstance(param.kind, ScalarKind) and is_array_like(value):
        import numpy as np

        value = np.reshape(value, -1)
    match param.kind, value:
        case ScalarKind(dtype=dtype), ArrayAnnotation(element=ElementType(ir=given_dtype)) if (
            dtype is given_dtype
        ):
            return ArrayType(dtype, 1)
        case AnyKind() | ArrayKind(), ArrayAnnotation(element=element, shape=shape):
            found = ArrayType(element.ir, len(shape))
            _check_extents(name, param, value)
            return _check_array(f"{name}: parameter `{param.name}`", _array_kind(param.kind, found), found)
        case AnyKind(), ElementType(ir=dtype):
            return NumberType(dtype)
        case AnyKind(), type() if value in (int, float, bool):
            return WeakType(value.__name__)
        case ArrayKind(dtype=dtype, dims=dims, leading=False), _ if param.name not in given:
            return ArrayType(dtype, len(dims))
        case ScalarKind(dtype=dtype), _ if param.name not in given or isinstance(value, ElementType):
            return NumberType(dtype)
        case WeakKind(name=kind), _ if param.name not in given or isinstance(value, type):
            return WeakType(kind)
        case _:
            if value is NO_DEFAULT:
                raise LaunchError(
                    f"{name}: parameter `{param.name}` needs an argument or a type: it takes {param.kind}"
                )
            return argument_type(name, param, value, mapped)[0]


def _check_extents(name: str, param: Parameter, given: ArrayAnnotation) -> None:
    """A type in place of an argument must not contradict the annotation."""
    if not isinstance(param.kind, ArrayKind):
        return
    for declared, extent in zip(reversed(param.kind.dims), reversed(given.shape), strict=False):
        if isinstance(declared, int) and isinstance(extent, int) and declared != extent:
            raise LaunchError(
                f"{name}: parameter `{param.name}` takes shape {declared_shape(param.kind)}, got {given}"
            )


def _array_kind(kind: Kind, found: ArrayType) -> ArrayKind:
    return kind if isinstance(kind, ArrayKind) else ArrayKind(found.dtype, (), leading=True)


def is_mapped(signature: Signature, bound: Mapping[str, Any]) -> bool:
    """Whether this call maps a kernel of scalars over arrays, as a ufunc would."""
    return signature.mapped and any(
        is_array_like(bound[p.name]) for p in signature.parameters if not isinstance(p.kind, ConstexprKind)
    )


def is_array_like(value: Any) -> bool:
    """Whether a value is an array (of any rank) rather than a number."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return True
    offers = hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    return offers and not isinstance(value, np.generic | type)
