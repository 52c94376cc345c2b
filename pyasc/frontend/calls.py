# SPDX-License-Identifier: Apache-2.0
"""Calls: what is called decides; functions of the language by table, everything else is inlined."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyasc.frontend import composed, numeric, precision, sharing
from pyasc.frontend.frames import RESULT, RETURN, Env, Frame
from pyasc.frontend.numeric import describe, plural
from pyasc.frontend.objects import object_value
from pyasc.frontend.signature import (
    NO_DEFAULT,
    ArrayKind,
    ScalarKind,
    Signature,
    WeakKind,
    parse_signature,
)
from pyasc.frontend.source import KernelSource
from pyasc.frontend.values import (
    FALSE,
    NONE,
    Array,
    Const,
    Function,
    Method,
    Tensor,
    Tuple,
    Unset,
    Val,
    is_number,
)
from pyasc.frontend.visitor import Refused, Visitor
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import CompileError, Related
from pyasc.language import arrays, math
from pyasc.language.dtypes import BY_IR, ElementType
from pyasc.language.math import Elementwise

Lowering = types.FunctionType
_VARARGS = 4  # inspect.CO_VARARGS, whose module is slow to load
_NUMPY_NAMES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "amax": "max", "amin": "min", "true_divide": "divide",
}  # fmt: skip


def call(v: Visitor, node: ast.Call) -> Val:
    """`function(arguments)`."""
    function = v.expr(node.func)
    raw = _raw_lowering(function)
    if raw is not None:
        return raw(v, node)
    args = _arguments(v, node)
    keywords = {k.arg: v.expr(k.value) for k in node.keywords if k.arg is not None}
    if any(k.arg is None for k in node.keywords):
        raise v.error(
            node, "PA0202", "`**` in a call is not supported in a kernel", hint="write the arguments out"
        )
    return apply(v, node, function, args, keywords)


def _arguments(v: Visitor, node: ast.Call) -> list[Val]:
    args: list[Val] = []
    for each in node.args:
        if isinstance(each, ast.Starred):
            inner = v.expr(each.value)
            if not isinstance(inner, Tuple):
                v.refuse_node(each)
            else:
                args += inner.items
        else:
            args.append(v.expr(each))
    return args


def _raw_lowering(function: Val) -> Callable[[Visitor, ast.Call], Val] | None:
    """Lowerings that look at the arguments' trees: debug statements, which may cost nothing."""
    from pyasc.frontend.debug import RAW

    if not isinstance(function, Const) or not isinstance(
        function.value, (types.FunctionType, types.BuiltinFunctionType)
    ):
        return None
    return RAW.get(function.value)


def apply(v: Visitor, node: ast.Call, function: Val, args: Sequence[Val], keywords: Mapping[str, Val]) -> Val:
    """Call a value."""
    match function:
        case Function():
            return _inline_closure(v, node, function, args, keywords)
        case Method(owner=owner, name=name):
            return _method(v, node, owner, name, args, keywords)
        case Const(value=found):
            return _call_object(v, node, found, args, keywords)
        case _:
            raise v.error(node.func, "PA0411", f"{describe(function)} cannot be called")


def _call_object(
    v: Visitor, node: ast.Call, found: Any, args: Sequence[Val], keywords: Mapping[str, Val]
) -> Val:
    from pyasc.frontend.library import LOWERINGS
    from pyasc.frontend.math_module import folded

    if not callable(found) and not isinstance(found, KernelSource):
        raise v.error(node.func, "PA0411", f"{describe(Const(found))} cannot be called")
    if isinstance(found, types.MethodType):
        return _call_object(v, node, found.__func__, [object_value(v, found.__self__, node), *args], keywords)
    if isinstance(found, ElementType):
        return _convert(v, node, found, args, keywords)
    if isinstance(found, Elementwise):
        from pyasc.frontend.elementwise import elementwise

        return elementwise(v, found, _only_positional(v, node, args, keywords))
    known = folded(v, found, args, keywords)
    if known is not None:
        return known
    try:
        lowering = LOWERINGS.get(found)
    except TypeError:
        lowering = None
    if lowering is not None:
        return call_lowering(v, node, getattr(found, "__name__", "function"), lowering, args, keywords)
    numpy = _from_numpy(found)
    if numpy is not None:
        return _call_object(v, node, numpy, args, keywords)
    source = helper_source(v, node, found)
    return inline(v, node, source, args, keywords)


def _only_positional(
    v: Visitor, node: ast.Call, args: Sequence[Val], keywords: Mapping[str, Val]
) -> Sequence[Val]:
    if keywords:
        raise v.error(node, "PA0408", f"no argument is named `{next(iter(keywords))}`")
    return args


