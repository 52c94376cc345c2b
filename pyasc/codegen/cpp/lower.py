# SPDX-License-Identifier: Apache-2.0
"""From the loop level to C++ nodes: one handler an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import Formatter

from pyasc.codegen.cpp import functions, nodes, tiles, vectors
from pyasc.codegen.cpp.hoist import hoist_buffers
from pyasc.codegen.cpp.nodes import PRIMARY, Expr
from pyasc.codegen.cpp.values import Buffer, add_all, may_inline, multiply, size_expression
from pyasc.codegen.names import Names
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import arith, func, mem, py, scf
from pyasc.ir.location import Location
from pyasc.ir.record import Record
from pyasc.ir.traits import CONSTANT, READS
from pyasc.ir.types import RefType, VectorType, dtype_of

STACK_LIMIT = 32 * 1024
"""Bytes up to which a buffer of constant size stands on the stack of the thread that runs its scope."""
_MOST_ELEMENTS = (1 << 63) - 1


class Site(Record):
    """What a failed check says: the exception's class name, a format over its values, and the source line."""

    error: str
    message: str
    loc: Location


@dataclass(slots=True)
class EmitOptions:
    """`line_comments` puts the source position before statements that start a loop, branch or store."""

    line_comments: bool = False


@dataclass
class FunctionLowering:
    """State of lowering one function."""

    func: func.Func
    options: EmitOptions
    names: Names = field(default_factory=Names)
    exprs: dict[Value, Expr] = field(default_factory=dict)
    scalars: dict[Value, Expr] = field(default_factory=dict)
    buffers: dict[Value, Buffer] = field(default_factory=dict)
    pending: dict[Value, Expr] = field(default_factory=dict)
    variables: dict[str, nodes.Variable] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    prints: list[py.Print] = field(default_factory=list)
    targets: dict[Value, str] = field(default_factory=dict)
    ahead: dict[Value, str] = field(default_factory=dict)
    scanned: set[Value] = field(default_factory=set)
    outlined: list[nodes.Outlined] = field(default_factory=list)
    out: list[nodes.Node] = field(default_factory=list)
    depth: int = 0
    fails: bool = False

    def run(self) -> nodes.Function:
        """The whole function."""
        params = self._params()
        body = hoist_buffers(self._block(self.func.body.block))
        if self.fails:
            body.insert(0, nodes.Declare("pa_failure", "failure", "{0, fault}", const=False))
        return nodes.Function(
            name=self.func.symbol,
            params=tuple(params),
            body=body,
            outlined=self.outlined,
            title=", ".join(filter(None, (self.func.symbol, place(self.func.loc)))),
        )

    def _params(self) -> list[nodes.Variable]:
        params: list[nodes.Variable] = []
        for name in self.func.sizes:
            self.sizes[name] = self.names.fresh(name)
        for i, value in enumerate(self.func.params):
            params.extend(self._param(i, value))
        params.extend(nodes.Variable("int64_t", name) for name in self.sizes.values())
        for param in params:
            self.variables[param.name] = param
        return [*params, nodes.Variable("pyasc_fault*", "fault")]

    def _param(self, number: int, value: Value) -> list[nodes.Variable]:
        name = self.names.fresh(value.name or f"arg{number}")
        if not isinstance(value.type, RefType):
            dtype = dtype_of(value.type)
            self.exprs[value] = functions.loaded(Expr(name), dtype)
            return [nodes.Variable(functions.memory_type(dtype), name)]
        element = functions.memory_type(value.type.dtype)
        constness = "" if number in self.func.written else "const "
        made = [nodes.Variable(f"{constness}{element}*", name, restrict=True)]
        strides = None
        if value.type.layout == "strided":
            axes = range(len(value.type.shape))
            strides = tuple(Expr(self.names.fresh(f"{name}_stride{axis}")) for axis in axes)
            made += [nodes.Variable("int64_t", s.text) for s in strides]
        extents = tuple(size_expression(d, self.sizes) for d in value.type.shape if d is not None)
        self.buffers[value] = Buffer(name, extents, strides)
        return made

    def _block(self, block: Block) -> list[nodes.Node]:
        """The statements of a block, in a list of their own."""
        outer, self.out = self.out, []
        for op in block:
            self.operation(op)
        self.flush()
        inner, self.out = self.out, outer
        return inner

    def operation(self, op: Operation) -> None:
        handler = HANDLERS.get(type(op))
        if handler is None:
            raise TypeError(f"{op.name} at {op.loc} has no C++ form; it should have been lowered before")
        handler(self, op)

    def expr(self, value: Value) -> Expr:
        """The expression of a scalar or vector value. A deferred one is consumed."""
        return self.pending.pop(value) if value in self.pending else self.exprs[value]

    def all(self, values: Sequence[Value]) -> list[Expr]:
        """The expressions of several values."""
        pending, exprs = self.pending, self.exprs
        return [pending.pop(value) if value in pending else exprs[value] for value in values]

    def define(self, value: Value, expr: Expr, reads: bool = False) -> None:
        """Bind a result: assigned to the variable it is the next value of, inlined at its use, or named."""
        if value in self.targets:
            self.out.append(nodes.Assign(self.targets[value], expr.text))
            if value in self.scanned:
                self.out.append(nodes.Pragma(f"omp scan inclusive({self.targets[value]})"))
            self.exprs[value] = Expr(self.targets[value])
            return
        if may_inline(value) and len(expr.text) < 90 and value not in self.ahead:
            if reads or self._depends_on_memory(value):
                self.pending[value] = expr
            else:
                self.exprs[value] = expr
            return
        self.name_value(value, expr)

    def _depends_on_memory(self, value: Value) -> bool:
        # An inlined expression may contain an inlined load, so it must not move past a write either.
        op = value.op
        return op is not None and CONSTANT not in op.spec.traits

    def name_value(self, value: Value, expr: Expr, const: bool = True) -> str:
        """Declare a variable that holds the value."""
        name = self.names.fresh(self.ahead.get(value) or value.name or "t")
        self.declare(functions.value_type(value.type), name, expr.text, const)
        self.exprs[value] = Expr(name)
        return name

    def declare(self, type_: str, name: str, value: str, const: bool = True) -> None:
        """Declare a variable, const unless it is assigned again, and remember it for outlining."""
        self.variables[name] = nodes.Variable(type_, name)
        self.out.append(nodes.Declare(type_, name, value, const))

    def flush(self) -> None:
        """Give every deferred expression a name, before something that might change what it reads."""
        for value, expr in list(self.pending.items()):
            del self.pending[value]
            self.name_value(value, expr)

    def comment(self, op: Operation) -> str:
        """The source position of a statement, when asked for."""
        return place(op.loc) if self.options.line_comments else ""

    def emit(self, node: nodes.Node, op: Operation | None = None) -> None:
        """Append a statement."""
        if op is not None:
            node.comment = self.comment(op)
        self.out.append(node)

    def failing(self, site: str, values: Sequence[str] = ()) -> str:
        """The statement that leaves the current function with a failure."""
        self.fails = True
        args = ", ".join([site, *(f"(int64_t)({v})" for v in values)])
        if self.depth:
            return f"return (void)pa_fail(failure, {args});"
        return f"return pa_fail(&failure, {args});"


