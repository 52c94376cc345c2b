# SPDX-License-Identifier: Apache-2.0
"""What a kernel's parameters and result are declared to be."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any

from pyasc.frontend.dependencies import Dependencies
from pyasc.frontend.refusals import REFUSED
from pyasc.frontend.source import KernelSource
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import CompileError, Diagnostic, compile_error
from pyasc.ir.dtypes import DType
from pyasc.ir.location import UNKNOWN, Location
from pyasc.ir.record import Record
from pyasc.ir.sizes import SizeExpr, lift, print_dim, size
from pyasc.language.dtypes import ArrayAnnotation, ElementType, SizeSymbol, constexpr, tensor


class ArrayKind(Record):
    """An array. `dims` are its trailing sizes; `leading` says that any sizes may stand before them."""

    dtype: DType
    dims: tuple[int | SizeExpr, ...]
    leading: bool = False

    def __str__(self) -> str:
        parts = (["..."] if self.leading else []) + [print_dim(d) for d in self.dims]
        return f"{self.dtype.numpy}[{', '.join(parts)}]"


class ScalarKind(Record):
    """A number of exactly this element type; called with arrays, the kernel is mapped over them."""

    dtype: DType

    def __str__(self) -> str:
        return self.dtype.numpy


class WeakKind(Record):
    """A Python number: `"int"`, `"float"` or `"bool"`."""

    name: str

    def __str__(self) -> str:
        return self.name


class AnyKind(Record):
    """Anything, specialised by dtype and rank at the call; an array alone when `array`."""

    array: bool = False

    def __str__(self) -> str:
        return "asc.tensor" if self.array else "anything"


class ConstexprKind(Record):
    """A compile-time value."""

    def __str__(self) -> str:
        return "asc.constexpr"


Kind = ArrayKind | ScalarKind | WeakKind | AnyKind | ConstexprKind
NO_DEFAULT = object()


class Parameter(Record):
    """One parameter as declared. `default` is NO_DEFAULT where there is none."""

    name: str
    kind: Kind
    default: Any = NO_DEFAULT
    keyword_only: bool = False
    positional_only: bool = False
    loc: Location = UNKNOWN

    def __str__(self) -> str:
        default = "" if self.default is NO_DEFAULT else f" = {self.default!r}"
        return f"{self.name}: {self.kind}{default}"


class Signature(Record):
    """The parameters in order, and the declared results: None when nothing is declared."""

    parameters: tuple[Parameter, ...]
    returns: tuple[Kind, ...] | None = None
    returns_tuple: bool = False
    loc: Location = UNKNOWN

    @property
    def mapped(self) -> bool:
        """Whether the kernel is a function of scalars that arrays are mapped over."""
        kinds = [p.kind for p in self.parameters]
        return any(isinstance(k, ScalarKind) for k in kinds) and not any(
            isinstance(k, (ArrayKind, AnyKind)) for k in kinds
        )

    def __str__(self) -> str:
        results = "" if self.returns is None else f" -> {', '.join(map(str, self.returns))}"
        return f"({', '.join(map(str, self.parameters))}){results}"

    def __getitem__(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)


def _is_self(args: ast.arguments, arg: ast.arg) -> bool:
    """Whether a parameter is the object that a method is bound to, which is known when the kernel is compiled."""
    return (
        arg is [*args.posonlyargs, *args.args, arg][0]
        and arg.arg in ("self", "cls")
        and arg.annotation is None
    )


def parse_signature(source: KernelSource, dependencies: Dependencies | None = None) -> Signature:
    """Read the annotations. Raises CompileError for one that is not on the language page, or `*args`."""
    return _Reader(source, dependencies if dependencies is not None else Dependencies()).signature()


@dataclass
class _Reader:
    source: KernelSource
    dependencies: Dependencies
    evaluated: Mapping[str, Any] = field(default_factory=dict)

    def signature(self) -> Signature:
        node = self.source.node
        args = node.args
        if isinstance(node, ast.AsyncFunctionDef):
            refusal = REFUSED[ast.AsyncFunctionDef]
            message = f"{refusal.name} is not supported in a kernel"
            raise self._error("PA0202", message, node, refusal.hint)
        for star in (args.vararg, args.kwarg):
            if star is not None:
                raise self._error(
                    "PA0201", "a kernel takes a fixed list of parameters", star, "name each one"
                )
        self.evaluated = _annotations(self.source)
        defaults = self._defaults()
        parameters = [
            Parameter(
                arg.arg,
                ConstexprKind() if _is_self(args, arg) else self._kind(arg.arg, arg.annotation, arg),
                defaults.get(arg.arg, NO_DEFAULT),
                arg in args.kwonlyargs,
                arg in args.posonlyargs,
                self.source.location(arg),
            )
            for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)
        ]
        returns, is_tuple = self._returns(None if isinstance(node, ast.Lambda) else node.returns)
        return Signature(tuple(parameters), returns, is_tuple, self.source.location(node))

    def _defaults(self) -> dict[str, Any]:
        function, args = self.source.function, self.source.node.args
        positional = [a.arg for a in (*args.posonlyargs, *args.args)]
        if function is not None:
            values = function.__defaults__ or ()
            found = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
            return found | (function.__kwdefaults__ or {})
        nodes = dict(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
        keywords = {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
        return {name: self._default(node) for name, node in (nodes | keywords).items()}

    def _default(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except ValueError:
            return self._resolve(node)

    def _returns(self, node: ast.expr | None) -> tuple[tuple[Kind, ...] | None, bool]:
        node = unquote(node)
        match node:
            case None:
                return None, False
            case ast.Constant(value=None):
                return (), False
            case ast.Subscript(value=ast.Name(id="tuple" | "Tuple"), slice=ast.Tuple(elts=parts)):
                return tuple(self._kind("return", part, part) for part in parts), True
            case ast.Tuple(elts=parts):
                return tuple(self._kind("return", part, part) for part in parts), True
            case _:
                return (self._kind("return", node, node),), False

    def _kind(self, name: str, node: ast.expr | None, place: ast.AST) -> Kind:
        node = unquote(node)
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return AnyKind()
        evaluated = self.evaluated.get(name) if name != "return" else None
        if evaluated is not None and not isinstance(evaluated, str):
            kind = kind_of(evaluated)
            if kind is not None:
                return kind
        if isinstance(node, ast.Subscript):
            return self._array(node)
        kind = kind_of(self._resolve(node))
        if kind is None:
            raise self._error(
                "PA0401",
                f"`{ast.unparse(node)}` is not an annotation that a kernel takes",
                node,
                "write asc.float32, asc.float32[N], asc.tensor, asc.constexpr, int, float, bool or none",
            )
        return kind

    def _checked_dim(self, node: ast.expr) -> int | SizeExpr | EllipsisType:
        found = self._dim(node)
        if isinstance(found, int) and not 0 <= found < 1 << 63:
            raise self._error("PA0501", f"{found} is not a size", node, "a size is 0 or more, in 64 bits")
        return found

    def _array(self, node: ast.Subscript) -> Kind:
        element = self._resolve(node.value)
        if not isinstance(element, ElementType):
            raise self._error(
                "PA0401",
                f"`{ast.unparse(node.value)}` is not an element type",
                node.value,
                "such as asc.float32",
            )
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        entries = [self._checked_dim(part) for part in parts]
        if any(entry is ... for entry in entries[1:]):
            raise self._error("PA0501", "`...` stands for leading sizes, so it comes first", node.slice)
        return _array_kind(element, entries)

    def _dim(self, node: ast.expr) -> int | SizeExpr | EllipsisType:
        match node:
            case ast.Constant(value=value) if value is ... or type(value) is int:
                return value
            case ast.Name(id=name):
                return self._named_dim(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _simple(_arith(ast.Sub(), 0, self._size(operand)))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                return _simple(_arith(op, self._size(left), self._size(right)))
            case ast.Attribute():
                return self._known_dim(node, self._resolve(node))
            case _:
                raise self._error(
                    "PA0501",
                    f"`{ast.unparse(node)}` is not a size",
                    node,
                    "a size is an integer, a name, a sum, difference or product of these, or `...`",
                )

    def _size(self, node: ast.expr) -> int | SizeExpr:
        found = self._dim(node)
        if isinstance(found, EllipsisType):
            raise self._error("PA0501", "`...` has no value to compute with", node)
        return found

    def _named_dim(self, node: ast.expr, name: str) -> int | SizeExpr:
        try:
            value = self.dependencies.read_name(self.source.around_annotations, name)
        except KeyError:
            return size(name)
        return self._known_dim(node, value)

    def _known_dim(self, node: ast.expr, value: Any) -> int | SizeExpr:
        if type(value) is int:
            return value
        if isinstance(value, SizeSymbol):
            return value.expr
        raise self._error(
            "PA0501",
            f"`{ast.unparse(node)}` is {value!r}, not a size",
            node,
            'use an int, or a symbolic size: N = asc.dims("N")',
        )

    def _resolve(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                try:
                    return self.dependencies.read_name(self.source.around_annotations, name)
                except KeyError:
                    hint = did_you_mean(name, [*self.source.globals, "float", "int", "bool"])
                    raise self._error("PA0301", f"`{name}` is not defined", node, hint) from None
            case ast.Attribute(value=owner, attr=attr):
                found = self._resolve(owner)
                try:
                    return self.dependencies.read_attribute(found, attr)
                except AttributeError:
                    hint = did_you_mean(attr, dir(found))
                    where = getattr(found, "__name__", type(found).__name__)
                    raise self._error("PA0311", f"`{where}` has no attribute `{attr}`", node, hint) from None
            case _:
                return None

    def _error(self, code: str, message: str, node: ast.AST, hint: str = "") -> CompileError:
        return compile_error(Diagnostic(code, message, self.source.location(node), hint=hint))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint at the nearest known word, or nothing."""
    # Needed for messages alone, and slow to load.
    import difflib

    close = difflib.get_close_matches(word, known, 1)
    return f"did you mean `{close[0]}`?" if close else ""


