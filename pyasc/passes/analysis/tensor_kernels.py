# SPDX-License-Identifier: Apache-2.0
"""The tensor operations that are more than elementwise, each as one structured op into a given buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir import affine, dtypes
from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Operation, Region, Value
from pyasc.ir.dialects import arith, mem, tensor
from pyasc.ir.dtypes import DType
from pyasc.ir.types import RefType, ScalarType, TensorType, dtype_of
from pyasc.passes.analysis.structured import Output, apply_over, combiner, simple_combiner
from pyasc.passes.analysis.tensor_elements import Elements

HALVES = (dtypes.f16, dtypes.bf16)


def identity(fn: str, dtype: DType) -> bool | int | float:
    """The value that changes nothing when combined by `fn`."""
    match fn:
        case "add":
            return 0.0 if dtype.is_float else 0
        case "mul":
            return 1.0 if dtype.is_float else 1
        case "and":
            return True if dtype.is_bool else _extreme(dtype, lowest=False) if not dtype.is_signed else -1
        case "or" | "xor":
            return False if dtype.is_bool else 0
        case "maximum" | "pymax":
            return _extreme(dtype, lowest=True)
        case _:
            return _extreme(dtype, lowest=False)


def neutral(fn: str, dtype: DType) -> bool | int | float:
    """The value that changes nothing when combined by `fn`, not even the sign of a zero."""
    return -0.0 if fn == "add" and dtype.is_float else identity(fn, dtype)


def _extreme(dtype: DType, lowest: bool) -> bool | int | float:
    if dtype.is_float:
        return float("-inf") if lowest else float("inf")
    if dtype.is_bool:
        return not lowest
    if dtype.is_signed:
        return -(1 << (dtype.bits - 1)) if lowest else (1 << (dtype.bits - 1)) - 1
    return 0 if lowest else (1 << dtype.bits) - 1


def _running_dtype(fn: str, dtype: DType) -> DType:
    """The dtype of running values: halves are summed and multiplied in f32."""
    return dtypes.f32 if dtype in HALVES and fn in ("add", "mul") else dtype


def _extents(value: Value, elements: Elements, at: Builder) -> list[Value]:
    type_ = value.type
    assert isinstance(type_, TensorType)
    return [elements.extent(value, axis, at) for axis in range(len(type_.shape))]


def _wide(ref: Value, dtype: DType, at: Builder) -> Value:
    """A buffer of the shape of `ref` for running values of another dtype; `ref` itself when it has that one."""
    type_ = ref.type
    assert isinstance(type_, RefType)
    if type_.dtype is dtype:
        return ref
    sizes = [at.value(mem.Dim(ref=ref, axis=i)) for i, dim in enumerate(type_.shape) if dim is None]
    return at.value(mem.Alloc(sizes=sizes, types=[RefType(type_.shape, dtype, "local")]))


def _narrow(source: Value, target: Value, at: Builder) -> None:
    """Round the running values into the result, once."""
    if source is target:
        return
    type_ = target.type
    assert isinstance(type_, RefType)
    rank = len(type_.shape)
    extents = [at.value(mem.Dim(ref=target, axis=i)) for i in range(rank)]

    def body(inner: Builder, point: list[Value]) -> list[Value]:
        value = inner.value(mem.Load(ref=source, indices=point))
        return [inner.value(arith.Cast.to(value, type_.dtype))]

    apply_over(at, extents, ("parallel",) * rank, [Output(target, "write", tuple(range(rank)))], body)


def _cast(value: Value, dtype: DType, at: Builder) -> Value:
    return value if dtype_of(value.type) is dtype else at.value(arith.Cast.to(value, dtype))


def _kept(rank: int, axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """For each result dimension the iterator that walks it; a kept reduced axis has -1 (index zero)."""
    return tuple((-1 if i in axes else i) for i in range(rank) if keepdims or i not in axes)


def _output(ref: Value, role: str, axes: Sequence[int], init: Value) -> Output:
    return Output(ref, role, tuple(axes), init)


def reduce(op: tensor.Reduce, elements: Elements, ref: Value, at: Builder) -> None:
    """A reduction with iterators in the order of the operand's axes."""
    dtype = dtype_of(op.value.type)
    running = _running_dtype(op.fn, dtype)
    extents = _extents(op.value, elements, at)
    iterators = ["reduction" if i in op.axes else "parallel" for i in range(len(extents))]
    target = _wide(ref, running, at)
    init = at.value(arith.Constant.of(identity(op.fn, running), running))
    kept = _kept(len(extents), op.axes, op.keepdims)
    apply_over(
        at,
        extents,
        iterators,
        [_output(target, "reduce", kept, init)],
        lambda inner, point: [_cast(elements.at(op.value, point, inner), running, inner)],
        simple_combiner(op.fn, ScalarType(running)),
    )
    _narrow(target, ref, at)