def place(loc: Location) -> str:
    """File and line for a comment, the same in every folder: generated text does not depend on where it was made."""
    return f"{loc.file.rsplit('/', 1)[-1]}:{loc.line}" if loc.known else ""


def _constant(state: FunctionLowering, op: arith.Constant) -> None:
    expr = functions.literal(op.value, dtype_of(op.result.type))
    state.exprs[op.result] = expr
    if isinstance(op.result.type, VectorType):
        state.scalars[op.result] = expr
        state.exprs[op.result] = vectors.constant(op)


def _elementwise(state: FunctionLowering, op: arith.Elementwise) -> None:
    if op.fn == "select" and not isinstance(op.result.type, VectorType):
        _read_first(state, op.args[1:])
    args = state.all(op.args)
    if isinstance(op.args[-1].type, VectorType):
        expr = vectors.elementwise(op, args, [state.scalars.get(arg) for arg in op.args])
    else:
        expr = functions.elementwise(op.fn, dtype_of(op.args[-1].type), args)
    state.define(op.result, expr)


def _read_first(state: FunctionLowering, chosen: Sequence[Value]) -> None:
    """Name what a choice is between where it reads memory.

    C++ evaluates one side alone, and g++ 12 makes wrong code of loads under a condition that stand some elements apart
    in a vectorised loop. An IR that selects has read both sides.
    """
    for value in chosen:
        if value in state.pending and _reads(value):
            state.name_value(value, state.pending.pop(value))