def _convert(
    v: Visitor, node: ast.Call, element: ElementType, args: Sequence[Val], keywords: Mapping[str, Val]
) -> Val:
    if len(args) != 1 or keywords:
        raise v.error(node, "PA0408", f"{element} takes one value to convert, got {len(args)}")
    unrounded = precision.unrounded(v, args[0], element.ir)
    return numeric.cast_to(v, args[0], element.ir) if unrounded is None else unrounded


def _from_numpy(found: Any) -> Any:
    """The function of this language that a NumPy function stands for."""
    module = getattr(found, "__module__", None) or ""
    name = getattr(found, "__name__", "")
    if type(found).__name__ != "ufunc" and not module.startswith("numpy"):
        return None
    if getattr(sys.modules.get("numpy"), name, None) is not found and not isinstance(found, type):
        # A namesake of another module, such as np.emath.sqrt, means something else.
        return None
    name = _NUMPY_NAMES.get(name, name)
    dtype = dtypes.BY_NUMPY.get(name)
    if dtype is not None:
        return BY_IR[dtype]
    if name in math.__all__:
        return getattr(math, name)
    # NumPy's creation functions make float64 where ours make float32, so they are not taken for each other.
    creation = {"zeros", "ones", "empty", "full", "eye", "arange"}
    return getattr(arrays, name) if name in arrays.__all__ and name not in creation else None


def call_lowering(
    v: Visitor,
    node: ast.Call,
    name: str,
    lowering: Lowering,
    args: Sequence[Val],
    keywords: Mapping[str, Val],
) -> Val:
    """Call a lowering with Python's own rules for arguments; its first parameter is the visitor."""
    code = lowering.__code__
    names = code.co_varnames[1 : code.co_argcount]
    takes_any = bool(code.co_flags & _VARARGS)
    required = names[: len(names) - len(lowering.__defaults__ or ())]
    wrong = [key for key in keywords if key not in names[len(args) :]]
    missing = [each for each in required[len(args) :] if each not in keywords]
    hint = f"it is {name}({', '.join(names)})"
    if wrong:
        what = "gets a second value for" if wrong[0] in names else "has no parameter"
        raise v.error(node, "PA0408", f"`{name}` {what} `{wrong[0]}`", hint=hint)
    if missing:
        raise v.error(node, "PA0408", f"`{name}` needs a value for `{missing[0]}`", hint=hint)
    if len(args) > len(names) and not takes_any:
        what = f"`{name}` takes {plural(len(names), 'argument')}, got {len(args)}"
        raise v.error(node, "PA0408", what, hint=hint)
    return lowering(v, *args, **keywords)


def _method(
    v: Visitor, node: ast.Call, owner: Val, name: str, args: Sequence[Val], keywords: Mapping[str, Val]
) -> Val:
    from pyasc.frontend.library import METHODS

    return call_lowering(v, node, name, METHODS[name], [owner, *args], keywords)


def helper_source(v: Visitor, node: ast.Call, found: Any) -> KernelSource:
    """The source of a Python function that a kernel calls."""
    if isinstance(found, KernelSource):
        return found
    function = getattr(found, "py_func", found)
    if getattr(function, "__module__", None) in composed.MODULES and isinstance(function, types.FunctionType):
        return composed.composed_source(v, function, v.location(node))
    if not isinstance(function, types.FunctionType) or _is_known_otherwise(function):
        what = f"`{ast.unparse(node.func)}` cannot be called in a kernel"
        raise v.error(node.func, "PA0209", what, hint=_instead_of(function))
    cached = v.helpers.get(function)
    if cached is None:
        cached = v.helpers[function] = _source_of(v, node, function)
    return cached


_INSTEAD: dict[str, str] = {
    "print": "use asc.print in a debug build",
    "type": "use x.dtype",
    "str": "print the value itself with asc.print",
    "map": "use a list comprehension",
    "filter": "use asc.where, or a loop with `if`",
}
"""What stands for functions that many reach for, by their names."""