def _annotations(source: KernelSource) -> Mapping[str, Any]:
    try:
        return {} if source.function is None else source.function.__annotations__
    except Exception:
        # Python 3.14 evaluates them only now: names of sizes need not exist, and what is wrong is shown in its place.
        return {}


def unquote(node: ast.expr | None) -> ast.expr | None:
    """The tree inside a string annotation, at the place of the string."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return node
    try:
        inner = ast.parse(node.value.strip(), mode="eval").body
    except SyntaxError:
        return node
    for part in ast.walk(inner):
        ast.copy_location(part, node)
    return inner


def kind_of(value: Any) -> Kind | None:
    """What an object means as an annotation; None when it is not one of ours, Python's numbers or NumPy's dtypes."""
    if isinstance(value, ElementType):
        return ScalarKind(value.ir)
    if isinstance(value, ArrayAnnotation):
        return _array_kind(value.element, [d.expr if isinstance(d, SizeSymbol) else d for d in value.shape])
    if value is tensor or getattr(value, "__name__", "") == "ndarray":
        return AnyKind(array=True)
    if value is constexpr:
        return ConstexprKind()
    if value in (int, float, bool):
        return WeakKind(value.__name__)
    dtype = dtypes.BY_NUMPY.get(getattr(value, "__name__", ""))
    if dtype is not None and getattr(value, "__module__", "") == "numpy":
        return ScalarKind(dtype)
    return None


def _array_kind(element: ElementType, entries: list[Any]) -> ArrayKind:
    leading = bool(entries) and entries[0] is ...
    return ArrayKind(element.ir, tuple(entries[1:] if leading else entries), leading)


def _arith(op: ast.operator, left: int | SizeExpr, right: int | SizeExpr) -> SizeExpr:
    match op:
        case ast.Add():
            return lift(left) + right
        case ast.Sub():
            return lift(left) - right
        case _:
            return lift(left) * right


def _simple(value: SizeExpr) -> int | SizeExpr:
    known = value.as_constant
    return value if known is None else known