def _reads(value: Value) -> bool:
    """Whether memory is read where the value is written out, by it or by what is written in it."""
    op = value.op
    return op is not None and (
        READS in op.spec.traits or any(_reads(v) for v in op.operands if may_inline(v))
    )


def _cast(state: FunctionLowering, op: arith.Cast) -> None:
    value = state.expr(op.value)
    source, target = op.value.type, op.result.type
    if isinstance(source, VectorType) and isinstance(target, VectorType):
        state.define(op.result, vectors.cast(value, source, target))
    else:
        state.define(op.result, functions.cast(value, dtype_of(source), dtype_of(target)))


def _size(state: FunctionLowering, op: func.Size) -> None:
    state.exprs[op.value] = Expr(state.sizes[op.symbol])


def _return(state: FunctionLowering, op: func.Return) -> None:
    state.flush()
    state.emit(nodes.Return("0"))


def _alloc(state: FunctionLowering, op: mem.Alloc) -> None:
    state.flush()
    type_ = op.ref.type
    assert isinstance(type_, RefType)
    given = iter(_stable(state, value) for value in op.sizes)
    extents = tuple(size_expression(d, state.sizes) if d is not None else next(given) for d in type_.shape)
    name = state.names.fresh(op.ref.name or "buffer")
    element = functions.memory_type(type_.dtype)
    state.buffers[op.ref] = Buffer(name, extents, None)
    # What one thread tells another through a flag changes behind this thread's back.
    private = not any(isinstance(user, (mem.Signal, mem.Await)) for user in op.ref.uses)
    state.variables[name] = nodes.Variable(f"{element}*", name, restrict=private)
    elements = _static_count(type_)
    if elements is not None and elements * type_.dtype.bytes <= STACK_LIMIT:
        state.emit(nodes.StackArray(element, name, str(max(elements, 1)), op.alignment))
    else:
        failed = state.failing("PA_NO_MEMORY")
        count = _element_count(extents) if elements is None else str(min(elements, _MOST_ELEMENTS))
        state.emit(nodes.HeapArray(element, name, count, op.alignment, private, failed))


def _element_count(extents: Sequence[Expr]) -> str:
    """The product of extents, which must not wrap around to a small number."""
    factors = [extent.text for extent in extents if extent.text != "1"]
    return factors[0] if len(factors) == 1 else f"pa_extents({', '.join(factors)})"


def _static_count(type_: RefType) -> int | None:
    count = 1
    for dim in type_.shape:
        if not isinstance(dim, int):
            return None
        count *= dim
    return count


def _stable(state: FunctionLowering, value: Value) -> Expr:
    """An expression that can be repeated anywhere later: a name or a literal."""
    expr = state.expr(value)
    if expr.precedence == PRIMARY and "(" not in expr.text and "[" not in expr.text:
        return expr
    name = state.names.fresh(value.name or "n")
    state.declare("int64_t", name, expr.text)
    state.exprs[value] = Expr(name)
    return Expr(name)


def _load(state: FunctionLowering, op: mem.Load) -> None:
    element = state.buffers[op.ref].element(state.all(op.indices))
    state.define(op.value, functions.loaded(element, dtype_of(op.ref.type)), reads=True)


def _store(state: FunctionLowering, op: mem.Store) -> None:
    value, indices = state.expr(op.value), state.all(op.indices)
    state.flush()
    element = state.buffers[op.ref].element(indices)
    state.emit(nodes.Assign(element.text, functions.stored(value, dtype_of(op.ref.type))), op)


def _atomic(state: FunctionLowering, op: mem.Atomic) -> None:
    value, indices = state.expr(op.value), state.all(op.indices)
    state.flush()
    element = state.buffers[op.ref].element(indices)
    type_ = functions.memory_type(dtype_of(op.ref.type))
    state.emit(nodes.Call(f"pa_atomic_{op.fn}<{type_}>(&{element}, {value})"), op)


