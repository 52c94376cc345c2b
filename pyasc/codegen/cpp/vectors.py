# SPDX-License-Identifier: Apache-2.0
"""How vectors are spelled in C++: operators of the vector extensions, `pa_v_` functions, loads and stores."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyasc.codegen.cpp import functions, nodes
from pyasc.codegen.cpp.nodes import BIT_AND, BIT_OR, BIT_XOR, PRIMARY, PRODUCT, SUM, TERNARY, UNARY, Expr
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, vec
from pyasc.ir.types import ScalarType, VectorType, dtype_of

if TYPE_CHECKING:
    from pyasc.codegen.cpp.lower import FunctionLowering

_INFIX = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
    "and": ("&", BIT_AND),
    "xor": ("^", BIT_XOR),
    "or": ("|", BIT_OR),
}
_MINIMA = {"maximum": "max", "minimum": "min"}


def elementwise(op: arith.Elementwise, args: Sequence[Expr], scalars: Sequence[Expr | None]) -> Expr:
    """`fn` on vectors. `scalars` has, for each operand that is one scalar in every lane, that scalar."""
    fn, type_ = op.fn, op.args[-1].type
    if fn == "select" and isinstance(op.args[0].type, ScalarType):
        text = f"{args[0].inside(TERNARY + 1)} ? {args[1].inside(TERNARY + 1)} : {args[2].inside(TERNARY)}"
        return Expr(text, TERNARY)
    if fn in _INFIX:
        sign, precedence = _INFIX[fn]
        left, right = _with_scalars(args, scalars) if dtype_of(type_).is_float else args
        return Expr(f"{left.inside(precedence)} {sign} {right.inside(precedence + 1)}", precedence)
    if fn == "neg":
        return Expr(f"-{args[0].inside(UNARY + 1)}", UNARY)
    if fn == "not":
        return Expr(f"~{args[0].inside(UNARY)}", UNARY)
    return Expr(f"pa_v_{fn}({', '.join(arg.text for arg in args)})")


def _with_scalars(args: Sequence[Expr], scalars: Sequence[Expr | None]) -> Sequence[Expr]:
    """The operators take a scalar on one side."""
    left, right = args
    if scalars[1] is not None:
        return left, scalars[1]
    return (left, right) if scalars[0] is None else (scalars[0], right)


def cast(value: Expr, source: VectorType, target: VectorType) -> Expr:
    """Conversion of every lane."""
    if source == target:
        return value
    name = functions.value_type(target)
    if source.dtype.is_bool:
        return Expr(f"pa_v_from_mask<{name}>({value})")
    if target.dtype.is_bool:
        return Expr(f"pa_v_ne({value}, {functions.value_type(source)}{{}})")
    return Expr(f"pa_v_cast<{name}>({value})")


def constant(op: arith.Constant) -> Expr:
    """One number in every lane."""
    return broadcast(functions.literal(op.value, dtype_of(op.result.type)), op.result)


def broadcast(scalar: Expr, result: Value) -> Expr:
    """A scalar in every lane."""
    name = functions.value_type(result.type)
    if dtype_of(result.type).is_bool:
        return Expr(f"{name}::same({scalar})")
    return Expr(f"pa_broadcast<{name}>({scalar})")


def _load(state: FunctionLowering, op: vec.Load) -> None:
    address = _address(state, op.ref, op.indices)
    args = ", ".join([address, *(e.text for e in state.all(op.count))])
    state.define(op.value, Expr(f"pa_load<{functions.value_type(op.value.type)}>({args})"), reads=True)


def _store(state: FunctionLowering, op: vec.Store) -> None:
    value = state.expr(op.value)
    rest = [e.text for e in (*state.all(op.count), *state.all(op.streamed))]
    address = _address(state, op.ref, op.indices)
    state.flush()
    name = "pa_stream" if op.streamed else "pa_store"
    state.emit(nodes.Call(f"{name}({', '.join([address, value.text, *rest])})"), op)


def _address(state: FunctionLowering, ref: Value, indices: Sequence[Value]) -> str:
    return f"&{state.buffers[ref].element(state.all(indices))}"


def _splat(state: FunctionLowering, op: vec.Splat) -> None:
    value = state.expr(op.value)
    if re.fullmatch(r"[\w.]+", value.text):
        # A name or a number may be repeated wherever the vector is used.
        state.scalars[op.result] = value
        state.exprs[op.result] = broadcast(value, op.result)
    else:
        state.define(op.result, broadcast(value, op.result))


def _reduce(state: FunctionLowering, op: vec.Reduce) -> None:
    name = _MINIMA.get(op.fn, op.fn)
    state.define(op.result, Expr(f"pa_reduce<pa_op_{name}>({state.expr(op.value)})"))


def _scan(state: FunctionLowering, op: vec.Scan) -> None:
    value, load = state.expr(op.value), f"pa_load<{functions.value_type(op.value.type)}>("
    if op.preceded and isinstance(op.value.op, vec.Load) and value.text.startswith(load):
        address = value.text.removeprefix(load)
        scanned = f"pa_scan_at<pa_op_{op.fn}, {functions.value_type(op.value.type)}>({address}"
    else:
        scanned = f"pa_scan<pa_op_{op.fn}>({value})"
    state.define(op.result, Expr(scanned))


def _last(state: FunctionLowering, op: vec.Last) -> None:
    state.define(op.result, Expr(f"pa_broadcast_last({state.expr(op.value)})"))


def _shift(state: FunctionLowering, op: vec.Shift) -> None:
    args = ", ".join(e.text for e in state.all((op.low, op.high, op.by)))
    state.define(op.result, Expr(f"pa_v_shift({args})"))


def _first(state: FunctionLowering, op: vec.First) -> None:
    name = functions.value_type(op.mask.type)
    state.define(op.mask, Expr(f"{name}::first({state.expr(op.count)})"))


def _lanes(state: FunctionLowering, op: vec.Lanes) -> None:
    name = functions.value_type(op.result.type)
    state.define(op.result, Expr(f"pa_v_lanes<{name}>({state.expr(op.start)})"))


def _any(state: FunctionLowering, op: vec.AnyLane) -> None:
    state.define(op.result, Expr(f"{state.expr(op.mask).inside(PRIMARY)}.any()"))


def _misaligned(state: FunctionLowering, op: vec.Misaligned) -> None:
    state.define(op.value, Expr(f"pa_misaligned({_address(state, op.ref, op.indices)}, {op.bytes})"))


def _drain(state: FunctionLowering, op: vec.Drain) -> None:
    state.flush()
    state.emit(nodes.Call("pa_drain()"), op)


def _prefetch(state: FunctionLowering, op: vec.Prefetch) -> None:
    state.emit(nodes.Call(f"__builtin_prefetch({_address(state, op.ref, op.indices)})"), op)


HANDLERS: dict[type[Operation], Callable[[FunctionLowering, Operation], None]] = {  # pyright: ignore[reportAssignmentType]
    vec.Load: _load,
    vec.Store: _store,
    vec.Splat: _splat,
    vec.Reduce: _reduce,
    vec.Scan: _scan,
    vec.Last: _last,
    vec.Shift: _shift,
    vec.First: _first,
    vec.Lanes: _lanes,
    vec.AnyLane: _any,
    vec.Misaligned: _misaligned,
    vec.Drain: _drain,
    vec.Prefetch: _prefetch,
}