def argreduce(op: tensor.ArgReduce, elements: Elements, ref: Value, at: Builder) -> None:
    """The best value and its index run together; the first of equal ones and the first NaN win."""
    dtype = dtype_of(op.value.type)
    extents = _extents(op.value, elements, at)
    iterators = ["reduction" if i == op.axis else "parallel" for i in range(len(extents))]
    type_ = ref.type
    assert isinstance(type_, RefType)
    sizes = [at.value(mem.Dim(ref=ref, axis=i)) for i, dim in enumerate(type_.shape) if dim is None]
    best = at.value(mem.Alloc(sizes=sizes, types=[RefType(type_.shape, dtype, "local")]), "best")
    kept = _kept(len(extents), (op.axis,), op.keepdims)
    inits = [
        at.value(arith.Constant.of(identity(op.fn, dtype), dtype)),
        at.value(arith.Constant.of(0, dtypes.i64)),
    ]
    apply_over(
        at,
        extents,
        iterators,
        [_output(best, "reduce", kept, inits[0]), _output(ref, "reduce", kept, inits[1])],
        lambda inner, point: [elements.at(op.value, point, inner), point[op.axis]],
        _first_extreme(op.fn, dtype),
    )


def _first_extreme(fn: str, dtype: DType) -> Region:
    def emit(at: Builder, old: list[Value], new: list[Value]) -> list[Value]:
        def call(name: str, *args: Value) -> Value:
            return at.value(arith.Elementwise(fn=name, args=list(args)))

        better = call("gt" if fn == "maximum" else "lt", new[0], old[0])
        earlier = call("and", call("eq", new[0], old[0]), call("lt", new[1], old[1]))
        better = call("or", better, earlier)
        if dtype.is_float:
            new_nan, old_nan = call("isnan", new[0]), call("isnan", old[0])
            first_nan = call("and", new_nan, call("or", call("not", old_nan), call("lt", new[1], old[1])))
            better = call("or", call("and", better, call("not", old_nan)), first_nan)
        return [call("select", better, n, o) for n, o in zip(new, old, strict=True)]

    return combiner([ScalarType(dtype), ScalarType(dtypes.i64)], emit)


def scan(op: tensor.Scan, elements: Elements, ref: Value, at: Builder) -> None:
    """Running values along one axis; the other axes are parallel."""
    dtype = dtype_of(op.value.type)
    running = _running_dtype(op.fn, dtype)
    extents = _extents(op.value, elements, at)
    target = _wide(ref, running, at)
    init = at.value(arith.Constant.of(neutral(op.fn, running), running))
    apply_over(
        at,
        extents,
        ["scan" if i == op.axis else "parallel" for i in range(len(extents))],
        [_output(target, "scan", range(len(extents)), init)],
        lambda inner, point: [_cast(elements.at(op.value, point, inner), running, inner)],
        simple_combiner(op.fn, ScalarType(running)),
    )
    _narrow(target, ref, at)


def contract(op: tensor.Contract, elements: Elements, ref: Value, at: Builder) -> None:
    """A product-sum: one iterator a label, those of the result first."""
    inputs, _, output = op.equation.partition("->")
    left, _, right = inputs.partition(",")
    summed = [label for label in dict.fromkeys(left + right) if label not in output]
    labels = [*output, *summed]
    running = dtype_of(op.accumulate)
    extents = [
        elements.extent(op.lhs, left.index(c), at)
        if c in left
        else elements.extent(op.rhs, right.index(c), at)
        for c in labels
    ]
    target = _wide(ref, running, at)

    def body(inner: Builder, point: list[Value]) -> list[Value]:
        a = elements.at(op.lhs, [point[labels.index(c)] for c in left], inner)
        b = elements.at(op.rhs, [point[labels.index(c)] for c in right], inner)
        product = arith.Elementwise(fn="mul", args=[_cast(a, running, inner), _cast(b, running, inner)])
        term = inner.value(product)
        return [term if summed else inner.value(arith.Elementwise(fn="add", args=[init, term]))]

    init = at.value(arith.Constant.of(identity("add", running), running))
    if summed:
        iterators = ["parallel"] * len(output) + ["reduction"] * len(summed)
        result = _output(target, "reduce", range(len(output)), init)
        apply_over(at, extents, iterators, [result], body, simple_combiner("add", ScalarType(running)))
    else:
        # A sum of one term is an elementwise operation to all that follows.
        result = Output(target, "write", tuple(range(len(output))))
        apply_over(at, extents, ["parallel"] * len(output), [result], body)
    _narrow(target, ref, at)


def concat(op: tensor.Concat, elements: Elements, ref: Value, at: Builder) -> None:
    """One write for each part, shifted along the joined axis."""
    shift: Value | None = None
    for part in op.values:
        extents = _extents(part, elements, at)
        rank = len(extents)
        apply = apply_over(
            at,
            extents,
            ("parallel",) * rank,
            [Output(ref, "write", tuple(range(rank)))],
            lambda inner, point, part=part: [elements.at(part, point, inner)],
        )
        if shift is not None:
            number = len(apply.symbols)
            apply.set_operands("symbols", [*apply.symbols, shift])
            results = list(apply.output_maps[0].results)
            results[op.axis] = results[op.axis] + affine.symbol(number)
            apply.output_maps = (AffineMap(tuple(results)),)
        extent = extents[op.axis]
        shift = extent if shift is None else at.value(arith.Elementwise(fn="add", args=[shift, extent]))


Kernel = Callable[[Operation, Elements, Value, Builder], None]

KERNELS: dict[type[Operation], Kernel] = {  # pyright: ignore[reportAssignmentType]
    tensor.Reduce: reduce,
    tensor.ArgReduce: argreduce,
    tensor.Scan: scan,
    tensor.Contract: contract,
    tensor.Concat: concat,
}
