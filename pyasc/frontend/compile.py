# SPDX-License-Identifier: Apache-2.0
"""From a function's source and the types of its arguments to a module at the py level."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyasc.frontend import numeric
from pyasc.frontend.calls import function_result
from pyasc.frontend.contents import CONTENTS
from pyasc.frontend.dependencies import Dependencies
from pyasc.frontend.depth import deep_recursion
from pyasc.frontend.frames import Frame
from pyasc.frontend.numeric import describe, shape_text
from pyasc.frontend.objects import object_value
from pyasc.frontend.signature import ArrayKind, Kind, ScalarKind, Signature, WeakKind
from pyasc.frontend.source import KernelSource
from pyasc.frontend.subscripts import mark_written, store_element, write_whole
from pyasc.frontend.values import NONE, Array, Row, Scalar, Tensor, Tuple, Val, is_array, is_number
from pyasc.frontend.visitor import CompileOptions, NeedsBuffers, Refused, Visitor
from pyasc.ir import dtypes
from pyasc.ir.core import Block, Region, Value
from pyasc.ir.diagnostics import Diagnostic, compile_error
from pyasc.ir.dialects import func, py, scf
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.sizes import Assumptions, Dim, SizeExpr, simplify, size
from pyasc.ir.types import RefType, ScalarType


class Weak(Record):
    """An argument that is a Python number: `"int"`, `"float"` or `"bool"`."""

    kind: str


class Constexpr(Record):
    """An argument that is known when the kernel is compiled."""

    value: Any


ParamType = RefType | ScalarType | Weak | Constexpr


class FrontendResult(Record):
    """The module, and everything besides the arguments that it was made from."""

    module: func.Module
    dependencies: Dependencies
    remarks: tuple[Diagnostic, ...] = ()
    strict: bool = False
    assumptions: Assumptions = Assumptions()
    container: str = ""
    """`"tuple"` or `"list"`, where the function returns one."""


MAPPED_SIZE = "n"
"""The size of the flat arrays of a mapped kernel."""


def compile_function(
    source: KernelSource,
    signature: Signature,
    param_types: Mapping[str, ParamType],
    options: CompileOptions | None = None,
) -> FrontendResult:
    """The py-level module of one kernel. Raises CompileError with everything found wrong.

    The function takes the parameters that are not `Constexpr`, in order, then one ref for each returned value.
    """
    with deep_recursion(), _refusing_depth(source):
        given = options or CompileOptions()
        try:
            return _compiled(_Function(source, signature, param_types, given))
        except NeedsBuffers:
            return _compiled(_Function(source, signature, param_types, given, buffers=True))


def _compiled(builder: _Function) -> FrontendResult:
    v = builder.visitor
    with _errors(v):
        builder.returns(function_result(v, v.frame))
    return builder.finish()


def compile_mapped(
    source: KernelSource,
    signature: Signature,
    param_types: Mapping[str, ParamType],
    options: CompileOptions | None = None,
) -> FrontendResult:
    """The module of a kernel of scalars mapped over flat arrays, as a ufunc is.

    A parameter whose type is a ref of one axis with the size `n` is mapped over; others are the same for all
    elements. The results are flat arrays of that size.
    """
    with deep_recursion(), _refusing_depth(source):
        builder = _Function(source, signature, param_types, options or CompileOptions())
        v = builder.visitor
        with _errors(v):
            builder.map_body()
    return builder.finish()


@contextmanager
def _refusing_depth(source: KernelSource) -> Iterator[None]:
    """Turns an overflow of the stack, before any statement is visited, into a diagnostic."""
    try:
        yield
    except RecursionError:
        loc = source.location(source.node)
        raise compile_error(Diagnostic("PA0702", f"`{source.name}` nests too deeply", loc)) from None


class _errors:
    """Turns a refusal at the top of a function into a diagnostic, and raises all of them at the end."""

    def __init__(self, v: Visitor) -> None:
        self.v = v

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Refused):
            if error.diagnostic is not None:
                self.v.diagnostics.append(error.diagnostic)
        elif error is not None:
            return False
        self.v.finish()
        return True


class _Function:
    """The function operation being filled."""

    def __init__(
        self,
        source: KernelSource,
        signature: Signature,
        param_types: Mapping[str, ParamType],
        options: CompileOptions,
        buffers: bool = False,
    ) -> None:
        self.signature = signature
        self.source = source
        self.entry = Block()
        frame = Frame(source, source.node)
        self.visitor = Visitor(CONTENTS, frame, self.entry, options)
        self.visitor.dependencies.read_source(source)
        self.visitor.mutates = buffers or frame.scan.mutates
        self.visitor.buffers = buffers
        self.visitor.emit.builder.loc = source.location(source.node)
        self.outputs: list[Value] = []
        self.container = ""
        self.types = {
            p.name: self._sized(param_types[p.name]) for p in signature.parameters if p.name in param_types
        }
        if any(isinstance(t, (RefType, ScalarType)) and t.dtype is dtypes.f64 for t in self.types.values()):
            self.visitor.float_bits = 64
        for parameter in signature.parameters:
            self._bind(parameter.name, self.types.get(parameter.name), parameter.default)

    def _sized(self, type_: ParamType) -> ParamType:
        """A type with the sizes that are known as numbers."""
        if not isinstance(type_, RefType):
            return type_
        return RefType(self._known(type_.shape), type_.dtype, type_.space, type_.layout)

    def _known(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        known = self.visitor.known_sizes
        return tuple(simplify(dim.substitute(known)) if isinstance(dim, SizeExpr) else dim for dim in shape)

    def _returned(self) -> ast.AST:
        """The place to blame for what the function returns."""
        node = self.source.node
        return node.body if isinstance(node, ast.Lambda) else self.visitor.frame.scan.returned or node

    def _bind(self, name: str, type_: ParamType | None, default: Any) -> None:
        v = self.visitor
        match type_:
            case RefType(shape=shape):
                self._note_sizes(shape)
                value: Val = Array(self.entry.add_arg(type_, name))
                earlier = dict(v.options.same).get(name)
                value = value if earlier is None else v.frame.env.values[earlier]
            case ScalarType():
                value = Scalar(self.entry.add_arg(type_, name))
            case Weak(kind=kind):
                value = Scalar(self.entry.add_arg(ScalarType(self._weak(kind)), name), weak=True)
            case Constexpr(value=known):
                value = object_value(v, known, self.source.node)
            case None:
                value = object_value(v, default, self.source.node)
        v.frame.env.values[name] = value

    def _weak(self, kind: str) -> DType:
        return {"int": dtypes.i64, "bool": dtypes.i1, "float": numeric.weak_float(self.visitor).dtype}[kind]

    def _note_sizes(self, shape: Sequence[Dim]) -> None:
        for dim in shape:
            if isinstance(dim, SizeExpr):
                self.visitor.sizes.update(dict.fromkeys(dim.names))

    def returns(self, result: Val) -> None:
        """Write what the function returns into output parameters."""
        v = self.visitor
        items = self._items(result)
        declared = self._declared(len(items), isinstance(result, Tuple))
        v.emit.builder.loc = self.source.location(self._returned())
        for k, (item, kind) in enumerate(zip(items, declared, strict=True)):
            self._output(item, kind, "out" if len(items) == 1 else f"out{k}")

    def _items(self, result: Val) -> Sequence[Val]:
        if not isinstance(result, Tuple):
            return () if result == NONE else (result,)
        self.container = "list" if result.is_list else "tuple"
        return result.items

    def _declared(self, count: int, is_tuple: bool) -> Sequence[Kind | None]:
        declared = self.signature.returns
        if declared is None:
            return [None] * count
        if len(declared) != count or self.signature.returns_tuple != is_tuple:
            raise self.visitor.error(
                self._returned(),
                "PA0413",
                f"returns {count} value{'s'[: count != 1]}, declared are {len(declared)}",
                hint="return as many values as are declared",
            )
        return declared

    def _output(self, item: Val, kind: Kind | None, name: str) -> None:
        v = self.visitor
        if isinstance(item, Row) or is_array(item):
            from pyasc.frontend.shapes import base_of

            item = base_of(v, item)
            self._array_output(item, kind, name)
        elif is_number(item):
            self._scalar_output(item, kind, name)
        else:
            raise v.error(
                self._returned(), "PA0413", f"a kernel cannot return {describe(item)}",
                hint="return arrays, numbers, or a tuple of these",
            )  # fmt: skip

    def _array_output(self, item: Array | Tensor, kind: Kind | None, name: str) -> None:
        v = self.visitor
        node = self._returned()
        if isinstance(kind, (ScalarKind, WeakKind)) or (
            isinstance(kind, ArrayKind) and kind.dtype is not item.dtype
        ):
            raise v.error(node, "PA0413", f"returns {describe(item)}, declared is {kind}")
        shape = item.shape
        if isinstance(kind, ArrayKind):
            shape = self._declared_shape(item, kind, node)
        if None in shape:
            raise v.error(
                node, "PA0511", "the shape of the returned array is known only when it has been computed",
                f"shape {shape_text(shape)}", "declare it: -> asc.float32[...] with sizes of the parameters",
            )  # fmt: skip
        self._note_sizes(shape)
        out = self._add_output(RefType(shape, item.dtype), name)
        write_whole(v, out, item)

    def _declared_shape(self, item: Array | Tensor, kind: ArrayKind, node: ast.AST) -> tuple[Dim, ...]:
        v = self.visitor
        trailing = item.shape[len(item.shape) - len(kind.dims) :]
        if len(kind.dims) > len(item.shape) or (not kind.leading and len(kind.dims) != len(item.shape)):
            raise v.error(node, "PA0512", f"returns {describe(item)}, declared is {kind}")
        dims = self._known(kind.dims)
        for have, want in zip(trailing, dims, strict=True):
            if isinstance(have, int) and isinstance(want, int) and have != want:
                raise v.error(node, "PA0512", f"returns shape {shape_text(item.shape)}, declared is {kind}")
        return (*item.shape[: len(item.shape) - len(dims)], *dims)

    def _scalar_output(self, item: Val, kind: Kind | None, name: str) -> None:
        v = self.visitor
        out = self._add_output(RefType((), self._scalar_type(item, kind)), name)
        store_element(v, out, [], item)

    def _scalar_type(self, item: Val, kind: Kind | None) -> DType:
        v = self.visitor
        node = self._returned()
        found = numeric.number_type(v, item)
        match kind:
            case ScalarKind(dtype=dtype):
                fits = found.dtype is dtype or (
                    found.weak and (dtype.is_float or found.dtype.kind == dtype.kind)
                )
            case WeakKind(name=wanted):
                dtype = self._weak(wanted)
                fits = found.dtype.kind == dtype.kind or wanted == "float"
            case ArrayKind(dims=(), dtype=dtype):
                fits = found.dtype is dtype
            case ArrayKind():
                dtype, fits = found.dtype, False
            case _:
                return found.dtype
        if not fits:
            raise v.error(
                node, "PA0413", f"returns {describe(item)}, declared is {kind}",
                hint="convert the value, or change the declaration",
            )  # fmt: skip
        return dtype

    def _add_output(self, type_: RefType, name: str) -> Array:
        used = {arg.name for arg in self.entry.args}
        while name in used:
            name += "_"
        ref = self.entry.add_arg(type_, name)
        self.outputs.append(ref)
        mark_written(self.visitor, ref)
        return Array(ref)

    def map_body(self) -> None:
        """The loop over elements around the function's body."""
        v = self.visitor
        extent = v.emit.size(size(MAPPED_SIZE))
        v.sizes.setdefault(MAPPED_SIZE)
        block = Block([ScalarType(dtypes.i64)], ["i"])
        with v.block(block):
            self._load_elements(block.args[0])
            result = function_result(v, v.frame)
            items = self._items(result)
            declared = self._declared(len(items), isinstance(result, Tuple))
            for k, (item, kind) in enumerate(zip(items, declared, strict=True)):
                self._mapped_output(item, kind, "out" if len(items) == 1 else f"out{k}", block.args[0])
            v.emit.insert(scf.Yield(values=[]))
        zero, one = v.emit.index(0), v.emit.index(1)
        v.emit.insert(
            scf.For(
                lower=zero, upper=extent, step=one, inits=[], kind="parallel", types=[], body=Region([block])
            )
        )  # fmt: skip

    def _load_elements(self, index: Value) -> None:
        env = self.visitor.frame.env
        for name, type_ in self.types.items():
            if isinstance(type_, RefType):
                array = env.values[name]
                assert isinstance(array, Array)
                element = self.visitor.emit.value(py.Load(ref=array.ref, indices=[index]))
                element.name = name
                env.values[name] = Scalar(element)

    def _mapped_output(self, item: Val, kind: Kind | None, name: str, index: Value) -> None:
        if not is_number(item):
            raise self.visitor.error(
                self._returned(),
                "PA0413",
                f"a function of scalars returns {describe(item)}",
                hint="return numbers: the kernel is mapped over the elements of arrays",
            )
        out = self._add_output(RefType((size(MAPPED_SIZE),), self._scalar_type(item, kind)), name)
        store_element(self.visitor, out, [index], item)

    def finish(self) -> FrontendResult:
        """The module, complete."""
        v = self.visitor
        if v.snapshots:
            from pyasc.frontend.snapshots import refuse_lost_stores

            refuse_lost_stores(v)
            v.finish()
        v.emit.insert(func.Return(values=[]))
        v.emit.drop_unused_head()
        args = self.entry.args
        op = func.Func(
            symbol=v.options.name or _symbol(self.source.name),
            sizes=tuple(v.sizes),
            written=tuple(k for k, arg in enumerate(args) if arg in v.written),
            outputs=tuple(k for k, arg in enumerate(args) if arg in self.outputs),
            body=Region([self.entry]),
            loc=self.source.location(self.source.node),
        )
        block = Block()
        block.insert_before(None, op)
        module = func.Module(body=Region([block]), loc=op.loc)
        remarks = tuple(dict.fromkeys(v.remarks))
        return FrontendResult(module, v.dependencies, remarks, v.strict, v.assumptions, self.container)


def _symbol(name: str) -> str:
    return "kernel_lambda" if name == "<lambda>" else name