_INSTEAD_OF_NUMPY: dict[str, str] = {
    "round": "use asc.rint, which rounds to whole numbers; scale before and after it for others",
    "array": "use asc.stack, or asc.zeros and a loop that fills it",
    "asarray": "use the array itself, or x.copy()",
    "ascontiguousarray": "use the array itself, or x.copy()",
    "bincount": "use asc.atomic_add(counts, x[i], 1) in a loop",
    "copy": "use x.copy()",
    "diag": "use a loop over x[i, i]",
    "diagonal": "use a loop over x[i, i]",
    "diff": "use x[1:] - x[:-1]",
    "flip": "use x[::-1]",
    "fliplr": "use x[:, ::-1]",
    "flipud": "use x[::-1]",
    "full_like": "use asc.full_like",
    "hstack": "use asc.concatenate",
    "identity": "use asc.eye, whose floats are float32",
    "inner": "use asc.dot",
    "linspace": "use start + asc.arange(n) * step",
    "median": "use asc.sort(x), and take what is in the middle",
    "meshgrid": "use x[None, :] and y[:, None]",
    "norm": "use asc.sqrt(asc.sum(x * x))",
    "outer": "use x[:, None] * y",
    "roll": "use asc.concatenate((x[-k:], x[:-k]))",
    "tensordot": "use asc.einsum",
    "tile": "use asc.concatenate, or asc.broadcast_to",
    "trace": "use a loop that adds up x[i, i]",
    "vstack": "use asc.concatenate",
}
"""The same for functions of NumPy."""


def _instead_of(function: Any) -> str:
    """Advice for a call of a function that kernels cannot call."""
    name = getattr(function, "__name__", "")
    owner = type(getattr(function, "__self__", None)).__module__
    if any(each.startswith(("random", "numpy.random")) for each in (owner, function.__module__ or "")):
        return "use asc.random, whose numbers follow from a key"
    if _is_of_numpy(function) and name in arrays.__all__:
        return f"use asc.{name}, whose floats are float32"
    if _is_of_numpy(function) and name in _INSTEAD_OF_NUMPY:
        return _INSTEAD_OF_NUMPY[name]
    return _INSTEAD.get(name, "a kernel calls functions of pyasc, of math, and Python functions with source")