def _signal(state: FunctionLowering, op: mem.Signal | mem.Await) -> None:
    state.flush()
    name = "pa_signal" if isinstance(op, mem.Signal) else "pa_await"
    state.emit(nodes.Call(f"{name}(&{state.buffers[op.ref].element(state.all(op.indices))})"), op)


def _dim(state: FunctionLowering, op: mem.Dim) -> None:
    state.exprs[op.value] = state.buffers[op.ref].extents[op.axis]


def _view(state: FunctionLowering, op: mem.View) -> None:
    source = state.buffers[op.ref]
    offsets = [_stable(state, v) for v in op.offsets]
    sizes = [_stable(state, v) for v in op.sizes]
    steps = [_stable(state, v) for v in op.steps]
    strides = source.row_strides()
    start = add_all([multiply(o, s) for o, s in zip(offsets, strides, strict=True)])
    pointer = source.pointer if start.text == "0" else f"({source.pointer} + {start})"
    extents = tuple(sizes[a] if a >= 0 else Expr("1") for a in op.axes)
    stepped = tuple(multiply(steps[a], strides[a]) if a >= 0 else Expr("0") for a in op.axes)
    state.buffers[op.view] = Buffer(pointer, extents, stepped)


def _copy(state: FunctionLowering, op: mem.Copy) -> None:
    state.flush()
    source, target = state.buffers[op.source], state.buffers[op.target]
    counters = [state.names.fresh(f"i{axis}") for axis in range(len(source.extents))]
    indices = [Expr(c) for c in counters]
    body: list[nodes.Node] = [nodes.Assign(target.element(indices).text, source.element(indices).text)]
    for counter, extent in reversed(list(zip(counters, source.extents, strict=True))):
        pragmas = ("omp simd",) if counter == counters[-1] else ()
        test = f"{counter} < {extent.inside(11)}"
        body = [nodes.For(counter, "0", test, f"{counter}++", body, pragmas)]
    state.out.extend(body)


def _check(state: FunctionLowering, op: py.Check) -> None:
    condition = state.expr(op.condition)
    floats = [dtype_of(value.type).is_float for value in op.values]
    texts = [e.text for e in state.all(op.values)]
    values = [f"pa_print_value({t})" if f else t for t, f in zip(texts, floats, strict=True)]
    state.flush()
    state.sites.append(Site(op.error, _marked(op.message, floats), op.loc))
    state.emit(nodes.Check(condition.text, state.failing(str(len(state.sites)), values[:4])))


def _marked(message: str, floats: Sequence[bool]) -> str:
    """The message with `!f` in the fields of floats, whose bits stand in the record of a failure."""
    parts: list[str] = []
    fields = iter(floats)
    for text, field_name, spec, _ in Formatter().parse(message):
        parts.append(text.replace("{", "{{").replace("}", "}}"))
        if field_name is not None:
            parts.append(f"{{{'!f' if next(fields, False) else ''}{f':{spec}' if spec else ''}}}")
    return "".join(parts)


def _control(state: FunctionLowering, op: Operation) -> None:
    # Control flow lowers blocks and so needs this module; it is looked up when the first loop comes.
    from pyasc.codegen.cpp.control import CONTROL

    CONTROL[type(op)](state, op)


def _print(state: FunctionLowering, op: py.Print) -> None:
    values = [f"pa_print_value({e})" for e in state.all(op.values)]
    state.flush()
    state.prints.append(op)
    kernel = f'"{state.func.symbol}"'
    state.emit(nodes.Call(f"pa_print({', '.join([kernel, str(len(state.prints)), *values])})"))


HANDLERS: dict[type[Operation], Callable[[FunctionLowering, Operation], None]] = {  # pyright: ignore[reportAssignmentType]
    arith.Constant: _constant,
    arith.Elementwise: _elementwise,
    arith.Cast: _cast,
    func.Size: _size,
    func.Return: _return,
    mem.Alloc: _alloc,
    mem.Load: _load,
    mem.Store: _store,
    mem.Atomic: _atomic,
    mem.Signal: _signal,
    mem.Await: _signal,
    mem.Dim: _dim,
    mem.View: _view,
    mem.Copy: _copy,
    **vectors.HANDLERS,
    **tiles.HANDLERS,
    py.Check: _check,
    py.Print: _print,
    scf.For: _control,
    scf.If: _control,
    scf.While: _control,
}