def _is_of_numpy(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").split(".")[0] == "numpy"


def _is_known_otherwise(function: types.FunctionType) -> bool:
    """Whether a function is a part of pyasc, which kernels know by its lowering alone, or of NumPy."""
    return (function.__module__ or "").startswith("pyasc.") or _is_of_numpy(function)


def _source_of(v: Visitor, node: ast.Call, function: types.FunctionType) -> KernelSource:
    try:
        return KernelSource.from_function(function)
    except CompileError as error:
        (found,) = error.diagnostics
        # Nothing of a function without source can be shown, but the call of it can.
        raise v.error(node.func, found.code, found.message, found.label, found.hint, found.related) from None


def inline(
    v: Visitor, node: ast.Call, source: KernelSource, args: Sequence[Val], keywords: Mapping[str, Val]
) -> Val:
    """Visit a helper's body in place of the call."""
    _refuse_recursion(v, node, source.node, source.name)
    v.dependencies.read_source(source)
    signature = parse_signature(source, v.dependencies)
    values = bind_arguments(v, node, source.name, signature, args, keywords)
    env = Env({name: _as_annotated(v, node, signature, name, value) for name, value in values.items()})
    frame = Frame(source, source.node, env)
    return run_frame(v, node, frame)


def _refuse_recursion(v: Visitor, node: ast.Call, target: ast.AST, name: str) -> None:
    chain = list(v.call_chain())
    if all(frame.node is not target for frame in chain):
        return
    cycle = [frame.name for frame in reversed(chain)]
    cycle = [*cycle[cycle.index(name) :], name] if name in cycle else [name, name]
    raise v.error(
        node,
        "PA0303",
        f"`{name}` calls itself",
        " -> ".join(cycle),
        "write it as a loop",
    )


def bind_arguments(
    v: Visitor,
    node: ast.Call,
    name: str,
    signature: Signature,
    args: Sequence[Val],
    keywords: Mapping[str, Val],
) -> dict[str, Val]:
    """Values by parameter name, defaults included."""
    positional = [p.name for p in signature.parameters if not p.keyword_only]
    if len(args) > len(positional):
        raise v.error(
            node, "PA0408", f"`{name}` takes {plural(len(positional), 'argument')}, got {len(args)}"
        )
    values = dict(zip(positional, args, strict=False))
    known = {p.name for p in signature.parameters if not p.positional_only}
    for key, value in keywords.items():
        if key not in known or key in values:
            what = "gets a second value for" if key in values else "has no parameter"
            raise v.error(node, "PA0408", f"`{name}` {what} `{key}`")
        values[key] = value
    for parameter in signature.parameters:
        if parameter.name not in values:
            if parameter.default is NO_DEFAULT:
                raise v.error(
                    node,
                    "PA0408",
                    f"`{name}` needs a value for `{parameter.name}`",
                    related=(Related(parameter.loc, "declared here"),),
                )
            values[parameter.name] = object_value(v, parameter.default, node)
    return values


def _as_annotated(v: Visitor, node: ast.Call, signature: Signature, name: str, value: Val) -> Val:
    """A Python number becomes the declared type; anything else must have it."""
    kind = signature[name].kind
    if isinstance(kind, ScalarKind) and is_number(value):
        found = numeric.number_type(v, value)
        if found.weak and (found.dtype.kind == kind.dtype.kind or kind.dtype.is_float):
            return numeric.cast_to(v, value, kind.dtype)
        if found.dtype is not kind.dtype:
            raise _mismatch(v, node, signature, name, value, kind.dtype.numpy)
    if isinstance(kind, ArrayKind) and (
        not isinstance(value, (Array, Tensor)) or value.dtype is not kind.dtype
    ):
        raise _mismatch(v, node, signature, name, value, str(kind))
    if isinstance(kind, WeakKind) and not is_number(value):
        raise _mismatch(v, node, signature, name, value, kind.name)
    return value


def _mismatch(
    v: Visitor, node: ast.Call, signature: Signature, name: str, value: Val, wanted: str
) -> Exception:
    return v.error(
        node,
        "PA0412",
        f"`{name}` takes {wanted}, got {describe(value)}",
        related=(Related(signature[name].loc, "declared here"),),
    )


def _inline_closure(
    v: Visitor, node: ast.Call, function: Function, args: Sequence[Val], keywords: Mapping[str, Val]
) -> Val:
    name = "<lambda>" if isinstance(function.node, ast.Lambda) else function.node.name
    _refuse_recursion(v, node, function.node, name)
    outer = function.frame
    if not any(frame is outer for frame in v.call_chain()):
        raise v.error(node, "PA0210", f"`{name}` is called after the function around it has ended")
    if any(each not in v.comprehensions for each in function.comprehensions):
        raise v.error(node, "PA0210", f"`{name}` is called after the comprehension around it has ended")
    parameters = function.node.args
    if parameters.vararg or parameters.kwarg:
        raise v.error(node, "PA0201", f"`{name}` takes any number of arguments", hint="name each parameter")
    names = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    if len(args) > len(names):
        raise v.error(node, "PA0408", f"`{name}` takes {plural(len(names), 'argument')}, got {len(args)}")
    given = dict(zip(names, args, strict=False))
    if twice := [key for key in keywords if key in given]:
        raise v.error(node, "PA0408", f"`{name}` gets a second value for `{twice[0]}`")
    if unnamed := [a.arg for a in parameters.posonlyargs if a.arg in keywords]:
        raise v.error(node, "PA0408", f"`{name}` has no parameter `{unnamed[0]}` that has a name in a call")
    values = dict(function.defaults) | given | dict(keywords)
    everything = [*names, *(a.arg for a in parameters.kwonlyargs)]
    for each in everything:
        if each not in values:
            raise v.error(node, "PA0408", f"`{name}` needs a value for `{each}`")
    if extra := [key for key in values if key not in everything]:
        raise v.error(node, "PA0408", f"`{name}` has no parameter `{extra[0]}`")
    frame = Frame(outer.source, function.node, Env(values), parent=outer)
    return run_frame(v, node, frame)


def run_frame(v: Visitor, node: ast.Call, frame: Frame) -> Val:
    """Visit a function's body with its parameters bound, and give what it returns."""
    frame.caller = v.frame
    frame.call_site = v.location(node)
    v.serial += 1
    frame.key = (*v.frame.key, node, frame.node)
    mutates, v.mutates = v.mutates, v.mutates or frame.scan.mutates
    for value in frame.env.values.values():
        sharing.refuse_iterator(v, value, node)
    sharing.bind_parameters(v, frame)
    try:
        with v.inside(frame):
            return function_result(v, frame)
    finally:
        v.mutates = mutates


def function_result(v: Visitor, frame: Frame) -> Val:
    """Visit the body of the current frame and give what it returns."""
    if isinstance(frame.node, ast.Lambda):
        return numeric.read_rounded(v, v.expr(frame.node.body))
    frame.env.values.setdefault(RESULT, Unset("no `return` ran"))
    frame.env.values[RETURN] = FALSE
    before = len(v.diagnostics)
    v.body(frame.node.body)
    if len(v.diagnostics) > before:
        # What it returns is not known, and would only be blamed once more.
        raise Refused(None)
    result = frame.env.values[RESULT]
    if isinstance(result, Unset):
        return NONE
    returned = frame.env.values[RETURN]
    if not isinstance(returned, Const) and result != NONE:
        raise v.error(
            frame.node,
            "PA0312",
            f"`{frame.name}` does not return a value on every path",
            hint="end it with a `return` that gives a value",
        )
    from pyasc.frontend.objects import checked_result

    return checked_result(v, frame, result)
